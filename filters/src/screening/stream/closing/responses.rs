//! The end of events of responses: whatever is open is closed, and the response is told with all that was sent of it.

mod item;

use self::item::{Item, Part};
use super::super::responses::spoken;
use super::super::sight::{Field, number};
use super::super::stop::{Closing, Stop};
use super::{event, object};
use crate::wire::json::{Text, Value, Writer, members};

/// Bytes of an answer that are kept. What comes after is missing from the end that is told, and nowhere else.
const KEPT: usize = 4 << 20;
/// Members of the response that are told anew.
const ANEW: [&str; 6] = ["status", "error", "incomplete_details", "output", "usage", "completed_at"];
const NO_USAGE: &[u8] = br#"{"input_tokens":0,"input_tokens_details":{"cached_tokens":0},"output_tokens":0,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":0}"#;

/// What was sent of an answer.
#[derive(Default)]
pub(super) struct Responses {
    /// The response as it was when it began.
    response: Vec<u8>,
    /// The number of the next event.
    sequence: u64,
    items: Vec<Item>,
    kept: usize,
}

/// What an event is about.
#[derive(Default)]
struct Seen<'d> {
    kind: &'d [u8],
    place: u32,
    part: u32,
    body: Option<Value<'d>>,
}

impl Responses {
    pub(super) fn note(&mut self, data: &[u8]) {
        let mut event = Seen::default();
        for member in members(data) {
            match &*member.name() {
                b"type" => event.kind = member.value().strip_prefix(b"\"").and_then(|kind| kind.strip_suffix(b"\"")).unwrap_or_default(),
                b"output_index" => event.place = number(member.json()).unwrap_or_default(),
                b"content_index" | b"summary_index" => event.part = number(member.json()).unwrap_or_default(),
                b"sequence_number" => self.sequence = member.json().u64().map_or(self.sequence, |number| number.saturating_add(1)),
                b"delta" | b"item" | b"part" | b"response" => event.body = Some(member.json()),
                _ => {}
            }
        }
        let body = event.body.unwrap_or(Value::NULL);
        match event.kind {
            b"response.created" => self.response = body.bytes().to_vec(),
            b"response.output_item.added" => self.add(event.place, body),
            b"response.output_item.done" => self.done(event.place, body),
            b"response.content_part.added" | b"response.reasoning_summary_part.added" => {
                self.part(&event, field_of(body), |part| part.added = true);
            }
            b"response.content_part.done" | b"response.reasoning_summary_part.done" => {
                self.part(&event, field_of(body), |part| part.done = true);
            }
            _ => self.spoken(&event, body),
        }
    }

    fn keeps(&mut self, bytes: usize) -> bool {
        self.kept = self.kept.saturating_add(bytes);
        self.kept <= KEPT
    }

    fn add(&mut self, place: u32, item: Value<'_>) {
        if self.keeps(item.bytes().len()) {
            self.items.push(Item::new(place, item.bytes()));
        }
    }

    fn done(&mut self, place: u32, item: Value<'_>) {
        let keeps = self.keeps(item.bytes().len());
        if self.item(place).is_none() && keeps {
            self.items.push(Item::new(place, b"{}"));
        }
        if let Some(known) = self.item(place) {
            known.finish(if keeps { item.bytes() } else { b"" });
        }
    }

    /// Text that was sent, or its end.
    fn spoken(&mut self, event: &Seen<'_>, delta: Value<'_>) {
        let Some(field) = spoken(event.kind) else { return };
        if event.kind.ends_with(b".done") {
            return self.part(event, field, |part| part.said = true);
        }
        if let (Some(Text::Escaped(text)), true) = (delta.text(), self.keeps(delta.bytes().len())) {
            self.part(event, field, |part| part.text.extend_from_slice(text));
        }
    }

    fn part(&mut self, event: &Seen<'_>, field: Field, change: impl FnOnce(&mut Part)) {
        if let Some(item) = self.item(event.place) {
            item.part(event.part, field, change);
        }
    }

    fn item(&mut self, place: u32) -> Option<&mut Item> {
        self.items.iter_mut().rev().find(|item| item.place == place && item.is_open())
    }

