//! A reply as one response or as a stream of them.

use serde_json::{Value, json};

use crate::call::Call;
use crate::generate_content::signed;
use crate::generation::gemini;
use crate::reply::{Finish, Reply};
use crate::usage::Usage;

const FOUND: &str = "https://example.com/found";
const TITLE: &str = "What was found";

/// What every chunk repeats.
#[derive(Debug)]
pub(super) struct Head<'a> {
    call: &'a Call,
    id: String,
    model: String,
    shows_thoughts: bool,
}

impl<'a> Head<'a> {
    pub(super) fn new(call: &'a Call, model: &str, shows_thoughts: bool) -> Self {
        Self { call, id: call.id("resp-"), model: model.to_owned(), shows_thoughts }
    }

    pub(super) fn whole(&self, reply: &Reply) -> Value {
        if reply.finish == Finish::Malformed {
            return self.malformed(reply);
        }
        let shown = reply.thinking.iter().filter(|_| self.shows_thoughts);
        let mut parts: Vec<Value> = shown.map(|thinking| thought(thinking)).collect();
        if reply.speaks() {
            parts.push(self.closing(reply, reply.text()));
        }
        parts.extend(self.calls(reply));
        self.grounded(reply, self.response(parts, Some(finish(&reply.finish)), reply.usage.as_ref()))
    }

    /// The answer to a prompt that is refused before a model sees it.
    pub(super) fn blocked(&self, reply: &Reply) -> Value {
        let input = reply.usage.map_or(0, |usage| usage.input);
        json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": self.model, "responseId": self.id,
            "usageMetadata": {"promptTokenCount": input, "totalTokenCount": input}})
    }

    /// A call gone wrong leaves nothing else.
    fn malformed(&self, reply: &Reply) -> Value {
        let candidate = json!({"index": 0, "finishReason": finish(&reply.finish), "finishMessage": "Malformed function call: f("});
        json!({"candidates": [candidate], "modelVersion": self.model, "responseId": self.id,
            "usageMetadata": reply.usage.as_ref().map(usage)})
    }

    /// Text comes in pieces, calls come whole, the reason to end comes last.
    pub(super) fn chunks(&self, reply: &Reply) -> Vec<Value> {
        if reply.finish == Finish::Malformed {
            return vec![self.malformed(reply)];
        }
        let thoughts = reply.thoughts().filter(|_| self.shows_thoughts).map(thought);
        let texts = reply.pieces.iter().map(|piece| json!({"text": piece}));
        let parts: Vec<Value> = thoughts.chain(texts).chain(self.calls(reply)).collect();
        let mut chunks: Vec<Value> = parts.into_iter().map(|part| self.response(vec![part], None, None)).collect();
        let last = self.response(vec![self.closing(reply, String::new())], Some(finish(&reply.finish)), reply.usage.as_ref());
        chunks.push(self.grounded(reply, last));
        chunks
    }

    /// The last text of an answer without calls is signed where calls would be, if the model has thought.
    fn closing(&self, reply: &Reply, text: String) -> Value {
        let signs = reply.calls.is_empty() && reply.thinking.is_some() && signed::signs(&self.model);
        if signs { json!({"text": text, "thoughtSignature": signed::signature(self.call, &self.model)}) } else { json!({"text": text}) }
    }

    fn calls(&self, reply: &Reply) -> Vec<Value> {
        let identified = gemini(&self.model).is_none_or(|version| version >= (3, 0));
        let part = |(at, call): (usize, &crate::reply::ToolCall)| {
            let mut part = json!({"functionCall": {"name": call.name, "args": call.arguments}});
            if let (true, Some(fields)) = (identified, part.pointer_mut("/functionCall").and_then(Value::as_object_mut)) {
                fields.insert("id".to_owned(), json!(format!("{}_{at}", self.id)));
            }
            if let (0, true, Some(fields)) = (at, signed::signs(&self.model), part.as_object_mut()) {
                fields.insert("thoughtSignature".to_owned(), json!(signed::signature(self.call, &self.model)));
            }
            part
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

    fn grounded(&self, reply: &Reply, mut response: Value) -> Value {
        let candidate = response.pointer_mut("/candidates/0").and_then(Value::as_object_mut);
        if let (Some(query), Some(candidate)) = (&reply.search, candidate) {
            let segment = json!({"startIndex": 0, "endIndex": reply.text().len(), "text": reply.text()});
            let grounding = json!({"webSearchQueries": [query], "groundingChunks": [{"web": {"uri": FOUND, "title": TITLE}}],
                "groundingSupports": [{"segment": segment, "groundingChunkIndices": [0]}]});
            candidate.insert("groundingMetadata".to_owned(), grounding);
        }
        response
    }
}

fn thought(text: &str) -> Value {
    json!({"text": text, "thought": true})
}

fn finish(finish: &Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Sequence(_) | Finish::Tools => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::Malformed => "MALFORMED_FUNCTION_CALL",
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
