//! Streams. Whatever order a provider's calls come in, the client gets one block after the other: the call that is open flows
//! through, and everything else waits until it is complete.

use std::collections::VecDeque;

use super::call::Call;
use super::frames::Frames;
use super::tail::Tail;
use super::{answer_id, shown};
use crate::canonical::{Citation, Event, SearchHit, Signature, Text};
use crate::translate::messages::failure;
use crate::translate::{ClientView, Encode};

/// The block that is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    None,
    /// Text; `cited` once a source was told: more text begins a block of its own.
    Text {
        cited: bool,
    },
    Thinking,
    Call(u32),
}

/// Something that waits for the open call.
enum Piece {
    Text(Text<'static>),
    Reasoning(Text<'static>),
    Signed(String),
    Redacted(String),
    Call(u32),
    Citation(Citation<'static>),
    Search { id: Text<'static>, query: Text<'static>, hits: Vec<SearchHit<'static>> },
}

pub(super) struct StreamEncoder {
    view: ClientView,
    frames: Frames,
    open: Open,
    calls: Vec<Call>,
    waiting: VecDeque<Piece>,
    tail: Tail,
    started: bool,
    ended: bool,
}

impl Encode for StreamEncoder {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        if self.ended || choice(event).is_some_and(|choice| choice != 0) {
            return;
        }
        if let Event::Start { id, .. } = event {
            return self.start(id.as_ref(), out);
        }
        if let Event::Failed(_) = event {
            return self.fail(event, out);
        }
        if !self.started && !matches!(event, Event::Ping) {
            self.start(None, out);
        }
        self.say(event, out);
    }
}

/// Which answer an event belongs to.
pub(super) const fn choice(event: &Event<'_>) -> Option<u32> {
    match event {
        Event::Text { choice, .. }
        | Event::Refusal { choice, .. }
        | Event::Reasoning { choice, .. }
        | Event::ReasoningSigned { choice, .. }
        | Event::Redacted { choice, .. }
        | Event::ToolStart { choice, .. }
        | Event::ToolArguments { choice, .. }
        | Event::ToolEnd { choice, .. }
        | Event::Citation { choice, .. }
        | Event::WebSearch { choice, .. }
        | Event::Media { choice, .. }
        | Event::Logprobs { choice, .. }
        | Event::Finish { choice, .. } => Some(*choice),
        Event::Start { .. } | Event::Unknown { .. } | Event::Ping | Event::Usage(_) | Event::Failed(_) | Event::End => None,
    }
}

impl StreamEncoder {
    pub(super) fn new(view: ClientView) -> Self {
        Self {
            view,
            frames: Frames::default(),
            open: Open::None,
            calls: Vec::new(),
            waiting: VecDeque::new(),
            tail: Tail::default(),
            started: false,
            ended: false,
        }
    }

    fn say(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match event {
            Event::Text { text, .. } => self.text(text, out),
            Event::Refusal { text, .. } => {
                self.tail.refused = true;
                self.text(text, out);
            }
            Event::Reasoning { text, .. } if self.view.show_reasoning => self.reasoning(text, out),
            // A client that asked for thinking without its text still gets the token and brings it back.
            Event::Reasoning { .. } => {}
            Event::ReasoningSigned { signature, .. } => self.signed(signature, out),
            Event::Redacted { signature, .. } => self.put(Piece::Redacted(shown(signature, &self.view)), out),
            Event::ToolStart { call, id, name, custom, signature, .. } => {
                if let Some(signature) = signature {
                    self.signed(signature, out);
                }
                self.tail.called = true;
                self.tail.said = true;
                self.calls.push(Call::new(*call, id.as_ref(), name.as_ref(), *custom));
                self.put(Piece::Call(*call), out);
            }
            Event::ToolArguments { call, fragment, .. } => self.arguments(*call, fragment, out),
            Event::ToolEnd { call, .. } => self.end_call(*call, out),
            Event::Citation { citation, .. } => self.put(Piece::Citation(owned_citation(citation)), out),
            Event::WebSearch { id, query, hits, .. } => {
                self.tail.searches += 1;
                let hits = hits.iter().map(owned_hit).collect();
                self.put(Piece::Search { id: id.clone().into_owned(), query: query.clone().into_owned(), hits }, out);
            }
            Event::Finish { finish, .. } => {
                self.tail.finish(finish);
                self.flush(out);
            }
            Event::Usage(usage) => self.tail.usage(usage),
            Event::Ping if self.started => Frames::ping(out),
            Event::End => self.end(out),
            // No place in this shape, or told elsewhere.
            Event::Ping | Event::Media { .. } | Event::Logprobs { .. } | Event::Unknown { .. } | Event::Start { .. } | Event::Failed(_) => {
            }
        }
    }

    fn start(&mut self, id: Option<&Text<'_>>, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let id = answer_id(&self.view, id);
        Frames::event("message_start", out, |w| {
            w.object("message", |w| {
                w.str_field("id", &id);
                w.str_field("type", "message");
                w.str_field("role", "assistant");
                w.str_field("model", &self.view.model);
                w.array("content", |_| {});
                w.null_field("stop_reason");
                w.null_field("stop_sequence");
                Tail::default().write_usage(w);
            });
        });
        Frames::ping(out);
    }

    #[inline]
    fn text(&mut self, text: &Text<'_>, out: &mut Vec<u8>) {
        self.tail.said = true;
        if self.open == (Open::Text { cited: false }) {
            return self.frames.delta(text, out);
        }
        if !self.free(out) {
            return self.waiting.push_back(Piece::Text(text.clone().into_owned()));
        }
        self.write_text(text, out);
    }

    fn reasoning(&mut self, text: &Text<'_>, out: &mut Vec<u8>) {
        if self.open == Open::Thinking {
            return self.frames.delta(text, out);
        }
        if !self.free(out) {
            return self.waiting.push_back(Piece::Reasoning(text.clone().into_owned()));
        }
        self.write_reasoning(text, out);
    }

    fn signed(&mut self, signature: &Signature<'_>, out: &mut Vec<u8>) {
        self.put(Piece::Signed(shown(signature, &self.view)), out);
    }

    /// Writes a piece, or lets it wait for the open call.
    fn put(&mut self, piece: Piece, out: &mut Vec<u8>) {
        if self.free(out) {
            self.write(piece, out);
        } else {
            self.waiting.push_back(piece);
        }
    }

    /// Whether nothing stands in the way of the next piece: a call whose arguments are whole is closed for it.
    fn free(&mut self, out: &mut Vec<u8>) -> bool {
        let Open::Call(number) = self.open else { return true };
        if self.call(number).is_some_and(Call::complete) {
            self.close(out);
            self.promote(false, out);
        }
        !matches!(self.open, Open::Call(_))
    }

    /// Writes what waits, in order, up to the next call that is not complete.
    fn promote(&mut self, flush: bool, out: &mut Vec<u8>) {
        while let Some(piece) = self.waiting.pop_front() {
            self.write(piece, out);
            let Open::Call(number) = self.open else { continue };
            let more = !self.waiting.is_empty();
            if flush || self.call(number).is_some_and(|call| call.ended || (more && call.complete())) {
                self.close(out);
            } else {
                return;
            }
        }
    }

    fn write(&mut self, piece: Piece, out: &mut Vec<u8>) {
        match piece {
            Piece::Text(text) => self.write_text(&text, out),
            Piece::Reasoning(text) => self.write_reasoning(&text, out),
            Piece::Signed(signature) => {
                if self.open != Open::Thinking {
                    self.close(out);
                    self.frames.open_thinking(out);
                    self.open = Open::Thinking;
                }
                self.frames.signature(&signature, out);
                self.close(out);
            }
            Piece::Redacted(data) => {
                self.close(out);
                self.frames.redacted(&data, out);
            }
            Piece::Call(number) => self.open_call(number, out),
            Piece::Citation(citation) => {
                if let Open::Text { .. } = self.open {
                    self.frames.citation(&citation, out);
                    self.open = Open::Text { cited: true };
                }
            }
            Piece::Search { id, query, hits } => {
                self.close(out);
                self.frames.search(&id, &query, &hits, out);
            }
        }
    }

    fn write_text(&mut self, text: &Text<'_>, out: &mut Vec<u8>) {
        if self.open != (Open::Text { cited: false }) {
            self.close(out);
            self.frames.open_text(out);
            self.open = Open::Text { cited: false };
        }
        self.frames.delta(text, out);
    }

    fn write_reasoning(&mut self, text: &Text<'_>, out: &mut Vec<u8>) {
        if self.open != Open::Thinking {
            self.close(out);
            self.frames.open_thinking(out);
            self.open = Open::Thinking;
        }
        self.frames.delta(text, out);
    }

    fn call(&mut self, number: u32) -> Option<&mut Call> {
        self.calls.iter_mut().rev().find(|call| call.number == number)
    }

    /// Opens the block of a call and writes what has come of it.
    fn open_call(&mut self, number: u32, out: &mut Vec<u8>) {
        let cut = self.tail.cut();
        self.close(out);
        let Some(call) = self.calls.iter_mut().rev().find(|call| call.number == number) else { return };
        if cut && !call.is_silent() && call.object().is_none() {
            call.closed = true;
            return;
        }
        self.frames.open_call(&call.id, &call.name, out);
        self.open = Open::Call(number);
        if call.streams() && !call.is_silent() {
            self.frames.delta(&call.so_far(), out);
        }
    }

    fn arguments(&mut self, number: u32, fragment: &Text<'_>, out: &mut Vec<u8>) {
        let live = self.open == Open::Call(number);
        let Some(call) = self.calls.iter_mut().rev().find(|call| call.number == number).filter(|call| !call.closed) else { return };
        call.push(fragment);
        if live && call.streams() {
            self.frames.delta(fragment, out);
        }
    }

    fn end_call(&mut self, number: u32, out: &mut Vec<u8>) {
        if let Some(call) = self.call(number) {
            call.ended = true;
        }
        if self.open == Open::Call(number) {
            self.close(out);
            self.promote(false, out);
        }
    }

    /// Closes the open block, whatever it is.
    fn close(&mut self, out: &mut Vec<u8>) {
        match std::mem::replace(&mut self.open, Open::None) {
            Open::None => return,
            Open::Text { .. } | Open::Thinking => {}
            Open::Call(number) => {
                if let Some(call) = self.calls.iter_mut().rev().find(|call| call.number == number) {
                    call.closed = true;
                    if !call.streams() {
                        self.frames.delta(&call.so_far(), out);
                    } else if call.is_silent() {
                        self.frames.delta(&Text::from("{}"), out);
                    }
                }
            }
        }
        self.frames.close(out);
    }

    /// Writes everything that waits: no call will get more.
    fn flush(&mut self, out: &mut Vec<u8>) {
        if let Open::Call(_) = self.open {
            self.close(out);
        }
        self.promote(true, out);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.flush(out);
        self.close(out);
        self.ended = true;
        Frames::event("message_delta", out, |w| {
            w.object("delta", |w| self.tail.write_reason(self.view.upstream, w));
            self.tail.write_usage(w);
        });
        Frames::event("message_stop", out, |_| {});
    }

    fn fail(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        self.ended = true;
        if let Event::Failed(failed) = event {
            out.extend_from_slice(b"event: error\ndata: ");
            failure::object(failed, &self.view.request_id, out);
            out.extend_from_slice(b"\n\n");
        }
    }
}

pub(super) fn owned_citation(citation: &Citation<'_>) -> Citation<'static> {
    let text = |text: &Text<'_>| text.clone().into_owned();
    Citation { url: text(&citation.url), title: text(&citation.title), cited: text(&citation.cited), span: citation.span }
}

pub(super) fn owned_hit(hit: &SearchHit<'_>) -> SearchHit<'static> {
    let text = |text: &Text<'_>| text.clone().into_owned();
    SearchHit { url: text(&hit.url), title: text(&hit.title), sealed: text(&hit.sealed) }
}
