//! Providers' errors: read, told in another dialect or in their own, and known for what they are.

use super::{chat_completions, generate_content, messages, responses};
use crate::canonical::Failure;
use crate::shape::Shape;
use crate::wire::json::{Kind, Value, outline};

/// Deepest nesting of an error that passes for one of its dialect.
const DEPTH: usize = 128;

/// A provider's error as its client of another shape gets it: HTTP status and body.
#[must_use]
pub fn failure_for(client: Shape, upstream: Shape, status: u16, body: &[u8], request_id: &str) -> (u16, Vec<u8>) {
    write_failure(client, &read_failure(upstream, status, body), request_id)
}

/// Reads a provider's error.
#[must_use]
pub fn read_failure(upstream: Shape, status: u16, body: &[u8]) -> Failure<'static> {
    match upstream {
        Shape::ChatCompletions => chat_completions::decode_failure(status, body),
        Shape::Messages => messages::decode_failure(status, body),
        Shape::GenerateContent => generate_content::decode_failure(status, body),
        Shape::Responses => responses::decode_failure(status, body),
    }
}

/// Writes an error for a client: HTTP status and body.
#[must_use]
pub fn write_failure(client: Shape, failure: &Failure<'_>, request_id: &str) -> (u16, Vec<u8>) {
    match client {
        Shape::ChatCompletions => chat_completions::encode_failure(failure, request_id),
        Shape::Messages => messages::encode_failure(failure, request_id),
        Shape::GenerateContent => generate_content::encode_failure(failure, request_id),
        Shape::Responses => responses::encode_failure(failure, request_id),
    }
}

/// Writes the body of an error for a client that gets it with the provider's own status.
#[must_use]
pub fn write_failure_as(client: Shape, failure: &Failure<'_>, status: u16, request_id: &str) -> Vec<u8> {
    match client {
        Shape::GenerateContent => generate_content::encode_failure_as(failure, status, request_id),
        Shape::ChatCompletions | Shape::Messages | Shape::Responses => write_failure(client, failure, request_id).1,
    }
}

/// Whether the body of an error status is an error as the vendor of the dialect writes it: whole, and with what its SDKs read.
#[must_use]
pub fn is_failure(dialect: Shape, body: &[u8]) -> bool {
    let body = body.trim_ascii();
    let object = match Value::of(body) {
        // A stream of the generate-content vendor that is no event stream is an array, and so are its errors.
        list if dialect == Shape::GenerateContent && list.kind() == Kind::Array && is_whole(body) => {
            list.elements().next().map_or(&[][..], |first| first.value)
        }
        _ => body,
    };
    if outline(object, DEPTH).is_err() {
        return false;
    }
    let document = Value::of(object);
    let error = document.get("error");
    let text = |name: &str| error.get(name).kind() == Kind::String;
    text("message")
        && match dialect {
            Shape::ChatCompletions | Shape::Responses => true,
            Shape::Messages => text("type") && document.get("type").str().is_some_and(|kind| kind == "error"),
            Shape::GenerateContent => error.get("code").u64().is_some(),
        }
}

/// What of the body of an error status is fit to be told: nothing of a page, nor of a document that was cut off.
#[must_use]
pub fn fit_to_tell(body: &[u8]) -> &[u8] {
    match body.trim_ascii() {
        [b'<', ..] => &[],
        document @ [b'{' | b'[', ..] if !is_whole(document) => &[],
        _ => body,
    }
}

fn is_whole(document: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(document).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_error_of_its_own_dialect_is_known() {
        let chat = json!({"error": {"message": "m", "type": "t", "param": null, "code": null}}).to_string();
        let messages = json!({"type": "error", "error": {"type": "api_error", "message": "m"}}).to_string();
        let generate = json!({"error": {"code": 500, "message": "m", "status": "INTERNAL"}}).to_string();
        let array = format!("[{generate}\n]");
        let all = [Shape::ChatCompletions, Shape::Responses, Shape::Messages, Shape::GenerateContent];
        for (body, own) in [
            (chat.as_str(), [true, true, false, false]),
            (messages.as_str(), [true, true, true, false]),
            (generate.as_str(), [true, true, false, true]),
            (array.as_str(), [false, false, false, true]),
            (r#"{"error": "plain words"}"#, [false; 4]),
            (r#"{"message": "m"}"#, [false; 4]),
            (r#"{"error": {"message": "m"#, [false; 4]),
            ("", [false; 4]),
            ("null", [false; 4]),
            ("<html>", [false; 4]),
        ] {
            assert_eq!(all.map(|dialect| is_failure(dialect, body.as_bytes())), own, "{body}");
        }
    }

    #[test]
    fn neither_pages_nor_halves_are_told() {
        for silent in ["", " \n<html>no</html>", "{\"error\": {\"mess", "[{\"error\":"] {
            assert!(fit_to_tell(silent.as_bytes()).is_empty(), "{silent}");
        }
        for told in ["overloaded, try again", "{\"detail\": \"m\"}", "[1]"] {
            assert_eq!(fit_to_tell(told.as_bytes()), told.as_bytes());
        }
    }

    #[test]
    fn what_is_written_with_the_providers_status_says_the_same_inside() {
        for dialect in [Shape::ChatCompletions, Shape::Responses, Shape::Messages, Shape::GenerateContent] {
            for status in [400, 404, 408, 413, 418, 429, 500, 502, 503, 504, 529] {
                let body = write_failure_as(dialect, &read_failure(dialect, status, b""), status, "r1");
                assert!(is_failure(dialect, &body), "{dialect} {status}");
                let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
                let code = &body["error"]["code"];
                assert!(dialect != Shape::GenerateContent || *code == status, "{dialect} {status}: {body}");
            }
        }
    }
}
