//! Errors: the vendor's, read, and ours, written.

use std::sync::LazyLock;

use regex::Regex;

use super::fields::camel;
use crate::canonical::{Failure, FailureClass, Text};
use crate::wire::json::{Kind, Value, Writer, outline};

/// Deepest nesting of an error body.
const DEPTH: usize = 64;
/// Longest piece of a foreign body that is shown.
const SHOWN: usize = 200;
/// Longest message of the vendor that is passed on.
const LONGEST: usize = 4_096;

/// Keys, tokens and account names, which are nobody else's business.
static SECRETS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"AIza[0-9A-Za-z_-]{10,}|ya29\.[0-9A-Za-z_.-]+|\bsk-[0-9A-Za-z_-]{8,}|\bprojects?[/:_ ](?:number[: ]*)?[0-9]{6,}|\bprojects/[a-z0-9][a-z0-9-]+"#)
        .ok()
});

/// Reads the body of an error of HTTP status `status`, whatever it is.
#[must_use]
pub fn decode_failure(status: u16, body: &[u8]) -> Failure<'static> {
    let trimmed = body.trim_ascii();
    // Errors of streams, and of the vendor's compatible endpoints, come in an array.
    let object = match Value::of(trimmed).kind() {
        Kind::Array => Value::of(trimmed).elements().next().map_or(&[][..], |first| first.value),
        _ => trimmed,
    };
    match outline(object, DEPTH).ok().and_then(|document| document.get("error").map(|error| error.json())) {
        Some(error) if !error.is_null() => of_error(Some(status), error),
        _ => foreign(status, trimmed),
    }
}

/// A body that is none of the vendor's.
fn foreign(status: u16, body: &[u8]) -> Failure<'static> {
    let text = String::from_utf8_lossy(body.get(..SHOWN * 4).unwrap_or(body)).into_owned();
    let mut message = format!("upstream returned HTTP {status}");
    let words: Vec<&str> = text.split_whitespace().collect();
    if !words.is_empty() {
        let shown: String = words.join(" ").chars().take(SHOWN).collect();
        message.push_str(": ");
        message.push_str(&shown);
    }
    let message = scrubbed(&message);
    Failure {
        class: class(status, "", &message),
        status,
        message: Text::from(message),
        code: Text::from(""),
        param: None,
        retry_after: None,
    }
}

/// Reads an `error` member. Within a stream its own code stands for the status.
pub(super) fn of_error(status: Option<u16>, error: Value<'_>) -> Failure<'static> {
    let mut told = Told::default();
    if let Some(text) = error.str() {
        told.message = text.into_owned();
    }
    for member in error.members() {
        match &*camel(&member) {
            b"code" => told.code = member.json().u64().and_then(|code| u16::try_from(code).ok()),
            b"message" => told.message = member.as_str().unwrap_or_default().into_owned(),
            b"status" => told.status = member.as_str().unwrap_or_default().into_owned(),
            b"details" => member.json().elements().for_each(|detail| told.detail(detail.json())),
            _ => {}
        }
    }
    told.failure(status)
}

#[derive(Default)]
struct Told {
    code: Option<u16>,
    status: String,
    message: String,
    reason: String,
    field: Option<String>,
    retry_after: Option<u64>,
}

impl Told {
    fn detail(&mut self, detail: Value<'_>) {
        let kind = detail.get("@type").str().unwrap_or_default();
        match kind.rsplit('.').next().unwrap_or_default() {
            "RetryInfo" => self.retry_after = detail.get("retryDelay").str().and_then(|delay| seconds(&delay)),
            "ErrorInfo" => self.reason = detail.get("reason").str().unwrap_or_default().into_owned(),
            "BadRequest" => {
                let first = detail.get("fieldViolations").elements().next().and_then(|violation| violation.json().get("field").str());
                self.field = first.filter(|field| !field.is_empty()).map(std::borrow::Cow::into_owned);
            }
            _ => {}
        }
    }

    fn failure(self, status: Option<u16>) -> Failure<'static> {
        let known = |code: &u16| (400..600).contains(code);
        let status = status.filter(known).or(self.code.filter(known)).unwrap_or_else(|| code_of(&self.status));
        let mut message: String = self.message.chars().take(LONGEST).collect();
        if message.trim().is_empty() {
            message = format!("upstream returned HTTP {status}");
        }
        let class = match self.reason.as_str() {
            "API_KEY_INVALID" | "ACCESS_TOKEN_EXPIRED" | "CREDENTIALS_MISSING" => FailureClass::Auth,
            _ => class(status, &self.status, &message),
        };
        let code = if self.reason.is_empty() { self.status } else { self.reason };
        Failure {
            class,
            status,
            message: Text::from(scrubbed(&message)),
            code: Text::from(code),
            param: self.field.map(Text::from),
            retry_after: self.retry_after,
        }
    }
}

/// A duration such as `17s` or `17.4s`, rounded up.
fn seconds(delay: &str) -> Option<u64> {
    let number = delay.trim().strip_suffix('s')?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let more = fraction.bytes().any(|digit| digit != b'0');
    whole.parse::<u64>().ok()?.checked_add(u64::from(more))
}

