//! Counting tokens. Only one vendor publishes how its models count; for the others the number is an estimate.

use bpe_openai::{Tokenizer, cl100k_base, o200k_base};

use crate::wire::json::{Kind, Value};

/// Members of requests that hold no text: pictures, sounds and continuity tokens.
const OPAQUE: [&str; 9] =
    ["data", "file_data", "url", "image_url", "file_url", "signature", "thoughtSignature", "thought_signature", "encrypted_content"];
/// Members whose text the model does not read.
const FRAME: [&str; 8] = ["type", "model", "media_type", "mimeType", "id", "tool_use_id", "tool_call_id", "call_id"];
/// What a picture counts for.
const PICTURE: u64 = 800;
/// What a turn costs beside its text.
const TURN: u64 = 4;
/// What a token has on average, in English and in code.
const BYTES_A_TOKEN: u64 = 4;
/// The most of one text that is counted exactly; the rest counts in proportion.
const COUNTED: usize = 1 << 20;

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
    let whole = u128::from(counted) * (text.len() as u128) / (end.max(1) as u128);
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
    of_value(&|text| text.str().map_or(0, |text| count(model, &text)), "", Value::of(body), 0)
}

/// The same by the length of the texts, in a fraction of the time. 0 for what is no JSON object.
#[must_use]
pub fn roughly(body: &[u8]) -> u64 {
    // The quotes are no part of the text.
    let by_length = |text: Value<'_>| (text.bytes().len().saturating_sub(2) as u64).div_ceil(BYTES_A_TOKEN);
    match body.trim_ascii_start().first() {
        Some(b'{') => of_value(&by_length, "", Value::of(body), 0),
        _ => 0,
    }
}

fn of_value(count: &impl Fn(Value<'_>) -> u64, name: &str, value: Value<'_>, depth: usize) -> u64 {
    match value.kind() {
        _ if depth > 128 => 0,
        Kind::Object => {
            value.members().map(|member| of_value(count, &String::from_utf8_lossy(&member.name()), member.json(), depth + 1)).sum()
        }
        Kind::Array => value.elements().map(|element| of_value(count, name, element.json(), depth + 1)).sum(),
        Kind::String if name == "role" => TURN,
        Kind::String if FRAME.contains(&name) => 0,
        Kind::String if OPAQUE.contains(&name) => match name {
            "data" | "file_data" | "url" | "image_url" | "file_url" => PICTURE,
            _ => 0,
        },
        Kind::String => count(value),
        Kind::Number | Kind::Bool | Kind::Null => 0,
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
        assert_eq!(roughly(body.as_bytes()), PICTURE + TURN + 4);
    }

    #[test]
    fn what_is_no_document_is_not_estimated() {
        assert_eq!(roughly(b"--boundary\r\ncontent-disposition: form-data"), 0);
        assert_eq!(roughly(b""), 0);
    }
}
