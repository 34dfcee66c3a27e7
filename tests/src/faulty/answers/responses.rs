//! The parts of an answer in the responses dialect.

use serde_json::{Value, json};

use super::{WORDS, named};

/// A whole answer.
pub(super) fn whole() -> Value {
    response("completed", &json!([message(&json!([text(&WORDS.concat())]), "completed")]))
}

/// What a stream says before its first content.
pub(super) fn opening() -> String {
    let begun = response("in_progress", &json!([]));
    named(&json!({"type": "response.created", "sequence_number": 0, "response": begun}))
        + &named(&json!({"type": "response.in_progress", "sequence_number": 1, "response": begun}))
}

/// The content of a stream.
pub(super) fn content() -> String {
    let item = json!({"type": "response.output_item.added", "output_index": 0, "item": message(&json!([]), "in_progress")});
    let part = part(json!({"type": "response.content_part.added", "part": text("")}));
    let deltas = WORDS.map(|word| named(&part_of(json!({"type": "response.output_text.delta", "delta": word, "logprobs": []}))));
    named(&item) + &part + &deltas.concat()
}

/// How a sound stream ends.
pub(super) fn ending() -> String {
    let words = WORDS.concat();
    let item = json!({"type": "response.output_item.done", "output_index": 0, "item": message(&json!([text(&words)]), "completed")});
    part(json!({"type": "response.output_text.done", "text": words, "logprobs": []}))
        + &part(json!({"type": "response.content_part.done", "part": text(&words)}))
        + &named(&item)
        + &last()
}

/// The event that ends a sound stream.
pub(super) fn last() -> String {
    named(&json!({"type": "response.completed", "sequence_number": 9, "response": whole()}))
}

/// The event by which the vendor says that it is overloaded.
pub(super) fn error_event(words: &str) -> String {
    named(&json!({"type": "error", "code": "server_is_overloaded", "message": words, "param": null, "sequence_number": 2}))
}

fn response(status: &str, output: &Value) -> Value {
    let usage = json!({"input_tokens": 3, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 5});
    let usage = if status == "completed" { usage } else { Value::Null };
    json!({"id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m", "output": output, "error": null,
        "incomplete_details": null, "usage": usage})
}

fn message(content: &Value, status: &str) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": content})
}

fn text(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn part(event: Value) -> String {
    named(&part_of(event))
}

fn part_of(mut event: Value) -> Value {
    event["item_id"] = "msg_1".into();
    event["output_index"] = 0.into();
    event["content_index"] = 0.into();
    event["sequence_number"] = 5.into();
    event
}
