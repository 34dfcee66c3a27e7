//! What was decided, and everything that led to it.

use std::sync::Arc;

use serde::Serialize;

use super::{Condition, Rule};
use crate::routing::{Model, Target};

/// The decision about one request.
#[derive(Debug)]
pub struct Decision<'r> {
    /// What happens to the request.
    pub outcome: Outcome,
    /// The rule that decided; `None` where the asked model did.
    pub rule: Option<&'r Rule>,
    /// The arm a split chose.
    pub arm: Option<&'r Arc<str>>,
    /// Rules whose region restricts the targets.
    pub pins: Vec<&'r Rule>,
    /// Regulatory labels of all rules that matched, each once.
    pub tags: Vec<&'r Arc<str>>,
    /// Whether nothing that is not known about the request could have made another decision of it.
    pub certain: bool,
    /// The rules that were asked, in order: all up to the one that decided, and after it those with a region or tags.
    pub tried: Vec<Tried<'r>>,
}

/// What happens to a request.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It goes to a model.
    Route {
        /// The model.
        model: Arc<Model>,
        /// Targets in the order they are tried.
        plan: Vec<Arc<Target>>,
    },
    /// It is refused.
    Deny {
        /// The rule that refuses it.
        rule: Arc<str>,
        /// Why.
        denial: Denial,
    },
    /// No model has the name that was asked for.
    ModelNotFound,
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// The rule refuses what it matches.
    Rule,
    /// More was spent than the rule allows.
    Spend,
    /// No target is in this region, and there is no other that would do.
    Region(Arc<str>),
}

/// One rule and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tried<'r> {
    /// The rule's name.
    pub rule: &'r str,
    /// What came of it.
    pub result: Tested<'r>,
}

/// What came of asking a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tested<'r> {
    /// It matches and decides.
    Decided,
    /// It matches, and its region and tags apply; something else decides.
    Applied,
    /// It would have decided, if it did not only log.
    LogOnly,
    /// It matches and is passed over, since no model has this name.
    UnknownModel(&'r str),
    /// It does not match: this condition is the first that does not hold.
    Unmet(Condition),
    /// It does not match, since this condition could not be evaluated.
    Failed(Condition, &'static str),
    /// It may match or not: this condition asks what is not known, and the others hold. It is passed over.
    Unknown(Condition),
    /// It does not match, since nothing is known of any spending.
    SpendUnknown,
}

impl<'r> Decision<'r> {
    /// Rules that would have decided if they did not only log.
    pub fn log_only(&self) -> impl Iterator<Item = &'r str> {
        self.tried.iter().filter(|tried| tried.result == Tested::LogOnly).map(|tried| tried.rule)
    }
}
