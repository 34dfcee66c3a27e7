//! Reading errors.

use super::class;
use crate::canonical::{Failure, FailureClass, Text};
use crate::wire::json::{Kind, Value, outline};

/// Deepest nesting of an error.
const DEPTH: usize = 128;
/// Characters of an unreadable body that are passed on.
const SHOWN: usize = 200;
/// Least length of what begins like a key for it to be taken for one.
const KEY: usize = 12;

/// Reads the body of an error: the vendor's own, Bedrock's, Google Cloud's, one in an array, or none of these.
#[must_use]
pub fn decode_failure(status: u16, body: &[u8]) -> Failure<'static> {
    let body = body.trim_ascii();
    let body = match Value::of(body) {
        list if list.kind() == Kind::Array => list.elements().next().map_or(body, |first| first.value),
        _ => body,
    };
    if outline(body, DEPTH).is_err() {
        return unreadable(status, body);
    }
    let Told { class, message, code } = read(Value::of(body));
    let told = class.unwrap_or_else(|| FailureClass::of_status(status));
    // A vendor's word for a server's fault does not outweigh a status that says more.
    let class = if told == FailureClass::Server && status < 500 && status != 424 { FailureClass::of_status(status) } else { told };
    let message = if message.is_empty() { format!("upstream returned HTTP {status}") } else { message };
    Failure { class: class::refined(class, &message), status, message: Text::from(message), code, param: None, retry_after: None }
}

/// Reads an error that came within an answer.
pub(in crate::translate::messages) fn told(error: Value<'_>) -> Failure<'static> {
    let Told { class, message, code } = read(error);
    let class = class::refined(class.unwrap_or(FailureClass::Server), &message);
    let message = if message.is_empty() { "the provider reported an error".to_owned() } else { message };
    Failure { class, status: class::status(class), message: Text::from(message), code, param: None, retry_after: None }
}

struct Told {
    class: Option<FailureClass>,
    message: String,
    code: Text<'static>,
}

fn read(error: Value<'_>) -> Told {
    let inner = error.get("error");
    let (holder, plain) = match inner.kind() {
        Kind::Object => (inner, None),
        Kind::String => (error, inner.str()),
        Kind::Number | Kind::Array | Kind::Bool | Kind::Null => (error, None),
    };
    let word = |name: &str| holder.get(name).str().filter(|word| word != "error");
    let words = [word("type"), word("status"), word("__type"), word("code")];
    let message = plain.or_else(|| word("message")).or_else(|| word("Message")).or_else(|| word("originalMessage"));
    let class = words.iter().flatten().find_map(|word| class::named(word));
    let code = holder.get("details").get("error_code").str().or_else(|| words.into_iter().flatten().next());
    Told { class, message: scrubbed(&message.unwrap_or_default()), code: Text::from(code.unwrap_or_default().into_owned()) }
}

fn unreadable(status: u16, body: &[u8]) -> Failure<'static> {
    let text = words(&String::from_utf8_lossy(body.get(..body.len().min(16 * SHOWN)).unwrap_or_default()));
    let message =
        if text.is_empty() { format!("upstream returned HTTP {status}") } else { format!("upstream returned HTTP {status}: {text}") };
    let class = class::refined(FailureClass::of_status(status), &message);
    Failure { class, status, message: Text::from(message), code: Text::from(""), param: None, retry_after: None }
}

/// The words of a page, without its tags.
fn words(page: &str) -> String {
    let mut text = String::new();
    let mut tag = false;
    for letter in page.chars() {
        match letter {
            '<' => tag = true,
            '>' if tag => {
                tag = false;
                text.push(' ');
            }
            _ if !tag => text.push(letter),
            _ => {}
        }
    }
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    scrubbed(&text.chars().take(SHOWN).collect::<String>())
}

/// The text without anything that looks like a key.
fn scrubbed(text: &str) -> String {
    if !text.contains("sk-") {
        return text.to_owned();
    }
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("sk-") {
        let (before, key) = rest.split_at(at);
        let length = key.find(|c| !part(c)).unwrap_or(key.len());
        let (key, after) = key.split_at(length);
        clean.push_str(before);
        let begins = !before.ends_with(part);
        clean.push_str(if begins && key.len() >= KEY { "[key]" } else { key });
        rest = after;
    }
    clean.push_str(rest);
    clean
}
