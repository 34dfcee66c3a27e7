//! A reply as a message or as its stream of events.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::call::Call;
use crate::reply::{Finish, Reply};
use crate::sse;
use crate::usage::Usage;

/// Not a real signature, but as opaque as one.
const SIGNATURE: &str = "RGVtb1NpZ25hdHVyZQ==";

/// What names one message.
#[derive(Debug)]
pub(super) struct Head {
    id: String,
    call_prefix: String,
    model: String,
}

impl Head {
    pub(super) fn new(call: &Call, model: &str) -> Self {
        Self { id: call.id("msg_"), call_prefix: call.id("toolu_"), model: model.to_owned() }
    }

    pub(super) fn whole(&self, reply: &Reply) -> Value {
        let mut content = Vec::new();
        if let Some(thinking) = &reply.thinking {
            content.push(json!({"type": "thinking", "thinking": thinking, "signature": SIGNATURE}));
        }
        if reply.calls.is_empty() {
            content.push(json!({"type": "text", "text": reply.text()}));
        }
        content.extend(
            reply
                .calls
                .iter()
                .enumerate()
                .map(|(at, call)| json!({"type": "tool_use", "id": self.call_id(at), "name": call.name, "input": call.arguments})),
        );
        self.message(json!(content), Some(finish(reply.finish)), reply.usage.as_ref(), None)
    }

    fn call_id(&self, at: usize) -> String {
        format!("{}_{at}", self.call_prefix)
    }

    /// `output` replaces the output count: at the start of a stream hardly anything has been written.
    fn message(&self, content: Value, stop: Option<&str>, usage: Option<&Usage>, output: Option<u64>) -> Value {
        let mut message = json!({"id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": content,
            "stop_reason": stop, "stop_sequence": null});
        if let (Some(usage), Some(fields)) = (usage, message.as_object_mut()) {
            fields.insert("usage".to_owned(), self::usage(usage, output));
        }
        message
    }

    pub(super) fn events(&self, reply: &Reply) -> Vec<Bytes> {
        let start = self.message(json!([]), None, reply.usage.as_ref(), Some(1));
        let mut events = vec![json!({"type": "message_start", "message": start})];
        let blocks = self.blocks(reply);
        for (index, (block, deltas)) in blocks.into_iter().enumerate() {
            events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
            if index == 0 {
                events.push(json!({"type": "ping"}));
            }
            events.extend(deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})));
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        events.push(last(reply));
        events.push(json!({"type": "message_stop"}));
        events.iter().map(sse::named).collect()
    }

    fn blocks(&self, reply: &Reply) -> Vec<(Value, Vec<Value>)> {
        let mut blocks = Vec::new();
        if let Some(thinking) = &reply.thinking {
            let deltas =
                vec![json!({"type": "thinking_delta", "thinking": thinking}), json!({"type": "signature_delta", "signature": SIGNATURE})];
            blocks.push((json!({"type": "thinking", "thinking": "", "signature": ""}), deltas));
        }
        if reply.calls.is_empty() {
            let deltas = reply.pieces.iter().map(|piece| json!({"type": "text_delta", "text": piece})).collect();
            blocks.push((json!({"type": "text", "text": ""}), deltas));
        }
        blocks.extend(reply.calls.iter().enumerate().map(|(at, call)| {
            let fragment = |fragment: String| json!({"type": "input_json_delta", "partial_json": fragment});
            let deltas = std::iter::once(String::new()).chain(call.fragments()).map(fragment).collect();
            (json!({"type": "tool_use", "id": self.call_id(at), "name": call.name, "input": {}}), deltas)
        }));
        blocks
    }
}

fn last(reply: &Reply) -> Value {
    let mut event = json!({"type": "message_delta", "delta": {"stop_reason": finish(reply.finish), "stop_sequence": null}});
    if let (Some(used), Some(fields)) = (reply.usage, event.as_object_mut()) {
        fields.insert("usage".to_owned(), usage(&used, None));
    }
    event
}

fn finish(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::Length => "max_tokens",
        Finish::Tools => "tool_use",
        Finish::Filter => "refusal",
    }
}

fn usage(usage: &Usage, output: Option<u64>) -> Value {
    json!({"input_tokens": usage.uncached(), "cache_creation_input_tokens": usage.written(), "cache_read_input_tokens": usage.cached,
        "cache_creation": {"ephemeral_5m_input_tokens": usage.written_5m, "ephemeral_1h_input_tokens": usage.written_1h},
        "output_tokens": output.unwrap_or(usage.output), "output_tokens_details": {"thinking_tokens": usage.reasoning},
        "service_tier": "standard"})
}
