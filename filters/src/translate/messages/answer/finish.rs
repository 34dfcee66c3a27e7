//! Why the provider ended.

use crate::canonical::{Finish, FinishReason, Text};
use crate::wire::json::Value;

/// Reads the members of a message, or of the delta at its end. `guarded`: a guardrail of the provider stepped in.
pub(super) fn read(told: Value<'_>, guarded: bool, called: bool) -> Finish<'_> {
    let raw = told.get("stop_reason").text().unwrap_or(Text::from(""));
    let reason = if guarded { FinishReason::Refusal } else { reason(&raw.decode()) };
    let details = told.get("stop_details");
    Finish {
        reason: reason.with_calls(called),
        stop_sequence: told.get("stop_sequence").text(),
        explanation: details.get("explanation").text(),
        raw,
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
