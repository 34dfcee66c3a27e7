//! Whole bodies, looked through and masked.

mod masks;
mod pieces;
mod places;
mod properties;

use std::sync::Arc;

use super::*;
use crate::guardrails::{Action, DEFAULT_PRIORITY, LooksFor, Place, Places, Rule, RuleSet, RuleSpec, Template};
use crate::passage::BodyKind;

/// A rule for a pattern, or for the card numbers that the library knows.
fn rule(name: &str, pattern: Option<&str>, action: Action, places: Places) -> Arc<Rule> {
    let looks_for = pattern.map_or(LooksFor::Detector("card_number".to_owned()), |pattern| LooksFor::Pattern(pattern.to_owned()));
    let spec = RuleSpec { name: name.to_owned(), priority: DEFAULT_PRIORITY, looks_for, check: None, max_match: None, action, places };
    Arc::new(Rule::compile(spec).unwrap())
}

fn mask(template: &str) -> Action {
    Action::Mask(Template::parse(template).unwrap())
}

/// Masks card numbers everywhere.
fn cards() -> RuleSet {
    RuleSet::new(vec![rule("card", None, mask("[{rule}]"), Places::ALL)]).unwrap()
}

fn requested(kind: BodyKind, body: &str) -> Vec<(Place, String)> {
    let mut all = Vec::new();
    request_texts(Body::Json(kind, body.as_bytes()), &mut |found| all.push((found.place, found.text.into_owned())));
    all
}

fn answered(kind: BodyKind, body: &str) -> Vec<(Place, String)> {
    let mut all = Vec::new();
    answer_texts(kind, body.as_bytes(), &mut |found| all.push((found.place, found.text.into_owned())));
    all
}
