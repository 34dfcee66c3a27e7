//! Answers in every shape, whole and cut into the parts between which they break.

mod responses;

use serde_json::{Value, json};

use crate::shapes::Shape;
use crate::stub::Asked;

/// What every sound answer says, in two pieces.
pub const WORDS: [&str; 2] = ["Hello", " there"];

/// The shape a request has, and whether it asks for a stream.
#[must_use]
pub fn asked(request: &Asked) -> (Shape, bool) {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let streams = body["stream"] == true;
    if request.target.contains("/messages") {
        (Shape::Messages, streams)
    } else if request.target.contains("enerateContent") {
        (Shape::Generate, request.target.contains(":streamGenerateContent"))
    } else if request.target.contains("/responses") {
        (Shape::Responses, streams)
    } else {
        (Shape::Chat, streams)
    }
}

/// A whole answer.
#[must_use]
pub fn whole(shape: Shape) -> String {
    let text = WORDS.concat();
    let answer = match shape {
        Shape::Chat => json!({"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}),
        Shape::Messages => json!({"id": "m1", "type": "message", "role": "assistant", "model": "m",
            "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {"input_tokens": 3, "output_tokens": 2}}),
        Shape::Generate => json!({"candidates": [
            {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}, "modelVersion": "m", "responseId": "g1"}),
        Shape::Responses => responses::whole(),
    };
    answer.to_string()
}

/// What a stream says before its first content.
#[must_use]
pub fn opening(shape: Shape) -> String {
    match shape {
        Shape::Chat => event(&chunk(&json!({"role": "assistant", "content": ""}), &Value::Null)),
        Shape::Messages => {
            let message = json!({"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [],
                "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 3, "output_tokens": 0}});
            named(&json!({"type": "message_start", "message": message})) + &named(&json!({"type": "ping"}))
        }
        Shape::Generate => event(&json!({"modelVersion": "m", "responseId": "g1", "usageMetadata": {"promptTokenCount": 3}})),
        Shape::Responses => responses::opening(),
    }
}

/// The content of a stream, in two pieces.
#[must_use]
pub fn content(shape: Shape) -> String {
    if shape == Shape::Responses {
        return responses::content();
    }
    let events = WORDS.map(|word| match shape {
        Shape::Chat => event(&chunk(&json!({"content": word}), &Value::Null)),
        Shape::Messages => named(&json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}})),
        Shape::Generate => event(&candidate(word, None)),
        Shape::Responses => unreachable!("it has content of its own"),
    });
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    let start = if shape == Shape::Messages { named(&block) } else { String::new() };
    start + &events.concat()
}

/// How a sound stream ends.
#[must_use]
pub fn ending(shape: Shape) -> String {
    match shape {
        Shape::Chat => event(&chunk(&json!({}), &json!("stop"))) + "data: [DONE]\n\n",
        Shape::Messages => {
            let delta = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
                "usage": {"output_tokens": 2}});
            let stop = named(&json!({"type": "message_stop"}));
            named(&json!({"type": "content_block_stop", "index": 0})) + &named(&delta) + &stop
        }
        Shape::Generate => event(&candidate("", Some("STOP"))),
        Shape::Responses => responses::ending(),
    }
}

/// What a stream says at its end, said once more by a provider that loses count.
#[must_use]
pub fn ending_twice(shape: Shape) -> String {
    let end = ending(shape);
    let again = match shape {
        Shape::Chat => end.replace("data: [DONE]\n\n", ""),
        Shape::Messages => {
            end.split_once("event: message_delta").map(|(_, last)| format!("event: message_delta{last}")).unwrap_or_default()
        }
        Shape::Generate => end.clone(),
        Shape::Responses => responses::last(),
    };
    if shape == Shape::Chat { again + &end } else { end + &again }
}

/// A sound stream.
#[must_use]
pub fn stream(shape: Shape) -> String {
    opening(shape) + &content(shape) + &ending(shape)
}

/// The event by which a provider says inside a stream that it is overloaded.
#[must_use]
pub fn error_event(shape: Shape) -> String {
    let body: Value = serde_json::from_str(&error(shape, 503)).expect("it is JSON");
    if shape == Shape::Responses {
        return responses::error_event(body["error"]["message"].as_str().expect("it has words"));
    }
    if shape == Shape::Messages { named(&body) } else { event(&body) }
}

/// The body of an error with a status.
#[must_use]
pub fn error(shape: Shape, status: u16) -> String {
    let (kind, name) = match status {
        413 if shape == Shape::Messages => ("request_too_large", "INVALID_ARGUMENT"),
        400 | 413 | 422 => ("invalid_request_error", "INVALID_ARGUMENT"),
        401 => ("authentication_error", "UNAUTHENTICATED"),
        403 => ("permission_error", "PERMISSION_DENIED"),
        404 => ("not_found_error", "NOT_FOUND"),
        429 => ("rate_limit_error", "RESOURCE_EXHAUSTED"),
        408 | 504 => ("timeout_error", "DEADLINE_EXCEEDED"),
        503 | 529 => ("overloaded_error", "UNAVAILABLE"),
        _ => ("api_error", "INTERNAL"),
    };
    let message = "the vendor's own words";
    let body = match shape {
        Shape::Chat | Shape::Responses => json!({"error": {"message": message, "type": kind, "param": null, "code": null}}),
        Shape::Messages => json!({"type": "error", "error": {"type": kind, "message": message}}),
        Shape::Generate => json!({"error": {"code": status, "message": message, "status": name}}),
    };
    body.to_string()
}

/// An answer with a length.
#[must_use]
pub fn document(status: u16, content_type: &str, more: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} Faulty\r\ncontent-type: {content_type}\r\n{more}content-length: {}\r\n\r\n{body}", body.len())
}

/// The head of a sound answer in chunks.
#[must_use]
pub fn head(stream: bool) -> String {
    let kind = if stream { "text/event-stream" } else { "application/json" };
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n")
}

/// One chunk.
#[must_use]
pub fn piece(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n", body.len())
}

/// The last chunk.
pub const LAST: &str = "0\r\n\r\n";

/// A sound answer.
#[must_use]
pub fn sound(shape: Shape, streams: bool) -> String {
    let body = if streams { stream(shape) } else { whole(shape) };
    head(streams) + &piece(&body) + LAST
}

fn chunk(delta: &Value, finish: &Value) -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

fn candidate(text: &str, finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": [{"text": text}]}, "index": 0});
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({"candidates": [candidate], "modelVersion": "m", "responseId": "g1",
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}})
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn named(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}
