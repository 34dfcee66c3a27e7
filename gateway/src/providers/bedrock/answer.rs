//! Bedrock's answers as answers of the messages dialect: frames become events, errors the vendor's own.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use pingora::http::ResponseHeader;
use svc_filters::wire::event_stream::{Message, Splitter};
use svc_filters::wire::json::{Edit, Kind, Span, Writer, members, splice, string_bytes};

use super::signer::error_type;

/// Longest error that is read.
const ERROR_LIMIT: usize = 64 << 10;
/// What the service puts before the vendor's own words.
const WRAPPED: &str = "The model returned the following errors: ";
/// A member of the last event that is the service's own.
const METRICS: &str = "amazon-bedrock-invocationMetrics";

/// How the service's errors are called in the dialect: name, status, type.
const ERRORS: [(&str, u16, &str); 13] = [
    ("ValidationException", 400, "invalid_request_error"),
    ("AccessDeniedException", 403, "permission_error"),
    ("ResourceNotFoundException", 404, "not_found_error"),
    ("ThrottlingException", 429, "rate_limit_error"),
    ("ModelNotReadyException", 429, "rate_limit_error"),
    ("ServiceQuotaExceededException", 402, "billing_error"),
    ("ModelTimeoutException", 504, "timeout_error"),
    ("ModelErrorException", 500, "api_error"),
    ("ModelStreamErrorException", 500, "api_error"),
    ("InternalServerException", 500, "api_error"),
    ("ServiceUnavailableException", 529, "overloaded_error"),
    ("ExpiredTokenException", 401, "authentication_error"),
    ("UnrecognizedClientException", 401, "authentication_error"),
];

/// Status and type of an error; by its status where the name is not known.
fn error_of(name: &str, status: u16) -> (u16, &'static str) {
    // Inside streams names begin with a small letter.
    let named = ERRORS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name));
    named.map_or_else(
        || match status {
            401 => (401, "authentication_error"),
            403 => (403, "permission_error"),
            404 => (404, "not_found_error"),
            408 | 504 => (504, "timeout_error"),
            413 => (413, "request_too_large"),
            429 => (429, "rate_limit_error"),
            503 | 529 => (529, "overloaded_error"),
            400..=499 if status != 424 => (status, "invalid_request_error"),
            _ => (500, "api_error"),
        },
        |(_, status, kind)| (*status, *kind),
    )
}

/// A stream of frames on its way to being one of events.
#[derive(Debug, Default)]
pub(in crate::providers) struct Frames {
    splitter: Splitter,
    closed: bool,
}

impl Frames {
    /// The events of the frames that are complete now.
    pub(in crate::providers) fn push(&mut self, piece: Bytes) -> Bytes {
        if self.closed {
            return Bytes::new();
        }
        self.splitter.push(piece);
        let mut out = Vec::new();
        loop {
            match self.splitter.next_message() {
                Ok(Some(message)) => self.write(&message, &mut out),
                Ok(None) => break,
                Err(fault) => self.fail("api_error", &format!("The provider's answer cannot be read: {fault}."), &mut out),
            }
            if self.closed {
                break;
            }
        }
        out.into()
    }

    fn write(&mut self, message: &Message, out: &mut Vec<u8>) {
        match message.header(":message-type") {
            Some("event") if message.header(":event-type").is_some_and(|kind| kind != "chunk") => {}
            Some("event") if write_chunk(message.payload(), out) => {}
            Some("event") => self.fail("api_error", "The provider's answer holds an event that cannot be read.", out),
            Some("exception") => {
                let (_, kind) = error_of(message.header(":exception-type").unwrap_or_default(), 500);
                self.fail(kind, &message_of(message.payload()), out);
            }
            Some("error") => {
                let (_, kind) = error_of(message.header(":error-code").unwrap_or_default(), 500);
                let text = message.header(":error-message").unwrap_or("The provider's answer broke off.").to_owned();
                self.fail(kind, &text, out);
            }
            _ => {}
        }
    }

    /// Ends the answer with an error of the dialect.
    fn fail(&mut self, kind: &str, message: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(b"event: error\ndata: ");
        write_error(kind, message, None, out);
        out.extend_from_slice(b"\n\n");
        self.closed = true;
    }
}

