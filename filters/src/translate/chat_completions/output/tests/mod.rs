//! What clients get, byte for byte.

mod grammar;
mod legacy;
mod return_trip;
mod whole;

use std::sync::Arc;

use super::*;
use crate::canonical::{Citation, Event, Failure, FailureClass, Finish, Raw, Signature};
use crate::translate::Encode;
use crate::translate::map::signature::untag;
use crate::usage::SAMPLE as USAGE;

fn view(include_usage: bool) -> ClientView {
    ClientView {
        shape: Shape::ChatCompletions,
        upstream: Shape::Messages,
        origin: 7,
        model: Arc::from("fast"),
        request_id: Arc::from("r1"),
        created: 1_795_219_200,
        include_usage,
        show_reasoning: true,
        array: false,
    }
}

fn text(said: &'static str) -> Event<'static> {
    Event::Text { choice: 0, text: Text::Escaped(said.as_bytes()) }
}

fn reasoning(said: &'static str) -> Event<'static> {
    Event::Reasoning { choice: 0, text: Text::from(said) }
}

fn start() -> Event<'static> {
    Event::Start { id: Some(Text::from("msg_1")), created: None }
}

fn finish(choice: u32, reason: FinishReason) -> Event<'static> {
    Event::Finish { choice, finish: Finish { reason, raw: Text::from(""), stop_sequence: None, explanation: None } }
}

