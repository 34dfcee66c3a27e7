//! A reply as one response or as a stream of them.

use serde_json::{Value, json};

use crate::call::Call;
use crate::reply::{Finish, Reply};
use crate::usage::Usage;

/// Not a real signature, but as opaque as one.
const SIGNATURE: &str = "RGVtb1NpZ25hdHVyZQ==";

/// What every chunk repeats.
#[derive(Debug)]
pub(super) struct Head {
    id: String,
    model: String,
}

impl Head {
    pub(super) fn new(call: &Call, model: &str) -> Self {
        Self { id: call.id("resp-"), model: model.to_owned() }
    }

    pub(super) fn whole(&self, reply: &Reply) -> Value {
        let mut parts = thoughts(reply);
        if reply.calls.is_empty() {
            parts.push(json!({"text": reply.text()}));
        }
        parts.extend(self.calls(reply));
        self.response(parts, Some(finish(reply.finish)), reply.usage.as_ref())
    }

    /// Text comes in pieces, calls come whole, the reason to end comes last.
    pub(super) fn chunks(&self, reply: &Reply) -> Vec<Value> {
        let texts = reply.pieces.iter().map(|piece| json!({"text": piece}));
        let parts: Vec<Value> = thoughts(reply).into_iter().chain(texts).chain(self.calls(reply)).collect();
        let mut chunks: Vec<Value> = parts.into_iter().map(|part| self.response(vec![part], None, None)).collect();
        chunks.push(self.response(vec![json!({"text": ""})], Some(finish(reply.finish)), reply.usage.as_ref()));
        chunks
    }

    fn calls(&self, reply: &Reply) -> Vec<Value> {
        let part = |(at, call): (usize, &crate::reply::ToolCall)| {
            let call = json!({"id": format!("{}_{at}", self.id), "name": call.name, "args": call.arguments});
            if at == 0 { json!({"functionCall": call, "thoughtSignature": SIGNATURE}) } else { json!({"functionCall": call}) }
        };
        reply.calls.iter().enumerate().map(part).collect()
    }

    fn response(&self, parts: Vec<Value>, finish: Option<&str>, usage: Option<&Usage>) -> Value {
        let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
        if let (Some(finish), Some(fields)) = (finish, candidate.as_object_mut()) {
            fields.insert("finishReason".to_owned(), json!(finish));
        }
        let mut response = json!({"candidates": [candidate], "modelVersion": self.model, "responseId": self.id});
        if let (Some(usage), Some(fields)) = (usage, response.as_object_mut()) {
            fields.insert("usageMetadata".to_owned(), self::usage(usage));
        }
        response
    }
}

fn thoughts(reply: &Reply) -> Vec<Value> {
    reply.thinking.iter().map(|thinking| json!({"text": thinking, "thought": true})).collect()
}

fn finish(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Tools => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::Filter => "SAFETY",
    }
}

/// Cached tokens are part of the prompt's, thoughts are not part of the candidates'.
fn usage(usage: &Usage) -> Value {
    let mut counts = json!({"promptTokenCount": usage.input, "candidatesTokenCount": usage.output.saturating_sub(usage.reasoning),
        "totalTokenCount": usage.total(), "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input}]});
    if let Some(fields) = counts.as_object_mut() {
        for (name, count) in [("cachedContentTokenCount", usage.cached), ("thoughtsTokenCount", usage.reasoning)] {
            if count > 0 {
                fields.insert(name.to_owned(), json!(count));
            }
        }
    }
    counts
}
