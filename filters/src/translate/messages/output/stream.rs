//! Streams.

use super::blocks::{Blocks, Piece};
use super::call::Call;
use super::events::{choice, owned_citation, owned_hit};
use super::frames::Frames;
use super::tail::Tail;
use super::{answer_id, shown};
use crate::canonical::{Event, Text};
use crate::translate::messages::failure;
use crate::translate::{ClientView, Encode};

pub(super) struct StreamEncoder {
    view: ClientView,
    blocks: Blocks,
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

impl StreamEncoder {
    pub(super) fn new(view: ClientView) -> Self {
        Self { view, blocks: Blocks::new(), tail: Tail::default(), started: false, ended: false }
    }

    #[inline]
    fn say(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match event {
            Event::Text { text, .. } => self.text(text, out),
            Event::Refusal { text, .. } => {
                self.tail.refused = true;
                self.text(text, out);
            }
            Event::Reasoning { text, .. } if self.view.show_reasoning => self.blocks.reasoning(text, out),
            // A client that asked for thinking without its text still gets the token and brings it back.
            Event::Reasoning { .. } => {}
            Event::ReasoningSigned { signature, .. } => self.blocks.put(Piece::Signed(shown(signature, &self.view)), out),
            Event::Redacted { signature, .. } => self.blocks.put(Piece::Redacted(shown(signature, &self.view)), out),
            Event::ToolStart { .. } => self.call(event, out),
            Event::ToolArguments { call, fragment, .. } => self.blocks.arguments(*call, fragment, out),
            Event::ToolEnd { call, .. } => self.blocks.end_call(*call, out),
            Event::Citation { citation, .. } => self.blocks.put(Piece::Citation(owned_citation(citation)), out),
            Event::WebSearch { .. } => self.search(event, out),
            Event::Finish { finish, .. } => {
                self.tail.finish(finish);
                self.blocks.cut = self.tail.cut();
                self.blocks.flush(out);
            }
            Event::Usage(usage) => self.tail.usage(usage),
            Event::Ping if self.started => Frames::ping(out),
            Event::End => self.end(out),
            // No place in this shape, or told elsewhere.
            Event::Ping | Event::Media { .. } | Event::Logprobs { .. } | Event::Unknown { .. } | Event::Start { .. } | Event::Failed(_) => {
            }
        }
    }

    #[inline]
    fn text(&mut self, text: &Text<'_>, out: &mut Vec<u8>) {
        self.tail.said = true;
        self.blocks.text(text, out);
    }

    fn call(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let Event::ToolStart { call, id, name, custom, signature, .. } = event else { return };
        if let Some(signature) = signature {
            self.blocks.put(Piece::Signed(shown(signature, &self.view)), out);
        }
        self.tail.called = true;
        self.tail.said = true;
        self.blocks.call_begins(Call::new(*call, id.as_ref(), name.as_ref(), *custom), out);
    }

    fn search(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let Event::WebSearch { id, query, hits, .. } = event else { return };
        self.tail.searches += 1;
        let hits = hits.iter().map(owned_hit).collect();
        self.blocks.put(Piece::Search { id: id.clone().into_owned(), query: query.clone().into_owned(), hits }, out);
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

    fn end(&mut self, out: &mut Vec<u8>) {
        self.blocks.flush(out);
        self.blocks.close(out);
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
