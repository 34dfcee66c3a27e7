//! What a request used. Reading usage from answers is [`crate::usage`]; without a rate card amounts stay empty.

use crate::filter::{Filter, Outcome, Place};

/// Flags usage figures that no provider can mean.
#[derive(Clone, Copy, Debug)]
pub struct CostFilter;

impl Filter for CostFilter {
    fn name(&self) -> &'static str {
        "cost"
    }

    fn check(&self, place: &Place<'_>) -> Result<(), String> {
        place.after("routing")
    }

    fn on_complete(&self, outcome: &Outcome<'_>) {
        if outcome.usage.is_some_and(|usage| usage.suspicious) {
            log::warn!("the provider reported impossible usage for a {} request; it was clamped", outcome.endpoint.as_str());
        }
    }
}
