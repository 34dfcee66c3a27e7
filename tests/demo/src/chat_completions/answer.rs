//! A reply as a chat completion or as its chunks.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::reply::{Finish, Reply, ToolCall};
use crate::sse;
use crate::usage::Usage;
use crate::vendor::Vendor;

/// 21 November 2026: answers do not depend on the clock.
pub(crate) const CREATED: u64 = 1_795_219_200;
const FINGERPRINT: &str = "fp_demo";

/// What every chunk repeats.
#[derive(Debug)]
pub(super) struct Head {
    id: String,
    call_prefix: String,
    model: String,
    choices: u64,
    with_usage: bool,
    /// Azure reports what its filters found.
    filtered: bool,
    /// Whether reasoning is shown the way compatible hosts do.
    shows_reasoning: bool,
}

impl Head {
    pub(super) fn new(call: &Call, model: &str, body: &Map<String, Value>, shows_reasoning: bool) -> Self {
        let with_usage = body.get("stream_options").and_then(|options| options.get("include_usage")?.as_bool());
        Self {
            id: call.id("chatcmpl-"),
            call_prefix: call.id("call_"),
            model: model.to_owned(),
            choices: body.get("n").and_then(Value::as_u64).unwrap_or(1),
            with_usage: with_usage.unwrap_or(false),
            filtered: call.vendor == Vendor::Azure,
            shows_reasoning,
        }
    }

    pub(super) fn whole(&self, reply: &Reply) -> Value {
        let choices: Vec<Value> = (0..self.choices).map(|index| self.choice(index, reply)).collect();
        let mut answer = json!({"id": self.id, "object": "chat.completion", "created": CREATED, "model": self.model, "choices": choices,
            "service_tier": "default", "system_fingerprint": FINGERPRINT});
        if let (Some(usage), Some(fields)) = (reply.usage, answer.as_object_mut()) {
            fields.insert("usage".to_owned(), self::usage(&usage));
        }
        if let (true, Some(fields)) = (self.filtered, answer.as_object_mut()) {
            fields.insert("prompt_filter_results".to_owned(), prompt_filter());
        }
        answer
    }

    fn choice(&self, index: u64, reply: &Reply) -> Value {
        let text = if reply.speaks() { json!(reply.text()) } else { Value::Null };
        let mut message = json!({"role": "assistant", "content": text, "refusal": null, "annotations": []});
        if let Some(fields) = message.as_object_mut() {
            if !reply.calls.is_empty() {
                let calls =
                    reply.calls.iter().enumerate().map(|(at, call)| self.call(index, at, call, &call.arguments.to_string())).collect();
                fields.insert("tool_calls".to_owned(), Value::Array(calls));
            }
            if let (true, Some(thinking)) = (self.shows_reasoning, &reply.thinking) {
                fields.insert("reasoning_content".to_owned(), json!(thinking));
            }
        }
        let mut choice = json!({"index": index, "message": message, "logprobs": null, "finish_reason": finish(&reply.finish)});
        if let (true, Some(fields)) = (self.filtered, choice.as_object_mut()) {
            fields.insert("content_filter_results".to_owned(), content_filter());
        }
        choice
    }

    fn call(&self, choice: u64, at: usize, call: &ToolCall, arguments: &str) -> Value {
        let id = format!("{}_{choice}_{at}", self.call_prefix);
        if call.custom {
            return json!({"id": id, "type": "custom", "custom": {"name": call.name, "input": call.input()}});
        }
        json!({"id": id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
    }

    pub(super) fn events(&self, reply: &Reply) -> Vec<Bytes> {
        let first = json!({"id": "", "object": "", "created": 0, "model": "", "choices": [], "prompt_filter_results": prompt_filter()});
        let mut events: Vec<Bytes> = self.filtered.then(|| sse::data(&first)).into_iter().collect();
        events.extend((0..self.choices).flat_map(|index| self.deltas(index, reply)));
        if self.filtered {
            let late = json!([{"index": 0, "finish_reason": null, "content_filter_offsets": {"check_offset": 0, "start_offset": 0,
                "end_offset": 9}, "content_filter_results": content_filter()}]);
            events.push(sse::data(&self.chunk(late, None)));
        }
        if let (true, Some(usage)) = (self.with_usage, reply.usage) {
            events.push(sse::data(&self.chunk(json!([]), Some(&usage))));
        }
        events.push(Bytes::from_static(b"data: [DONE]\n\n"));
        events
    }

    fn deltas(&self, index: u64, reply: &Reply) -> Vec<Bytes> {
        let delta = |delta: Value, finish: Option<&str>| {
            let choice = json!([{"index": index, "delta": delta, "logprobs": null, "finish_reason": finish}]);
            sse::data(&self.chunk(choice, None))
        };
        let opening = if reply.speaks() { json!("") } else { Value::Null };
        let mut events = vec![delta(json!({"role": "assistant", "content": opening, "refusal": null}), None)];
        let thoughts = reply.thoughts().filter(|_| self.shows_reasoning);
        events.extend(thoughts.map(|thought| delta(json!({"reasoning_content": thought}), None)));
        events.extend(reply.pieces.iter().map(|piece| delta(json!({"content": piece}), None)));
        let calls = reply.calls.iter().enumerate().flat_map(|(at, call)| self.fragments(index, at, call));
        events.extend(calls.map(|fragment| delta(json!({"tool_calls": [fragment]}), None)));
        events.push(delta(json!({}), Some(finish(&reply.finish))));
        events
    }

    fn fragments(&self, choice: u64, at: usize, call: &ToolCall) -> Vec<Value> {
        let mut first = self.call(choice, at, call, "");
        if let Some(fields) = first.as_object_mut() {
            fields.insert("index".to_owned(), json!(at));
        }
        let rest = if call.custom { Vec::new() } else { call.fragments() };
        let rest = rest.into_iter().map(|fragment| json!({"index": at, "function": {"arguments": fragment}}));
        std::iter::once(first).chain(rest).collect()
    }

    fn chunk(&self, choices: Value, usage: Option<&Usage>) -> Value {
        let mut chunk = json!({"id": self.id, "object": "chat.completion.chunk", "created": CREATED, "model": self.model,
            "service_tier": "default", "system_fingerprint": FINGERPRINT, "choices": choices});
        if let (true, Some(fields)) = (self.with_usage, chunk.as_object_mut()) {
            fields.insert("usage".to_owned(), usage.map_or(Value::Null, self::usage));
        }
        chunk
    }
}

fn prompt_filter() -> Value {
    json!([{"prompt_index": 0, "content_filter_results": content_filter()}])
}

fn content_filter() -> Value {
    json!({"hate": {"filtered": false, "severity": "safe"}, "violence": {"filtered": false, "severity": "safe"}})
}

fn finish(finish: &Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Sequence(_) | Finish::Malformed => "stop",
        Finish::Length => "length",
        Finish::Tools => "tool_calls",
        Finish::Filter => "content_filter",
    }
}

fn usage(usage: &Usage) -> Value {
    json!({"prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.total(),
        "prompt_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.written(), "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": 0, "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0}})
}
