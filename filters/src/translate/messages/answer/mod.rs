//! Reading a provider's answer.

mod block;
mod delta;
mod finish;
#[cfg(test)]
mod tests;

use self::block::Blocks;
use self::delta::Delta;
use self::finish::Told;
use super::failure;
use crate::canonical::{Event, Failure, Finish, FinishReason, Sink, Text};
use crate::translate::Decode;
use crate::usage::MessagesUsage;
use crate::wire::json::{Document, Value, outline};

/// Deepest nesting of an answer.
const DEPTH: usize = 128;

/// A reader of answers of this shape.
#[must_use]
pub fn decoder() -> impl Decode + 'static {
    Decoder::default()
}

#[derive(Default)]
struct Decoder {
    started: bool,
    /// A reason to end was told.
    finished: bool,
    /// The end, or a failure, was told.
    ended: bool,
    blocks: Blocks,
    usage: MessagesUsage,
}

impl Decode for Decoder {
    fn event(&mut self, name: &[u8], data: &[u8], sink: Sink<'_>) {
        if self.ended {
            return;
        }
        if let Some(delta) = Delta::read(data) {
            self.start(None, sink);
            return self.blocks.delta(delta, sink);
        }
        let data = data.trim_ascii();
        if data.is_empty() {
            return;
        }
        if data == b"[DONE]" {
            return self.finish(sink);
        }
        match outline(data, DEPTH) {
            Ok(document) => self.whole_event(name, &document, Value::of(data), sink),
            Err(_) => self.fail(Failure::broken("the provider sent an event that is no JSON"), sink),
        }
    }

    fn answer(&mut self, body: &[u8], sink: Sink<'_>) {
        let Ok(document) = outline(body, DEPTH) else {
            return self.fail(Failure::broken("the provider's answer is no JSON"), sink);
        };
        let member = |name: &str| document.get(name).map_or(Value::NULL, |member| member.json());
        if member("type").is_str("error") || member("error").kind() == crate::wire::json::Kind::Object {
            return self.fail(failure::told(Value::of(body)), sink);
        }
        self.message(member("id"), member("usage"), sink);
        for element in member("content").elements() {
            self.blocks.open(element.json(), sink);
            self.blocks.close(sink);
        }
        let told = Told { reason: member("stop_reason"), sequence: member("stop_sequence"), details: member("stop_details") };
        self.stopped(told, guarded(&document), sink);
        if !self.finished {
            self.tell_finish(FinishReason::Stop, sink);
        }
        self.end(sink);
    }

    fn finish(&mut self, sink: Sink<'_>) {
        if self.finished && !self.ended {
            self.end(sink);
        }
    }
}

impl Decoder {
    fn whole_event(&mut self, name: &[u8], document: &Document<'_>, event: Value<'_>, sink: Sink<'_>) {
        let kind = document.get("type").and_then(|kind| kind.as_str());
        let kind = kind.as_deref().map_or(name, str::as_bytes);
        let member = |name: &str| document.get(name).map_or(Value::NULL, |member| member.json());
        match kind {
            b"message_start" => {
                let [id, usage] = member("message").pick(["id", "usage"]);
                self.message(id, usage, sink);
            }
            b"content_block_start" => {
                self.start(None, sink);
                self.blocks.close(sink);
                self.blocks.open(member("content_block"), sink);
            }
            b"content_block_delta" => {
                self.start(None, sink);
                self.blocks.other_delta(member("delta"), sink);
            }
            b"content_block_stop" => self.blocks.close(sink),
            b"message_delta" => {
                self.start(None, sink);
                self.count(member("usage"), sink);
                self.stopped(Told::of(member("delta")), guarded(document), sink);
            }
            b"message_stop" => {
                self.start(None, sink);
                if !self.finished {
                    self.blocks.close(sink);
                    self.tell_finish(FinishReason::Stop, sink);
                }
                self.end(sink);
            }
            b"error" => self.fail(failure::told(event), sink),
            b"ping" => sink(Event::Ping),
            _ if document.get("error").is_some_and(|error| error.kind != crate::wire::json::Kind::Null) => {
                self.fail(failure::told(event), sink);
            }
            _ => {}
        }
    }

    fn start(&mut self, id: Option<Text<'_>>, sink: Sink<'_>) {
        if !std::mem::replace(&mut self.started, true) {
            sink(Event::Start { id, created: None });
        }
    }

    fn message(&mut self, id: Value<'_>, usage: Value<'_>, sink: Sink<'_>) {
        self.start(id.text().filter(|id| !id.is_empty()), sink);
        self.count(usage, sink);
    }

    fn count(&mut self, usage: Value<'_>, sink: Sink<'_>) {
        if usage.is_null() {
            return;
        }
        self.usage.merge(usage.bytes());
        if let Some(usage) = self.usage.usage() {
            sink(Event::Usage(usage));
        }
    }

    fn stopped(&mut self, told: Told<'_>, guarded: bool, sink: Sink<'_>) {
        if self.finished || (told.reason.is_null() && !guarded) {
            return;
        }
        self.blocks.close(sink);
        self.finished = true;
        sink(Event::Finish { choice: 0, finish: told.finish(guarded, self.blocks.called()) });
    }

    fn tell_finish(&mut self, reason: FinishReason, sink: Sink<'_>) {
        self.finished = true;
        let finish =
            Finish { reason: reason.with_calls(self.blocks.called()), raw: Text::from(""), stop_sequence: None, explanation: None };
        sink(Event::Finish { choice: 0, finish });
    }

    fn fail(&mut self, failure: Failure<'_>, sink: Sink<'_>) {
        self.ended = true;
        sink(Event::Failed(failure));
    }

    fn end(&mut self, sink: Sink<'_>) {
        self.ended = true;
        sink(Event::End);
    }
}

/// Whether Bedrock's guardrail stepped in.
fn guarded(document: &Document<'_>) -> bool {
    document.get("amazon-bedrock-guardrailAction").is_some_and(|action| action.json().is_str("INTERVENED"))
}
