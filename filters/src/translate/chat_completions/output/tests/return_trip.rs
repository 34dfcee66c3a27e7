//! What a client was shown and sends back reaches its provider as it was minted.

use serde_json::{Value, json};

use super::*;
use crate::translate::chat_completions::decode_request;
use crate::translate::{Capabilities, Encoding, ProviderKind, Quirks, Target, generate_content, messages};

fn target(shape: Shape, kind: ProviderKind, model: &'static str, origin: u32) -> Target<'static> {
    Target { shape, kind, model, origin, capabilities: Capabilities::of(shape, model), quirks: Quirks::VENDOR }
}

/// The message as clients put it together from a stream: lists are extended, texts appended.
fn put_together(out: &str) -> Value {
    let mut message = json!({"role": "assistant", "content": ""});
    let deltas = out.split_terminator("\n\n").filter_map(|line| line.strip_prefix("data: {")).map(|rest| format!("{{{rest}"));
    for chunk in deltas.map(|data| serde_json::from_str::<Value>(&data).expect("JSON")) {
        for (name, value) in chunk["choices"][0]["delta"].as_object().into_iter().flatten() {
            match value {
                Value::String(text) if name != "role" => {
                    let so_far = message[name].as_str().unwrap_or_default().to_owned();
                    message[name] = json!(so_far + text);
                }
                Value::Array(list) if name == "tool_calls" => add_call(&mut message, &list[0]),
                Value::Array(list) => {
                    let mut so_far = message[name].as_array().cloned().unwrap_or_default();
                    so_far.extend(list.iter().cloned());
                    message[name] = json!(so_far);
                }
                _ => {}
            }
        }
    }
    message
}

fn add_call(message: &mut Value, piece: &Value) {
    let mut calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
    if piece.get("id").is_some() {
        calls.push(piece.clone());
    } else if let Some(last) = calls.last_mut() {
        let so_far = last["function"]["arguments"].as_str().unwrap_or_default().to_owned();
        last["function"]["arguments"] = json!(so_far + piece["function"]["arguments"].as_str().unwrap_or_default());
    }
    message["tool_calls"] = json!(calls);
}

fn both(events: &[Event<'_>]) -> [Value; 2] {
    let whole: Value = serde_json::from_str(&run(whole_encoder(view(false)), events)).expect("JSON");
    [whole["choices"][0]["message"].clone(), put_together(&run(stream_encoder(view(false)), events))]
}

fn request(message: &Value) -> String {
    json!({"model": "m", "reasoning_effort": "high", "max_tokens": 40_000, "messages": [
        {"role": "user", "content": "go"}, message, {"role": "tool", "tool_call_id": "a", "content": "1"}],
        "tools": [{"type": "function", "function": {"name": "get_rate"}}]})
    .to_string()
}

#[test]
fn signed_and_sealed_reasoning_returns_byte_for_byte() {
    let sealed = Signature { shape: Shape::Messages, origin: None, value: Text::from("OPAQUE+/=") };
    let events = [
        start(),
        reasoning("think "),
        reasoning("hard"),
        Event::ReasoningSigned { choice: 0, signature: signature() },
        Event::Redacted { choice: 0, signature: sealed },
        text("ok"),
        call(0, "a", false),
        Event::ToolEnd { choice: 0, call: 0 },
        finish(0, FinishReason::ToolCalls),
        Event::End,
    ];
    for message in both(&events) {
        let body = request(&message);
        let mut encoding = Encoding::default();
        let target = target(Shape::Messages, ProviderKind::Anthropic, "claude-sonnet-4-5", 7);
        messages::encode_request(decode_request(body.as_bytes()).expect("a request"), &target, &mut encoding).expect("a request");
        let sent: Value = serde_json::from_slice(&encoding.body).expect("JSON");
        let expected = json!([
            {"type": "thinking", "thinking": "think hard", "signature": "SIG="},
            {"type": "redacted_thinking", "data": "OPAQUE+/="},
        ]);
        assert_eq!(sent["messages"][1]["content"].as_array().map(|blocks| json!(blocks[..2])), Some(expected), "{message}");
        let elsewhere = Target { origin: 8, ..target };
        let mut encoding = Encoding::default();
        messages::encode_request(decode_request(body.as_bytes()).expect("a request"), &elsewhere, &mut encoding).expect("a request");
        assert!(!String::from_utf8_lossy(&encoding.body).contains("SIG="), "another provider's token stays away");
    }
}

#[test]
fn the_token_of_a_call_returns_byte_for_byte() {
    let token = Signature { shape: Shape::GenerateContent, origin: Some(9), value: Text::from("CvAB+/=") };
    let begin =
        Event::ToolStart { choice: 0, call: 0, id: Text::from("a"), name: Text::from("get_rate"), custom: false, signature: Some(token) };
    let events =
        [start(), begin, arguments(0, "{}"), Event::ToolEnd { choice: 0, call: 0 }, finish(0, FinishReason::ToolCalls), Event::End];
    for message in both(&events) {
        let body = request(&message);
        let mut encoding = Encoding::default();
        let target = target(Shape::GenerateContent, ProviderKind::Gemini, "gemini-3-pro", 9);
        generate_content::encode_request(decode_request(body.as_bytes()).expect("a request"), &target, &mut encoding).expect("a request");
        let sent: Value = serde_json::from_slice(&encoding.body).expect("JSON");
        assert_eq!(sent["contents"][1]["parts"][0]["thoughtSignature"], "CvAB+/=", "{message}");
    }
}
