//! Why an answer ended.

use super::Text;

/// The reason in one vocabulary, and in the vendor's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish<'a> {
    /// Unified.
    pub reason: FinishReason,
    /// The vendor's own word, or empty.
    pub raw: Text<'a>,
    /// The stop sequence that was met, where told.
    pub stop_sequence: Option<Text<'a>>,
    /// The provider's explanation, such as of a refusal.
    pub explanation: Option<Text<'a>>,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// A stop sequence was met.
    StopSequence,
    /// The limit of tokens, or the context, was reached.
    Length,
    /// The model waits for results of the tools it called.
    ToolCalls,
    /// The model or a filter refused.
    Refusal,
    /// The provider paused a long turn; the client may send it back to go on.
    Pause,
    /// A reason without a counterpart.
    Other,
}

impl FinishReason {
    /// The reason as it must be told once it is known whether tools were called: many providers say `stop` then.
    #[must_use]
    pub const fn with_calls(self, called: bool) -> Self {
        match (self, called) {
            (Self::Stop | Self::Other, true) => Self::ToolCalls,
            (reason, _) => reason,
        }
    }
}
