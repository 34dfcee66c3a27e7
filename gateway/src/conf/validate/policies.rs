//! `rules` and `guardrails`: each kind needs its own keys and no others.

use std::collections::BTreeMap;

use svc_filters::routing;

use super::super::node::Path;
use super::super::{Conf, Guardrail, NO_SIDECAR, Rule};
use super::{Checker, at};

pub(super) fn check(checker: &mut Checker<'_>, conf: &Conf) {
    rules(checker, &conf.rules);
    guardrails(checker, &conf.guardrails);
    models_of_guardrails(checker, conf);
}

/// Reports guardrails that need a model where there is nothing to ask.
fn models_of_guardrails(checker: &mut Checker<'_>, conf: &Conf) {
    if conf.guardrail_models.url().is_some() {
        return;
    }
    for (index, guardrail) in conf.guardrails.iter().enumerate().filter(|(_, guardrail)| guardrail.kind.needs_model()) {
        let kind = guardrail.kind.as_str();
        let path = at(&["guardrails"]).index(index).key("kind");
        checker.report(&path, format!("a guardrail of the kind `{kind}` {NO_SIDECAR}"));
    }
}

/// Checks the section `rules`.
pub(super) fn rules(checker: &mut Checker<'_>, rules: &[Rule]) {
    let mut names = BTreeMap::new();
    for (index, rule) in rules.iter().enumerate() {
        let path = at(&["rules"]).index(index);
        checker.name(&mut names, &rule.name, path.key("name"));
        self::rule(checker, rule, &path);
    }
}

/// Reports everything that is wrong with a rule; what only compiling finds once the rest is right.
fn rule(checker: &mut Checker<'_>, rule: &Rule, path: &Path) {
    let mut problems = rule.problems();
    if problems.is_empty() {
        problems.extend(routing::rules::Rule::compile(rule).err());
    }
    for problem in problems.iter().filter(|problem| problem.field != Some("name")) {
        let place = problem.field.into_iter().flat_map(|field| field.split('.')).fold(path.clone(), |place, key| place.key(key));
        checker.report(&place, problem.message.clone());
    }
}

/// Reports everything that is wrong with a guardrail.
fn guardrail(checker: &mut Checker<'_>, guardrail: &Guardrail, path: &Path) {
    for problem in guardrail.problems().into_iter().filter(|problem| problem.field != Some("name")) {
        let place = problem.field.map_or_else(|| path.clone(), |field| path.key(field));
        checker.report(&place, problem.message);
    }
}

/// Checks the section `guardrails`.
pub(super) fn guardrails(checker: &mut Checker<'_>, guardrails: &[Guardrail]) {
    let mut names = BTreeMap::new();
    for (index, guardrail) in guardrails.iter().enumerate() {
        let path = at(&["guardrails"]).index(index);
        checker.name(&mut names, &guardrail.name, path.key("name"));
        self::guardrail(checker, guardrail, &path);
    }
}
