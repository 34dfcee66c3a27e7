//! All rules, in the order they are asked.

use super::Rule;
use crate::routing::ModelTable;

/// The rules of a policy.
#[derive(Debug, Default)]
pub struct RuleSet {
    rules: Vec<Rule>,
    last_that_always_applies: usize,
}

impl RuleSet {
    /// Puts rules in order of priority, and rules of one priority in the order they come in. `models` are those of the same
    /// policy: a model is the same by each of its names.
    #[must_use]
    pub fn new(mut rules: Vec<Rule>, models: &ModelTable) -> Self {
        rules.sort_by_key(|rule| rule.priority);
        for rule in &mut rules {
            rule.conditions.link(models);
        }
        let last_that_always_applies = rules.iter().rposition(Rule::always_applies).map_or(0, |index| index + 1);
        Self { rules, last_that_always_applies }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// The rules in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Rule> {
        self.rules.iter()
    }

    /// The rules that restrict a request although the one at `index` has decided.
    pub(super) fn after(&self, index: usize) -> impl Iterator<Item = &Rule> {
        let rest = self.rules.get(index + 1..self.last_that_always_applies).unwrap_or_default();
        rest.iter().filter(|rule| rule.always_applies())
    }
}