    pub(super) fn close(&mut self, stop: &Stop, closing: &Closing, out: &mut Vec<u8>) {
        let refused = *stop == Stop::Refuse;
        if self.response.is_empty() {
            self.begin(closing, out);
        }
        if let Stop::Say(text) = stop {
            self.say(text, closing, out);
        }
        self.close_items(refused, out);
        let kind = if refused { "response.incomplete" } else { "response.completed" };
        let (response, items) = (&self.response, &self.items);
        told(kind, self.sequence, out, |w| {
            w.key("response");
            write_response(response, if refused { "incomplete" } else { "completed" }, refused, items, w);
        });
    }

    /// Begins an answer of which nothing was sent.
    fn begin(&mut self, closing: &Closing, out: &mut Vec<u8>) {
        object(&mut self.response, |w| {
            w.str_field("id", &format!("resp_{}", closing.request_id));
            w.str_field("object", "response");
            w.whole_field("created_at", 0);
            w.str_field("model", &closing.model);
        });
        let response = &self.response;
        told("response.created", self.sequence, out, |w| {
            w.key("response");
            write_response(response, "in_progress", false, &[], w);
        });
        self.sequence += 1;
    }

    /// Says `text`, in the open part of text or in a message of its own.
    fn say(&mut self, text: &str, closing: &Closing, out: &mut Vec<u8>) {
        let speaks = |item: &Item| item.is_open() && item.speaks();
        if !self.items.iter().any(speaks) {
            self.close_items(true, out);
            self.open_message(closing, out);
        }
        let Some(item) = self.items.iter_mut().find(|item| speaks(item)) else { return };
        item.say(text, &mut self.sequence, out);
    }

    fn open_message(&mut self, closing: &Closing, out: &mut Vec<u8>) {
        let place = self.items.iter().map(|item| item.place.saturating_add(1)).max().unwrap_or_default();
        let mut raw = Vec::new();
        object(&mut raw, |w| {
            w.str_field("id", &format!("msg_{}_{place}", closing.request_id));
            w.str_field("type", "message");
            w.str_field("status", "in_progress");
            w.str_field("role", "assistant");
            w.array("content", |_| {});
        });
        told("response.output_item.added", self.sequence, out, |w| {
            w.whole_field("output_index", place);
            w.key("item");
            w.raw(&raw);
        });
        self.sequence += 1;
        let mut item = Item::new(place, &raw);
        item.part(0, Field::Text, |part| part.added = true);
        item.tell_part(&Part::new(0, Field::Text), "added", &mut self.sequence, out);
        self.items.push(item);
    }

    fn close_items(&mut self, incomplete: bool, out: &mut Vec<u8>) {
        for item in self.items.iter_mut().filter(|item| item.is_open()) {
            item.close(incomplete, &mut self.sequence, out);
        }
    }
}

/// Writes an event with its number.
fn told(kind: &str, sequence: u64, out: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>)) {
    event(kind, out, |w| {
        write(w);
        w.whole_field("sequence_number", sequence);
    });
}

fn field_of(part: Value<'_>) -> Field {
    match part.get("type").str().as_deref() {
        Some("refusal") => Field::Refusal,
        Some("summary_text") => Field::Summary,
        Some("reasoning_text") => Field::Reasoning,
        _ => Field::Text,
    }
}

fn write_response(response: &[u8], status: &str, refused: bool, items: &[Item], w: &mut Writer<'_>) {
    w.begin_object();
    for member in members(response).filter(|member| !ANEW.iter().any(|name| member.is(name))) {
        w.key(&member.key());
        w.raw(member.value());
    }
    w.str_field("status", status);
    w.null_field("error");
    if refused {
        w.object("incomplete_details", |w| w.str_field("reason", "content_filter"));
    } else {
        w.null_field("incomplete_details");
    }
    w.array("output", |w| items.iter().filter_map(Item::finished).for_each(|item| w.raw(item)));
    w.key("usage");
    w.raw(if status == "in_progress" { b"null" } else { NO_USAGE });
    w.end_object();
}
