//! The vendor's words for the end of an answer.

/// What they come down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The model was done, or called functions, or met a stop sequence: the vendor does not tell them apart.
    Stop,
    /// The limit was reached.
    Length,
    /// A filter refused.
    Refusal,
    /// The model wrote something that is no answer.
    Malformed,
    /// Anything else, words of the future included.
    Other,
}

/// Reads a word.
pub(super) fn reason(raw: &str) -> Reason {
    match raw {
        "" | "STOP" | "FINISH_REASON_UNSPECIFIED" => Reason::Stop,
        "MAX_TOKENS" | "CONTINUATION" => Reason::Length,
        "SAFETY"
        | "PROHIBITED_CONTENT"
        | "BLOCKLIST"
        | "SPII"
        | "RECITATION"
        | "LANGUAGE"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "IMAGE_OTHER"
        | "NO_IMAGE"
        | "MODEL_ARMOR"
        | "ESCALATION"
        | "PUP_LIMITED_DISABLED" => Reason::Refusal,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" | "MISSING_THOUGHT_SIGNATURE" | "MALFORMED_RESPONSE" => {
            Reason::Malformed
        }
        _ => Reason::Other,
    }
}
