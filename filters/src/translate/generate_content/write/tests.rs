use std::sync::Arc;

use serde_json::{Value, json};

use super::{stream_encoder, whole_encoder};
use crate::canonical::{
    Event, Finish, FinishReason, Text,
};
use crate::shape::Shape;
use crate::translate::generate_content::decode_request;
use crate::translate::{ClientView, Encode};
use crate::usage::Usage;

fn view(upstream: Shape) -> ClientView {
    ClientView {
        shape: Shape::GenerateContent,
        upstream,
        origin: 7,
        model: Arc::from("fast"),
        request_id: Arc::from("req-1"),
        created: 0,
        include_usage: false,
        show_reasoning: true,
        array: false,
    }
}

fn text(text: &'static str) -> Event<'static> {
    Event::Text { choice: 0, text: Text::from(text) }
}

fn thought(text: &'static str) -> Event<'static> {
    Event::Reasoning { choice: 0, text: Text::from(text) }
}

fn call(call: u32, name: &'static str, fragments: &[&'static str]) -> Vec<Event<'static>> {
    let id = Text::from(format!("call_{call}"));
    let mut events = vec![Event::ToolStart { choice: 0, call, id, name: Text::from(name), custom: false, signature: None }];
    events.extend(fragments.iter().map(|fragment| Event::ToolArguments { choice: 0, call, fragment: Text::from(*fragment) }));
    events.push(Event::ToolEnd { choice: 0, call });
    events
}

fn finish(reason: FinishReason) -> Event<'static> {
    let finish = Finish { reason, raw: Text::from("x"), stop_sequence: None, explanation: None };
    Event::Finish { choice: 0, finish }
}

fn start() -> Event<'static> {
    Event::Start { id: Some(Text::from("chatcmpl-1")), created: None }
}

fn written(mut encoder: impl Encode, events: &[Event<'_>]) -> String {
    let mut out = Vec::new();
    events.iter().for_each(|event| encoder.event(event, &mut out));
    String::from_utf8(out).unwrap()
}

/// The chunks of a stream of events, whose framing is checked.
fn chunks(view: ClientView, events: &[Event<'_>]) -> Vec<Value> {
    let out = written(stream_encoder(view), events);
    assert!(out.is_empty() || out.ends_with("\r\n\r\n"), "{out}");
    let chunk = |frame: &str| serde_json::from_str(frame.strip_prefix("data: ").expect("the exact prefix")).expect("JSON");
    out.split_terminator("\r\n\r\n").map(chunk).collect()
}

fn whole(view: ClientView, events: &[Event<'_>]) -> Value {
    serde_json::from_str(&written(whole_encoder(view), events)).expect("JSON")
}

fn parts(chunk: &Value) -> &Value {
    &chunk["candidates"][0]["content"]["parts"]
}

/// Every chunk has a candidate with a part that is no empty object, or clients drop the turn.
fn has_parts(chunks: &[Value]) {
    for chunk in chunks {
        let candidates = chunk["candidates"].as_array().expect("candidates");
        assert!(!candidates.is_empty());
        for candidate in candidates {
            let parts = candidate["content"]["parts"].as_array().expect("parts");
            assert!(!parts.is_empty() && parts.iter().all(|part| part.as_object().is_some_and(|part| !part.is_empty())), "{chunk}");
        }
        assert_eq!((&chunk["modelVersion"], &chunk["responseId"]), (&json!("fast"), &json!("req-1")));
    }
}

fn usage() -> Usage {
    Usage { input_uncached: 40, cache_read: 64, cache_write_5m: 16, output: 31, reasoning: Some(12), ..Usage::default() }
}

#[test]
fn text_flows_through_and_the_last_chunk_tells_the_end_and_the_cost() {
    let events = [start(), text("Hel"), text("lo \"x\"\n"), finish(FinishReason::Stop), Event::Usage(usage()), Event::End, text("late")];
    let chunks = chunks(view(Shape::ChatCompletions), &events);
    has_parts(&chunks);
    let expected = json!({"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"Hel"}]}}],"modelVersion":"fast","responseId":"req-1"});
    assert_eq!(chunks[0], expected);
    assert_eq!(parts(&chunks[1]), &json!([{"text":"lo \"x\"\n"}]));
    assert_eq!(parts(&chunks[2]), &json!([{"text":""}]));
    assert_eq!(chunks[2]["candidates"][0]["finishReason"], "STOP");
    let usage = json!({"promptTokenCount":120,"cachedContentTokenCount":64,"candidatesTokenCount":19,"thoughtsTokenCount":12,"totalTokenCount":151});
    assert_eq!(chunks[2]["usageMetadata"], usage);
    assert_eq!(chunks.len(), 3);
}
