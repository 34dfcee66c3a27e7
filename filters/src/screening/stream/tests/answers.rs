//! Answers of every shape, made of blocks that are cut into deltas, and the texts of such answers read back.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::passage::{BodyKind, Framing};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Chat,
    Messages,
    Generate,
    GenerateArray,
    Responses,
}

pub(super) const SHAPES: [Shape; 5] = [Shape::Chat, Shape::Messages, Shape::Generate, Shape::GenerateArray, Shape::Responses];

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holds {
    Reasoning,
    Text,
    Refusal,
    Arguments,
}

/// A block as its deltas.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) holds: Holds,
    pub(super) deltas: Vec<String>,
}

pub(super) fn block(holds: Holds, deltas: &[&str]) -> Block {
    Block { holds, deltas: deltas.iter().map(|delta| (*delta).to_owned()).collect() }
}

impl Block {
    pub(super) fn text(&self) -> String {
        self.deltas.concat()
    }
}

impl Shape {
    pub(super) fn kind(self) -> BodyKind {
        match self {
            Self::Chat => BodyKind::ChatCompletions,
            Self::Messages => BodyKind::Messages,
            Self::Generate | Self::GenerateArray => BodyKind::GenerateContent,
            Self::Responses => BodyKind::Responses,
        }
    }

    pub(super) fn framing(self) -> Framing {
        if self == Self::GenerateArray { Framing::JsonArray } else { Framing::Sse }
    }

    /// Whether blocks of this kind exist.
    pub(super) fn has(self, holds: Holds) -> bool {
        holds != Holds::Refusal || matches!(self, Self::Chat | Self::Responses)
    }

    /// The events of an answer. Of generate content, arguments are one event whatever their deltas.
    pub(super) fn events(self, blocks: &[Block]) -> Vec<String> {
        match self {
            Self::Chat => chat(blocks),
            Self::Messages => messages(blocks),
            Self::Generate => generate(blocks).into_iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect(),
            Self::GenerateArray => {
                let chunks = generate(blocks);
                let mut events: Vec<String> = chunks.iter().map(|chunk| format!(",\r\n{chunk}")).collect();
                events[0] = format!("[{}", chunks[0]);
                events.push("]".to_owned());
                events
            }
            Self::Responses => responses(blocks),
        }
    }

    /// The data of the events in a stream.
    pub(super) fn data(self, stream: &str) -> Vec<Value> {
        let stream = if matches!(self, Self::Generate | Self::GenerateArray) { &*mended(stream) } else { stream };
        if self == Self::GenerateArray {
            return serde_json::from_str::<Vec<Value>>(stream).unwrap_or_else(|error| panic!("{error} in {stream}"));
        }
        let lines = stream.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
        lines.map(|data| serde_json::from_str(data).unwrap_or_else(|error| panic!("{error} in {data}"))).collect()
    }

    /// The texts of an answer by what they are and their place, as clients put them together.
    pub(super) fn texts(self, stream: &str) -> BTreeMap<(Holds, u64), String> {
        let mut texts = BTreeMap::new();
        for data in self.data(stream) {
            let mut add = |holds, place: &Value, text: &Value| {
                if let Some(text) = text.as_str().filter(|text| !text.is_empty()) {
                    *texts.entry((holds, place.as_u64().unwrap_or(0))).or_insert_with(String::new) += text;
                }
            };
            match self {
                Self::Chat => {
                    let delta = &data["choices"][0]["delta"];
                    add(Holds::Text, &Value::Null, &delta["content"]);
                    add(Holds::Refusal, &Value::Null, &delta["refusal"]);
                    add(Holds::Reasoning, &Value::Null, &delta["reasoning_content"]);
                    add(Holds::Arguments, &delta["tool_calls"][0]["index"], &delta["tool_calls"][0]["function"]["arguments"]);
                }
                Self::Messages => {
                    let delta = &data["delta"];
                    add(Holds::Text, &data["index"], &delta["text"]);
                    add(Holds::Reasoning, &data["index"], &delta["thinking"]);
                    add(Holds::Arguments, &data["index"], &delta["partial_json"]);
                }
                Self::Generate | Self::GenerateArray => {
                    for part in data["candidates"][0]["content"]["parts"].as_array().into_iter().flatten() {
                        let holds = if part["thought"] == true { Holds::Reasoning } else { Holds::Text };
                        add(holds, &Value::Null, &part["text"]);
                        if let Some(call) = part.get("functionCall") {
                            add(Holds::Arguments, &call["id"], &Value::from(call["args"].to_string()));
                        }
                    }
                }
                Self::Responses => {
                    let holds = match data["type"].as_str().unwrap() {
                        "response.output_text.delta" => Holds::Text,
                        "response.refusal.delta" => Holds::Refusal,
                        "response.reasoning_summary_text.delta" => Holds::Reasoning,
                        "response.function_call_arguments.delta" => Holds::Arguments,
                        _ => continue,
                    };
                    add(holds, &data["output_index"], &data["delta"]);
                }
            }
        }
        texts
    }

