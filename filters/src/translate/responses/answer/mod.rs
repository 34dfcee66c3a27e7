//! Reading a provider's answer, whole or as events.

mod calls;
mod end;
mod items;
#[cfg(test)]
mod tests;
mod told;

use std::collections::BTreeMap;

use self::items::cite;
use self::told::Told;
use super::SEALED;
use crate::canonical::{Event, Failure, Sink, Text};
use crate::translate::{Decode, chat_completions};
use crate::wire::json::{DEEPEST, Kind, Value, outline};

/// Reads answers of this dialect.
pub fn decoder() -> impl Decode + 'static {
    Decoder::default()
}

#[derive(Default)]
struct Decoder {
    started: bool,
    over: bool,
    calls: u32,
    /// Their ids.
    call_ids: Vec<String>,
    /// Characters of text so far, in which citations count.
    characters: u64,
    /// By place in the output.
    items: BTreeMap<u64, Item>,
}

/// What was seen of an item of the output.
struct Item {
    call: Option<u32>,
    /// Characters of its content that came in deltas.
    given: u64,
    /// Where its text begins, in characters of the whole text.
    base: u64,
    parts: u32,
    cited: bool,
    /// It is complete.
    done: bool,
}

impl Decoder {
    fn take(&mut self, name: &[u8], data: &[u8], sink: Sink<'_>) {
        if outline(data, DEEPEST).is_err() {
            return self.fail(Failure::broken("the provider sent an event that is not JSON"), sink);
        }
        let told = Told::read(Value::of(data));
        // Some tell the kind in the name of the event only.
        let kind = told.kind.str().unwrap_or_else(|| String::from_utf8_lossy(name));
        match &*kind {
            "response.output_text.delta" => self.delta(&told, sink, |text| Event::Text { choice: 0, text }),
            "response.refusal.delta" => self.delta(&told, sink, |text| Event::Refusal { choice: 0, text }),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.delta(&told, sink, |text| Event::Reasoning { choice: 0, text });
            }
            "response.reasoning_summary_part.added" => self.next_part(told.place, sink),
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.arguments(told.place, told.delta, sink);
            }
            "response.function_call_arguments.done" => self.whole_arguments(told.place, told.arguments, sink),
            "response.custom_tool_call_input.done" => self.whole_arguments(told.place, told.input, sink),
            "response.output_text.annotation.added" => self.annotation(&told, sink),
            "response.output_item.added" => self.added(told.place, told.item, sink),
            "response.output_item.done" => self.done(told.place, told.item, Value::NULL, sink),
            "response.created" | "response.in_progress" | "response.queued" => self.start(told.response, sink),
            "response.completed" | "response.incomplete" => self.end(told.response, sink),
            "response.failed" | "response.cancelled" => self.broken_off(told.response, sink),
            "error" => self.failed(if told.error.is_null() { Value::of(data) } else { told.error }, sink),
            _ if told.error.kind() == Kind::Object => self.failed(told.error, sink),
            // Work that takes a while; everything else goes along with events that tell more.
            "response.web_search_call.searching" | "response.code_interpreter_call.interpreting" | "keepalive" => sink(Event::Ping),
            _ => {}
        }
    }

    fn start(&mut self, response: Value<'_>, sink: Sink<'_>) {
        if !std::mem::replace(&mut self.started, true) {
            let created = response.get("created_at").u64().and_then(|created| i64::try_from(created).ok());
            sink(Event::Start {
                id: response.get("id").text().filter(|id| !id.is_empty()),
                created: created.filter(|created| *created > 0),
            });
        }
    }

    fn item(&mut self, place: u64) -> &mut Item {
        let base = self.characters;
        self.items.entry(place).or_insert(Item { call: None, given: 0, base, parts: 0, cited: false, done: false })
    }

    fn delta<'a>(&mut self, told: &Told<'a>, sink: Sink<'_>, make: impl FnOnce(Text<'a>) -> Event<'a>) {
        let Some(text) = told.delta.text().filter(|text| !text.is_empty()) else { return };
        let characters = characters(&text);
        self.item(told.place).given += characters;
        let made = make(text);
        if matches!(made, Event::Text { .. }) {
            self.characters += characters;
        }
        sink(made);
    }

    /// Parts of a summary are paragraphs.
    fn next_part(&mut self, place: u64, sink: Sink<'_>) {
        let item = self.item(place);
        item.parts += 1;
        if item.parts > 1 {
            sink(Event::Reasoning { choice: 0, text: Text::from("\n\n") });
        }
    }

    fn annotation(&mut self, told: &Told<'_>, sink: Sink<'_>) {
        let item = self.item(told.place);
        item.cited = true;
        let base = item.base;
        cite(told.annotation, base, sink);
    }

    fn fail(&mut self, failure: Failure<'_>, sink: Sink<'_>) {
        self.over = true;
        sink(Event::Failed(failure));
    }
}

impl Decode for Decoder {
    fn event(&mut self, name: &[u8], data: &[u8], sink: Sink<'_>) {
        if self.over {
            return;
        }
        match data.trim_ascii().first() {
            Some(b'{') => self.take(name, data.trim_ascii(), sink),
            _ if name == b"error" => self.fail(chat_completions::decode_failure(0, data), sink),
            _ if data.starts_with(b"[DONE]") => {}
            _ => self.fail(Failure::broken("the provider sent an event that is not JSON"), sink),
        }
    }

    fn answer(&mut self, body: &[u8], sink: Sink<'_>) {
        if self.over {
            return;
        }
        let lossy = String::from_utf8_lossy(body);
        let body = lossy.trim_start_matches('\u{feff}').as_bytes().trim_ascii();
        if outline(body, DEEPEST).is_err() {
            return self.fail(Failure::broken("the provider sent something that is not JSON"), sink);
        }
        let response = Value::of(body);
        if response.get("error").kind() == Kind::Object {
            return self.broken_off(response, sink);
        }
        if !end::is_broken_off(response) && response.get("output").kind() != Kind::Array {
            return self.fail(Failure::broken("the provider's answer has no output"), sink);
        }
        self.end(response, sink);
    }

    fn finish(&mut self, _: Sink<'_>) {
        // Only the terminal event makes an answer of this dialect whole.
    }
}

/// The text that a client of this dialect keeps of a token that only its provider can read.
pub(super) fn sealed(tag: &str) -> String {
    format!("{SEALED}{tag}")
}

fn characters(text: &Text<'_>) -> u64 {
    let count = match text {
        // Without escapes and beyond ASCII bytes, bytes are characters.
        Text::Escaped(inner) if inner.is_ascii() && !inner.contains(&b'\\') => inner.len(),
        text => text.decode().chars().count(),
    };
    u64::try_from(count).unwrap_or(u64::MAX)
}
