//! A span, and how OTLP writes it.

use std::borrow::Cow;

use super::proto::Message;

/// The longest text of an attribute that is told; what is longer is cut off.
const LONGEST_TEXT: usize = 1024;
/// The flags that say whether the parent is of another process is told at all, and that it is.
const TOLD_REMOTE: u32 = 0x100;
const REMOTE: u32 = 0x200;

/// Which side of a call a span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Server = 2,
    Client = 3,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Text(Cow<'a, str>),
    Texts(Vec<&'a str>),
    Number(u64),
    Real(f64),
    Bool(bool),
}

/// A span. Times are Unix nanoseconds; a `parent` of 0 is none.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span<'a> {
    pub(super) trace: u128,
    pub(super) id: u64,
    pub(super) parent: u64,
    pub(super) parent_is_remote: bool,
    pub(super) flags: u8,
    pub(super) state: Option<&'a str>,
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) attributes: Vec<(&'static str, Value<'a>)>,
    pub(super) failed: bool,
}

impl Span<'_> {
    /// It as one element of `ScopeSpans.spans`, so that elements put together are a batch.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut span = Message::default().bytes(1, &self.trace.to_be_bytes()).bytes(2, &self.id.to_be_bytes());
        if let Some(state) = self.state {
            span = span.bytes(3, state.as_bytes());
        }
        if self.parent != 0 {
            span = span.bytes(4, &self.parent.to_be_bytes());
        }
        span = span
            .bytes(5, cut(&self.name).as_bytes())
            .number(6, self.kind as u64)
            .eight(7, self.start_ns.to_le_bytes())
            .eight(8, self.end_ns.to_le_bytes());
        for (name, value) in &self.attributes {
            span = span.message(9, attribute(name, value));
        }
        if self.failed {
            span = span.message(15, Message::default().number(3, 2));
        }
        let remote = if self.parent_is_remote { REMOTE } else { 0 };
        let span = span.four(16, u32::from(self.flags) | TOLD_REMOTE | remote);
        Message::default().message(2, span).into_bytes()
    }
}

/// A `KeyValue`.
pub(super) fn attribute(name: &str, value: &Value<'_>) -> Message {
    Message::default().bytes(1, name.as_bytes()).message(2, any(value))
}

/// An `AnyValue`.
fn any(value: &Value<'_>) -> Message {
    let message = Message::default();
    match value {
        Value::Text(text) => message.bytes(1, cut(text).as_bytes()),
        Value::Bool(value) => message.number(2, u64::from(*value)),
        Value::Number(value) => message.number(3, *value),
        Value::Real(value) => message.eight(4, value.to_le_bytes()),
        Value::Texts(texts) => {
            message.message(5, texts.iter().fold(Message::default(), |list, text| list.message(1, any(&Value::Text(Cow::Borrowed(text))))))
        }
    }
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST_TEXT)).unwrap_or(text)
}
