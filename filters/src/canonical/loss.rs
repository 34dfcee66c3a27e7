//! What a translation could not carry.

use std::borrow::Cow;

/// What the loss of a field means for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// A hint without effect on the answer, such as a cache mark.
    Silent,
    /// The answer may be better or worse, but is of the kind asked for.
    Minor,
    /// The caller would get something other than it asked for.
    Major,
}

/// A field that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Path in the client's terms without indices, such as `top_k` or `messages.content.cache_control`.
    pub field: Cow<'static, str>,
    /// Why, as part of a sentence.
    pub reason: Cow<'static, str>,
    /// What it means.
    pub weight: Weight,
}

/// Everything that was left out, each field once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    list: Vec<Loss>,
}

impl Losses {
    /// Notes a loss; a field noted before keeps the heavier weight.
    pub fn note(&mut self, field: impl Into<Cow<'static, str>>, weight: Weight, reason: impl Into<Cow<'static, str>>) {
        let field = field.into();
        match self.list.iter_mut().find(|loss| loss.field == field) {
            Some(known) => known.weight = known.weight.max(weight),
            None => self.list.push(Loss { field, reason: reason.into(), weight }),
        }
    }

    /// The losses in the order they were noted.
    pub fn iter(&self) -> impl Iterator<Item = &Loss> {
        self.list.iter()
    }

    /// Whether nothing was lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The first loss at least as heavy as `weight`.
    #[must_use]
    pub fn heaviest_from(&self, weight: Weight) -> Option<&Loss> {
        self.list.iter().find(|loss| loss.weight >= weight)
    }
}

/// Why a request cannot be carried at all, or is itself wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The client's request breaks its own shape's rules.
    #[error("read `{field}`: {message}")]
    Invalid {
        /// Path with indices, in the client's terms.
        field: String,
        /// What is wrong, as part of a sentence.
        message: Cow<'static, str>,
    },
    /// The target's shape has no way to say it.
    #[error("translate `{field}`: {message}")]
    Unsupported {
        /// Path in the client's terms.
        field: String,
        /// Why, as part of a sentence.
        message: Cow<'static, str>,
    },
}

impl Refusal {
    /// The client's mistake.
    #[must_use]
    pub fn invalid(field: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Invalid { field: field.into(), message: message.into() }
    }

    /// Nothing to be done on this pair.
    #[must_use]
    pub fn unsupported(field: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Unsupported { field: field.into(), message: message.into() }
    }
}