fn call(number: u32, id: &'static str, custom: bool) -> Event<'static> {
    Event::ToolStart { choice: 0, call: number, id: Text::from(id), name: Text::from("get_rate"), custom, signature: None }
}

fn arguments(number: u32, piece: &'static str) -> Event<'static> {
    Event::ToolArguments { choice: 0, call: number, fragment: Text::from(piece) }
}

fn signature() -> Signature<'static> {
    Signature { shape: Shape::Messages, origin: None, value: Text::from("SIG=") }
}

fn run(mut encoder: impl Encode, events: &[Event<'_>]) -> String {
    let mut out = Vec::new();
    events.iter().for_each(|event| encoder.event(event, &mut out));
    String::from_utf8(out).expect("UTF-8")
}

/// The chunks of a stream without what they all have in common.
fn chunks(include_usage: bool, events: &[Event<'_>]) -> Vec<String> {
    let out = run(stream_encoder(view(include_usage)), events);
    let head = r#"data: {"id":"chatcmpl-r1","object":"chat.completion.chunk","created":1795219200,"model":"fast","choices":["#;
    out.split_terminator("\n\n").map(|line| line.strip_prefix(head).unwrap_or(line).to_owned()).collect()
}

fn whole(events: &[Event<'_>]) -> serde_json::Value {
    serde_json::from_str(&run(whole_encoder(view(false)), events)).expect("JSON")
}

#[test]
fn a_stream_reads_as_the_vendors_does() {
    let events = [
        start(),
        call(0, "toolu_01A", false),
        arguments(0, "{\"pair\":\"EURUSD\"}"),
        Event::ToolEnd { choice: 0, call: 0 },
        Event::Usage(USAGE),
        finish(0, FinishReason::ToolCalls),
        Event::End,
    ];
    let expected = [
        r#"{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
        r#"{"index":0,"delta":{"tool_calls":[{"index":0,"id":"toolu_01A","type":"function","function":{"name":"get_rate","arguments":""}}]},"finish_reason":null}],"usage":null}"#,
        r#"{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"pair\":\"EURUSD\"}"}}]},"finish_reason":null}],"usage":null}"#,
        r#"{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":null}"#,
        r#"],"usage":{"prompt_tokens":120,"completion_tokens":31,"total_tokens":151,"prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":16},"completion_tokens_details":{"reasoning_tokens":12}}}"#,
        "data: [DONE]",
    ];
    assert_eq!(chunks(true, &events), expected);
}

#[test]
fn without_being_asked_no_chunk_speaks_of_usage() {
    let seen = chunks(false, &[start(), text("a"), Event::Usage(USAGE), finish(0, FinishReason::Stop), Event::End]);
    assert_eq!(
        seen[1..],
        [
            r#"{"index":0,"delta":{"content":"a"},"finish_reason":null}]}"#,
            r#"{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
            "data: [DONE]"
        ]
    );
}

#[test]
fn usage_is_an_object_even_where_the_provider_told_none() {
    let seen = chunks(true, &[start(), finish(0, FinishReason::Stop), Event::End]);
    assert!(seen[2].starts_with(r#"],"usage":{"prompt_tokens":0,"completion_tokens":0"#), "{seen:?}");
}

#[test]
fn reasoning_and_its_token_are_shown_where_clients_look_for_them() {
    let events = [
        start(),
        reasoning("hm"),
        Event::ReasoningSigned { choice: 0, signature: signature() },
        Event::Redacted { choice: 0, signature: signature() },
    ];
    let seen = chunks(false, &events);
    assert_eq!(seen[1], r#"{"index":0,"delta":{"reasoning_content":"hm"},"finish_reason":null}]}"#);
    let token = members::tagged(&signature(), &view(false));
    assert_eq!(
        seen[2],
        format!(
            r#"{{"index":0,"delta":{{"thinking_blocks":[{{"type":"thinking","thinking":"hm","signature":"{token}"}}]}},"finish_reason":null}}]}}"#
        )
    );
    assert_eq!(
        seen[3],
        format!(r#"{{"index":0,"delta":{{"thinking_blocks":[{{"type":"redacted_thinking","data":"{token}"}}]}},"finish_reason":null}}]}}"#)
    );
    let back = untag(&token).expect("a tag");
    assert_eq!((back.origin, back.shape), (Some(7), Shape::Messages));
}

#[test]
fn hidden_reasoning_is_not_shown() {
    let hidden = ClientView { show_reasoning: false, ..view(false) };
    let events = [
        start(),
        reasoning("hm"),
        Event::ReasoningSigned { choice: 0, signature: signature() },
        text("a"),
        finish(0, FinishReason::Stop),
        Event::End,
    ];
    assert!(!run(stream_encoder(hidden.clone()), &events).contains("thinking_blocks"));
    assert!(!run(whole_encoder(hidden), &events).contains("hm"));
}

#[test]
fn a_token_of_a_call_rides_on_the_call() {
    let signature = Signature { shape: Shape::GenerateContent, origin: Some(9), value: Text::from("G") };
    let event =
        Event::ToolStart { choice: 0, call: 0, id: Text::from("c"), name: Text::from("f"), custom: false, signature: Some(signature) };
    let seen = chunks(false, &[start(), event.clone()]);
    assert!(seen[1].contains(r#""extra_content":{"google":{"thought_signature":"g1.00000009.Rw"}}"#), "{seen:?}");
    let told = whole(&[start(), event, finish(0, FinishReason::Stop), Event::End]);
    assert_eq!(told["choices"][0]["message"]["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "g1.00000009.Rw");
    assert_eq!(told["choices"][0]["finish_reason"], "tool_calls", "many providers say stop");
}

#[test]
fn calls_without_arguments_have_an_empty_object_and_free_text_has_none() {
    let seen = chunks(
        false,
        &[start(), call(0, "a", false), Event::ToolEnd { choice: 0, call: 0 }, call(1, "b", true), Event::ToolEnd { choice: 0, call: 1 }],
    );
    assert!(seen[2].contains(r#"{"index":0,"function":{"arguments":"{}"}}"#), "{seen:?}");
    assert!(seen[3].contains(r#"{"index":1,"id":"b","type":"custom","custom":{"name":"get_rate","input":""}}"#), "{seen:?}");
    assert_eq!(seen.len(), 4);
}

#[test]
fn every_choice_begins_with_its_role_and_ends_once() {
    let second = Event::Text { choice: 1, text: Text::from("b") };
    let seen = chunks(false, &[start(), text("a"), second, finish(1, FinishReason::Length), finish(0, FinishReason::Stop), Event::End]);
    assert_eq!(
        seen[2..6],
        [
            r#"{"index":1,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
            r#"{"index":1,"delta":{"content":"b"},"finish_reason":null}]}"#,
            r#"{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
            r#"{"index":1,"delta":{},"finish_reason":"length"}]}"#,
        ]
    );
}

#[test]
fn reasons_have_the_dialects_words() {
    let table = [
        (FinishReason::Stop, "stop"),
        (FinishReason::StopSequence, "stop"),
        (FinishReason::Length, "length"),
        (FinishReason::ToolCalls, "tool_calls"),
        (FinishReason::Refusal, "content_filter"),
        (FinishReason::Pause, "stop"),
        (FinishReason::Other, "stop"),
    ];
    for (reason, word) in table {
        assert_eq!(finish_word(reason, false, false), word);
    }
    assert_eq!(finish_word(FinishReason::Other, true, false), "tool_calls");
    assert_eq!(finish_word(FinishReason::Length, true, false), "length");
}

#[test]
fn a_failure_is_the_last_word() {
    let failure = Failure {
        class: FailureClass::Overloaded,
        status: 529,
        message: Text::from("Overloaded"),
        code: Text::from("overloaded_error"),
        param: None,
        retry_after: None,
    };
    let events = [start(), text("a"), Event::Failed(failure.clone()), text("b"), Event::End];
    let seen = chunks(true, &events);
    let error = r#"data: {"error":{"message":"Overloaded","type":"service_unavailable_error","param":null,"code":"server_is_overloaded"}}"#;
    assert_eq!(seen[2..], [error]);
    assert_eq!(run(whole_encoder(view(true)), &events), "", "the caller answers");
    let cut = Failure { code: Text::from("upstream_error"), ..failure };
    let error = r#"data: {"error":{"message":"Overloaded","type":"server_error","param":null,"code":"upstream_error"}}"#;
    assert_eq!(chunks(true, &[Event::Failed(cut)]), [error]);
}

#[test]
fn nothing_is_written_after_the_end() {
    let seen = chunks(false, &[start(), finish(0, FinishReason::Stop), Event::End, text("x"), Event::End]);
    assert_eq!(seen.last().map(String::as_str), Some("data: [DONE]"));
    assert_eq!(seen.len(), 3);
}
