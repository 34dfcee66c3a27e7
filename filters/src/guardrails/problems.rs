//! What is wrong with guardrails as they are written.

use super::model::ModelRule;
use super::place::Places;
use super::spec::{ActionKind, AppliesTo, Elsewhere, GuardrailError, GuardrailKind, GuardrailSpec};

impl GuardrailSpec {
    /// Everything that is wrong with it; what only compiling finds once the rest is right.
    #[must_use]
    pub fn problems(&self) -> Vec<GuardrailError> {
        let mut problems = Vec::new();
        if self.name.trim().is_empty() {
            problems.push(self.wrong(Some("name"), "must not be empty"));
        }
        let (is_regex, is_detector, has_model) =
            (self.kind == GuardrailKind::Regex, self.kind == GuardrailKind::Detector, self.kind.needs_model());
        self.belongs(&mut problems, "pattern", self.pattern.is_some(), is_regex, is_regex);
        self.belongs(&mut problems, "detector", self.detector.is_some(), is_detector, is_detector);
        self.belongs(&mut problems, "threshold", self.threshold.is_some(), false, has_model);
        self.belongs(&mut problems, "model", self.model.is_some(), false, has_model);
        self.belongs(&mut problems, "on_failure", self.on_failure.is_some(), false, has_model);
        self.belongs(&mut problems, "max_match", self.max_match.is_some(), false, !has_model);
        let (masks, redirects) = (self.action == ActionKind::Mask, self.action == ActionKind::Redirect);
        self.belongs(&mut problems, "mask", self.mask.is_some(), false, masks);
        self.belongs(&mut problems, "redirect", self.redirect.is_some(), redirects, redirects);
        self.values(&mut problems);
        if problems.is_empty() {
            problems.extend(if has_model { ModelRule::of(self).err() } else { self.rule().err() });
        }
        problems
    }

    fn values(&self, problems: &mut Vec<GuardrailError>) {
        if !self.threshold.is_none_or(|threshold| (0.0..=1.0).contains(&threshold)) {
            problems.push(self.wrong(Some("threshold"), "expected a score from 0 to 1"));
        }
        let parts = self.applies_to.as_deref().unwrap_or(&[AppliesTo::Prompt]);
        let mut places = Places::NONE;
        let different = parts.iter().all(|part| {
            let before = places;
            places = places.union(part.places());
            places != before
        });
        if parts.is_empty() || !different {
            problems.push(self.wrong(Some("applies_to"), "expected what is to be searched, each part once"));
        }
        if self.kind.needs_model() {
            self.values_for_model(problems, places);
        }
        let to_model = matches!(self.redirect, Some(Elsewhere::Model(_)));
        if to_model && places.union(Places::PROMPT) != Places::PROMPT {
            problems
                .push(self.wrong(Some("applies_to"), "an answer cannot go to another model; a redirect with a `text` can take its place"));
        }
        let Some(Elsewhere::Model(word) | Elsewhere::Text(word)) = &self.redirect else { return };
        if word.trim().is_empty() {
            problems.push(self.wrong(Some("redirect"), "must not be empty"));
        }
    }

    fn values_for_model(&self, problems: &mut Vec<GuardrailError>, places: Places) {
        if places.union(Places::PROMPT) != Places::PROMPT {
            let why = "a guardrail of this kind looks at prompts only: an answer cannot be held back while a model looks at it";
            problems.push(self.wrong(Some("applies_to"), why));
        }
        if self.action == ActionKind::Mask && self.kind != GuardrailKind::Pii {
            let why = "a model of this kind scores a text as a whole, so that there is no part to mask; only `pii` can mask";
            problems.push(self.wrong(Some("action"), why));
        }
        if self.model.as_ref().is_some_and(|model| model.trim().is_empty()) {
            problems.push(self.wrong(Some("model"), "must not be empty"));
        }
    }

    /// Reports a key that is missing where it is needed, or given where it means nothing.
    fn belongs(&self, problems: &mut Vec<GuardrailError>, key: &'static str, given: bool, needed: bool, allowed: bool) {
        if needed && !given {
            problems.push(self.wrong(None, format!("the key `{key}` is missing")));
        } else if given && !allowed {
            problems.push(self.wrong(Some(key), "means nothing for this kind or action"));
        }
    }
}
