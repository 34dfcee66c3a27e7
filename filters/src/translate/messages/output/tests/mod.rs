//! Answers for clients, written from events as decoders give them.

mod grammar;
mod stream;
mod whole;

use serde_json::{Value, json};

use super::{stream_encoder, whole_encoder};
use crate::canonical::{Citation, Event, Failure, FailureClass, Finish, FinishReason, SearchHit, Signature, Text};
use crate::shape::Shape;
use crate::translate::{ClientView, Encode};
use crate::usage::Usage;

pub(super) fn view(upstream: Shape) -> ClientView {
    ClientView {
        shape: Shape::Messages,
        upstream,
        origin: 0x2a,
        model: "fast".into(),
        request_id: "r-1".into(),
        created: 0,
        include_usage: false,
        show_reasoning: true,
        array: false,
    }
}

pub(super) fn start() -> Event<'static> {
    Event::Start { id: Some(Text::from("chatcmpl-1")), created: None }
}

pub(super) fn text(text: &'static str) -> Event<'static> {
    Event::Text { choice: 0, text: Text::from(text) }
}

pub(super) fn reasoning(text: &'static str) -> Event<'static> {
    Event::Reasoning { choice: 0, text: Text::from(text) }
}

pub(super) fn token(value: &'static str) -> Signature<'static> {
    Signature { shape: Shape::GenerateContent, origin: None, value: Text::from(value) }
}

pub(super) fn signed(value: &'static str) -> Event<'static> {
    Event::ReasoningSigned { choice: 0, signature: token(value) }
}

pub(super) fn call(call: u32, id: &'static str) -> Event<'static> {
    Event::ToolStart { choice: 0, call, id: Text::from(id), name: Text::from("get_rate"), custom: false, signature: None }
}

pub(super) fn arguments(call: u32, fragment: &'static str) -> Event<'static> {
    Event::ToolArguments { choice: 0, call, fragment: Text::from(fragment) }
}

pub(super) fn ended(call: u32) -> Event<'static> {
    Event::ToolEnd { choice: 0, call }
}

pub(super) fn citation(span: Option<(u64, u64)>) -> Event<'static> {
    let citation = Citation { url: Text::from("https://r"), title: Text::from("R"), cited: Text::from("c"), span };
    Event::Citation { choice: 0, citation }
}

pub(super) fn search(id: &'static str) -> Event<'static> {
    let hits = vec![SearchHit { url: Text::from("https://r"), title: Text::from("R"), sealed: Text::from("") }];
    Event::WebSearch { choice: 0, id: Text::from(id), query: Text::from("say \"x\""), hits }
}

pub(super) fn finish(reason: FinishReason) -> Event<'static> {
    Event::Finish { choice: 0, finish: Finish { reason, raw: Text::from(""), stop_sequence: None, explanation: None } }
}

/// The usage of the reference's worked example.
pub(super) fn usage() -> Event<'static> {
    Event::Usage(Usage { input_uncached: 40, cache_read: 64, cache_write_5m: 16, output: 31, reasoning: Some(12), ..Usage::default() })
}

pub(super) fn failed(class: FailureClass) -> Event<'static> {
    let failure = Failure { class, status: 500, message: Text::from("broke"), code: Text::from(""), param: None, retry_after: None };
    Event::Failed(failure)
}

pub(super) fn write(encoder: &mut impl Encode, events: &[Event<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    events.iter().for_each(|event| encoder.event(event, &mut out));
    out
}

pub(super) fn whole(upstream: Shape, events: &[Event<'_>]) -> Value {
    let out = write(&mut whole_encoder(view(upstream)), events);
    serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out)))
}

/// The events of a stream as names and data.
pub(super) fn streamed(upstream: Shape, events: &[Event<'_>]) -> Vec<Value> {
    parsed(&write(&mut stream_encoder(view(upstream)), events))
}

pub(super) fn parsed(out: &[u8]) -> Vec<Value> {
    let out = std::str::from_utf8(out).expect("UTF-8");
    let frames = out.split_terminator("\n\n").map(|frame| {
        let (name, data) = frame.split_once('\n').expect("two lines");
        let name = name.strip_prefix("event: ").expect("a name");
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").expect("data")).expect("valid JSON");
        assert_eq!(data["type"], name, "both lines say the same");
        data
    });
    frames.collect()
}

/// The blocks a client puts together from a stream, checked against the grammar.
pub(super) fn blocks(events: &[Event<'_>]) -> Vec<Value> {
    grammar::check(&streamed(Shape::ChatCompletions, events))
}

pub(super) fn tool(id: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": "get_rate", "input": input})
}
