//! `models`: names and aliases share one space; targets and fallbacks must exist.

use std::collections::{BTreeMap, BTreeSet};

use super::super::declared::names_of;
use super::super::node::Path;
use super::super::{Conf, Model};
use super::{Checker, at};

pub(super) fn check(checker: &mut Checker<'_>, conf: &Conf) {
    let providers: BTreeSet<&str> = conf.providers.iter().map(|provider| provider.name.as_str()).collect();
    let names: BTreeSet<&str> = conf.models.iter().flat_map(names_of).collect();
    let mut declared = Vec::new();
    for (index, model) in conf.models.iter().enumerate() {
        let path = at(&["models"]).index(index);
        if checker.is_declared(model.when_set.as_ref(), &path) {
            targets(checker, model, &providers, &path);
            fallbacks(checker, model, &names, &path);
            checker.ensure(
                model.capabilities.context_window != Some(0),
                &path.key("capabilities").key("context_window"),
                "must not be 0; leave it out where it is not known",
            );
            declared.push((model, path));
        }
    }
    unique_names(checker, &declared);
}

/// Names first, so that an alias that takes one is what is reported.
fn unique_names(checker: &mut Checker<'_>, models: &[(&Model, Path)]) {
    let mut seen = BTreeMap::new();
    for (model, path) in models {
        checker.name(&mut seen, &model.name, path.key("name"));
    }
    for (model, path) in models {
        for (index, alias) in model.aliases.iter().enumerate() {
            checker.name(&mut seen, alias, path.key("aliases").index(index));
        }
    }
}

fn targets(checker: &mut Checker<'_>, model: &Model, providers: &BTreeSet<&str>, path: &Path) {
    let path = path.key("targets");
    checker.ensure(!model.targets.is_empty(), &path, "at least one target is needed");
    let mut weights: BTreeMap<u32, u64> = BTreeMap::new();
    for (index, target) in model.targets.iter().enumerate() {
        let path = path.index(index);
        if !providers.contains(target.provider.as_str()) {
            checker.report(&path.key("provider"), format!("there is no provider named {:?}", target.provider));
        }
        checker.ensure(super::text::is_name(&target.model), &path.key("model"), "expected the provider's name of the model");
        *weights.entry(target.priority).or_default() += u64::from(target.weight);
    }
    for (priority, sum) in weights {
        checker.ensure(sum <= u64::from(u32::MAX), &path, format!("the weights of priority {priority} add up to more than {}", u32::MAX));
    }
}

/// Circles are allowed, since a request visits each model once; naming itself is always a slip.
fn fallbacks(checker: &mut Checker<'_>, model: &Model, names: &BTreeSet<&str>, path: &Path) {
    let mut seen = BTreeSet::new();
    for (index, fallback) in model.fallbacks.iter().enumerate() {
        let path = path.key("fallbacks").index(index);
        if names_of(model).any(|name| name == fallback) {
            checker.report(&path, "a model cannot be its own fallback");
        } else if !names.contains(fallback.as_str()) {
            checker.report(&path, format!("there is no model named {fallback:?}"));
        }
        checker.ensure(seen.insert(fallback), &path, format!("the fallback {fallback:?} is given twice"));
    }
}
