//! A collector of traces: takes OTLP over HTTP as a real one does, and decodes what it gets.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::stub::{Asked, Reply, Stub};
use crate::wait;

/// A span as it arrived. Ids are hexadecimal; times are Unix nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of the protocol")]
pub struct Span {
    pub trace_id: String,
    pub span_id: String,
    pub parent_span_id: String,
    pub trace_state: String,
    pub name: String,
    pub kind: u64,
    pub start: u64,
    pub end: u64,
    pub attributes: BTreeMap<String, Value>,
    pub status_code: u64,
    pub flags: u64,
    /// Attributes of the resource.
    pub resource: BTreeMap<String, Value>,
}

impl Span {
    /// The kind of a request that is served.
    pub const SERVER: u64 = 2;
    /// The kind of a call that is made.
    pub const CLIENT: u64 = 3;

    /// An attribute; null where it has none of the name.
    #[must_use]
    pub fn at(&self, name: &str) -> Value {
        self.attributes.get(name).cloned().unwrap_or_default()
    }

    /// Whether it has the status of an error.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.status_code == 2
    }
}

/// A request and its tries, oldest first.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The request.
    pub server: Span,
    /// The tries.
    pub tries: Vec<Span>,
}

/// A running collector.
pub struct Collector(Stub);

impl Collector {
    /// One that takes everything.
    #[must_use]
    pub fn start() -> Self {
        Self::answering(|_| Reply { status: 200, headers: vec![("content-type", "application/x-protobuf".to_owned())], body: Vec::new() })
    }

    /// One that answers as a test says. Only what it answers with 200 counts as taken.
    #[must_use]
    pub fn answering(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self(Stub::start(answer))
    }

    /// Base URL without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        self.0.url()
    }

    /// Every call, oldest first.
    #[must_use]
    pub fn calls(&self) -> Vec<Asked> {
        self.0.asked()
    }

    /// Every span of every call.
    #[must_use]
    pub fn spans(&self) -> Vec<Span> {
        self.calls().iter().flat_map(|call| spans(&call.body)).collect()
    }

    /// The trace of a request, once its spans have arrived.
    ///
    /// # Panics
    /// When they do not.
    #[must_use]
    pub fn trace(&self, request_id: &str) -> Trace {
        wait::until(&format!("the spans of request {request_id}"), || {
            let spans = self.spans();
            let server = spans.iter().find(|span| span.kind == Span::SERVER && span.at("svc.request_id") == request_id)?.clone();
            let mut tries: Vec<_> = spans.into_iter().filter(|span| span.parent_span_id == server.span_id).collect();
            tries.sort_by_key(|span| span.start);
            (server.at("svc.attempts") == tries.len()).then_some(Trace { server, tries })
        })
    }
}

/// The spans of an `ExportTraceServiceRequest`.
///
/// # Panics
/// When it is none.
#[must_use]
pub fn spans(body: &[u8]) -> Vec<Span> {
    let mut found = Vec::new();
    for resource_spans in messages(body, 1) {
        let resource: BTreeMap<_, _> = messages(resource_spans, 1).flat_map(|resource| attributes(resource, 1)).collect();
        for span in messages(resource_spans, 2).flat_map(|scope_spans| messages(scope_spans, 2)) {
            found.push(Span { resource: resource.clone(), ..span_of(span) });
        }
    }
    found
}

fn span_of(bytes: &[u8]) -> Span {
    let mut span = Span { attributes: attributes(bytes, 9), ..Span::default() };
    for (number, field) in fields(bytes) {
        match (number, field) {
            (1, Field::Bytes(id)) => span.trace_id = hex(id, 16),
            (2, Field::Bytes(id)) => span.span_id = hex(id, 8),
            (3, Field::Bytes(state)) => span.trace_state = text(state),
            (4, Field::Bytes(id)) => span.parent_span_id = hex(id, 8),
            (5, Field::Bytes(name)) => span.name = text(name),
            (6, Field::Number(kind)) => span.kind = kind,
            (7, Field::Number(start)) => span.start = start,
            (8, Field::Number(end)) => span.end = end,
            (15, Field::Bytes(status)) => span.status_code = numbers(status, 3),
            (16, Field::Number(flags)) => span.flags = flags,
            (9, _) => {}
            other => panic!("a span has no such field: {other:?}"),
        }
    }
    span
}

/// The `KeyValue`s in a field.
fn attributes(bytes: &[u8], number: u64) -> BTreeMap<String, Value> {
    let pair = |pair| {
        let key = messages(pair, 1).next().map(text).expect("a key");
        (key, messages(pair, 2).next().map(any).expect("a value"))
    };
    messages(bytes, number).map(pair).collect()
}

fn any(bytes: &[u8]) -> Value {
    match fields(bytes).pop().expect("one of the kinds of value") {
        (1, Field::Bytes(value)) => text(value).into(),
        (2, Field::Number(value)) => (value == 1).into(),
        (3, Field::Number(value)) => value.into(),
        (4, Field::Number(value)) => f64::from_bits(value).into(),
        (5, Field::Bytes(list)) => messages(list, 1).map(any).collect(),
        other => json!({"unknown": format!("{other:?}")}),
    }
}

/// A field of a message: a number of whatever width, or bytes.
#[derive(Debug)]
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn messages(bytes: &[u8], number: u64) -> impl Iterator<Item = &[u8]> {
    fields(bytes).into_iter().filter_map(move |(found, field)| match field {
        Field::Bytes(bytes) if found == number => Some(bytes),
        _ => None,
    })
}

fn numbers(bytes: &[u8], number: u64) -> u64 {
    let found = fields(bytes).into_iter().find_map(|(found, field)| match field {
        Field::Number(value) if found == number => Some(value),
        _ => None,
    });
    found.unwrap_or_default()
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => Field::Number(u64::from_le_bytes(take(&mut bytes, 8).try_into().expect("eight bytes"))),
            2 => {
                let length = varint(&mut bytes);
                Field::Bytes(take(&mut bytes, usize::try_from(length).expect("a length")))
            }
            5 => Field::Number(u32::from_le_bytes(take(&mut bytes, 4).try_into().expect("four bytes")).into()),
            wire => panic!("there is no wire type {wire}"),
        };
        found.push((key >> 3, field));
    }
    found
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    panic!("a number has more than ten bytes");
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at_checked(count).expect("the message is whole");
    *bytes = rest;
    taken
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text is UTF-8")
}

fn hex(bytes: &[u8], length: usize) -> String {
    assert_eq!(bytes.len(), length, "the length of an id");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
