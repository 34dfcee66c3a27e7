//! Items of the output, opened, filled and closed.

use std::sync::Arc;

use crate::canonical::{Citation, Event, SearchHit, Signature, Text};
use crate::shape::Shape;
use crate::translate::ClientView;
use crate::translate::map::{ids, signature};
use crate::translate::responses::answer::sealed;
use crate::wire::json::Writer;

/// The output so far.
pub(super) struct Items {
    pub(super) stream: bool,
    /// Items as they are when done, in order of their places.
    pub(super) done: Vec<Vec<u8>>,
    sequence: u64,
    request_id: Arc<str>,
    /// Who minted signatures that carry no origin.
    upstream: Shape,
    origin: u32,
    show_reasoning: bool,
    speaking: Option<Speaking>,
    thinking: Option<Thinking>,
    calls: Vec<Call>,
}

/// The open message.
struct Speaking {
    place: usize,
    id: String,
    refusal: bool,
    /// Escaped.
    text: Vec<u8>,
    annotations: Vec<Vec<u8>>,
    /// What every delta begins with.
    head: Vec<u8>,
}

/// The open reasoning.
struct Thinking {
    place: usize,
    id: String,
    /// Escaped.
    text: Vec<u8>,
}

/// An open call.
struct Call {
    call: u32,
    place: usize,
    id: String,
    call_id: String,
    name: String,
    custom: bool,
    /// Escaped.
    arguments: Vec<u8>,
}

impl Items {
    pub(super) fn new(view: &ClientView, stream: bool) -> Self {
        Self {
            stream,
            done: Vec::new(),
            sequence: 0,
            request_id: view.request_id.clone(),
            upstream: view.upstream,
            origin: view.origin,
            show_reasoning: view.show_reasoning,
            speaking: None,
            thinking: None,
            calls: Vec::new(),
        }
    }

