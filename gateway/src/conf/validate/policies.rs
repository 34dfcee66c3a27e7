//! `rules` and `guardrails`: each kind needs its own keys and no others.

use std::collections::{BTreeMap, BTreeSet};

use regex::RegexBuilder;

use super::super::node::Path;
use super::super::{Action, Conf, Guardrail, GuardrailKind, Rule, RuleKind};
use super::{Checker, at};

const LONGEST_PATTERN: usize = 1024;
const LARGEST_PROGRAM: usize = 1 << 20;

pub(super) fn check(checker: &mut Checker<'_>, conf: &Conf) {
    let mut names = BTreeMap::new();
    for (index, rule) in conf.rules.iter().enumerate() {
        let path = at(&["rules"]).index(index);
        checker.name(&mut names, &rule.name, path.key("name"));
        effect(checker, rule, &path);
        conditions(checker, rule, &path);
    }
    let mut names = BTreeMap::new();
    for (index, guardrail) in conf.guardrails.iter().enumerate() {
        let path = at(&["guardrails"]).index(index);
        checker.name(&mut names, &guardrail.name, path.key("name"));
        detection(checker, guardrail, &path);
        reaction(checker, guardrail, &path);
    }
}

fn effect(checker: &mut Checker<'_>, rule: &Rule, path: &Path) {
    let redirects = matches!(rule.kind, RuleKind::CostSaver | RuleKind::Custom);
    let may_redirect = redirects || rule.kind == RuleKind::SpendCircuit;
    let is_split = rule.kind == RuleKind::Ab;
    let is_circuit = rule.kind == RuleKind::SpendCircuit;
    belongs(checker, path, "redirect", rule.redirect.is_some(), redirects, may_redirect);
    belongs(checker, path, "split", !rule.split.is_empty(), is_split, is_split);
    belongs(checker, path, "spend", rule.spend.is_some(), is_circuit, is_circuit);
    if is_split && !rule.split.is_empty() {
        let some_weight = rule.split.iter().any(|arm| arm.weight > 0);
        checker.ensure(rule.split.len() > 1 && some_weight, &path.key("split"), "expected two models or more, one of them with a weight");
    }
    if let Some(spend) = &rule.spend {
        checker.ensure(!spend.window.is_zero(), &path.key("spend").key("window"), "must not be 0");
    }
}

fn conditions(checker: &mut Checker<'_>, rule: &Rule, path: &Path) {
    let is_custom = rule.kind == RuleKind::Custom;
    let when = path.key("when");
    belongs(checker, &when, "cel", rule.when.cel.is_some(), is_custom, is_custom);
    if let Some(range) = &rule.when.prompt_tokens
        && let (Some(min), Some(max)) = (range.min, range.max)
    {
        checker.ensure(min <= max, &when.key("prompt_tokens"), "`min` must not be more than `max`");
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
