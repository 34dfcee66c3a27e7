//! Reasoning: its summary, and the token that proves it.

use super::items::{Items, TAIL, delta, head, place_number};
use crate::canonical::{Signature, Text};
use crate::translate::map::signature;
use crate::translate::responses::MINTED;
use crate::translate::responses::answer::sealed;
use crate::wire::json::Writer;

/// The open reasoning.
pub(super) struct Thinking {
    place: usize,
    id: String,
    /// Escaped.
    text: Vec<u8>,
    /// What every delta begins with.
    head: Vec<u8>,
}

impl Items {
    pub(super) fn think(&mut self, text: &Text<'_>, out: &mut Vec<u8>) {
        self.close_speaking(out);
        if self.thinking.is_none() {
            self.open_thinking(out);
        }
        let Some(open) = &mut self.thinking else { return };
        let from = open.text.len();
        text.escape_into(&mut open.text);
        if self.stream {
            delta(&open.head, open.text.get(from..).unwrap_or_default(), TAIL, &mut self.sequence, out);
        }
    }

    fn open_thinking(&mut self, out: &mut Vec<u8>) {
        let (place, id) = self.next(MINTED);
        self.added(place, out, |w| {
            w.str_field("id", &id);
            w.str_field("type", "reasoning");
            w.array("summary", |_| {});
        });
        self.event("response.reasoning_summary_part.added", out, |_, w| {
            summary_of(&id, place, w);
            w.object("part", |w| summary(b"", w));
        });
        let head = head("response.reasoning_summary_text.delta", &id, place, "\"summary_index\":0,");
        self.thinking = Some(Thinking { place, id, text: Vec::new(), head });
    }

    /// The token of the reasoning so far.
    pub(super) fn sign(&mut self, signature: &Signature<'_>, out: &mut Vec<u8>) {
        if self.thinking.is_some() {
            let token = self.tagged(signature);
            self.end_thinking(Some(&token), out);
        } else {
            self.close_words(out);
            self.token(signature, out);
        }
    }

    /// Reasoning that only its provider can read.
    pub(super) fn seal(&mut self, signature: &Signature<'_>, out: &mut Vec<u8>) {
        self.close_words(out);
        let token = sealed(&self.tagged(signature));
        self.bare(&token, out);
    }

    /// Reasoning that shows nothing but its token.
    pub(super) fn token(&mut self, signature: &Signature<'_>, out: &mut Vec<u8>) {
        let token = self.tagged(signature);
        self.bare(&token, out);
    }

    /// A signature as a client of this dialect keeps it.
    fn tagged(&self, minted: &Signature<'_>) -> String {
        let shape = if minted.origin.is_none() { self.upstream } else { minted.shape };
        let origin = minted.origin.unwrap_or(self.origin);
        signature::tag(&Signature { shape, origin: Some(origin), value: minted.value.as_ref() })
    }

    fn bare(&mut self, token: &str, out: &mut Vec<u8>) {
        let (place, id) = self.next(MINTED);
        self.added(place, out, |w| {
            w.str_field("id", &id);
            w.str_field("type", "reasoning");
            w.array("summary", |_| {});
        });
        self.finish(place, out, |w| members(&id, None, Some(token), w));
    }

    pub(super) fn close_thinking(&mut self, out: &mut Vec<u8>) {
        self.end_thinking(None, out);
    }

    fn end_thinking(&mut self, token: Option<&str>, out: &mut Vec<u8>) {
        let Some(Thinking { place, id, text, .. }) = self.thinking.take() else { return };
        self.event("response.reasoning_summary_text.done", out, |_, w| {
            summary_of(&id, place, w);
            w.text_field("text", &Text::Escaped(&text));
        });
        self.event("response.reasoning_summary_part.done", out, |_, w| {
            summary_of(&id, place, w);
            w.object("part", |w| summary(&text, w));
        });
        self.finish(place, out, |w| members(&id, Some(&text), token, w));
    }
}

fn members(id: &str, text: Option<&[u8]>, token: Option<&str>, w: &mut Writer<'_>) {
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
}

fn summary(text: &[u8], w: &mut Writer<'_>) {
    w.str_field("type", "summary_text");
    w.text_field("text", &Text::Escaped(text));
}

fn summary_of(id: &str, place: usize, w: &mut Writer<'_>) {
    w.str_field("item_id", id);
    w.whole_field("output_index", place_number(place));
    w.whole_field("summary_index", 0);
}
