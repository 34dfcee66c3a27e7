//! Where a text stands in a request or an answer.

use serde::{Deserialize, Serialize};

/// One kind of place that texts are looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Instructions of the system or the developer.
    System,
    /// What users and the model said.
    Messages,
    /// What tools gave back.
    ToolResults,
    /// Documents that came with a request.
    Documents,
    /// The text of an answer.
    Answer,
    /// The model's reasoning.
    Reasoning,
    /// Arguments of tools that the model calls.
    ToolArguments,
}

impl Place {
    /// Every place.
    pub const ALL: [Self; 7] =
        [Self::System, Self::Messages, Self::ToolResults, Self::Documents, Self::Answer, Self::Reasoning, Self::ToolArguments];

    /// The word for it in configurations and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Messages => "messages",
            Self::ToolResults => "tool_results",
            Self::Documents => "documents",
            Self::Answer => "answer",
            Self::Reasoning => "reasoning",
            Self::ToolArguments => "tool_arguments",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Places(u8);

impl Places {
    /// No place.
    pub const NONE: Self = Self(0);
    /// What the client sends.
    pub const PROMPT: Self = Self::NONE.with(Place::System).with(Place::Messages).with(Place::ToolResults).with(Place::Documents);
    /// What the model says.
    pub const ANSWER: Self = Self::NONE.with(Place::Answer).with(Place::Reasoning).with(Place::ToolArguments);
    /// Every place.
    pub const ALL: Self = Self(Self::PROMPT.0 | Self::ANSWER.0);

    /// The set with `place` in it.
    #[must_use]
    pub const fn with(self, place: Place) -> Self {
        Self(self.0 | place.bit())
    }

    /// The places of either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether `place` is in it.
    #[must_use]
    pub const fn contains(self, place: Place) -> bool {
        self.0 & place.bit() != 0
    }

    /// Whether no place is in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<Place> for Places {
    fn from_iter<I: IntoIterator<Item = Place>>(places: I) -> Self {
        places.into_iter().fold(Self::NONE, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in_and_nothing_else() {
        let places: Places = [Place::System, Place::Answer].into_iter().collect();
        for place in Place::ALL {
            assert_eq!(places.contains(place), matches!(place, Place::System | Place::Answer), "{place:?}");
            assert!(Places::ALL.contains(place), "{place:?}");
        }
        assert!(Places::NONE.is_empty() && !places.is_empty());
    }
}
