//! A rule ready to be asked.

use std::sync::Arc;
use std::time::Duration;

use super::condition::Conditions;
use super::{RuleError, RuleKind, RuleSpec, Scope, Sticky};
use crate::routing::hash::{point, stable};

/// A rule in the form requests are compared with.
#[derive(Debug)]
pub struct Rule {
    /// Its name.
    pub name: Arc<str>,
    /// What it does.
    pub kind: RuleKind,
    /// Its place in the order; the lowest is asked first.
    pub priority: i64,
    /// Whether it is only noted that it would have decided.
    pub log_only: bool,
    /// Whom it concerns, as it is written.
    pub scope: Scope,
    /// The only region that may serve what it matches.
    pub region: Option<Arc<str>>,
    /// Regulatory labels.
    pub tags: Vec<Arc<str>>,
    /// The bound and window of a `spend_circuit`.
    pub spend: Option<Bound>,
    pub(super) conditions: Conditions,
    pub(super) effect: Effect,
}

/// How much may be spent in a window that ends now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Billionths of a dollar.
    pub nano: i64,
    /// The window.
    pub window: Duration,
}

/// What comes of a match.
#[derive(Debug)]
pub(super) enum Effect {
    /// Nothing but its region and tags.
    Pin,
    /// A refusal.
    Deny,
    /// Another model.
    Redirect(Arc<str>),
    /// One of several models.
    Split(Split),
}

/// Models by weight.
#[derive(Debug)]
pub(super) struct Split {
    arms: Vec<(Arc<str>, u64)>,
    total: u64,
    pub(super) by_end_user: bool,
}

impl Rule {
    /// Makes a rule of what is written.
    ///
    /// # Errors
    /// When a key is missing, means nothing or has a value that makes no sense, named with its field.
    pub fn compile(spec: &RuleSpec) -> Result<Self, RuleError> {
        if let Some(problem) = spec.problems().into_iter().next() {
            return Err(problem);
        }
        Ok(Self {
            name: spec.name.as_str().into(),
            kind: spec.kind,
            priority: spec.priority,
            log_only: spec.log_only,
            scope: spec.scope.clone(),
            region: spec.region.as_deref().map(Arc::from),
            tags: spec.tags.iter().map(|tag| Arc::from(&**tag)).collect(),
            spend: spec.spend.as_ref().map(|spend| Bound { nano: spend.limit_usd.nano, window: spend.window.get() }),
            conditions: Conditions::compile(spec)?,
            effect: effect(spec),
        })
    }

    /// Whether its choice depends on the end user.
    pub(super) const fn sticks_to_end_user(&self) -> bool {
        matches!(self.effect, Effect::Split(Split { by_end_user: true, .. }))
    }

    /// Whether it has a say even where another rule decides.
    pub(super) fn always_applies(&self) -> bool {
        !self.log_only && (self.region.is_some() || !self.tags.is_empty())
    }
}

fn effect(spec: &RuleSpec) -> Effect {
    let redirect = spec.redirect.as_ref().map(|redirect| Arc::from(&*redirect.model));
    match (spec.kind, redirect) {
        (RuleKind::Ab, _) => Effect::Split(Split {
            arms: spec.split.iter().map(|arm| (Arc::from(&*arm.model), u64::from(arm.weight))).collect(),
            total: spec.split.iter().map(|arm| u64::from(arm.weight)).sum(),
            by_end_user: spec.sticky == Sticky::EndUser,
        }),
        (RuleKind::CostSaver | RuleKind::Custom | RuleKind::SpendCircuit, Some(model)) => Effect::Redirect(model),
        (RuleKind::CostSaver | RuleKind::Custom, None) => Effect::Pin,
        (RuleKind::Deny, _) | (RuleKind::SpendCircuit, None) => Effect::Deny,
    }
}

impl Split {
    /// The arm of whatever the choice sticks to. The rule's name makes the choices of several rules independent.
    pub(super) fn choose(&self, rule: &str, sticks_to: &str) -> Option<&Arc<str>> {
        let mut left = point(stable(&[rule, sticks_to]), self.total);
        for (model, weight) in &self.arms {
            if left < *weight {
                return Some(model);
            }
            left -= weight;
        }
        None
    }
}
