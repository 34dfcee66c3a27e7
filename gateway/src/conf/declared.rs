//! `when_set`: entries that exist only where an environment variable is set.

use std::collections::BTreeSet;

use super::expand::{Lookup, is_variable_name};
use super::{Conf, Model};

/// Whether a variable is set and not empty.
pub(super) fn is_set(name: &str, env: &Lookup<'_>) -> bool {
    is_variable_name(name) && env(name).is_some_and(|value| !value.is_empty())
}

/// Whether an entry with this `when_set` exists.
pub(super) fn exists(when_set: Option<&String>, env: &Lookup<'_>) -> bool {
    when_set.is_none_or(|name| is_set(name, env))
}

/// Removes what is not declared, and the targets, models and fallbacks that go with it.
pub(super) fn prune(conf: &mut Conf, env: &Lookup<'_>) {
    conf.providers.retain(|provider| exists(provider.when_set.as_ref(), env));
    conf.keys.retain(|key| exists(key.when_set.as_ref(), env));
    conf.models.retain(|model| exists(model.when_set.as_ref(), env));

    let providers: BTreeSet<&str> = conf.providers.iter().map(|provider| provider.name.as_str()).collect();
    for model in &mut conf.models {
        model.targets.retain(|target| providers.contains(target.provider.as_str()));
    }
    conf.models.retain(|model| !model.targets.is_empty());

    let names: BTreeSet<String> = conf.models.iter().flat_map(names_of).map(ToOwned::to_owned).collect();
    for model in &mut conf.models {
        model.fallbacks.retain(|fallback| names.contains(fallback));
    }
}

/// Everything a model can be called.
pub(super) fn names_of(model: &Model) -> impl Iterator<Item = &str> {
    std::iter::once(&model.name).chain(&model.aliases).map(String::as_str)
}
