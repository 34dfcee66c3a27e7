//! Counting tokens. Only one vendor publishes how its models count; for the others the number is an estimate.

mod heard;
mod prompt;
mod sample;

use bpe_openai::{Tokenizer, cl100k_base, o200k_base};

pub use self::heard::{Heard, Hearing};
pub use self::prompt::Prompt;
pub use self::sample::Sample;
use crate::wire::json::{Kind, Value, skip_space, string_bytes, string_end};

/// What a picture counts for.
const PICTURE: u64 = 800;
/// What a turn costs beside its text.
const TURN: u64 = 4;
/// The most of one text that is counted exactly; the rest counts in proportion.
const COUNTED: usize = 1 << 20;
/// What a token has of bytes, where it is not counted.
const BYTES_A_TOKEN: usize = 4;

/// Tokens of a text as a model counts them.
#[must_use]
pub fn count(model: &str, text: &str) -> u64 {
    let mut end = text.len().min(COUNTED);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let counted = tokenizer(model).count(text.get(..end).unwrap_or_default());
    let counted = u64::try_from(counted).unwrap_or(u64::MAX);
    if end == text.len() {
        return counted;
    }
    in_proportion(counted, text.len() as u64, end as u64)
}

/// The tokens of `total` bytes of which `seen` bytes have `counted`.
fn in_proportion(counted: u64, total: u64, seen: u64) -> u64 {
    let whole = u128::from(counted) * u128::from(total) / u128::from(seen.max(1));
    u64::try_from(whole).unwrap_or(u64::MAX)
}

/// The vocabulary of a model: the newer one for all but the vendor's older models.
fn tokenizer(model: &str) -> &'static Tokenizer {
    let name = model.rsplit('/').next().unwrap_or(model);
    let older = name.starts_with("gpt-3.5") || (name.starts_with("gpt-4") && !name.starts_with("gpt-4o") && !name.starts_with("gpt-4."));
    if older || name.starts_with("text-embedding-") { cl100k_base() } else { o200k_base() }
}

/// Tokens of a request in any shape, estimated from its texts, its tools and the number of its pictures.
#[must_use]
pub fn of_request(model: &str, body: &[u8]) -> u64 {
    of_value(&|text| count(model, text), b"", Value::of(body), 0)
}

/// Tokens of a request in any shape, estimated from the length of its texts alone: a token for every four bytes. It is off
/// by a third in either direction, more for program text, and takes a small part of the time that counting takes.
#[must_use]
pub fn estimate(body: &[u8]) -> u64 {
    let mut total = 0_u64;
    let mut at = 0;
    // What the strings of a container are where no name says so, for each that is open.
    let mut open = vec![Part::Text];
    let mut here = Part::Text;
    while let Some(byte) = body.get(at) {
        match byte {
            b'"' => {
                let Some((end, escaped)) = string_end(body, at + 1) else { break };
                let content = body.get(at + 1..end - 1).unwrap_or_default();
                let after = skip_space(body, end);
                if body.get(after) == Some(&b':') {
                    here = if escaped { part(&string_bytes(body.get(at..end).unwrap_or_default())) } else { part(content) };
                } else {
                    total = total.saturating_add(here.estimate(content.len()));
                }
                at = after;
                continue;
            }
            b'{' | b'[' => open.push(here),
            b'}' | b']' if open.len() > 1 => here = open.pop().unwrap_or(Part::Text),
            b',' => here = open.last().copied().unwrap_or(Part::Text),
            _ => {}
        }
        at += 1;
    }
    total
}

fn of_value(text: &impl Fn(&str) -> u64, name: &[u8], value: Value<'_>, depth: usize) -> u64 {
    match value.kind() {
        _ if depth > 128 => 0,
        Kind::Object => value.members().map(|member| of_value(text, &member.name(), member.json(), depth + 1)).sum(),
        Kind::Array => value.elements().map(|element| of_value(text, name, element.json(), depth + 1)).sum(),
        Kind::String => match part(name) {
            Part::Turn => TURN,
            Part::Picture => PICTURE,
            Part::Nothing => 0,
            Part::Text => value.str().map_or(0, |content| text(&content)),
        },
        Kind::Number | Kind::Bool | Kind::Null => 0,
    }
}

/// What the text of a request's member is to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Turn,
    Picture,
    /// It is not read: a frame, or a continuity token.
    Nothing,
    Text,
}

impl Part {
    /// Tokens of a string of so many bytes.
    const fn estimate(self, bytes: usize) -> u64 {
        match self {
            Self::Turn => TURN,
            Self::Picture => PICTURE,
            Self::Nothing => 0,
            Self::Text => bytes.div_ceil(BYTES_A_TOKEN) as u64,
        }
    }
}

fn part(name: &[u8]) -> Part {
    match name {
        b"role" => Part::Turn,
        b"data" | b"file_data" | b"url" | b"image_url" | b"file_url" => Part::Picture,
        b"type" | b"model" | b"media_type" | b"mimeType" | b"id" | b"tool_use_id" | b"tool_call_id" | b"call_id" => Part::Nothing,
        b"signature" | b"thoughtSignature" | b"thought_signature" | b"encrypted_content" => Part::Nothing,
        _ => Part::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vendors_vocabularies_are_told_apart_by_model() {
        assert_eq!(count("gpt-4o", "The quick brown fox jumps over the lazy dog."), 10);
        assert_eq!(count("gpt-4o", ""), 0);
        let text = "Grüße aus Köln, 世界";
        assert!(count("gpt-4-turbo", text) > count("gpt-5.1", text), "the newer vocabulary knows more words");
    }

    #[test]
    fn a_long_text_is_counted_in_part() {
        let text = "word ".repeat(COUNTED / 4);
        let counted = count("gpt-4o", &text);
        assert!(counted.abs_diff(COUNTED as u64 / 4) < 1_000, "{counted}");
    }

    #[test]
    fn a_picture_counts_as_a_picture_and_not_as_its_letters() {
        let picture = "A".repeat(100_000);
        let body = format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":[{{"type":"text","text":"What is this?"}},{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{picture}"}}}}]}}]}}"#
        );
        assert_eq!(of_request("m", body.as_bytes()), PICTURE + TURN + 4);
        assert_eq!(estimate(body.as_bytes()), PICTURE + TURN + 4);
    }

    #[test]
    fn an_estimate_is_near_the_count() {
        let prose = "The gateway reads the request, decides which model answers it, and passes the answer on. ".repeat(100);
        let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{prose}"}}]}}"#);
        let (counted, estimated) = (of_request("gpt-4o", body.as_bytes()), estimate(body.as_bytes()));
        assert!(counted.abs_diff(estimated) < counted / 3, "{counted} and {estimated}");
        assert_eq!(estimate(b"no json"), 0);
        assert_eq!(estimate(br#"{"a":"four"#), 0, "what has no end is not looked at");
    }

    #[test]
    fn an_estimate_knows_the_name_of_every_string() {
        // A list has the name of its member, also behind an object in it; a name may be written with escapes.
        let body = br#"{"r\u006fle" : "user", "content": [{"type":"text","text":"12345678"}, "1234"], "url":["u",{"text":"1234"},"u"], "id":"x", "stop":["1234"]}"#;
        assert_eq!(estimate(body), TURN + 2 + 1 + PICTURE + 1 + PICTURE + 1);
        assert_eq!(estimate(body), of_value(&|text| (text.len() as u64).div_ceil(4), b"", Value::of(body), 0));
    }
}