    /// The place that [`Self::texts`] gives for the block number `at`.
    pub(super) fn place(self, blocks: &[Block], at: usize) -> u64 {
        let calls = blocks[..at].iter().filter(|block| block.holds == Holds::Arguments).count();
        match self {
            Self::Messages | Self::Responses => at as u64,
            Self::Generate | Self::GenerateArray if blocks[at].holds == Holds::Arguments => calls as u64,
            Self::Chat if blocks[at].holds == Holds::Arguments => calls as u64,
            _ => 0,
        }
    }
}

/// JSON with lone surrogates replaced, as decoders without care do.
pub(super) fn mended(json: &str) -> String {
    json.replace(r"\ud83d\ude00", "\u{1f600}").replace(r"\ud83d", "\u{fffd}")
}

fn chat(blocks: &[Block]) -> Vec<String> {
    let chunk = |delta: Value, finish: &str| {
        format!(
            "data: {{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":7,\"model\":\"m1\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), "null")];
    let mut calls = 0;
    for block in blocks {
        if block.holds == Holds::Arguments {
            let call = json!({"index": calls, "id": "t", "type": "function", "function": {"name": "f", "arguments": ""}});
            events.push(chunk(json!({"tool_calls": [call]}), "null"));
        }
        for delta in &block.deltas {
            let delta = match block.holds {
                Holds::Text => json!({"content": delta}),
                Holds::Refusal => json!({"refusal": delta}),
                Holds::Reasoning => json!({"reasoning_content": delta}),
                Holds::Arguments => json!({"tool_calls": [{"index": calls, "function": {"arguments": delta}}]}),
            };
            events.push(chunk(delta, "null"));
        }
        calls += u64::from(block.holds == Holds::Arguments);
    }
    events.push(chunk(json!({}), "\"stop\""));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn named(data: Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

fn messages(blocks: &[Block]) -> Vec<String> {
    let usage = json!({"input_tokens": 3, "output_tokens": 1});
    let mut events = vec![
        named(
            json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m1", "content": [], "stop_reason": null, "usage": usage}}),
        ),
        named(json!({"type": "ping"})),
    ];
    for (index, block) in blocks.iter().enumerate() {
        let (start, delta, field) = match block.holds {
            Holds::Text | Holds::Refusal => (json!({"type": "text", "text": ""}), "text_delta", "text"),
            Holds::Reasoning => (json!({"type": "thinking", "thinking": "", "signature": ""}), "thinking_delta", "thinking"),
            Holds::Arguments => (json!({"type": "tool_use", "id": "t", "name": "f", "input": {}}), "input_json_delta", "partial_json"),
        };
        events.push(named(json!({"type": "content_block_start", "index": index, "content_block": start})));
        for text in &block.deltas {
            events.push(named(json!({"type": "content_block_delta", "index": index, "delta": {"type": delta, field: text}})));
        }
        events.push(named(json!({"type": "content_block_stop", "index": index})));
    }
    events.push(named(
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": {"output_tokens": 9}}),
    ));
    events.push(named(json!({"type": "message_stop"})));
    events
}

fn generate(blocks: &[Block]) -> Vec<String> {
    let chunk = |part: &str, finish: &str| {
        format!(
            "{{\"candidates\": [{{\"content\": {{\"parts\": [{part}],\"role\": \"model\"}}{finish},\"index\": 0}}],\"usageMetadata\": {{\"promptTokenCount\": 3}},\"modelVersion\": \"m1\",\"responseId\": \"r1\"}}"
        )
    };
    let mut chunks = Vec::new();
    let mut calls = 0;
    for block in blocks {
        if block.holds == Holds::Arguments {
            let args = block.text();
            chunks.push(chunk(&format!("{{\"functionCall\": {{\"id\": {calls},\"name\": \"f\",\"args\": {args}}}}}"), ""));
            calls += 1;
            continue;
        }
        for delta in &block.deltas {
            let thought = if block.holds == Holds::Reasoning { ",\"thought\": true" } else { "" };
            chunks.push(chunk(&format!("{{\"text\": {}{thought}}}", json!(delta)), ""));
        }
    }
    chunks.push(chunk("{\"text\": \"\"}", ",\"finishReason\": \"STOP\""));
    chunks
}

fn responses(blocks: &[Block]) -> Vec<String> {
    let mut events: Vec<Value> = Vec::new();
    let response = |status: &str, output: Vec<Value>| json!({"id": "resp_1", "object": "response", "created_at": 7, "status": status, "model": "m1", "instructions": "i", "output": output, "usage": null});
    events.push(json!({"type": "response.created", "response": response("in_progress", vec![])}));
    let mut output = Vec::new();
    for (place, block) in blocks.iter().enumerate() {
        let item = one_response_item(place, block, &mut events);
        output.push(item);
    }
    events.push(json!({"type": "response.completed", "response": response("completed", output)}));
    let numbered = events.into_iter().enumerate().map(|(number, mut event)| {
        event["sequence_number"] = json!(number);
        named(event)
    });
    numbered.collect()
}

fn one_response_item(place: usize, block: &Block, events: &mut Vec<Value>) -> Value {
    let text = block.text();
    let id = format!("item_{place}");
    let at = |kind: &str| match block.holds {
        Holds::Arguments => json!({"type": kind, "item_id": id, "output_index": place}),
        Holds::Reasoning => json!({"type": kind, "item_id": id, "output_index": place, "summary_index": 0}),
        Holds::Text | Holds::Refusal => json!({"type": kind, "item_id": id, "output_index": place, "content_index": 0}),
    };
    let with = |kind: String, name: &str, value: Value| {
        let mut event = at(&kind);
        event[name] = value;
        event
    };
    let (event, field, part) = match block.holds {
        Holds::Text => ("output_text", "text", "content_part"),
        Holds::Refusal => ("refusal", "refusal", "content_part"),
        Holds::Reasoning => ("reasoning_summary_text", "text", "reasoning_summary_part"),
        Holds::Arguments => ("function_call_arguments", "arguments", ""),
    };
    let part_of = |text: &str| match block.holds {
        Holds::Refusal => json!({"type": "refusal", "refusal": text}),
        Holds::Reasoning => json!({"type": "summary_text", "text": text}),
        _ => json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []}),
    };
    let item = |status: &str, done: bool| match block.holds {
        Holds::Arguments => {
            json!({"id": id, "type": "function_call", "status": status, "call_id": "t", "name": "f", "arguments": if done { &text } else { "" }})
        }
        Holds::Reasoning => json!({"id": id, "type": "reasoning", "summary": if done { vec![part_of(&text)] } else { vec![] }}),
        _ => {
            json!({"id": id, "type": "message", "status": status, "role": "assistant", "content": if done { vec![part_of(&text)] } else { vec![] }})
        }
    };
    events.push(json!({"type": "response.output_item.added", "output_index": place, "item": item("in_progress", false)}));
    if !part.is_empty() {
        events.push(with(format!("response.{part}.added"), "part", part_of("")));
    }
    for delta in &block.deltas {
        events.push(with(format!("response.{event}.delta"), "delta", json!(delta)));
    }
    events.push(with(format!("response.{event}.done"), field, json!(text)));
    if !part.is_empty() {
        events.push(with(format!("response.{part}.done"), "part", part_of(&text)));
    }
    events.push(json!({"type": "response.output_item.done", "output_index": place, "item": item("completed", true)}));
    item("completed", true)
}
