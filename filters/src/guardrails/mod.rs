//! Content rules. The filter holds its place in the chain; no rule kind exists yet, and declared rules are reported at start.

use crate::filter::{Filter, Place};

/// The place where content rules are applied.
#[derive(Clone, Copy, Debug)]
pub struct GuardrailsFilter;

impl Filter for GuardrailsFilter {
    fn name(&self) -> &'static str {
        "guardrails"
    }

    fn check(&self, place: &Place<'_>) -> Result<(), String> {
        place.after("auth")
    }
}