    /// Writes one event; `write` writes the members after its type.
    pub(super) fn event(&mut self, kind: &str, out: &mut Vec<u8>, write: impl FnOnce(&Self, &mut Writer<'_>)) {
        if !self.stream {
            return;
        }
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(b"\ndata: ");
        let mut w = Writer::new(out);
        w.begin_object();
        w.str_field("type", kind);
        write(self, &mut w);
        w.whole_field("sequence_number", self.sequence);
        w.end_object();
        out.extend_from_slice(b"\n\n");
        self.sequence += 1;
    }

    /// Takes an event of the answer proper. Only the first of several answers is given.
    pub(super) fn take(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match event {
            Event::Text { choice: 0, text } => self.say(text, false, out),
            Event::Refusal { choice: 0, text } => self.say(text, true, out),
            Event::Reasoning { choice: 0, text } if self.show_reasoning => self.think(text, out),
            Event::ReasoningSigned { choice: 0, signature } => self.sign(signature, out),
            Event::Redacted { choice: 0, signature } => {
                self.close_words(out);
                let token = sealed(&self.tagged(signature));
                self.token(token, out);
            }
            Event::ToolStart { choice: 0, call, id, name, custom, signature } => {
                self.close_words(out);
                if let Some(signature) = signature {
                    let token = self.tagged(signature);
                    self.token(token, out);
                }
                self.call(*call, id, name, *custom, out);
            }
            Event::ToolArguments { choice: 0, call, fragment } => self.arguments(*call, fragment, out),
            Event::ToolEnd { choice: 0, call } => self.end_call(*call, out),
            Event::Citation { choice: 0, citation } => self.cite(citation, out),
            Event::WebSearch { choice: 0, query, hits, .. } => self.search(query, hits, out),
            Event::Media { choice: 0, data, .. } => self.picture(data, out),
            _ => {}
        }
    }

    fn next(&mut self, prefix: &str) -> (usize, String) {
        let place = self.done.len();
        self.done.push(Vec::new());
        (place, ids::made_from(prefix, &format!("{}/{place}", self.request_id)))
    }

    /// Puts the finished item at its place and tells of it.
    fn finish(&mut self, place: usize, item: Vec<u8>, out: &mut Vec<u8>) {
        self.event("response.output_item.done", out, |_, w| {
            w.whole_field("output_index", place_number(place));
            w.key("item");
            w.raw(&item);
        });
        if let Some(slot) = self.done.get_mut(place) {
            *slot = item;
        }
    }

    fn added(&mut self, place: usize, out: &mut Vec<u8>, item: impl FnOnce(&mut Writer<'_>)) {
        self.event("response.output_item.added", out, |_, w| {
            w.whole_field("output_index", place_number(place));
            w.object("item", item);
        });
    }

    fn say(&mut self, text: &Text<'_>, refusal: bool, out: &mut Vec<u8>) {
        self.close_thinking(out);
        if self.speaking.as_ref().is_some_and(|open| open.refusal != refusal) {
            self.close_speaking(out);
        }
        if self.speaking.is_none() {
            self.open_speaking(refusal, out);
        }
        let Some(open) = &mut self.speaking else { return };
        let from = open.text.len();
        text.escape_into(&mut open.text);
        if self.stream {
            out.extend_from_slice(&open.head);
            out.extend_from_slice(open.text.get(from..).unwrap_or_default());
            out.extend_from_slice(if refusal { br#"","sequence_number":"# } else { br#"","logprobs":[],"sequence_number":"# });
            out.extend_from_slice(itoa::Buffer::new().format(self.sequence).as_bytes());
            out.extend_from_slice(b"}\n\n");
            self.sequence += 1;
        }
    }

    fn open_speaking(&mut self, refusal: bool, out: &mut Vec<u8>) {
        let (place, id) = self.next("msg_");
        self.added(place, out, |w| {
            w.str_field("id", &id);
            w.str_field("type", "message");
            w.str_field("status", "in_progress");
            w.str_field("role", "assistant");
            w.array("content", |_| {});
        });
        self.event("response.content_part.added", out, |_, w| {
            place_of(&id, place, w);
            w.object("part", |w| part(refusal, b"", &[], w));
        });
        let kind = if refusal { "response.refusal.delta" } else { "response.output_text.delta" };
        let head = format!(
            "event: {kind}\ndata: {{\"type\":\"{kind}\",\"item_id\":\"{id}\",\"output_index\":{place},\"content_index\":0,\"delta\":\""
        );
        self.speaking = Some(Speaking { place, id, refusal, text: Vec::new(), annotations: Vec::new(), head: head.into_bytes() });
    }

    fn close_speaking(&mut self, out: &mut Vec<u8>) {
        let Some(Speaking { place, id, refusal, text, annotations, .. }) = self.speaking.take() else { return };
        let (kind, field) = if refusal { ("response.refusal.done", "refusal") } else { ("response.output_text.done", "text") };
        self.event(kind, out, |_, w| {
            place_of(&id, place, w);
            w.text_field(field, &Text::Escaped(&text));
            if !refusal {
                w.array("logprobs", |_| {});
            }
        });
        self.event("response.content_part.done", out, |_, w| {
            place_of(&id, place, w);
            w.object("part", |w| part(refusal, &text, &annotations, w));
        });
        let mut item = Vec::new();
        let mut w = Writer::new(&mut item);
        w.begin_object();
        w.str_field("id", &id);
        w.str_field("type", "message");
        w.str_field("status", "completed");
        w.str_field("role", "assistant");
        w.array("content", |w| {
            w.begin_object();
            part(refusal, &text, &annotations, w);
            w.end_object();
        });
        w.end_object();
        self.finish(place, item, out);
    }

    fn cite(&mut self, citation: &Citation<'_>, out: &mut Vec<u8>) {
        let Some(open) = &mut self.speaking else { return };
        let end = u64::try_from(Text::Escaped(&open.text).decode().chars().count()).unwrap_or(u64::MAX);
        let (from, to) = citation.span.unwrap_or((0, end));
        let mut annotation = Vec::new();
        let mut w = Writer::new(&mut annotation);
        w.begin_object();
        w.str_field("type", "url_citation");
        w.whole_field("start_index", from);
        w.whole_field("end_index", to);
        w.text_field("title", &citation.title);
        w.text_field("url", &citation.url);
        w.end_object();
        open.annotations.push(annotation.clone());
        let (id, place, index) = (open.id.clone(), open.place, open.annotations.len() - 1);
        self.event("response.output_text.annotation.added", out, |_, w| {
            place_of(&id, place, w);
            w.whole_field("annotation_index", place_number(index));
            w.key("annotation");
            w.raw(&annotation);
        });
    }

    fn think(&mut self, text: &Text<'_>, out: &mut Vec<u8>) {
        self.close_speaking(out);
        if self.thinking.is_none() {
            let (place, id) = self.next("rs_");
            self.added(place, out, |w| {
                w.str_field("id", &id);
                w.str_field("type", "reasoning");
                w.array("summary", |_| {});
            });
            self.event("response.reasoning_summary_part.added", out, |_, w| {
                summary_of(&id, place, w);
                w.object("part", |w| summary(b"", w));
            });
            self.thinking = Some(Thinking { place, id, text: Vec::new() });
        }
        let Some(Thinking { place, id, text: all }) = &mut self.thinking else { return };
        text.escape_into(all);
        let (place, id) = (*place, id.clone());
        self.event("response.reasoning_summary_text.delta", out, |_, w| {
            summary_of(&id, place, w);
            w.text_field("delta", text);
        });
    }

    fn sign(&mut self, signature: &Signature<'_>, out: &mut Vec<u8>) {
        let token = self.tagged(signature);
        if self.thinking.is_some() {
            self.end_thinking(Some(&token), out);
        } else {
            self.close_words(out);
            self.token(token, out);
        }
    }

    /// A signature as a client of this dialect keeps it.
    fn tagged(&self, minted: &Signature<'_>) -> String {
        let shape = if minted.origin.is_none() { self.upstream } else { minted.shape };
        let origin = minted.origin.unwrap_or(self.origin);
        signature::tag(&Signature { shape, origin: Some(origin), value: minted.value.as_ref() })
    }

    /// Reasoning that shows nothing but its token.
    fn token(&mut self, token: String, out: &mut Vec<u8>) {
        let (place, id) = self.next("rs_");
        self.added(place, out, |w| {
            w.str_field("id", &id);
            w.str_field("type", "reasoning");
            w.array("summary", |_| {});
        });
        self.finish(place, reasoning(&id, None, Some(&token)), out);
    }

    fn close_thinking(&mut self, out: &mut Vec<u8>) {
        self.end_thinking(None, out);
    }

    fn end_thinking(&mut self, token: Option<&str>, out: &mut Vec<u8>) {
        let Some(Thinking { place, id, text }) = self.thinking.take() else { return };
        self.event("response.reasoning_summary_text.done", out, |_, w| {
            summary_of(&id, place, w);
            w.text_field("text", &Text::Escaped(&text));
        });
        self.event("response.reasoning_summary_part.done", out, |_, w| {
            summary_of(&id, place, w);
            w.object("part", |w| summary(&text, w));
        });
        self.finish(place, reasoning(&id, Some(&text), token), out);
    }

    fn call(&mut self, call: u32, call_id: &Text<'_>, name: &Text<'_>, custom: bool, out: &mut Vec<u8>) {
        let (place, id) = self.next(if custom { "ctc_" } else { "fc_" });
        let open = Call {
            call,
            place,
            id,
            call_id: call_id.decode().into_owned(),
            name: name.decode().into_owned(),
            custom,
            arguments: Vec::new(),
        };
        self.added(place, out, |w| open.write("in_progress", w));
        self.calls.push(open);
    }

    fn arguments(&mut self, call: u32, fragment: &Text<'_>, out: &mut Vec<u8>) {
        let Some(open) = self.calls.iter_mut().find(|open| open.call == call) else { return };
        fragment.escape_into(&mut open.arguments);
        let (id, place) = (open.id.clone(), open.place);
        let kind = if open.custom { "response.custom_tool_call_input.delta" } else { "response.function_call_arguments.delta" };
        self.event(kind, out, |_, w| {
            w.str_field("item_id", &id);
            w.whole_field("output_index", place_number(place));
            w.text_field("delta", fragment);
        });
    }

    fn end_call(&mut self, call: u32, out: &mut Vec<u8>) {
        let Some(at) = self.calls.iter().position(|open| open.call == call) else { return };
        let mut open = self.calls.remove(at);
        if open.arguments.is_empty() && !open.custom {
            open.arguments.extend_from_slice(b"{}");
        }
        let (kind, field) = if open.custom {
            ("response.custom_tool_call_input.done", "input")
        } else {
            ("response.function_call_arguments.done", "arguments")
        };
        self.event(kind, out, |_, w| {
            w.str_field("item_id", &open.id);
            w.whole_field("output_index", place_number(open.place));
            if !open.custom {
                w.str_field("name", &open.name);
            }
            w.text_field(field, &Text::Escaped(&open.arguments));
        });
        let mut item = Vec::new();
        let mut w = Writer::new(&mut item);
        w.begin_object();
        open.write("completed", &mut w);
        w.end_object();
        self.finish(open.place, item, out);
    }

    fn search(&mut self, query: &Text<'_>, hits: &[SearchHit<'_>], out: &mut Vec<u8>) {
        self.close_words(out);
        let (place, id) = self.next("ws_");
        self.added(place, out, |w| {
            w.str_field("id", &id);
            w.str_field("type", "web_search_call");
            w.str_field("status", "in_progress");
        });
        for step in ["in_progress", "searching", "completed"] {
            self.event(&format!("response.web_search_call.{step}"), out, |_, w| {
                w.whole_field("output_index", place_number(place));
                w.str_field("item_id", &id);
            });
        }
        let mut item = Vec::new();
        let mut w = Writer::new(&mut item);
        w.begin_object();
        w.str_field("id", &id);
        w.str_field("type", "web_search_call");
        w.str_field("status", "completed");
        w.object("action", |w| {
            w.str_field("type", "search");
            w.text_field("query", query);
            w.array("sources", |w| {
                for hit in hits {
                    w.begin_object();
                    w.str_field("type", "url");
                    w.text_field("url", &hit.url);
                    w.end_object();
                }
            });
        });
        w.end_object();
        self.finish(place, item, out);
    }

    fn picture(&mut self, data: &Text<'_>, out: &mut Vec<u8>) {
        self.close_words(out);
        let (place, id) = self.next("ig_");
        let mut item = Vec::new();
        let mut w = Writer::new(&mut item);
        w.begin_object();
        w.str_field("id", &id);
        w.str_field("type", "image_generation_call");
        w.str_field("status", "completed");
        w.text_field("result", data);
        w.end_object();
        self.added(place, out, |w| {
            w.str_field("id", &id);
            w.str_field("type", "image_generation_call");
            w.str_field("status", "in_progress");
            w.null_field("result");
        });
        self.finish(place, item, out);
    }

    fn close_words(&mut self, out: &mut Vec<u8>) {
        self.close_thinking(out);
        self.close_speaking(out);
    }

    /// Closes whatever is open.
    pub(super) fn close_all(&mut self, out: &mut Vec<u8>) {
        self.close_words(out);
        while let Some(call) = self.calls.first().map(|open| open.call) {
            self.end_call(call, out);
        }
    }
}

impl Call {
    fn write(&self, status: &str, w: &mut Writer<'_>) {
        w.str_field("id", &self.id);
        w.str_field("type", if self.custom { "custom_tool_call" } else { "function_call" });
        w.str_field("status", status);
        w.str_field("call_id", &self.call_id);
        w.str_field("name", &self.name);
        w.text_field(if self.custom { "input" } else { "arguments" }, &Text::Escaped(&self.arguments));
    }
}

fn reasoning(id: &str, text: Option<&[u8]>, token: Option<&str>) -> Vec<u8> {
    let mut item = Vec::new();
    let mut w = Writer::new(&mut item);
    w.begin_object();
    w.str_field("id", id);
    w.str_field("type", "reasoning");
    w.array("summary", |w| {
        if let Some(text) = text {
            w.begin_object();
            summary(text, w);
            w.end_object();
        }
    });
    match token {
        Some(token) => w.str_field("encrypted_content", token),
        None => w.null_field("encrypted_content"),
    }
    w.end_object();
    item
}

fn part(refusal: bool, text: &[u8], annotations: &[Vec<u8>], w: &mut Writer<'_>) {
    if refusal {
        w.str_field("type", "refusal");
        return w.text_field("refusal", &Text::Escaped(text));
    }
    w.str_field("type", "output_text");
    w.text_field("text", &Text::Escaped(text));
    w.array("annotations", |w| annotations.iter().for_each(|annotation| w.raw(annotation)));
    w.array("logprobs", |_| {});
}

fn summary(text: &[u8], w: &mut Writer<'_>) {
    w.str_field("type", "summary_text");
    w.text_field("text", &Text::Escaped(text));
}

fn place_of(id: &str, place: usize, w: &mut Writer<'_>) {
    w.str_field("item_id", id);
    w.whole_field("output_index", place_number(place));
    w.whole_field("content_index", 0);
}

fn summary_of(id: &str, place: usize, w: &mut Writer<'_>) {
    w.str_field("item_id", id);
    w.whole_field("output_index", place_number(place));
    w.whole_field("summary_index", 0);
}

fn place_number(place: usize) -> u64 {
    u64::try_from(place).unwrap_or(u64::MAX)
}
