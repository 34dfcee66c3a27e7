//! The responses dialect (`POST /v1/responses`).

use super::{ClientView, Decode, Encode, Encoding, Target};
use crate::canonical::{Event, Failure, Refusal, Request, Sink};

struct Absent;

impl Decode for Absent {
    fn event(&mut self, _: &[u8], _: &[u8], _: Sink<'_>) {}
    fn answer(&mut self, _: &[u8], _: Sink<'_>) {}
    fn finish(&mut self, _: Sink<'_>) {}
}

impl Encode for Absent {
    fn event(&mut self, _: &Event<'_>, _: &mut Vec<u8>) {}
}

/// Not there yet.
///
/// # Errors
/// Always.
pub fn decode_request(_: &[u8]) -> Result<Request<'_>, Refusal> {
    Err(Refusal::unsupported("input", "the responses dialect is not translated"))
}

/// Not there yet.
///
/// # Errors
/// Always.
pub fn encode_request(_: Request<'_>, _: &Target<'_>, _: &mut Encoding) -> Result<(), Refusal> {
    Err(Refusal::unsupported("input", "the responses dialect is not translated"))
}

/// Not there yet.
pub fn decoder() -> impl Decode + 'static {
    Absent
}

/// Not there yet.
pub fn stream_encoder(_: ClientView) -> impl Encode + 'static {
    Absent
}

/// Not there yet.
pub fn whole_encoder(_: ClientView) -> impl Encode + 'static {
    Absent
}

/// As the chat envelope.
#[must_use]
pub fn decode_failure(status: u16, body: &[u8]) -> Failure<'static> {
    super::chat_completions::decode_failure(status, body)
}

/// As the chat envelope.
#[must_use]
pub fn encode_failure(failure: &Failure<'_>, request_id: &str) -> (u16, Vec<u8>) {
    super::chat_completions::encode_failure(failure, request_id)
}
