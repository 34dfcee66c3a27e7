//! Writing answers for clients of this shape.

mod calls;
mod frame;
mod members;
mod message;
mod place;
mod stream;
#[cfg(test)]
mod tests;
mod whole;

use self::stream::Stream;
use self::whole::Whole;
use crate::canonical::{FinishReason, Text};
use crate::shape::Shape;
use crate::translate::{ClientView, Encode};

/// Writes an answer as server-sent chunks, the `[DONE]` at the end included.
pub fn stream_encoder(view: ClientView) -> impl Encode + 'static {
    Stream::new(view, false)
}

/// Writes an answer as one document.
pub fn whole_encoder(view: ClientView) -> impl Encode + 'static {
    Whole::new(view, false)
}

/// As [`stream_encoder`], for clients that declared `functions`: one call, told as `function_call`.
pub fn legacy_stream_encoder(view: ClientView) -> impl Encode + 'static {
    Stream::new(view, true)
}

/// As [`whole_encoder`], for clients that declared `functions`: one call, told as `function_call`.
pub fn legacy_whole_encoder(view: ClientView) -> impl Encode + 'static {
    Whole::new(view, true)
}

/// The answer's id: the provider's where it is of this dialect, else one made of the request's.
fn answer_id(view: &ClientView, told: Option<&Text<'_>>) -> String {
    match told.filter(|id| view.upstream == Shape::ChatCompletions && !id.is_empty()) {
        Some(id) => id.decode().into_owned(),
        None => format!("chatcmpl-{}", view.request_id),
    }
}

/// The form in which a call is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A `function` among `tool_calls`.
    Function,
    /// A tool for free text among `tool_calls`.
    Custom,
    /// The old `function_call`.
    Legacy,
}

impl Form {
    const fn of(custom: bool, legacy: bool) -> Self {
        match (legacy, custom) {
            (true, _) => Self::Legacy,
            (false, true) => Self::Custom,
            (false, false) => Self::Function,
        }
    }
}

/// The dialect's word for the end of an answer.
const fn finish_word(reason: FinishReason, called: bool, legacy: bool) -> &'static str {
    match reason.with_calls(called) {
        FinishReason::Stop | FinishReason::StopSequence | FinishReason::Pause | FinishReason::Other => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls if legacy => "function_call",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::Refusal => "content_filter",
    }
}
