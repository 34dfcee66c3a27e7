//! Reading errors.

use std::borrow::Cow;

use super::class::{Signs, by_status, of, status};
use super::clean::{cleaned, words};
use crate::canonical::{Failure, Text};
use crate::wire::json::{Kind, Value, outline};

/// Deepest nesting of an error.
const DEPTH: usize = 128;
/// Characters of an unreadable body that are passed on.
const SHOWN: usize = 200;
/// Bytes of an unreadable body that are looked at.
const LOOKED_AT: usize = 4096;

/// Reads the body of an error: the vendor's own, one of its copies', one in an array, one event of a stream, or none of these.
#[must_use]
pub fn decode_failure(status: u16, body: &[u8]) -> Failure<'static> {
    let body = unwrapped(body.trim_ascii());
    if outline(body, DEPTH).is_err() {
        return unreadable(status, body);
    }
    told_with(status, Value::of(body))
}

/// Reads an error that came within an answer: an object that holds `error`, or the error itself.
pub(in crate::translate::chat_completions) fn told(error: Value<'_>) -> Failure<'static> {
    told_with(0, error)
}

/// The object in an array of one, or in the first event of a stream.
fn unwrapped(body: &[u8]) -> &[u8] {
    if body.starts_with(b"[") {
        return Value::of(body).elements().next().map_or(body, |first| first.value);
    }
    let lines = body.split(|byte| *byte == b'\n');
    let data = if body.starts_with(b"data:") || body.starts_with(b"event:") {
        lines.filter_map(|line| line.strip_prefix(b"data:")).next()
    } else {
        None
    };
    data.map_or(body, |data| data.trim_ascii())
}

fn unreadable(status: u16, body: &[u8]) -> Failure<'static> {
    let page = String::from_utf8_lossy(body.get(..LOOKED_AT.min(body.len())).unwrap_or_default());
    let said = words(&page, SHOWN);
    let message =
        if said.is_empty() { format!("upstream returned HTTP {status}") } else { format!("upstream returned HTTP {status}: {said}") };
    Failure { class: by_status(status), status, message: Text::from(message), code: Text::from(""), param: None, retry_after: None }
}

fn told_with(http: u16, body: Value<'_>) -> Failure<'static> {
    let error = holder(body);
    let message = message(error);
    let kind = error.get("type").str().unwrap_or_default();
    let code = error.get("code");
    let number = if http == 0 { number(error) } else { http };
    let code = code.str().filter(|word| word.parse::<u16>().is_err()).unwrap_or_default();
    let inner = error.get("innererror").get("code").str().unwrap_or_default();
    let code = if code.is_empty() { inner } else { code };
    let class = of(&Signs { status: number, kind: &kind, code: &code, message: &message });
    let told = if code.is_empty() && !matches!(&*kind, "" | "error") { kind } else { code };
    let param = error.get("param").str().filter(|param| !param.is_empty());
    Failure {
        class,
        status: if number == 0 { status(class) } else { number },
        retry_after: retry_after(error, &message),
        message: Text::from(spoken(&message, http)),
        code: Text::from(told.into_owned()),
        param: param.map(|param| Text::from(param.into_owned())),
    }
}

/// Where the words are: in `error`, in `error` of `error`, or at the top.
fn holder(body: Value<'_>) -> Value<'_> {
    match body.get("error") {
        error if error.kind() == Kind::Object => error,
        _ => body,
    }
}

fn message(error: Value<'_>) -> Cow<'_, str> {
    let told = ["message", "error", "detail", "msg", "error_message"].iter().find_map(|name| error.get(name).str());
    told.or_else(|| error.str()).unwrap_or_else(|| match error.get("detail") {
        detail if detail.kind() == Kind::Array => {
            detail.elements().next().and_then(|first| first.json().get("msg").str()).unwrap_or_default()
        }
        _ => Cow::Borrowed(""),
    })
}

fn spoken(message: &str, http: u16) -> String {
    match (message.is_empty(), http) {
        (false, _) => cleaned(message).into_owned(),
        (true, 0) => "the provider reported an error".to_owned(),
        (true, http) => format!("upstream returned HTTP {http}"),
    }
}

/// A status that is told in the error itself, as number or text.
fn number(error: Value<'_>) -> u16 {
    let of = |value: Value<'_>| value.u64().and_then(|code| u16::try_from(code).ok()).or_else(|| value.str()?.parse().ok());
    let told = ["code", "status", "status_code"].iter().find_map(|name| of(error.get(name)));
    told.filter(|code| (400..600).contains(code)).unwrap_or(0)
}

/// Seconds to wait: a member of the error, or words such as `try again in 1.5s` and `retry after 6 seconds`.
fn retry_after(error: Value<'_>, message: &str) -> Option<u64> {
    if let Some(seconds) = error.get("retry_after").number() {
        return whole_seconds(seconds.value());
    }
    let message = message.to_ascii_lowercase();
    let rest = ["try again in ", "retry after "].iter().find_map(|words| message.split_once(words)).map(|(_, rest)| rest)?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (digits, unit) = rest.split_at_checked(end)?;
    let value: f64 = digits.trim_end_matches('.').parse().ok()?;
    let unit = unit.trim_start();
    let seconds = match unit {
        _ if unit.starts_with("ms") => value / 1000.0,
        _ if unit.starts_with('m') => value * 60.0 + minutes_rest(unit),
        _ if unit.starts_with('h') => value * 3600.0,
        _ => value,
    };
    whole_seconds(seconds)
}

/// The seconds in `m30s`.
fn minutes_rest(unit: &str) -> f64 {
    let digits: String = unit.chars().skip(1).take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.parse().unwrap_or(0.0)
}

fn whole_seconds(seconds: f64) -> Option<u64> {
    // Up to a day; more is no hint.
    (0.0..=86_400.0).contains(&seconds).then_some(seconds.ceil() as u64)
}
