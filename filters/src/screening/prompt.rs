//! The texts of a request for models to look at, and what becomes of the body once they have.

use std::borrow::Cow;
use std::sync::Arc;

use super::splices::splices;
use super::texts::{Body, Form, Found, request_texts_at};
use crate::guardrails::{ModelFinding, ModelRule, Place, Places, model_edits};
use crate::wire::json::{Span, splice};

/// Texts that models look at. Blank ones are left out.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    texts: Vec<Found<'static>>,
}

impl Prompt {
    /// The texts of a request that stand at `places`; see [`request_texts`](super::request_texts).
    #[must_use]
    pub fn read(body: Body<'_>, places: Places) -> Self {
        let mut texts = Vec::new();
        request_texts_at(body, places, &mut |found| {
            if !found.text.trim().is_empty() {
                texts.push(Found { place: found.place, span: found.span, form: found.form, text: Cow::Owned(found.text.into_owned()) });
            }
        });
        Self { texts }
    }

    /// One text that stands in no body.
    #[must_use]
    pub fn of(place: Place, text: &str) -> Self {
        let span = Span { start: 0, end: text.len() };
        Self { texts: vec![Found { place, span, form: Form::Plain, text: Cow::Owned(text.to_owned()) }] }
    }

    /// Whether there is nothing to look at.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The texts that stand at `places`, with their index among all.
    pub fn at(&self, places: Places) -> impl Iterator<Item = (usize, Place, &str)> {
        let there = self.texts.iter().enumerate().filter(move |(_, found)| places.contains(found.place));
        there.map(|(index, found)| (index, found.place, &*found.text))
    }

    /// The body, from which these texts were read, with everything replaced that findings of guardrails that mask are about. `None`
    /// where that is nothing.
    #[must_use]
    pub fn masked(&self, body: &[u8], rules: &[Arc<ModelRule>], findings: &[ModelFinding]) -> Option<Vec<u8>> {
        let edits = self.texts.iter().enumerate().flat_map(|(index, found)| {
            let there = findings.iter().filter(|finding| finding.text == index);
            splices(body, found, model_edits(rules, &found.text, there))
        });
        let mut edits: Vec<_> = edits.collect();
        (!edits.is_empty()).then(|| splice(body, &mut edits))
    }
}