/// The HTTP status a word stands for.
fn code_of(status: &str) -> u16 {
    match status {
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE" => 400,
        "UNAUTHENTICATED" => 401,
        "PERMISSION_DENIED" => 403,
        "NOT_FOUND" => 404,
        "ABORTED" | "ALREADY_EXISTS" => 409,
        "RESOURCE_EXHAUSTED" => 429,
        "CANCELLED" => 499,
        "UNIMPLEMENTED" => 501,
        "UNAVAILABLE" => 503,
        "DEADLINE_EXCEEDED" => 504,
        _ => 500,
    }
}

fn class(status: u16, word: &str, message: &str) -> FailureClass {
    let message = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    match status {
        400 if says(&["api key not valid", "api key expired", "api_key_invalid"]) => FailureClass::Auth,
        400 if says(&["exceeds the maximum number of tokens", "input token count"]) => FailureClass::ContextTooLong,
        400 if says(&["request payload size exceeds", "request entity too large"]) => FailureClass::TooLarge,
        401 => FailureClass::Auth,
        402 => FailureClass::Billing,
        // The usual words for a spent quota also speak of billing details; they are no reason to give the key up.
        403 | 429
            if says(&["billing account", "billing to be enabled", "prepay", "credits are depleted", "spending limit", "spend cap"]) =>
        {
            FailureClass::Billing
        }
        403 => FailureClass::Permission,
        404 => FailureClass::NotFound,
        408 | 504 => FailureClass::Timeout,
        409 => FailureClass::Conflict,
        413 => FailureClass::TooLarge,
        429 => FailureClass::Rate,
        499 => FailureClass::Server,
        400..=499 => FailureClass::BadRequest,
        503 | 529 => FailureClass::Overloaded,
        _ if word == "DEADLINE_EXCEEDED" => FailureClass::Timeout,
        _ => FailureClass::Server,
    }
}

fn scrubbed(message: &str) -> String {
    match &*SECRETS {
        Some(secrets) => secrets.replace_all(message, "[hidden]").into_owned(),
        None => String::new(),
    }
}

/// Status and body of an error for a client of this shape.
#[must_use]
pub fn encode_failure(failure: &Failure<'_>, request_id: &str) -> (u16, Vec<u8>) {
    let (status, _) = told_as(failure);
    (status, encode_failure_as(failure, status, request_id))
}

/// Body of an error for a client of this shape that gets it with a status of the provider's own.
#[must_use]
pub fn encode_failure_as(failure: &Failure<'_>, status: u16, request_id: &str) -> Vec<u8> {
    let mut body = Vec::new();
    write_as(failure, status, Some(request_id), &mut body);
    body
}

/// Status and word for a failure. What is wrong with our credential is not the client's to mend.
fn told_as(failure: &Failure<'_>) -> (u16, &'static str) {
    match failure.class {
        FailureClass::BadRequest | FailureClass::ContextTooLong | FailureClass::RefusedInput => (400, "INVALID_ARGUMENT"),
        FailureClass::TooLarge => (413, "INVALID_ARGUMENT"),
        FailureClass::Auth => (502, "UNAVAILABLE"),
        FailureClass::Billing | FailureClass::Rate => (429, "RESOURCE_EXHAUSTED"),
        FailureClass::Permission => (403, "PERMISSION_DENIED"),
        FailureClass::NotFound => (404, "NOT_FOUND"),
        FailureClass::Conflict => (409, "ABORTED"),
        FailureClass::Overloaded => (503, "UNAVAILABLE"),
        FailureClass::Timeout => (504, "DEADLINE_EXCEEDED"),
        FailureClass::Server => (500, "INTERNAL"),
    }
}

/// Writes the error object as it stands in a stream.
pub(super) fn write(failure: &Failure<'_>, out: &mut Vec<u8>) {
    let (code, _) = told_as(failure);
    write_as(failure, code, None, out);
}

/// Writes the error object, `error` first: clients look for it there.
fn write_as(failure: &Failure<'_>, code: u16, request_id: Option<&str>, out: &mut Vec<u8>) {
    let (_, status) = told_as(failure);
    let mut w = Writer::new(out);
    w.begin_object();
    w.object("error", |w| {
        w.whole_field("code", code);
        w.text_field("message", &failure.message);
        w.str_field("status", status);
        if failure.retry_after.is_none() && request_id.is_none() {
            return;
        }
        w.array("details", |w| {
            if let Some(seconds) = failure.retry_after {
                detail("RetryInfo", "retryDelay", &format!("{seconds}s"), w);
            }
            if let Some(id) = request_id {
                detail("RequestInfo", "requestId", id, w);
            }
        });
    });
    w.end_object();
}

fn detail(kind: &str, name: &str, value: &str, w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("@type", &format!("type.googleapis.com/google.rpc.{kind}"));
    w.str_field(name, value);
    w.end_object();
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
