//! The guardrails of a deployment, and which of them concern whom.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::automaton::SetError;
use super::rule::Rule;
use super::set::RuleSet;
use crate::auth::{Caller, Key};
use crate::routing::rules::Scope;

/// A rule and whom it concerns.
#[derive(Clone, Debug)]
pub struct Guardrail {
    /// What it looks for and does.
    pub rule: Arc<Rule>,
    /// Whom it concerns: a key, its owner, team, application or group; empty for everybody. What is attached to any of them applies.
    pub scope: Scope,
}

/// Every guardrail that looks with a pattern. Who is concerned by the same ones shares their automata, which are made for the first
/// request that needs them.
#[derive(Debug, Default)]
pub struct Guardrails {
    all: Vec<Guardrail>,
    /// All of them, where every one concerns everybody.
    everybody: Option<Arc<RuleSet>>,
    made: RwLock<HashMap<Box<[usize]>, Arc<RuleSet>>>,
}

impl Guardrails {
    /// The guardrails, in the order in which equals decide.
    ///
    /// # Errors
    /// When automata for all of them together cannot be built.
    pub fn new(all: Vec<Guardrail>) -> Result<Self, SetError> {
        let alike = all.iter().all(|guardrail| guardrail.scope == Scope::default());
        let mut table = Self { all, everybody: None, made: RwLock::default() };
        // Whatever fits with all of them fits with a part.
        let together = table.made((0..table.all.len()).collect())?;
        table.everybody = (alike && !table.all.is_empty()).then_some(together);
        Ok(table)
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Those that concern a key and its holder; `None` where there are none.
    ///
    /// # Errors
    /// When their automata cannot be built.
    pub fn of(&self, key: Option<&Key>) -> Result<Option<Arc<RuleSet>>, SetError> {
        if self.all.is_empty() || self.everybody.is_some() {
            return Ok(self.everybody.clone());
        }
        let nobody = Caller::default();
        let (name, caller) = key.map_or(("", &nobody), |key| (&*key.name, &key.caller));
        let concerned = |guardrail: &Guardrail| guardrail.scope.covers(name, caller);
        let chosen: Box<[usize]> =
            self.all.iter().enumerate().filter(|(_, guardrail)| concerned(guardrail)).map(|(index, _)| index).collect();
        if chosen.is_empty() { Ok(None) } else { self.made(chosen).map(Some) }
    }

    fn made(&self, chosen: Box<[usize]>) -> Result<Arc<RuleSet>, SetError> {
        if let Some(known) = self.made.read().get(&chosen) {
            return Ok(known.clone());
        }
        let rules = chosen.iter().filter_map(|index| self.all.get(*index)).map(|guardrail| guardrail.rule.clone()).collect();
        let set = Arc::new(RuleSet::new(rules)?);
        Ok(self.made.write().entry(chosen).or_insert(set).clone())
    }
}
