//! Calls for clients that know the old form only.

use super::*;

fn events() -> Vec<Event<'static>> {
    vec![
        start(),
        text("a"),
        call(0, "one", false),
        call(1, "two", false),
        arguments(0, "{\"x\":"),
        arguments(1, "{}"),
        arguments(0, "1}"),
        Event::ToolEnd { choice: 0, call: 0 },
        Event::ToolEnd { choice: 0, call: 1 },
        finish(0, FinishReason::ToolCalls),
        Event::End,
    ]
}

#[test]
fn a_stream_tells_the_first_call_as_function_call() {
    let out = run(legacy_stream_encoder(view(false)), &events());
    let deltas: Vec<serde_json::Value> = out
        .split("\n\n")
        .filter_map(|chunk| serde_json::from_str::<serde_json::Value>(chunk.strip_prefix("data: ")?).ok())
        .map(|mut chunk| chunk["choices"][0].take())
        .collect();
    let said: Vec<&serde_json::Value> =
        deltas.iter().map(|choice| &choice["delta"]["function_call"]).filter(|call| !call.is_null()).collect();
    assert_eq!(said[0], &serde_json::json!({"name": "get_rate", "arguments": ""}));
    assert_eq!(said[1..].iter().map(|call| call["arguments"].as_str().unwrap()).collect::<String>(), r#"{"x":1}"#);
    assert_eq!(deltas.last().unwrap()["finish_reason"], "function_call");
    assert!(!out.contains("tool_calls"), "{out}");
}

#[test]
fn a_document_tells_the_first_call_as_function_call() {
    let told: serde_json::Value = serde_json::from_str(&run(legacy_whole_encoder(view(false)), &events())).unwrap();
    let choice = &told["choices"][0];
    assert_eq!(choice["message"]["function_call"], serde_json::json!({"name": "get_rate", "arguments": "{\"x\":1}"}));
    assert_eq!((&choice["message"]["tool_calls"], choice["finish_reason"].as_str()), (&serde_json::Value::Null, Some("function_call")));
}

#[test]
fn a_call_without_arguments_has_an_empty_object_for_them() {
    let bare = [start(), call(0, "one", false), Event::ToolEnd { choice: 0, call: 0 }, finish(0, FinishReason::Stop), Event::End];
    assert!(run(legacy_stream_encoder(view(false)), &bare).contains(r#""delta":{"function_call":{"arguments":"{}"}}"#));
    assert!(run(legacy_whole_encoder(view(false)), &bare).contains(r#""function_call":{"name":"get_rate","arguments":"{}"}"#));
}

#[test]
fn an_answer_without_calls_is_the_same_in_both_forms() {
    let said = [start(), text("a"), finish(0, FinishReason::Stop), Event::End];
    assert_eq!(run(legacy_stream_encoder(view(true)), &said), run(stream_encoder(view(true)), &said));
    assert_eq!(run(legacy_whole_encoder(view(true)), &said), run(whole_encoder(view(true)), &said));
}
