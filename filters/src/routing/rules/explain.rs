//! The decision about a request.

use std::sync::Arc;

use super::condition::Unmet;
use super::rule::Effect;
use super::sample::Asked;
use super::{Condition, Decision, Denial, Fact, Outcome, Rule, RuleKind, RuleSet, Sample, Spends, Tested, Tried};
use crate::routing::{Draw, Model, ModelTable, Target, plan};

/// Decides about a request. The first rule that matches and does not only log decides; rules with a region restrict the
/// targets whichever rule decides, and where that leaves no target the request is refused.
///
/// Which models a key may call was checked on the asked model: a redirect goes where the operator says.
#[must_use]
pub fn explain<'r>(rules: &'r RuleSet, models: &ModelTable, sample: &Sample<'_>, spends: &dyn Spends) -> Decision<'r> {
    let mut trial =
        Trial { asked: Asked::new(sample, models), models, spends, pins: Vec::new(), tags: Vec::new(), tried: Vec::new(), certain: true };
    trial.tried.reserve_exact(rules.len());
    let mut decided = None;
    for (index, rule) in rules.iter().enumerate() {
        if let Err(result) = trial.matches(rule) {
            trial.pass_over(rule, result);
            continue;
        }
        if let Some(verdict) = trial.ask(rule) {
            decided = Some((rule, verdict));
            rules.after(index).for_each(|rule| trial.restrict(rule));
            break;
        }
    }
    let (rule, verdict) = match decided {
        Some((rule, verdict)) => (Some(rule), verdict),
        None => (None, models.find(sample.model).map_or(Verdict::NotFound, |model| Verdict::Model(model.clone()))),
    };
    let arm = rule.and_then(|rule| trial.arm(rule));
    let outcome = trial.outcome(verdict);
    let Trial { pins, tags, tried, certain, .. } = trial;
    Decision { outcome, rule, arm, pins, tags, certain, tried }
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
    certain: bool,
}

impl<'r> Trial<'r, '_> {
    /// What a rule that matches decides; `None` where it decides nothing.
    fn ask(&mut self, rule: &'r Rule) -> Option<Verdict> {
        let verdict = self.verdict(rule);
        let result = match &verdict {
            Err(other) => *other,
            Ok(_) if rule.log_only => Tested::LogOnly,
            Ok(_) => Tested::Decided,
        };
        self.apply(rule);
        self.tried.push(Tried { rule: &rule.name, result });
        verdict.ok().filter(|_| !rule.log_only)
    }

    /// Asks a rule that cannot decide any more.
    fn restrict(&mut self, rule: &'r Rule) {
        if let Err(result) = self.matches(rule) {
            return self.pass_over(rule, result);
        }
        self.apply(rule);
        self.tried.push(Tried { rule: &rule.name, result: Tested::Applied });
    }

    /// Notes a rule that does not match, as far as is known.
    fn pass_over(&mut self, rule: &'r Rule, result: Tested<'r>) {
        self.certain &= rule.log_only || !matches!(result, Tested::Unknown(_));
        self.tried.push(Tried { rule: &rule.name, result });
    }

    #[inline]
    fn matches(&self, rule: &Rule) -> Result<(), Tested<'r>> {
        match rule.conditions.check(&self.asked) {
            Ok(()) => {}
            Err(Unmet::No(condition)) => return Err(Tested::Unmet(condition)),
            Err(Unmet::Failed(condition, reason)) => return Err(Tested::Failed(condition, reason)),
            Err(Unmet::Unknown(condition)) => return Err(Tested::Unknown(condition)),
        }
        if self.asked.sample.unknown.has(Fact::EndUser) && rule.sticks_to_end_user() {
            return Err(Tested::Unknown(Condition::Sticky));
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
