//! What clients get: the grammar of events as the vendor's SDKs put them together, and the one document.

mod grammar;

use std::sync::Arc;

use serde_json::Value;

use super::*;
use crate::canonical::{Citation, Finish, Raw, SearchHit, Signature, Text};
use crate::shape::Shape;
use crate::translate::map::signature::untag;
use crate::usage::SAMPLE as USAGE;

fn view() -> ClientView {
    ClientView {
        shape: Shape::Responses,
        upstream: Shape::Messages,
        origin: 7,
        model: Arc::from("fast"),
        request_id: Arc::from("r1"),
        created: 1_795_219_200,
        include_usage: false,
        show_reasoning: true,
        array: false,
    }
}

fn text(said: &'static str) -> Event<'static> {
    Event::Text { choice: 0, text: Text::Escaped(said.as_bytes()) }
}

fn thought(said: &'static str) -> Event<'static> {
    Event::Reasoning { choice: 0, text: Text::from(said) }
}

fn call(number: u32, id: &'static str, custom: bool) -> Event<'static> {
    Event::ToolStart { choice: 0, call: number, id: Text::from(id), name: Text::from("get_rate"), custom, signature: None }
}

fn arguments(number: u32, piece: &'static str) -> Event<'static> {
    Event::ToolArguments { choice: 0, call: number, fragment: Text::from(piece) }
}

fn ended(number: u32) -> Event<'static> {
    Event::ToolEnd { choice: 0, call: number }
}

fn finish(reason: FinishReason) -> Event<'static> {
    Event::Finish { choice: 0, finish: Finish { reason, raw: Text::from(""), stop_sequence: None, explanation: None } }
}

fn minted() -> Signature<'static> {
    Signature { shape: Shape::Messages, origin: None, value: Text::from("SIG=") }
}

fn failure(class: FailureClass) -> Event<'static> {
    let message = Text::from("it broke");
    Event::Failed(Failure { class, status: 529, message, code: Text::from("overloaded_error"), param: None, retry_after: None })
}

