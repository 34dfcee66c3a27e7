//! `rules` and `guardrails`: each kind needs its own keys and no others.

use std::collections::{BTreeMap, BTreeSet};

use regex::RegexBuilder;
use svc_filters::routing;

use super::super::node::Path;
use super::super::{Action, Conf, Guardrail, GuardrailKind, Rule};
use super::{Checker, at};

const LONGEST_PATTERN: usize = 1024;
const LARGEST_PROGRAM: usize = 1 << 20;

pub(super) fn check(checker: &mut Checker<'_>, conf: &Conf) {
    rules(checker, &conf.rules);
    let mut names = BTreeMap::new();
    for (index, guardrail) in conf.guardrails.iter().enumerate() {
        let path = at(&["guardrails"]).index(index);
        checker.name(&mut names, &guardrail.name, path.key("name"));
        detection(checker, guardrail, &path);
        reaction(checker, guardrail, &path);
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

fn detection(checker: &mut Checker<'_>, guardrail: &Guardrail, path: &Path) {
    let is_regex = guardrail.kind == GuardrailKind::Regex;
    belongs(checker, path, "pattern", guardrail.pattern.is_some(), is_regex, is_regex);
    belongs(checker, path, "threshold", guardrail.threshold.is_some(), false, !is_regex);
    if let Some(wrong) = guardrail.pattern.as_deref().and_then(wrong_with_pattern) {
        checker.report(&path.key("pattern"), wrong);
    }
    let share = guardrail.threshold.is_none_or(|threshold| (0.0..=1.0).contains(&threshold));
    checker.ensure(share, &path.key("threshold"), "expected a score from 0 to 1");
}

fn reaction(checker: &mut Checker<'_>, guardrail: &Guardrail, path: &Path) {
    let redirects = guardrail.action == Action::Redirect;
    belongs(checker, path, "redirect", guardrail.redirect.is_some(), redirects, redirects);
    let mut seen = BTreeSet::new();
    let different = guardrail.applies_to.iter().all(|part| seen.insert(format!("{part:?}")));
    checker.ensure(different && !seen.is_empty(), &path.key("applies_to"), "expected prompt, answer or both, each once");
}

/// Reports a key that is missing where it is needed, or given where it means nothing.
fn belongs(checker: &mut Checker<'_>, path: &Path, key: &str, given: bool, needed: bool, allowed: bool) {
    if needed && !given {
        checker.report(path, format!("the key `{key}` is missing"));
    } else if given && !allowed {
        checker.report(&path.key(key), "means nothing for this kind or action");
    }
}

fn wrong_with_pattern(pattern: &str) -> Option<String> {
    if pattern.is_empty() || pattern.len() > LONGEST_PATTERN {
        return Some(format!("expected a pattern of 1 to {LONGEST_PATTERN} bytes"));
    }
    let built = RegexBuilder::new(pattern).size_limit(LARGEST_PROGRAM).dfa_size_limit(LARGEST_PROGRAM).build();
    built.err().map(|error| {
        format!("not a usable pattern: {}", error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: "))
    })
}
