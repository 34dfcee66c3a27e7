//! Why a choice ended.

use crate::canonical::{Failure, FailureClass, FinishReason, Text};

/// The reason in the common vocabulary.
pub(super) fn reason(word: &str) -> FinishReason {
    match word {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => FinishReason::Stop,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "content_filter" | "refusal" | "safety" | "sensitive" => FinishReason::Refusal,
        _ => FinishReason::Other,
    }
}

/// The failure that some services tell in place of a reason.
pub(super) fn failure(word: &str) -> Option<Failure<'static>> {
    let (class, status) = match word {
        "error" | "network_error" => (FailureClass::Server, 502),
        "insufficient_system_resource" => (FailureClass::Overloaded, 503),
        _ => return None,
    };
    let message = Text::from("the provider broke off its answer");
    Some(Failure { class, status, message, code: Text::from(word.to_owned()), param: None, retry_after: None })
}
