//! What the writing of every part of a request needs.

use std::borrow::Cow;

use crate::canonical::{Losses, Refusal, Signature, Text, Weight};
use crate::shape::Shape;
use crate::translate::map::names;
use crate::translate::{Adaptations, Target};

/// Where from, where to, and what is noted on the way.
pub(in crate::translate) struct Context<'c> {
    pub(in crate::translate) from: Shape,
    pub(in crate::translate) target: &'c Target<'c>,
    pub(in crate::translate) losses: &'c mut Losses,
    pub(in crate::translate) adaptations: &'c mut Adaptations,
}

/// Names of one field in the dialects: chat completions, messages, generate content, responses.
pub(in crate::translate) type Names = [&'static str; 4];

impl Context<'_> {
    /// The field in the client's terms.
    pub(in crate::translate) const fn term(&self, names: Names) -> &'static str {
        let [chat, messages, generate, responses] = names;
        match self.from {
            Shape::ChatCompletions => chat,
            Shape::Messages => messages,
            Shape::GenerateContent => generate,
            Shape::Responses => responses,
        }
    }

    pub(in crate::translate) fn lose(&mut self, names: Names, weight: Weight, reason: impl Into<Cow<'static, str>>) {
        self.losses.note(self.term(names), weight, reason);
    }

    pub(in crate::translate) fn unsupported(&self, names: Names, reason: &'static str) -> Refusal {
        Refusal::unsupported(self.term(names), reason)
    }

    /// A tool's name as the provider takes it.
    pub(in crate::translate) fn name<'a>(&mut self, name: &Text<'a>) -> Text<'a> {
        names::sent(self.target.shape, name, self.adaptations)
    }

    /// Whether the very provider and model that are asked minted a continuity token.
    pub(in crate::translate) fn minted(&self, signature: &Signature<'_>) -> bool {
        let here = match signature.origin {
            None => self.from == self.target.shape,
            Some(origin) => origin == self.target.origin,
        };
        here && signature.shape == self.target.shape
    }

    /// The continuity token, where this provider and model minted it.
    pub(in crate::translate) fn own<'s, 'a>(&self, signature: Option<&'s Signature<'a>>) -> Option<&'s Text<'a>> {
        signature.filter(|signature| self.minted(signature)).map(|signature| &signature.value)
    }
}
