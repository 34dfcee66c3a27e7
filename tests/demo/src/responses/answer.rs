//! A reply as a response object or as its events.

use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::chat_completions::CREATED;
use crate::reply::{Finish, Reply, ToolCall};
use crate::responses::items;
use crate::usage::Usage;

const FOUND: &str = "https://example.com/found";
const TITLE: &str = "What was found";

/// Characters of arguments in one event.
const FRAGMENT: usize = 8;

/// Request fields a response repeats, with the values they have when absent.
const REPEATED: [(&str, &str); 11] = [
    ("instructions", "null"),
    ("max_output_tokens", "null"),
    ("metadata", "{}"),
    ("parallel_tool_calls", "true"),
    ("previous_response_id", "null"),
    ("store", "true"),
    ("temperature", "1.0"),
    ("text", r#"{"format":{"type":"text"}}"#),
    ("tool_choice", r#""auto""#),
    ("tools", "[]"),
    ("top_p", "1.0"),
];

/// Everything of a response that does not depend on its progress.
#[derive(Debug)]
pub(super) struct Head<'a> {
    call: &'a Call,
    id: String,
    suffix: String,
    model: String,
    repeated: Map<String, Value>,
    reasons: bool,
    /// Whether the reasoning is to come back with the next request.
    encrypted: bool,
}

impl<'a> Head<'a> {
    pub(super) fn new(call: &'a Call, model: &str, body: &Map<String, Value>, reasons: bool) -> Self {
        let value = |name: &str, default: &str| body.get(name).cloned().or_else(|| serde_json::from_str(default).ok()).unwrap_or_default();
        let repeated = REPEATED.iter().map(|(name, default)| ((*name).to_owned(), value(name, default))).collect();
        let include = body.get("include").and_then(Value::as_array).into_iter().flatten();
        let encrypted = include.clone().any(|name| name == "reasoning.encrypted_content");
        Self { call, encrypted, reasons, id: call.id("resp_"), suffix: call.id(""), model: model.to_owned(), repeated }
    }

    pub(super) fn whole(&self, reply: &Reply) -> Value {
        self.response(status(&reply.finish), &self.output(reply), Some(reply))
    }

    fn output(&self, reply: &Reply) -> Vec<Value> {
        let mut items = Vec::new();
        if let Some(thinking) = &reply.thinking {
            items.push(self.reasoning(vec![json!({"type": "summary_text", "text": thinking})]));
        }
        if let Some(query) = &reply.search {
            items.push(self.search("completed", Some(query)));
        }
        if reply.speaks() {
            items.push(self.message("completed", vec![text_part(&reply.text(), reply.search.is_some())]));
        }
        items.extend(reply.calls.iter().enumerate().map(|(at, call)| self.call(at, call, "completed", &call.arguments.to_string())));
        items
    }

    fn reasoning(&self, summary: Vec<Value>) -> Value {
        let mut item = json!({"type": "reasoning", "id": format!("rs_{}", self.suffix), "summary": summary});
        if let (true, Some(fields)) = (self.encrypted, item.as_object_mut()) {
            fields.insert("encrypted_content".to_owned(), json!(items::encrypted(self.call)));
        }
        item
    }

    fn search(&self, status: &str, query: Option<&str>) -> Value {
        let mut item = json!({"type": "web_search_call", "id": format!("ws_{}", self.suffix), "status": status});
        if let (Some(query), Some(fields)) = (query, item.as_object_mut()) {
            let action = json!({"type": "search", "query": query, "sources": [{"type": "url", "url": FOUND}]});
            fields.insert("action".to_owned(), action);
        }
        item
    }

    fn message(&self, status: &str, content: Vec<Value>) -> Value {
        json!({"type": "message", "id": format!("msg_{}", self.suffix), "status": status, "role": "assistant", "content": content})
    }

    /// Calls that follow reasoning have ids that say so, since they have to come back together.
    fn call_id(&self, at: usize) -> String {
        let mark = if self.reasons { items::REASONED } else { "fc_" };
        format!("{mark}{}_{at}", self.suffix)
    }

    fn call(&self, at: usize, call: &ToolCall, status: &str, arguments: &str) -> Value {
        json!({"type": "function_call", "id": self.call_id(at), "call_id": format!("call_{}_{at}", self.suffix),
            "name": call.name, "arguments": arguments, "status": status})
    }

    fn response(&self, status: &str, output: &[Value], reply: Option<&Reply>) -> Value {
        let mut response = json!({"id": self.id, "object": "response", "created_at": CREATED, "status": status, "error": null,
            "incomplete_details": null, "model": self.model, "output": output, "usage": null});
        if let Some(fields) = response.as_object_mut() {
            fields.extend(self.repeated.clone());
            if let Some(usage) = reply.and_then(|reply| reply.usage) {
                fields.insert("usage".to_owned(), self::usage(&usage));
            }
            if let ("incomplete", Some(reply)) = (status, reply) {
                let reason = if reply.finish == Finish::Filter { "content_filter" } else { "max_output_tokens" };
                fields.insert("incomplete_details".to_owned(), json!({"reason": reason}));
            }
        }
        response
    }

    pub(super) fn events(&self, reply: &Reply) -> Vec<Value> {
        let begun = self.response("in_progress", &[], None);
        let mut events =
            vec![json!({"type": "response.created", "response": begun}), json!({"type": "response.in_progress", "response": begun})];
        for (index, item) in self.output(reply).into_iter().enumerate() {
            events.extend(self.item_events(index, &item, reply));
        }
        let kind = format!("response.{}", status(&reply.finish));
        events.push(json!({"type": kind, "response": self.whole(reply)}));
        events.into_iter().enumerate().map(|(number, event)| numbered(event, number)).collect()
    }

    fn item_events(&self, index: usize, item: &Value, reply: &Reply) -> Vec<Value> {
        let id = item.get("id").cloned().unwrap_or_default();
        let (empty, middle) = match item.get("type").and_then(Value::as_str) {
            Some("message") => (self.message("in_progress", Vec::new()), text_events(&id, index, reply)),
            Some("reasoning") => (json!({"type": "reasoning", "id": id, "summary": []}), thought_events(&id, index, reply)),
            Some("web_search_call") => (self.search("in_progress", None), search_events(&id, index)),
            _ => self.call_events(item, index),
        };
        let first = json!({"type": "response.output_item.added", "output_index": index, "item": empty});
        let last = json!({"type": "response.output_item.done", "output_index": index, "item": item});
        std::iter::once(first).chain(middle).chain(std::iter::once(last)).collect()
    }

    fn call_events(&self, item: &Value, index: usize) -> (Value, Vec<Value>) {
        let (id, name) = (item.get("id"), item.get("name"));
        let arguments = item.get("arguments").and_then(Value::as_str).unwrap_or_default();
        let letters: Vec<char> = arguments.chars().collect();
        let fragments = letters.chunks(FRAGMENT).map(|letters| letters.iter().collect::<String>());
        let mut events: Vec<Value> = fragments
            .map(|delta| json!({"type": "response.function_call_arguments.delta", "item_id": id, "output_index": index, "delta": delta}))
            .collect();
        events.push(json!({"type": "response.function_call_arguments.done", "item_id": id, "output_index": index, "name": name,
            "arguments": arguments}));
        (merged(item.clone(), &[&json!({"status": "in_progress", "arguments": ""})]), events)
    }
}

fn search_events(id: &Value, index: usize) -> Vec<Value> {
    let event = |step: &str| json!({"type": format!("response.web_search_call.{step}"), "item_id": id, "output_index": index});
    vec![event("in_progress"), event("searching"), event("completed")]
}

fn text_part(text: &str, cited: bool) -> Value {
    let annotations: Vec<Value> = cited.then(|| annotation(text)).into_iter().collect();
    json!({"type": "output_text", "text": text, "annotations": annotations, "logprobs": []})
}

/// A citation of the whole text.
fn annotation(text: &str) -> Value {
    json!({"type": "url_citation", "start_index": 0, "end_index": text.chars().count(), "url": FOUND, "title": TITLE})
}

fn text_events(id: &Value, index: usize, reply: &Reply) -> Vec<Value> {
    let place = json!({"item_id": id, "output_index": index, "content_index": 0});
    let event = |kind: &str, more: Value| merged(json!({"type": kind}), &[&place, &more]);
    let mut events = vec![event("response.content_part.added", json!({"part": text_part("", false)}))];
    events.extend(reply.pieces.iter().map(|piece| event("response.output_text.delta", json!({"delta": piece, "logprobs": []}))));
    let text = reply.text();
    if reply.search.is_some() {
        events.push(event("response.output_text.annotation.added", json!({"annotation_index": 0, "annotation": annotation(&text)})));
    }
    events.push(event("response.output_text.done", json!({"text": text, "logprobs": []})));
    events.push(event("response.content_part.done", json!({"part": text_part(&text, reply.search.is_some())})));
    events
}

fn thought_events(id: &Value, index: usize, reply: &Reply) -> Vec<Value> {
    let place = json!({"item_id": id, "output_index": index, "summary_index": 0});
    let event = |kind: &str, more: Value| merged(json!({"type": kind}), &[&place, &more]);
    let mut events = vec![event("response.reasoning_summary_part.added", json!({"part": {"type": "summary_text", "text": ""}}))];
    events.extend(reply.thoughts().map(|piece| event("response.reasoning_summary_text.delta", json!({"delta": piece}))));
    events.push(event("response.reasoning_summary_text.done", json!({"text": reply.thinking})));
    events.push(event("response.reasoning_summary_part.done", json!({"part": {"type": "summary_text", "text": reply.thinking}})));
    events
}

fn merged(mut event: Value, others: &[&Value]) -> Value {
    if let Some(fields) = event.as_object_mut() {
        fields.extend(others.iter().filter_map(|other| other.as_object().cloned()).flatten());
    }
    event
}

fn numbered(event: Value, number: usize) -> Value {
    merged(event, &[&json!({"sequence_number": number})])
}

fn status(finish: &Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Sequence(_) | Finish::Tools | Finish::Malformed => "completed",
        Finish::Length | Finish::Filter => "incomplete",
    }
}

fn usage(usage: &Usage) -> Value {
    json!({"input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.written()},
        "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": usage.reasoning}, "total_tokens": usage.total()})
}
