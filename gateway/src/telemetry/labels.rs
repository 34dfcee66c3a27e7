//! Values of labels, of which there are only so many, whatever comes: every one is a series that lives as long as the process.

use std::collections::{HashMap, HashSet};

use crate::store::Snapshot;

/// Providers that have series of their own.
const PROVIDERS: usize = 200;
/// Pairs of provider and model that do.
const PAIRS: usize = 2_000;
/// Statuses that do.
const STATUSES: usize = 64;

/// What takes the place of a name that is not configured, or one too many.
pub(super) const OTHER: &str = "other";
/// What takes the place of a name where there is none.
pub(super) const NONE: &str = "none";

/// The values in use.
#[derive(Debug, Default)]
pub(super) struct Labels {
    pairs: HashMap<Box<str>, HashSet<Box<str>>>,
    count: usize,
    statuses: HashSet<u16>,
}

impl Labels {
    /// The label of a provider, of which there may be none.
    pub(super) fn provider<'a>(&mut self, name: Option<&'a str>, snapshot: &Snapshot) -> &'a str {
        match name {
            None | Some("") => NONE,
            Some(name) if snapshot.providers.contains_key(name) && self.admit(name) => name,
            Some(_) => OTHER,
        }
    }

    /// The labels of a provider and a model by its canonical name.
    pub(super) fn pair<'a>(&mut self, provider: Option<&'a str>, model: Option<&'a str>, snapshot: &Snapshot) -> (&'a str, &'a str) {
        let provider = self.provider(provider, snapshot);
        let model = match model {
            None | Some("") => NONE,
            Some(name) => {
                let configured = snapshot.policy.models.find(name).is_some_and(|model| *model.name == *name);
                if configured && self.admit_pair(provider, name) { name } else { OTHER }
            }
        };
        (provider, model)
    }

    /// The label of a status.
    pub(super) fn status(&mut self, status: u16) -> String {
        if self.statuses.len() < STATUSES || self.statuses.contains(&status) {
            self.statuses.insert(status);
            return status.to_string();
        }
        OTHER.to_owned()
    }

    fn admit(&mut self, provider: &str) -> bool {
        if self.pairs.contains_key(provider) {
            return true;
        }
        let room = self.pairs.len() < PROVIDERS;
        if room {
            self.pairs.insert(provider.into(), HashSet::new());
        }
        room
    }

    /// `provider` is a label already.
    fn admit_pair(&mut self, provider: &str, model: &str) -> bool {
        if self.pairs.get(provider).is_some_and(|models| models.contains(model)) {
            return true;
        }
        let room = self.count < PAIRS;
        if room {
            self.pairs.entry(provider.into()).or_default().insert(model.into());
            self.count += 1;
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_only_so_many_series_whatever_is_configured() {
        let mut labels = Labels::default();
        let admitted = (0..PROVIDERS + 50).filter(|number| labels.admit(&format!("provider-{number}"))).count();
        assert_eq!(admitted, PROVIDERS);
        let pairs =
            (0..PAIRS + 50).filter(|number| labels.admit_pair(&format!("provider-{}", number % 100), &format!("model-{number}"))).count();
        assert_eq!(pairs, PAIRS);
        assert!(labels.admit("provider-0") && labels.admit_pair("provider-0", "model-0"), "who was admitted stays");
        assert!(!labels.admit_pair("provider-0", "model-1"), "there is no room for another pair");
        assert!(!labels.admit_pair(NONE, "model-0"), "nor for a model without a provider");
        assert!(Labels::default().admit_pair(NONE, "model-0"), "a model without a provider has series of its own while there is room");
        let statuses: HashSet<String> = (100..=999).map(|status| labels.status(status)).collect();
        assert_eq!(statuses.len(), STATUSES + 1);
        assert_eq!((labels.status(100).as_str(), labels.status(999).as_str()), ("100", OTHER));
    }
}
