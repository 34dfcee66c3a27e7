//! A reply as a message or as its stream of events.

use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::directive::Directives;
use crate::generation::claude;
use crate::messages::signed;
use crate::reply::{Finish, Reply};
use crate::usage::Usage;
use crate::vendor::Vendor;

const FOUND: &str = "https://example.com/found";
const TITLE: &str = "What was found";

/// How much of the reasoning a caller sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Text,
    /// A signature only; the newest models do so unless they are asked for a summary.
    Signature,
    Redacted,
}

impl Shown {
    pub(super) fn of(body: &Map<String, Value>, model: &str, directives: &Directives) -> Self {
        let display = body.get("thinking").and_then(|thinking| thinking.get("display")?.as_str());
        let silent = claude(model).is_some_and(|version| version >= (5, 0));
        match display {
            _ if directives.has("redact") => Self::Redacted,
            Some("omitted") => Self::Signature,
            None if silent => Self::Signature,
            _ => Self::Text,
        }
    }
}

/// What names one message.
#[derive(Debug)]
pub(super) struct Head<'a> {
    call: &'a Call,
    id: String,
    call_prefix: String,
    model: String,
    shown: Shown,
}

/// A block as it starts, what follows, and what it is as a whole.
struct Block {
    start: Value,
    deltas: Vec<Value>,
    whole: Value,
}

impl<'a> Head<'a> {
    pub(super) fn new(call: &'a Call, model: &str, shown: Shown) -> Self {
        Self { call, id: call.id("msg_"), call_prefix: call.id("toolu_"), model: model.to_owned(), shown }
    }

    pub(super) fn whole(&self, reply: &Reply) -> Value {
        let content: Vec<Value> = self.blocks(reply).into_iter().map(|block| block.whole).collect();
        self.message(json!(content), Some(&reply.finish), reply, None)
    }

    /// `output` replaces the output count: at the start of a stream hardly anything has been written.
    fn message(&self, content: Value, stop: Option<&Finish>, reply: &Reply, output: Option<u64>) -> Value {
        let mut message = json!({"id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": content,
            "stop_reason": stop.map(reason), "stop_sequence": stop.and_then(sequence)});
        if let (Some(used), Some(fields)) = (&reply.usage, message.as_object_mut()) {
            fields.insert("usage".to_owned(), usage(used, output, reply));
        }
        message
    }

