//! Whole answers: the blocks in the order they were produced, written at the end.

use super::call::Call;
use super::events::{choice, owned_citation, owned_hit};
use super::sources;
use super::tail::Tail;
use super::{answer_id, found, search_id, shown};
use crate::canonical::{Citation, Event, SearchHit, Text};
use crate::translate::{ClientView, Encode};
use crate::wire::json::Writer;

/// One block.
enum Part {
    /// As it stands in a JSON string.
    Text(Vec<u8>),
    Thinking {
        text: Vec<u8>,
        signature: Option<String>,
    },
    Redacted(String),
    Call(u32),
    Search {
        id: String,
        query: Text<'static>,
        hits: Vec<SearchHit<'static>>,
    },
}

pub(super) struct WholeEncoder {
    view: ClientView,
    id: Option<String>,
    parts: Vec<Part>,
    calls: Vec<Call>,
    citations: Vec<Citation<'static>>,
    tail: Tail,
    ended: bool,
}

impl Encode for WholeEncoder {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        if self.ended || choice(event).is_some_and(|choice| choice != 0) {
            return;
        }
        match event {
            Event::Start { id, .. } => self.id = Some(answer_id(&self.view, id.as_ref())),
            Event::Text { text, .. } => self.text(text),
            Event::Refusal { text, .. } => {
                self.tail.refused = true;
                self.text(text);
            }
            // A client that asked for thinking without its text still gets the token and brings it back.
            Event::Reasoning { .. } if !self.view.show_reasoning => {}
            Event::Reasoning { text, .. } => self.reasoning(text),
            Event::ReasoningSigned { signature, .. } => self.sign(shown(signature, &self.view)),
            Event::Redacted { signature, .. } => self.parts.push(Part::Redacted(shown(signature, &self.view))),
            Event::ToolStart { .. } => self.call_begins(event),
            Event::ToolArguments { call, fragment, .. } => {
                if let Some(call) = self.calls.iter_mut().rev().find(|known| known.number == *call) {
                    call.push(fragment);
                }
            }
            Event::Citation { citation, .. } => self.citations.push(owned_citation(citation)),
            Event::WebSearch { id, query, hits, .. } => {
                self.tail.searches += 1;
                let hits = hits.iter().map(owned_hit).collect();
                self.parts.push(Part::Search { id: search_id(id), query: query.clone().into_owned(), hits });
            }
            Event::Finish { finish, .. } => self.tail.finish(finish),
            Event::Usage(usage) => self.tail.usage(usage),
            Event::Failed(_) => self.ended = true,
            Event::End => self.end(out),
            // No place in this shape.
            Event::ToolEnd { .. } | Event::Media { .. } | Event::Logprobs { .. } | Event::Unknown { .. } | Event::Ping => {}
        }
    }
}

impl WholeEncoder {
    pub(super) fn new(view: ClientView) -> Self {
        Self { view, id: None, parts: Vec::new(), calls: Vec::new(), citations: Vec::new(), tail: Tail::default(), ended: false }
    }

    fn call_begins(&mut self, event: &Event<'_>) {
        let Event::ToolStart { call, id, name, custom, signature, .. } = event else { return };
        if let Some(signature) = signature {
            self.sign(shown(signature, &self.view));
        }
        self.calls.push(Call::new(*call, id.as_ref(), name.as_ref(), *custom));
        self.parts.push(Part::Call(*call));
    }

    fn text(&mut self, text: &Text<'_>) {
        self.tail.said = true;
        if let Some(Part::Text(run)) = self.parts.last_mut() {
            return text.escape_into(run);
        }
        let mut run = Vec::new();
        text.escape_into(&mut run);
        self.parts.push(Part::Text(run));
    }

    fn reasoning(&mut self, more: &Text<'_>) {
        if let Some(Part::Thinking { text, signature: None }) = self.parts.last_mut() {
            return more.escape_into(text);
        }
        let mut text = Vec::new();
        more.escape_into(&mut text);
        self.parts.push(Part::Thinking { text, signature: None });
    }

    fn sign(&mut self, value: String) {
        match self.parts.last_mut() {
            Some(Part::Thinking { signature: signature @ None, .. }) => *signature = Some(value),
            _ => self.parts.push(Part::Thinking { text: Vec::new(), signature: Some(value) }),
        }
    }

    /// Drops calls that a limit cut off; `false` where a call is broken otherwise.
    fn settle_calls(&mut self) -> bool {
        let broken: Vec<u32> = self.calls.iter().filter(|call| call.object().is_none()).map(|call| call.number).collect();
        if !broken.is_empty() && !self.tail.cut() {
            return false;
        }
        self.parts.retain(|part| !matches!(part, Part::Call(number) if broken.contains(number)));
        self.tail.called = self.parts.iter().any(|part| matches!(part, Part::Call(_)));
        self.tail.said |= self.tail.called;
        true
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.ended = true;
        if !self.settle_calls() {
            return;
        }
        let id = self.id.take().unwrap_or_else(|| answer_id(&self.view, None));
        let mut w = Writer::new(out);
        w.begin_object();
        w.str_field("id", &id);
        w.str_field("type", "message");
        w.str_field("role", "assistant");
        w.str_field("model", &self.view.model);
        w.array("content", |w| self.content(w));
        self.tail.write_reason(self.view.upstream, &mut w);
        self.tail.write_usage(&mut w);
        w.end_object();
    }

    fn content(&self, w: &mut Writer<'_>) {
        let last = self.parts.iter().rposition(|part| matches!(part, Part::Text(_)));
        let mut from = 0;
        for (place, part) in self.parts.iter().enumerate() {
            match part {
                Part::Text(run) if self.citations.is_empty() => {
                    w.begin_object();
                    w.str_field("type", "text");
                    w.text_field("text", &Text::Escaped(run));
                    w.end_object();
                }
                Part::Text(run) => from = self.cited(run, from, last == Some(place), w),
                Part::Thinking { text, signature } => {
                    w.begin_object();
                    w.str_field("type", "thinking");
                    w.text_field("thinking", &Text::Escaped(text));
                    w.str_field("signature", signature.as_deref().unwrap_or_default());
                    w.end_object();
                }
                Part::Redacted(data) => {
                    w.begin_object();
                    w.str_field("type", "redacted_thinking");
                    w.str_field("data", data);
                    w.end_object();
                }
                Part::Call(number) => self.call(*number, w),
                Part::Search { id, query, hits } => {
                    w.begin_object();
                    w.str_field("type", "server_tool_use");
                    w.str_field("id", id);
                    w.str_field("name", "web_search");
                    w.object("input", |w| w.text_field("query", query));
                    w.end_object();
                    found(id, hits, w);
                }
            }
        }
    }

    /// Writes a run of text that starts at character `from`, cut at its sources; the character after it.
    fn cited(&self, run: &[u8], from: u64, last: bool, w: &mut Writer<'_>) -> u64 {
        let run = Text::Escaped(run);
        let text = run.decode();
        for (part, citations) in sources::cut(&text, from, last, &self.citations) {
            sources::write_text(part, &citations, w);
        }
        from + u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
    }

    fn call(&self, number: u32, w: &mut Writer<'_>) {
        let Some(call) = self.calls.iter().rev().find(|call| call.number == number) else { return };
        w.begin_object();
        w.str_field("type", "tool_use");
        w.text_field("id", &call.id);
        w.text_field("name", &call.name);
        w.key("input");
        w.raw(&call.object().unwrap_or_else(|| b"{}".to_vec()));
        w.end_object();
    }
}
