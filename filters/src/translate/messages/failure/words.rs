//! Writing errors for clients.

use super::class;
use crate::canonical::{Failure, FailureClass};
use crate::wire::json::Writer;

/// How the vendor's sentence about long prompts begins, by which its clients know it.
const TOO_LONG: &str = "prompt is too long:";

/// The status and body of an error for a client of this shape.
#[must_use]
pub fn encode_failure(failure: &Failure<'_>, request_id: &str) -> (u16, Vec<u8>) {
    let mut body = Vec::with_capacity(192);
    object(failure, request_id, &mut body);
    (class::status(failure.class), body)
}

/// Appends the error object, which is the same in bodies and in streams.
pub(in crate::translate::messages) fn object(failure: &Failure<'_>, request_id: &str, out: &mut Vec<u8>) {
    let mut w = Writer::new(out);
    w.begin_object();
    w.str_field("type", "error");
    w.object("error", |w| {
        w.str_field("type", kind(failure.class));
        let message = failure.message.decode();
        if failure.class == FailureClass::ContextTooLong && !message.starts_with(TOO_LONG) {
            w.str_field("message", &format!("{TOO_LONG} {message}"));
        } else {
            w.str_field("message", &message);
        }
    });
    w.str_field("request_id", request_id);
    w.end_object();
}

/// The vendor's word for a class.
const fn kind(class: FailureClass) -> &'static str {
    match class {
        FailureClass::BadRequest | FailureClass::ContextTooLong | FailureClass::RefusedInput => "invalid_request_error",
        FailureClass::TooLarge => "request_too_large",
        FailureClass::Billing => "billing_error",
        FailureClass::Permission => "permission_error",
        FailureClass::NotFound => "not_found_error",
        FailureClass::Conflict => "conflict_error",
        FailureClass::Rate => "rate_limit_error",
        FailureClass::Overloaded => "overloaded_error",
        FailureClass::Timeout => "timeout_error",
        FailureClass::Auth | FailureClass::Server => "api_error",
    }
}
