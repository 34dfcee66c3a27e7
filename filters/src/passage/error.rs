//! Errors an upstream puts into an answer it had begun well.

use std::borrow::Cow;

use crate::wire::json::{self, Kind, members};

/// An error the upstream reported inside an answer that began well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InBandError {
    /// The vendor's sentence.
    pub message: String,
    /// The vendor's `type`, or `status` for generate content.
    pub kind: Option<String>,
    /// The vendor's `code`.
    pub code: Option<String>,
    /// The HTTP status the error would have had.
    pub status: u16,
}

impl InBandError {
    /// Reads an error object, or a string that is the message.
    pub(super) fn read(value: &[u8], kind: Kind) -> Self {
        let mut error = Self { message: String::new(), kind: None, code: None, status: 0 };
        if kind == Kind::String {
            error.message = json::decode_string(value).into_owned();
        }
        error.take_members(value, true);
        error.status = error.told_status();
        error
    }

    fn told_status(&self) -> u16 {
        let told = || [&self.code, &self.kind].into_iter().flatten();
        let number = told().find_map(|text| text.parse().ok().filter(|code| (400..600).contains(code)));
        number.or_else(|| told().find_map(|text| status_named(text))).unwrap_or(500)
    }

    fn take_members(&mut self, value: &[u8], outermost: bool) {
        for member in members(value) {
            let text = || match member.kind {
                Kind::String => member.as_str().map(Cow::into_owned),
                Kind::Number => Some(String::from_utf8_lossy(member.value()).into_owned()),
                _ => None,
            };
            match &*member.name() {
                b"message" => self.message = text().unwrap_or_default(),
                b"type" if member.value() == b"\"error\"" => {}
                b"type" | b"status" => self.kind = text().or(self.kind.take()),
                b"code" => self.code = text(),
                b"error" if outermost => self.take_members(member.value(), false),
                _ => {}
            }
        }
    }
}

/// The HTTP status behind a vendor's error word.
fn status_named(word: &str) -> Option<u16> {
    Some(match word {
        "invalid_request_error" | "context_length_exceeded" | "invalid_prompt" | "INVALID_ARGUMENT" | "FAILED_PRECONDITION" => 400,
        "authentication_error" | "invalid_api_key" | "UNAUTHENTICATED" => 401,
        "billing_error" => 402,
        "permission_error" | "PERMISSION_DENIED" => 403,
        "not_found_error" | "model_not_found" | "NOT_FOUND" => 404,
        "request_too_large" => 413,
        "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" | "tokens" | "requests" | "RESOURCE_EXHAUSTED" => 429,
        "api_error" | "server_error" | "internal_error" | "internal_server_error" | "INTERNAL" => 500,
        "UNAVAILABLE" | "service_unavailable" | "slow_down" => 503,
        "timeout_error" | "timeout" | "DEADLINE_EXCEEDED" => 504,
        "overloaded_error" | "overloaded" => 529,
        _ => return None,
    })
}