/// Writes the event in a chunk; `false` where there is none that can be read.
fn write_chunk(payload: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(bytes) = members(payload).find(|member| member.kind == Kind::String && member.is("bytes")) else { return false };
    let Ok(mut event) = STANDARD.decode(string_bytes(bytes.value())) else { return false };
    let found: Vec<_> = members(&event).collect();
    let Some(kind) = found.iter().find(|member| member.is("type")).and_then(|member| member.as_str()) else { return false };
    let Some(plain) = kind.bytes().all(|byte| byte.is_ascii_graphic()).then(|| kind.into_owned()) else { return false };
    let metrics = found.iter().position(|member| member.is(METRICS)).and_then(|at| {
        let member = found.get(at)?;
        let before = found.get(at.wrapping_sub(1)).map(|before| before.span.end);
        let next = found.get(at + 1).map(|next| next.key_span.start);
        Some(match before {
            Some(before) => Span { start: before, end: member.span.end },
            None => Span { start: member.key_span.start, end: next.unwrap_or(member.span.end) },
        })
    });
    if let Some(span) = metrics {
        event = splice(&event, &mut [Edit::replace(span, &b""[..])]);
    }
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(plain.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    // Line ends are only possible between the tokens of JSON.
    out.extend(event.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
    out.extend_from_slice(b"\n\n");
    true
}

/// An error answer.
#[derive(Debug)]
pub(in crate::providers) struct Refused {
    status: u16,
    kind: &'static str,
    upstream: u16,
    request_id: Option<String>,
    held: Vec<u8>,
}

impl Refused {
    pub(super) fn of(head: &ResponseHeader) -> Self {
        let upstream = head.status.as_u16();
        let (status, kind) = error_of(error_type(&head.headers).unwrap_or_default(), upstream);
        let request_id = head.headers.get("x-amzn-requestid").and_then(|value| value.to_str().ok()).map(str::to_owned);
        Self { status, kind, upstream, request_id, held: Vec::new() }
    }

    /// The status it has in the dialect.
    pub(super) const fn status(&self) -> u16 {
        self.status
    }

    pub(in crate::providers) fn push(&mut self, piece: &[u8], end: bool) -> Bytes {
        let room = ERROR_LIMIT.saturating_sub(self.held.len());
        self.held.extend_from_slice(piece.get(..room).unwrap_or(piece));
        if !end {
            return Bytes::new();
        }
        let message = match message_of(&self.held) {
            text if text.is_empty() => format!("The provider answered with the status {}.", self.upstream),
            text => text,
        };
        let mut out = Vec::new();
        write_error(self.kind, &message, self.request_id.as_deref(), &mut out);
        out.into()
    }
}

/// A count of tokens.
#[derive(Debug, Default)]
pub(in crate::providers) struct Counted {
    held: Vec<u8>,
}

impl Counted {
    pub(in crate::providers) fn push(&mut self, piece: &[u8], end: bool) -> Bytes {
        let room = ERROR_LIMIT.saturating_sub(self.held.len());
        self.held.extend_from_slice(piece.get(..room).unwrap_or(piece));
        if !end {
            return Bytes::new();
        }
        let counted = members(&self.held).find(|member| member.kind == Kind::Number && member.is("inputTokens"));
        let Some(counted) = counted else { return Bytes::from(std::mem::take(&mut self.held)) };
        Bytes::from([&br#"{"input_tokens":"#[..], counted.value(), b"}"].concat())
    }
}

/// The words of an error, without what the service wraps them in and without account numbers.
fn message_of(body: &[u8]) -> String {
    let found = members(body).find(|member| member.kind == Kind::String && (member.is("message") || member.is("Message")));
    let text = found.and_then(|member| member.as_str()).unwrap_or_default();
    without_accounts(text.strip_prefix(WRAPPED).unwrap_or(&text))
}

/// Numbers of twelve digits between colons are accounts.
fn without_accounts(text: &str) -> String {
    let parts = text.split(':').map(|part| if part.len() == 12 && part.bytes().all(|byte| byte.is_ascii_digit()) { "" } else { part });
    parts.collect::<Vec<_>>().join(":")
}

fn write_error(kind: &str, message: &str, request_id: Option<&str>, out: &mut Vec<u8>) {
    let mut writer = Writer::new(out);
    writer.begin_object();
    writer.str_field("type", "error");
    writer.object("error", |writer| {
        writer.str_field("type", kind);
        writer.str_field("message", message);
    });
    if let Some(id) = request_id {
        writer.str_field("request_id", id);
    }
    writer.end_object();
}
