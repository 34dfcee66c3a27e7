//! Writing errors for clients.

use crate::canonical::{Failure, FailureClass};
use crate::wire::json::Writer;

/// How the codes of the gateway's own failures begin.
const GATEWAY: &str = "upstream_";

/// The status and body of an error for a client of this shape.
#[must_use]
pub fn encode_failure(failure: &Failure<'_>, _request_id: &str) -> (u16, Vec<u8>) {
    let mut body = Vec::with_capacity(192);
    let (kind, code) = words(failure.class);
    object(failure, kind, code, &mut body);
    (status(failure), body)
}

/// Appends the error as it stands in a stream. Its defaults are those of an answer that broke off.
pub(in crate::translate::chat_completions) fn in_band(failure: &Failure<'_>, out: &mut Vec<u8>) {
    let (kind, code) = words(failure.class);
    object(failure, kind, code.or(Some("upstream_error")), out);
}

/// All four members are there: SDKs read each.
fn object(failure: &Failure<'_>, kind: &str, code: Option<&str>, out: &mut Vec<u8>) {
    let hidden = failure.class == FailureClass::Auth;
    let mut w = Writer::new(out);
    w.begin_object();
    w.object("error", |w| {
        if hidden {
            w.str_field("message", "The provider did not accept the gateway's credential.");
        } else {
            w.text_field("message", &failure.message);
        }
        w.str_field("type", if failure.code.decode().starts_with(GATEWAY) { "server_error" } else { kind });
        match failure.param.as_ref().filter(|_| !hidden) {
            Some(param) => w.text_field("param", param),
            None => w.null_field("param"),
        }
        let own = (!hidden && is_kept(failure)).then_some(&failure.code);
        match (own, code) {
            (Some(own), _) => w.text_field("code", own),
            (None, Some(code)) => w.str_field("code", code),
            (None, None) => w.null_field("code"),
        }
    });
    w.end_object();
}

/// Whether the code of the failure is one for this dialect's clients: the gateway's own, or a vendor's where the class has none.
/// The other vendors' codes are names of types.
fn is_kept(failure: &Failure<'_>) -> bool {
    let code = failure.code.decode();
    let (_, own) = words(failure.class);
    let foreign = code.ends_with("_error") || code.contains(|c: char| c.is_ascii_uppercase() || c.is_whitespace());
    !code.is_empty() && (code.starts_with(GATEWAY) || (own.is_none() && !foreign))
}

const fn words(class: FailureClass) -> (&'static str, Option<&'static str>) {
    match class {
        FailureClass::BadRequest | FailureClass::TooLarge | FailureClass::Conflict => ("invalid_request_error", None),
        FailureClass::ContextTooLong => ("invalid_request_error", Some("context_length_exceeded")),
        FailureClass::RefusedInput => ("invalid_request_error", Some("content_filter")),
        FailureClass::Billing => ("insufficient_quota", Some("insufficient_quota")),
        FailureClass::Permission => ("permission_error", None),
        FailureClass::NotFound => ("invalid_request_error", Some("model_not_found")),
        FailureClass::Rate => ("rate_limit_error", Some("rate_limit_exceeded")),
        FailureClass::Overloaded => ("service_unavailable_error", Some("server_is_overloaded")),
        // A credential of ours that a provider refuses is no fault of the client's.
        FailureClass::Auth => ("server_error", Some("upstream_unavailable")),
        FailureClass::Timeout | FailureClass::Server => ("server_error", None),
    }
}

const fn status(failure: &Failure<'_>) -> u16 {
    match failure.class {
        FailureClass::BadRequest | FailureClass::ContextTooLong | FailureClass::RefusedInput => 400,
        FailureClass::TooLarge => 413,
        FailureClass::Billing | FailureClass::Rate => 429,
        FailureClass::Permission => 403,
        FailureClass::NotFound => 404,
        FailureClass::Conflict => 409,
        FailureClass::Overloaded => 503,
        FailureClass::Timeout => 504,
        FailureClass::Auth => 502,
        FailureClass::Server if failure.status >= 500 && failure.status < 600 => failure.status,
        FailureClass::Server => 502,
    }
}
