//! What the heads of requests and answers say about the body that follows.

use std::io;

use crate::framing::Framing;

/// Most header fields a head may have.
pub const MOST_FIELDS: usize = 96;

/// The header fields that matter to someone who only wants to find the end of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BodyFields {
    /// `content-length`.
    pub length: Option<u64>,
    /// `transfer-encoding` ends in `chunked`.
    pub chunked: bool,
    /// `connection: close`.
    pub close: bool,
    /// `expect: 100-continue`.
    pub expects_continue: bool,
}

impl BodyFields {
    /// Reads them from parsed header fields.
    #[must_use]
    pub fn of(fields: &[httparse::Header<'_>]) -> Self {
        let mut found = Self::default();
        for field in fields {
            let value = field.value.trim_ascii();
            match field.name.len() {
                14 if is(field, "content-length") => found.length = number(value),
                17 if is(field, "transfer-encoding") => found.chunked = value.to_ascii_lowercase().ends_with(b"chunked"),
                10 if is(field, "connection") => found.close = value.eq_ignore_ascii_case(b"close"),
                6 if is(field, "expect") => found.expects_continue = true,
                _ => {}
            }
        }
        found
    }

    /// The body of a request: none unless the head announces one.
    #[must_use]
    pub fn request_body(&self) -> Framing {
        if self.chunked { Framing::chunked() } else { Framing::length(self.length.unwrap_or(0)) }
    }

    /// The body of an answer: up to the end of the connection unless the head says otherwise.
    #[must_use]
    pub fn answer_body(&self) -> Framing {
        match self.length {
            _ if self.chunked => Framing::chunked(),
            Some(bytes) => Framing::length(bytes),
            None => Framing::until_close(),
        }
    }
}

/// A head that cannot be parsed, as an I/O error.
#[must_use]
pub fn malformed(why: httparse::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn is(field: &httparse::Header<'_>, name: &str) -> bool {
    field.name.eq_ignore_ascii_case(name)
}

fn number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}