    pub(super) fn events(&self, reply: &Reply) -> Vec<Value> {
        let start = self.message(json!([]), None, reply, Some(1));
        let mut events = vec![json!({"type": "message_start", "message": start})];
        for (index, block) in self.blocks(reply).into_iter().enumerate() {
            events.push(json!({"type": "content_block_start", "index": index, "content_block": block.start}));
            if index == 0 {
                events.push(json!({"type": "ping"}));
            }
            events.extend(block.deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})));
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        events.push(last(reply));
        events.push(self.end(reply));
        events
    }

    /// Bedrock adds its own counts to the last event.
    fn end(&self, reply: &Reply) -> Value {
        match reply.usage {
            Some(used) if self.call.vendor == Vendor::Bedrock => json!({"type": "message_stop", "amazon-bedrock-invocationMetrics": {
                "inputTokenCount": used.uncached(), "outputTokenCount": used.output, "invocationLatency": 7, "firstByteLatency": 3,
                "cacheReadInputTokenCount": used.cached, "cacheWriteInputTokenCount": used.written()}}),
            _ => json!({"type": "message_stop"}),
        }
    }

    fn blocks(&self, reply: &Reply) -> Vec<Block> {
        let mut blocks: Vec<Block> = reply.thinking.iter().map(|thought| self.thought(thought)).collect();
        if let Some(query) = &reply.search {
            blocks.extend(self.search(query));
        }
        if reply.speaks() {
            let cited = reply.search.iter().map(|_| json!({"type": "citations_delta", "citation": self.citation()}));
            let deltas = cited.chain(reply.pieces.iter().map(|piece| json!({"type": "text_delta", "text": piece}))).collect();
            let mut whole = json!({"type": "text", "text": reply.text()});
            if let (true, Some(fields)) = (reply.search.is_some(), whole.as_object_mut()) {
                fields.insert("citations".to_owned(), json!([self.citation()]));
            }
            blocks.push(Block { start: json!({"type": "text", "text": ""}), deltas, whole });
        }
        blocks.extend(reply.calls.iter().enumerate().map(|(at, call)| {
            let id = format!("{}_{at}", self.call_prefix);
            let fragment = |fragment: String| json!({"type": "input_json_delta", "partial_json": fragment});
            Block {
                start: json!({"type": "tool_use", "id": id, "name": call.name, "input": {}}),
                deltas: std::iter::once(String::new()).chain(call.fragments()).map(fragment).collect(),
                whole: json!({"type": "tool_use", "id": id, "name": call.name, "input": call.arguments}),
            }
        }));
        blocks
    }

    fn thought(&self, thought: &str) -> Block {
        if self.shown == Shown::Redacted {
            let whole = json!({"type": "redacted_thinking", "data": signed::data(self.call)});
            return Block { start: whole.clone(), deltas: Vec::new(), whole };
        }
        let shown = if self.shown == Shown::Text { thought } else { "" };
        let signature = signed::signature(self.call, shown);
        let said = shown.split_inclusive(' ').map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
        Block {
            start: json!({"type": "thinking", "thinking": "", "signature": ""}),
            deltas: said.chain([json!({"type": "signature_delta", "signature": signature})]).collect(),
            whole: json!({"type": "thinking", "thinking": shown, "signature": signature}),
        }
    }

    fn search(&self, query: &str) -> [Block; 2] {
        let id = self.call.id("srvtoolu_");
        let found = json!([{"type": "web_search_result", "url": FOUND, "title": TITLE, "encrypted_content": signed::data(self.call),
            "page_age": null}]);
        let asked = json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}});
        let input = json!({"query": query});
        let whole = json!({"type": "web_search_tool_result", "tool_use_id": id, "content": found});
        [
            Block {
                start: asked,
                deltas: vec![json!({"type": "input_json_delta", "partial_json": input.to_string()})],
                whole: json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": input}),
            },
            Block { start: whole.clone(), deltas: Vec::new(), whole },
        ]
    }

    fn citation(&self) -> Value {
        json!({"type": "web_search_result_location", "url": FOUND, "title": TITLE, "encrypted_index": signed::data(self.call),
            "cited_text": "found"})
    }
}

fn last(reply: &Reply) -> Value {
    let delta = json!({"stop_reason": reason(&reply.finish), "stop_sequence": sequence(&reply.finish)});
    let mut event = json!({"type": "message_delta", "delta": delta});
    if let (Some(used), Some(fields)) = (&reply.usage, event.as_object_mut()) {
        fields.insert("usage".to_owned(), usage(used, None, reply));
    }
    event
}

fn reason(finish: &Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Malformed => "end_turn",
        Finish::Sequence(_) => "stop_sequence",
        Finish::Length => "max_tokens",
        Finish::Tools => "tool_use",
        Finish::Filter => "refusal",
    }
}

fn sequence(finish: &Finish) -> Option<&str> {
    if let Finish::Sequence(text) = finish { Some(text) } else { None }
}

fn usage(usage: &Usage, output: Option<u64>, reply: &Reply) -> Value {
    let output = output.unwrap_or(usage.output);
    let mut counts = json!({"input_tokens": usage.uncached(), "cache_creation_input_tokens": usage.written(),
        "cache_read_input_tokens": usage.cached,
        "cache_creation": {"ephemeral_5m_input_tokens": usage.written_5m, "ephemeral_1h_input_tokens": usage.written_1h},
        "output_tokens": output, "output_tokens_details": {"thinking_tokens": usage.reasoning.min(output)},
        "service_tier": "standard"});
    if let (Some(_), Some(fields)) = (&reply.search, counts.as_object_mut()) {
        fields.insert("server_tool_use".to_owned(), json!({"web_search_requests": 1}));
    }
    counts
}
