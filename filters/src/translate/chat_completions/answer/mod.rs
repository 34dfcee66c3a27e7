//! Reading a provider's answer, whole or in chunks.

mod call;
mod calls;
mod choice;
mod chunk;
mod cursor;
mod finish;
mod fragment;
mod reasoning;
#[cfg(test)]
mod tests;

use self::choice::Choice;
use self::chunk::Part;
use super::failure;
use crate::canonical::{Event, Failure, Finish, FinishReason, Sink, Text};
use crate::translate::Decode;
use crate::usage::read_chat;
use crate::wire::json::{Kind, Value};

/// Reads answers of this shape.
pub fn decoder() -> impl Decode + 'static {
    Decoder::default()
}

#[derive(Debug, Default)]
struct Decoder {
    /// The beginning that every chunk of this answer seems to have, up to its choices.
    prefix: Vec<u8>,
    started: bool,
    over: bool,
    choices: Vec<Choice>,
}

impl Decoder {
    /// Takes a chunk or a whole answer.
    fn take(&mut self, data: &[u8], sink: Sink<'_>) {
        let Some(chunk) = chunk::read(data, &mut self.prefix) else {
            return self.fail(Failure::broken("the provider sent something that is not JSON"), sink);
        };
        if let Some(error) = chunk.failure() {
            return self.fail(failure::told(error), sink);
        }
        if !self.started && chunk.begins() {
            self.started = true;
            let id = chunk.id.text().filter(|id| !id.is_empty());
            let created = chunk.created.u64().and_then(|created| i64::try_from(created).ok());
            sink(Event::Start { id, created: created.filter(|created| *created > 0) });
        }
        for part in chunk.first.iter().chain(&chunk.more) {
            self.part(part, sink);
            if self.over {
                return;
            }
        }
        if chunk.usage.kind() == Kind::Object
            && let Some(usage) = read_chat(chunk.usage.bytes())
        {
            sink(Event::Usage(usage));
        }
    }

    #[inline]
    fn part(&mut self, part: &Part<'_>, sink: Sink<'_>) {
        let index = part.index.u64().and_then(|index| u32::try_from(index).ok()).unwrap_or(0);
        let at = self.choices.iter().position(|choice| choice.index == index);
        let at = at.unwrap_or_else(|| {
            self.choices.push(Choice::new(index));
            self.choices.len() - 1
        });
        let Some(choice) = self.choices.get_mut(at) else { return };
        if let Err(failure) = choice.take(part, sink) {
            self.fail(failure, sink);
        }
    }

    fn fail(&mut self, failure: Failure<'_>, sink: Sink<'_>) {
        self.over = true;
        sink(Event::Failed(failure));
    }

    /// The answer came to its proper end.
    fn end(&mut self, sink: Sink<'_>) {
        if !self.started {
            sink(Event::Start { id: None, created: None });
        }
        for choice in &mut self.choices {
            choice.end(sink);
        }
        if self.choices.is_empty() {
            let raw = Text::from("");
            sink(Event::Finish { choice: 0, finish: Finish { reason: FinishReason::Stop, raw, stop_sequence: None, explanation: None } });
        }
        self.over = true;
        sink(Event::End);
    }
}

impl Decode for Decoder {
    fn event(&mut self, name: &[u8], data: &[u8], sink: Sink<'_>) {
        if self.over {
            return;
        }
        let data = data.trim_ascii();
        match data.first() {
            Some(b'{') if name != b"error" => self.take(data, sink),
            _ if data.starts_with(b"[DONE]") => self.end(sink),
            Some(b'{') => self.fail(failure::decode_failure(0, data), sink),
            // Some put a single error into an array.
            Some(b'[') => {
                for element in Value::of(data).elements().filter(|element| element.kind == Kind::Object) {
                    if !self.over {
                        self.take(element.value, sink);
                    }
                }
            }
            _ if name == b"error" => self.fail(failure::decode_failure(0, data), sink),
            // Words between events, such as of a service that is still busy.
            _ if self.started => sink(Event::Ping),
            _ => {}
        }
    }

    fn answer(&mut self, body: &[u8], sink: Sink<'_>) {
        if self.over {
            return;
        }
        let lossy = String::from_utf8_lossy(body);
        let body = lossy.trim_start_matches('\u{feff}').as_bytes().trim_ascii();
        let body = match body.first() {
            Some(b'[') => Value::of(body).elements().next().map_or(body, |first| first.value),
            _ => body,
        };
        if body.is_empty() {
            return self.fail(Failure::broken("the provider's answer is empty"), sink);
        }
        self.take(body, sink);
        if self.over {
            return;
        }
        if self.choices.is_empty() {
            return self.fail(Failure::broken("the provider's answer has no choices"), sink);
        }
        self.end(sink);
    }

    fn finish(&mut self, sink: Sink<'_>) {
        let complete = !self.choices.is_empty() && self.choices.iter().all(Choice::is_finished);
        if !self.over && complete {
            self.end(sink);
        }
    }
}
