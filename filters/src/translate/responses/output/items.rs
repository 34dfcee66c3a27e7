//! Items of the output: their places, and what is told of them.

use std::sync::Arc;

use super::calls::Call;
use super::message::Speaking;
use super::reasoning::Thinking;
use crate::canonical::Event;
use crate::shape::Shape;
use crate::translate::ClientView;
use crate::translate::map::ids;
use crate::wire::json::Writer;

/// The output so far.
pub(super) struct Items {
    pub(super) stream: bool,
    /// Items as they are when done, in order of their places. Those still open are empty.
    pub(super) done: Vec<Vec<u8>>,
    /// The answer ends before the model was done.
    pub(super) cut: bool,
    pub(super) sequence: u64,
    request_id: Arc<str>,
    /// Who minted signatures that carry no origin.
    pub(super) upstream: Shape,
    pub(super) origin: u32,
    show_reasoning: bool,
    /// Characters of messages that are closed.
    pub(super) spoken: u64,
    pub(super) speaking: Option<Speaking>,
    /// Elements of log probabilities for the message that is open, or comes next.
    pub(super) logprobs: Vec<u8>,
    pub(super) thinking: Option<Thinking>,
    pub(super) calls: Vec<Call>,
}

impl Items {
    pub(super) fn new(view: &ClientView, stream: bool) -> Self {
        Self {
            stream,
            done: Vec::new(),
            cut: false,
            sequence: 0,
            request_id: view.request_id.clone(),
            upstream: view.upstream,
            origin: view.origin,
            show_reasoning: view.show_reasoning,
            spoken: 0,
            speaking: None,
            logprobs: Vec::new(),
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
            Event::Redacted { choice: 0, signature } => self.seal(signature, out),
            Event::ToolStart { choice: 0, call, id, name, custom, signature } => {
                self.close_words(out);
                if let Some(signature) = signature {
                    self.token(signature, out);
                }
                self.call(*call, id, name, *custom, out);
            }
            Event::ToolArguments { choice: 0, call, fragment } => self.arguments(*call, fragment, out),
            Event::ToolEnd { choice: 0, call } => self.end_call(*call, out),
            Event::Citation { choice: 0, citation } => self.cite(citation, out),
            Event::WebSearch { choice: 0, query, hits, .. } => self.search(query, hits, out),
            Event::Media { choice: 0, media_type, data } => self.picture(media_type, data, out),
            Event::Logprobs { choice: 0, elements } => self.weigh(elements),
            // Other answers than the first, reasoning that is not to be shown, and what is no content.
            Event::Text { .. }
            | Event::Refusal { .. }
            | Event::Reasoning { .. }
            | Event::ReasoningSigned { .. }
            | Event::Redacted { .. }
            | Event::ToolStart { .. }
            | Event::ToolArguments { .. }
            | Event::ToolEnd { .. }
            | Event::Citation { .. }
            | Event::WebSearch { .. }
            | Event::Media { .. }
            | Event::Logprobs { .. }
            | Event::Start { .. }
            | Event::Unknown { .. }
            | Event::Ping
            | Event::Finish { .. }
            | Event::Usage(_)
            | Event::Failed(_)
            | Event::End => {}
        }
    }

    /// The place and the id of a new item.
    pub(super) fn next(&mut self, prefix: &str) -> (usize, String) {
        let place = self.done.len();
        self.done.push(Vec::new());
        (place, ids::made_from(prefix, &format!("{}/{place}", self.request_id)))
    }

    /// Tells of a new item; `item` writes its members.
    pub(super) fn added(&mut self, place: usize, out: &mut Vec<u8>, item: impl FnOnce(&mut Writer<'_>)) {
        self.event("response.output_item.added", out, |_, w| {
            w.whole_field("output_index", place_number(place));
            w.object("item", item);
        });
    }

    /// Puts the finished item at its place and tells of it; `write` writes its members.
    pub(super) fn finish(&mut self, place: usize, out: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>)) {
        let mut item = Vec::new();
        let mut w = Writer::new(&mut item);
        w.begin_object();
        write(&mut w);
        w.end_object();
        self.event("response.output_item.done", out, |_, w| {
            w.whole_field("output_index", place_number(place));
            w.key("item");
            w.raw(&item);
        });
        if let Some(slot) = self.done.get_mut(place) {
            *slot = item;
        }
    }

    pub(super) fn close_words(&mut self, out: &mut Vec<u8>) {
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

/// What every delta of an item begins with, up to its text.
pub(super) fn head(kind: &str, id: &str, place: usize, inner: &str) -> Vec<u8> {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\",\"item_id\":\"{id}\",\"output_index\":{place},{inner}\"delta\":\"").into_bytes()
}

/// Writes one delta: what all of them begin with, the text as it is escaped, and what they end with.
pub(super) fn delta(head: &[u8], escaped: &[u8], tail: &[u8], sequence: &mut u64, out: &mut Vec<u8>) {
    out.extend_from_slice(head);
    out.extend_from_slice(escaped);
    out.extend_from_slice(tail);
    out.extend_from_slice(itoa::Buffer::new().format(*sequence).as_bytes());
    out.extend_from_slice(b"}\n\n");
    *sequence += 1;
}

/// The end of a delta.
pub(super) const TAIL: &[u8] = br#"","sequence_number":"#;

pub(super) fn place_number(place: usize) -> u64 {
    u64::try_from(place).unwrap_or(u64::MAX)
}
