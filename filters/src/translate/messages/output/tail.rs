//! How an answer ends: the reason in this vendor's words, and usage.

use crate::canonical::{Finish, FinishReason};
use crate::shape::Shape;
use crate::usage::Usage;
use crate::wire::json::Writer;

/// What is known of an answer's end.
#[derive(Default)]
pub(super) struct Tail {
    reason: Option<FinishReason>,
    stop_sequence: Option<String>,
    explanation: Option<String>,
    usage: Usage,
    /// The model refused in words.
    pub(super) refused: bool,
    /// A tool was called.
    pub(super) called: bool,
    /// Anything was said.
    pub(super) said: bool,
    /// Searches of the web that ran within the answer.
    pub(super) searches: u64,
}

impl Tail {
    pub(super) fn finish(&mut self, finish: &Finish<'_>) {
        self.reason = Some(finish.reason);
        self.stop_sequence = finish.stop_sequence.as_ref().map(|text| text.decode().into_owned());
        self.explanation = finish.explanation.as_ref().map(|text| text.decode().into_owned());
    }

    pub(super) const fn usage(&mut self, usage: &Usage) {
        self.usage = *usage;
    }

    /// Whether the answer was cut off by a limit.
    pub(super) fn cut(&self) -> bool {
        self.reason == Some(FinishReason::Length)
    }

    fn unified(&self, upstream: Shape) -> FinishReason {
        let reason = self.reason.unwrap_or(FinishReason::Stop).with_calls(self.called);
        match reason {
            FinishReason::Stop | FinishReason::Other if self.refused => FinishReason::Refusal,
            // The model waits for nothing when no call of it reached the client.
            FinishReason::ToolCalls if !self.called => FinishReason::Stop,
            FinishReason::Other if !self.said && upstream == Shape::GenerateContent => FinishReason::Refusal,
            FinishReason::Other => FinishReason::Stop,
            other => other,
        }
    }

    /// Members `stop_reason`, `stop_sequence` and, for refusals, `stop_details`.
    pub(super) fn write_reason(&self, upstream: Shape, w: &mut Writer<'_>) {
        let reason = self.unified(upstream);
        let word = match reason {
            FinishReason::Stop | FinishReason::Other => "end_turn",
            FinishReason::StopSequence => "stop_sequence",
            FinishReason::Length => "max_tokens",
            FinishReason::ToolCalls => "tool_use",
            FinishReason::Refusal => "refusal",
            FinishReason::Pause => "pause_turn",
        };
        w.str_field("stop_reason", word);
        match self.stop_sequence.as_ref().filter(|_| reason == FinishReason::StopSequence) {
            Some(sequence) => w.str_field("stop_sequence", sequence),
            None => w.null_field("stop_sequence"),
        }
        if reason == FinishReason::Refusal {
            w.object("stop_details", |w| {
                w.str_field("type", "refusal");
                w.null_field("category");
                match &self.explanation {
                    Some(explanation) => w.str_field("explanation", explanation),
                    None => w.null_field("explanation"),
                }
            });
        }
    }

    /// The member `usage`. Input does not count what was read from or written to a cache.
    pub(super) fn write_usage(&self, w: &mut Writer<'_>) {
        let usage = &self.usage;
        w.object("usage", |w| {
            w.whole_field("input_tokens", usage.input_uncached);
            w.whole_field("cache_creation_input_tokens", usage.cache_write());
            w.whole_field("cache_read_input_tokens", usage.cache_read);
            if usage.cache_write() > 0 {
                w.object("cache_creation", |w| {
                    w.whole_field("ephemeral_5m_input_tokens", usage.cache_write_5m);
                    w.whole_field("ephemeral_1h_input_tokens", usage.cache_write_1h);
                });
            }
            w.whole_field("output_tokens", usage.output);
            if self.searches > 0 {
                w.object("server_tool_use", |w| w.whole_field("web_search_requests", self.searches));
            }
        });
    }
}
