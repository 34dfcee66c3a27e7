//! The end of an answer: what no event told before, why it ended, and what it cost.

use super::Decoder;
use crate::canonical::{Event, Failure, Finish, FinishReason, Sink, Text};
use crate::translate::chat_completions;
use crate::usage::read_chat;
use crate::wire::json::{Kind, Value};

/// Whether the provider calls its answer none.
pub(super) fn is_broken_off(response: Value<'_>) -> bool {
    let status = response.get("status");
    status.is_str("failed") || status.is_str("cancelled")
}

impl Decoder {
    /// The answer came to its end.
    pub(super) fn end(&mut self, response: Value<'_>, sink: Sink<'_>) {
        if is_broken_off(response) {
            return self.broken_off(response, sink);
        }
        self.start(response, sink);
        self.settle(response.get("output"), sink);
        if let Some(usage) = read_chat(response.get("usage").bytes()) {
            sink(Event::Usage(usage));
        }
        let why = response.get("incomplete_details").get("reason");
        let reason = match &*why.str().unwrap_or_default() {
            "max_output_tokens" | "max_tokens" => FinishReason::Length,
            "content_filter" => FinishReason::Refusal,
            "" if response.get("status").is_str("incomplete") => FinishReason::Length,
            "" => FinishReason::Stop,
            _ => FinishReason::Other,
        };
        let raw = why.text().or(response.get("status").text()).unwrap_or_else(|| Text::from(""));
        let finish = Finish { reason: reason.with_calls(self.calls > 0), raw, stop_sequence: None, explanation: None };
        sink(Event::Finish { choice: 0, finish });
        self.over = true;
        sink(Event::End);
    }

    /// Gives what the last event tells and no event before it did, and ends calls that no event ended.
    fn settle(&mut self, output: Value<'_>, sink: Sink<'_>) {
        let silent = self.items.is_empty();
        for (place, item) in (0..).zip(output.elements()) {
            let item = item.json();
            let owed = match self.items.get(&place) {
                Some(known) => !known.done,
                None => silent || self.is_missing(item),
            };
            if owed {
                self.done(place, item, output, sink);
            }
        }
        for item in self.items.values_mut().filter(|item| !item.done) {
            item.done = true;
            if let Some(call) = item.call {
                sink(Event::ToolEnd { choice: 0, call });
            }
        }
    }

    /// Whether an item of the output at a place no event spoke of was told under no other place either: some events tell none.
    fn is_missing(&self, item: Value<'_>) -> bool {
        match &*item.get("type").str().unwrap_or_default() {
            "message" => self.characters == 0,
            "function_call" | "custom_tool_call" => {
                item.get("call_id").str().is_some_and(|id| !self.call_ids.iter().any(|known| *known == id))
            }
            _ => false,
        }
    }

    /// The provider gave its answer up.
    pub(super) fn broken_off(&mut self, response: Value<'_>, sink: Sink<'_>) {
        let error = response.get("error");
        match error.kind() {
            Kind::Object | Kind::String => self.failed(error, sink),
            Kind::Array | Kind::Number | Kind::Bool | Kind::Null => {
                self.fail(Failure::broken("the provider broke off its answer"), sink);
            }
        }
    }

    pub(super) fn failed(&mut self, error: Value<'_>, sink: Sink<'_>) {
        let envelope = [&br#"{"error":"#[..], error.bytes(), b"}"].concat();
        self.fail(chat_completions::decode_failure(0, &envelope), sink);
    }
}
