//! What the strings of a request tell of what models said before.

use crate::wire::json::string_bytes;

/// Longest spelling of `assistant`, every letter of it escaped.
const LONGEST_ROLE: usize = 6 * "assistant".len();

/// Signs that a conversation goes on which other models had a part in. Where they are missing nothing of it needs to be searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traces {
    /// A string is `assistant`: the conversation may have turns of a model.
    pub assistant: bool,
    /// A string begins like a continuity token that came from a provider of another shape (`g1.`, `m1.`, `r1.`).
    pub tagged: bool,
    /// A string is `reasoning_content`.
    pub reasoning: bool,
}

impl Traces {
    /// Looks at a string or a key as it is written between its quotes.
    #[inline]
    pub(super) fn note(&mut self, written: &[u8]) {
        match written {
            [b'g' | b'm' | b'r', b'1', b'.', ..] => self.tagged = true,
            b"assistant" => self.assistant = true,
            b"reasoning_content" => self.reasoning = true,
            [b'\\', ..] | [b'a', b's' | b'\\', ..] if written.len() <= LONGEST_ROLE => {
                self.assistant |= *string_bytes(written) == *b"assistant"
            }
            _ => {}
        }
    }
}
