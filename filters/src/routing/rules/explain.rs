//! The decision about a request.

use std::sync::Arc;

use super::condition::Unmet;
use super::rule::Effect;
use super::sample::Asked;
use super::{Condition, Decision, Denial, Outcome, Rule, RuleKind, RuleSet, Sample, Spends, Tested, Tried};
use crate::routing::{Draw, Model, ModelTable, Target, plan};

/// Decides about a request. The first rule that matches and does not only log decides; rules with a region restrict the
/// targets whichever rule decides, and where that leaves no target the request is refused.
///
/// Which models a key may call was checked on the asked model: a redirect goes where the operator says.
#[must_use]
pub fn explain<'r>(rules: &'r RuleSet, models: &ModelTable, sample: &Sample<'_>, spends: &dyn Spends) -> Decision<'r> {
    let mut trial = Trial { asked: Asked::new(sample, models), models, spends, pins: Vec::new(), tags: Vec::new(), tried: Vec::new() };
    trial.tried.reserve_exact(rules.len());
    let mut verdict = None;
    for (index, rule) in rules.iter().enumerate() {
        verdict = trial.ask(rule);
        if verdict.is_some() {
            rules.after(index).for_each(|rule| trial.restrict(rule));
            break;
        }
    }
    let (rule, verdict) = match verdict {
        Some((rule, verdict)) => (Some(rule), verdict),
        None => (None, models.find(sample.model).map_or(Verdict::NotFound, |model| Verdict::Model(model.clone()))),
    };
    let arm = rule.and_then(|rule| trial.arm(rule));
    let outcome = trial.outcome(verdict);
    let Trial { pins, tags, tried, .. } = trial;
    Decision { outcome, rule, arm, pins, tags, tried }
}

/// What a rule says, once it decides.
enum Verdict {
    Model(Arc<Model>),
    Deny(Arc<str>, Denial),
    NotFound,
}

/// The rules asked so far.
struct Trial<'r, 'a> {
    asked: Asked<'a>,
    models: &'a ModelTable,
    spends: &'a dyn Spends,
    pins: Vec<&'r Rule>,
    tags: Vec<&'r Arc<str>>,
    tried: Vec<Tried<'r>>,
}

impl<'r> Trial<'r, '_> {
    fn ask(&mut self, rule: &'r Rule) -> Option<(&'r Rule, Verdict)> {
        let (result, verdict) = match self.matches(rule).map(|()| self.verdict(rule)) {
            Err(unmet) => (unmet, None),
            Ok(Err(other)) => (other, None),
            Ok(Ok(_)) if rule.log_only => (Tested::LogOnly, None),
            Ok(Ok(verdict)) => (Tested::Decided, Some((rule, verdict))),
        };
        if matches!(result, Tested::Decided | Tested::Applied | Tested::UnknownModel(_)) {
            self.apply(rule);
        }
        self.tried.push(Tried { rule: &rule.name, result });
        verdict
    }

    /// Asks a rule that cannot decide any more.
    fn restrict(&mut self, rule: &'r Rule) {
        let result = match self.matches(rule) {
            Ok(()) => {
                self.apply(rule);
                Tested::Applied
            }
            Err(unmet) => unmet,
        };
        self.tried.push(Tried { rule: &rule.name, result });
    }

    #[inline]
    fn matches(&self, rule: &Rule) -> Result<(), Tested<'r>> {
        match rule.conditions.check(&self.asked) {
            Ok(()) => {}
            Err(Unmet::No(condition)) => return Err(Tested::Unmet(condition)),
            Err(Unmet::Failed(condition, reason)) => return Err(Tested::Failed(condition, reason)),
        }
        let Some(bound) = rule.spend else { return Ok(()) };
        match self.spends.spent(rule, self.asked.sample.now) {
            None => Err(Tested::SpendUnknown),
            Some(spent) if spent > bound.nano => Ok(()),
            Some(_) => Err(Tested::Unmet(Condition::Spend)),
        }
    }

    /// What a rule that matches says; where it says nothing, what came of it.
    fn verdict(&self, rule: &'r Rule) -> Result<Verdict, Tested<'r>> {
        let model = match &rule.effect {
            Effect::Pin => return Err(if rule.log_only { Tested::LogOnly } else { Tested::Applied }),
            Effect::Deny if rule.kind == RuleKind::SpendCircuit => return Ok(Verdict::Deny(rule.name.clone(), Denial::Spend)),
            Effect::Deny => return Ok(Verdict::Deny(rule.name.clone(), Denial::Rule)),
            Effect::Redirect(model) => Some(model),
            Effect::Split(_) => self.arm(rule),
        };
        let name = model.map_or("", |model| &**model);
        self.models.find(name).map(|model| Verdict::Model(model.clone())).ok_or(Tested::UnknownModel(name))
    }

    /// The arm of a split.
    fn arm(&self, rule: &'r Rule) -> Option<&'r Arc<str>> {
        let Effect::Split(split) = &rule.effect else { return None };
        split.choose(&rule.name, self.asked.sticks_to(split.by_end_user))
    }

    fn apply(&mut self, rule: &'r Rule) {
        if rule.log_only {
            return;
        }
        if rule.region.is_some() {
            self.pins.push(rule);
        }
        for tag in &rule.tags {
            if !self.tags.contains(&tag) {
                self.tags.push(tag);
            }
        }
    }

    fn outcome(&self, verdict: Verdict) -> Outcome {
        let model = match verdict {
            Verdict::Model(model) => model,
            Verdict::Deny(rule, denial) => return Outcome::Deny { rule, denial },
            Verdict::NotFound => return Outcome::ModelNotFound,
        };
        let sample = self.asked.sample;
        let draw = Draw { random: sample.random, key: sample.key_id, end_user: sample.end_user };
        let mut plan = plan(&model, self.models, &draw);
        for rule in &self.pins {
            let Some(region) = &rule.region else { continue };
            plan.retain(|target: &Arc<Target>| target.region.as_ref() == Some(region));
            if plan.is_empty() {
                return Outcome::Deny { rule: rule.name.clone(), denial: Denial::Region(region.clone()) };
            }
        }
        Outcome::Route { model, plan }
    }
}
