//! The message: text or a refusal, its sources and log probabilities.

use super::items::{Items, TAIL, delta, head, place_number};
use crate::canonical::{Citation, Raw, Text};
use crate::wire::json::Writer;

/// The end of a delta of text.
const TEXT_TAIL: &[u8] = br#"","logprobs":[],"sequence_number":"#;

/// The open message.
pub(super) struct Speaking {
    place: usize,
    id: String,
    refusal: bool,
    /// Escaped.
    text: Vec<u8>,
    annotations: Vec<Vec<u8>>,
    /// What every delta begins with.
    head: Vec<u8>,
}

impl Items {
    pub(super) fn say(&mut self, text: &Text<'_>, refusal: bool, out: &mut Vec<u8>) {
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
            let tail = if refusal { TAIL } else { TEXT_TAIL };
            delta(&open.head, open.text.get(from..).unwrap_or_default(), tail, &mut self.sequence, out);
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
            w.object("part", |w| part(refusal, b"", &[], b"", w));
        });
        let kind = if refusal { "response.refusal.delta" } else { "response.output_text.delta" };
        let head = head(kind, &id, place, "\"content_index\":0,");
        self.speaking = Some(Speaking { place, id, refusal, text: Vec::new(), annotations: Vec::new(), head });
    }

    pub(super) fn close_speaking(&mut self, out: &mut Vec<u8>) {
        let Some(Speaking { place, id, refusal, text, annotations, .. }) = self.speaking.take() else { return };
        let logprobs = std::mem::take(&mut self.logprobs);
        self.spoken = self.spoken.saturating_add(characters(&text));
        let (kind, field) = if refusal { ("response.refusal.done", "refusal") } else { ("response.output_text.done", "text") };
        self.event(kind, out, |_, w| {
            place_of(&id, place, w);
            w.text_field(field, &Text::Escaped(&text));
            if !refusal {
                w.array("logprobs", |w| w.buffer().extend_from_slice(&logprobs));
            }
        });
        self.event("response.content_part.done", out, |_, w| {
            place_of(&id, place, w);
            w.object("part", |w| part(refusal, &text, &annotations, &logprobs, w));
        });
        let status = if self.cut { "incomplete" } else { "completed" };
        self.finish(place, out, |w| {
            w.str_field("id", &id);
            w.str_field("type", "message");
            w.str_field("status", status);
            w.str_field("role", "assistant");
            w.array("content", |w| {
                w.begin_object();
                part(refusal, &text, &annotations, &logprobs, w);
                w.end_object();
            });
        });
    }

    /// A source of the open message. Spans count in the whole answer's text, here they count in the message.
    pub(super) fn cite(&mut self, citation: &Citation<'_>, out: &mut Vec<u8>) {
        let spoken = self.spoken;
        let Some(open) = self.speaking.as_mut().filter(|open| !open.refusal) else { return };
        let (from, to) = match citation.span {
            Some((from, to)) => (from.saturating_sub(spoken), to.saturating_sub(spoken)),
            None => (0, characters(&open.text)),
        };
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

    /// Keeps log probabilities, which have the same form here, until the message ends.
    pub(super) fn weigh(&mut self, elements: &Raw<'_>) {
        if !self.logprobs.is_empty() && !elements.0.is_empty() {
            self.logprobs.push(b',');
        }
        self.logprobs.extend_from_slice(&elements.0);
    }
}

fn characters(escaped: &[u8]) -> u64 {
    u64::try_from(Text::Escaped(escaped).decode().chars().count()).unwrap_or(u64::MAX)
}

fn part(refusal: bool, text: &[u8], annotations: &[Vec<u8>], logprobs: &[u8], w: &mut Writer<'_>) {
    if refusal {
        w.str_field("type", "refusal");
        return w.text_field("refusal", &Text::Escaped(text));
    }
    w.str_field("type", "output_text");
    w.text_field("text", &Text::Escaped(text));
    w.array("annotations", |w| annotations.iter().for_each(|annotation| w.raw(annotation)));
    w.array("logprobs", |w| w.buffer().extend_from_slice(logprobs));
}

fn place_of(id: &str, place: usize, w: &mut Writer<'_>) {
    w.str_field("item_id", id);
    w.whole_field("output_index", place_number(place));
    w.whole_field("content_index", 0);
}
