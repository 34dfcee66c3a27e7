//! What is not known about a request that is looked at again: its log keeps less than rules can ask for.

/// Something a rule can ask about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Whether tools were offered.
    Tools,
    /// Whether there were images.
    Images,
    /// Header lines.
    Headers,
    /// The metadata the client sent along.
    Metadata,
    /// The end user the request named.
    EndUser,
    /// The most tokens the answer was allowed.
    MaxTokens,
    /// The size of the prompt.
    PromptTokens,
    /// Who holds the key, and what the key is called.
    Caller,
}

impl Fact {
    const ALL: [Self; 8] =
        [Self::Tools, Self::Images, Self::Headers, Self::Metadata, Self::EndUser, Self::MaxTokens, Self::PromptTokens, Self::Caller];

    /// The name of answers; mostly that of the variable of expressions.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Images => "images",
            Self::Headers => "headers",
            Self::Metadata => "metadata",
            Self::EndUser => "end_user",
            Self::MaxTokens => "max_tokens",
            Self::PromptTokens => "prompt_tokens",
            Self::Caller => "caller",
        }
    }
}

/// A set of facts that are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unknown(u8);

impl Unknown {
    /// Everything is known: a request that is being served.
    pub const NOTHING: Self = Self(0);

    /// The same and one more.
    #[must_use]
    pub const fn and(self, fact: Fact) -> Self {
        Self(self.0 | 1 << fact as u8)
    }

    /// Whether a fact is not known.
    #[must_use]
    pub const fn has(self, fact: Fact) -> bool {
        self.0 & 1 << fact as u8 != 0
    }

    /// Whether everything is known.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The facts that are not known.
    pub fn iter(self) -> impl Iterator<Item = Fact> {
        Fact::ALL.into_iter().filter(move |fact| self.has(*fact))
    }
}
