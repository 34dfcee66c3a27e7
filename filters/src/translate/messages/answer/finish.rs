//! Why the provider ended.

use crate::canonical::{Finish, FinishReason, Text};
use crate::wire::json::Value;

/// What a message, or the delta at its end, tells of it.
pub(super) struct Told<'a> {
    pub(super) reason: Value<'a>,
    pub(super) sequence: Value<'a>,
    pub(super) details: Value<'a>,
}

impl<'a> Told<'a> {
    /// What stands in a delta.
    pub(super) fn of(delta: Value<'a>) -> Self {
        let [reason, sequence, details] = delta.pick(["stop_reason", "stop_sequence", "stop_details"]);
        Self { reason, sequence, details }
    }

    /// `guarded`: a guardrail of the provider stepped in.
    pub(super) fn finish(&self, guarded: bool, called: bool) -> Finish<'a> {
        let raw = self.reason.text().unwrap_or(Text::from(""));
        let reason = if guarded { FinishReason::Refusal } else { reason(&raw.decode()) };
        Finish {
            reason: reason.with_calls(called),
            stop_sequence: self.sequence.text(),
            explanation: self.details.get("explanation").text(),
            raw,
        }
    }
}

fn reason(word: &str) -> FinishReason {
    match word {
        "end_turn" => FinishReason::Stop,
        "stop_sequence" => FinishReason::StopSequence,
        "max_tokens" | "model_context_window_exceeded" | "compaction" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        "pause_turn" => FinishReason::Pause,
        "refusal" => FinishReason::Refusal,
        _ => FinishReason::Other,
    }
}