fn bytes(mut encoder: impl Encode, events: &[Event<'_>]) -> String {
    let mut out = Vec::new();
    events.iter().for_each(|event| encoder.event(event, &mut out));
    String::from_utf8(out).expect("text")
}

/// The events of a stream; checks framing, names and sequence numbers.
fn told(events: &[Event<'_>]) -> Vec<Value> {
    let written = bytes(stream_encoder(view()), events);
    let frames: Vec<&str> = written.split_terminator("\n\n").collect();
    let read = |(number, frame): (usize, &&str)| {
        let (name, data) = frame.strip_prefix("event: ").and_then(|rest| rest.split_once("\ndata: ")).expect("a frame");
        let value: Value = serde_json::from_str(data).expect("JSON");
        assert_eq!(value["type"], name);
        assert_eq!(value["sequence_number"], number);
        value
    };
    frames.iter().enumerate().map(read).collect()
}

/// The output as the SDKs accumulate it: items, parts and deltas at their places, each completed by its `done` events.
fn accumulated(events: &[Value]) -> Vec<Value> {
    let mut output: Vec<Value> = Vec::new();
    for event in events {
        let place = event["output_index"].as_u64().unwrap_or(0) as usize;
        let (part, summary) =
            (event["content_index"].as_u64().unwrap_or(0) as usize, event["summary_index"].as_u64().unwrap_or(0) as usize);
        let extend = |value: &mut Value| {
            *value = Value::from(format!("{}{}", value.as_str().expect("text"), event["delta"].as_str().expect("text")))
        };
        match event["type"].as_str().expect("a type") {
            "response.output_item.added" => {
                assert_eq!(place, output.len(), "items are added in order");
                output.push(event["item"].clone());
            }
            "response.content_part.added" => output[place]["content"].as_array_mut().expect("parts").push(event["part"].clone()),
            "response.reasoning_summary_part.added" => output[place]["summary"].as_array_mut().expect("parts").push(event["part"].clone()),
            "response.output_text.delta" => extend(&mut output[place]["content"][part]["text"]),
            "response.refusal.delta" => extend(&mut output[place]["content"][part]["refusal"]),
            "response.reasoning_summary_text.delta" => extend(&mut output[place]["summary"][summary]["text"]),
            "response.function_call_arguments.delta" => extend(&mut output[place]["arguments"]),
            "response.custom_tool_call_input.delta" => extend(&mut output[place]["input"]),
            "response.output_text.done" => assert_eq!(output[place]["content"][part]["text"], event["text"]),
            "response.reasoning_summary_text.done" => assert_eq!(output[place]["summary"][summary]["text"], event["text"]),
            "response.output_item.done" => {
                let open = output[place].clone();
                assert_eq!((&open["id"], &open["type"]), (&event["item"]["id"], &event["item"]["type"]));
                output[place] = event["item"].clone();
            }
            _ => {}
        }
        if event["item_id"].is_string() {
            assert_eq!(event["item_id"], output[place]["id"], "events name their item");
        }
    }
    output
}

fn everything() -> Vec<Event<'static>> {
    let hit = SearchHit { url: Text::from("https://x.example"), title: Text::from("X"), sealed: Text::from("") };
    vec![
        Event::Start { id: Some(Text::from("msg_1")), created: None },
        thought("Let me "),
        thought("see."),
        Event::ReasoningSigned { choice: 0, signature: minted() },
        Event::WebSearch { choice: 0, id: Text::from("srvtoolu_1"), query: Text::from("news"), hits: vec![hit] },
        text("It \\\"rains\\\" "),
        text("\\u00e9."),
        Event::Redacted { choice: 0, signature: minted() },
        call(0, "call_a", false),
        arguments(0, "{\"a\""),
        call(1, "call_b", true),
        arguments(1, "free \"text\""),
        arguments(0, ":1}"),
        ended(0),
        ended(1),
        call(2, "call_c", false),
        ended(2),
        Event::Usage(USAGE),
        finish(FinishReason::ToolCalls),
        Event::End,
    ]
}

#[test]
fn a_stream_accumulates_to_the_output_its_last_event_tells_and_a_whole_answer_gives() {
    let events = told(&everything());
    let last = events.last().expect("a last event");
    assert_eq!((&events[0]["type"], &events[1]["type"]), (&"response.created".into(), &"response.in_progress".into()));
    assert_eq!(events[0]["response"]["status"], "in_progress");
    assert!(events[0]["response"]["usage"].is_null());
    assert_eq!((&last["type"], &last["response"]["status"]), (&"response.completed".into(), &"completed".into()));
    assert_eq!(Value::from(accumulated(&events)), last["response"]["output"]);
    let whole: Value = serde_json::from_str(&bytes(whole_encoder(view()), &everything())).expect("JSON");
    assert_eq!(whole, last["response"]);
    let kinds: Vec<&str> = whole["output"].as_array().expect("items").iter().map(|item| item["type"].as_str().expect("a type")).collect();
    assert_eq!(kinds, ["reasoning", "web_search_call", "message", "reasoning", "function_call", "custom_tool_call", "function_call"]);
}

#[test]
fn items_hold_what_was_said_thought_and_called() {
    let whole: Value = serde_json::from_str(&bytes(whole_encoder(view()), &everything())).expect("JSON");
    let output = &whole["output"];
    assert_eq!(output[0]["summary"][0]["text"], "Let me see.");
    assert_eq!(
        output[1]["action"],
        serde_json::json!({"type": "search", "query": "news", "sources": [{"type": "url", "url": "https://x.example"}]})
    );
    assert_eq!(output[2]["content"][0]["text"], "It \"rains\" é.");
    assert_eq!((&output[4]["call_id"], &output[4]["arguments"]), (&"call_a".into(), &"{\"a\":1}".into()));
    assert_eq!((&output[5]["call_id"], &output[5]["input"]), (&"call_b".into(), &"free \"text\"".into()));
    assert_eq!(output[6]["arguments"], "{}");
}

#[test]
fn tokens_say_who_minted_them() {
    let whole: Value = serde_json::from_str(&bytes(whole_encoder(view()), &everything())).expect("JSON");
    let shown = whole["output"][0]["encrypted_content"].as_str().expect("a token");
    let sealed = whole["output"][3]["encrypted_content"].as_str().expect("a token");
    let expected = Some(Signature { origin: Some(7), ..minted() });
    assert_eq!(untag(shown), expected);
    assert_eq!(sealed.strip_prefix('#').and_then(untag), expected);
}

#[test]
fn usage_is_inclusive_and_always_there() {
    let whole = |usage: Option<Usage>| -> Value {
        let mut events = vec![text("x")];
        events.extend(usage.map(Event::Usage));
        events.push(Event::End);
        serde_json::from_str(&bytes(whole_encoder(view()), &events)).expect("JSON")
    };
    assert_eq!(
        whole(Some(USAGE))["usage"],
        serde_json::json!({"input_tokens": 120, "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 16},
            "output_tokens": 31, "output_tokens_details": {"reasoning_tokens": 12}, "total_tokens": 151})
    );
    assert_eq!(whole(None)["usage"]["total_tokens"], 0);
}

#[test]
fn an_answer_cut_off_is_incomplete_and_says_why() {
    for (reason, why) in [(FinishReason::Length, "max_output_tokens"), (FinishReason::Refusal, "content_filter")] {
        let events = told(&[text("x"), finish(reason), Event::End]);
        let last = events.last().expect("a last event");
        assert_eq!(last["type"], "response.incomplete");
        assert_eq!(last["response"]["status"], "incomplete");
        assert_eq!(last["response"]["incomplete_details"]["reason"], why);
        assert_eq!(last["response"]["output"][0]["status"], "incomplete");
    }
}

#[test]
fn a_failure_is_told_in_both_ways_and_nothing_follows() {
    let events = told(&[text("x"), failure(FailureClass::Overloaded), text("y"), Event::End]);
    let [.., error, failed] = events.as_slice() else { panic!("two events") };
    assert_eq!((&error["type"], &error["error"]["message"]), (&"error".into(), &"it broke".into()));
    assert_eq!((&failed["type"], &failed["response"]["status"]), (&"response.failed".into(), &"failed".into()));
    assert_eq!(failed["response"]["error"], serde_json::json!({"code": "server_is_overloaded", "message": "it broke"}));
    assert_eq!(failed["response"]["output"], serde_json::json!([]));
    assert_eq!(bytes(whole_encoder(view()), &[text("x"), failure(FailureClass::Server), Event::End]), "");
}

#[test]
fn a_refusal_is_a_part_of_its_own() {
    let events = told(&[text("Well. "), Event::Refusal { choice: 0, text: Text::from("No.") }, Event::End]);
    let output = accumulated(&events);
    assert_eq!(output[0]["content"][0]["type"], "output_text");
    assert_eq!(output[1]["content"][0], serde_json::json!({"type": "refusal", "refusal": "No."}));
    assert!(events.iter().any(|event| event["type"] == "response.refusal.done" && event["refusal"] == "No."));
}

#[test]
fn sources_count_within_their_message() {
    let cite = |span| Event::Citation {
        choice: 0,
        citation: Citation { url: Text::from("https://x.example"), title: Text::from("X"), cited: Text::from(""), span },
    };
    let events = told(&[text("Frühling"), thought("hm"), text("It rains."), cite(Some((8, 17))), cite(None), Event::End]);
    let output = accumulated(&events);
    let annotations = &output[2]["content"][0]["annotations"];
    assert_eq!(annotations[0], annotations[1]);
    assert_eq!((&annotations[0]["start_index"], &annotations[0]["end_index"]), (&0.into(), &9.into()));
    let added: Vec<&Value> = events.iter().filter(|event| event["type"] == "response.output_text.annotation.added").collect();
    assert_eq!((&added[1]["annotation_index"], &added[1]["annotation"]), (&1.into(), &annotations[1]));
}

#[test]
fn log_probabilities_come_with_the_finished_part() {
    let weighed = |token: &'static str| Event::Logprobs { choice: 0, elements: Raw::from(token.as_bytes()) };
    let events = told(&[text("a"), weighed("{\"token\":\"a\"}"), text("b"), weighed("{\"token\":\"b\"}"), Event::End]);
    let expected = serde_json::json!([{"token": "a"}, {"token": "b"}]);
    assert_eq!(accumulated(&events)[0]["content"][0]["logprobs"], expected);
    assert!(events.iter().any(|event| event["type"] == "response.output_text.done" && event["logprobs"] == expected));
}

#[test]
fn pictures_are_items_and_sound_is_left_out() {
    let media = |kind: &'static str| Event::Media { choice: 0, media_type: Text::from(kind), data: Text::from("QUJD") };
    let output = accumulated(&told(&[media("image/png"), media("audio/wav"), Event::End]));
    assert_eq!((output.len(), &output[0]["type"], &output[0]["result"]), (1, &"image_generation_call".into(), &"QUJD".into()));
}

#[test]
fn only_the_first_answer_and_only_wanted_reasoning_is_given() {
    let mut hidden = view();
    hidden.show_reasoning = false;
    let other = Event::Text { choice: 1, text: Text::from("other") };
    let events = [thought("secret"), Event::ReasoningSigned { choice: 0, signature: minted() }, text("x"), other, Event::End];
    let whole: Value = serde_json::from_str(&bytes(whole_encoder(hidden), &events)).expect("JSON");
    assert_eq!(whole["output"][0]["summary"], serde_json::json!([]));
    assert!(whole["output"][0]["encrypted_content"].is_string());
    assert_eq!((whole["output"].as_array().map(Vec::len), &whole["output"][1]["content"][0]["text"]), (Some(2), &"x".into()));
}
