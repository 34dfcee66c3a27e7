//! The guardrails of a deployment, and which of them concern whom.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::automaton::SetError;
use super::model::ModelRule;
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

/// A guardrail for which a model looks, and whom it concerns.
#[derive(Clone, Debug)]
pub struct ModelGuardrail {
    /// What is asked of the model, and what is done about its answer.
    pub rule: Arc<ModelRule>,
    /// Whom it concerns, as with [`Guardrail`].
    pub scope: Scope,
}

/// Every guardrail. Who is concerned by the same patterns shares their automata, which are made for the first
/// request that needs them.
#[derive(Debug, Default)]
pub struct Guardrails {
    all: Vec<Guardrail>,
    /// All of them, where every one concerns everybody.
    everybody: Option<Arc<RuleSet>>,
    made: RwLock<HashMap<Box<[usize]>, Arc<RuleSet>>>,
    /// Those for which a model looks.
    models: Vec<ModelGuardrail>,
}

impl Guardrails {
    /// The guardrails that look with a pattern, in the order in which equals decide.
    ///
    /// # Errors
    /// When automata for all of them together cannot be built.
    pub fn new(all: Vec<Guardrail>) -> Result<Self, SetError> {
        let alike = all.iter().all(|guardrail| guardrail.scope == Scope::default());
        let mut table = Self { all, everybody: None, made: RwLock::default(), models: Vec::new() };
        // Whatever fits with all of them fits with a part.
        let together = table.made((0..table.all.len()).collect())?;
        table.everybody = (alike && !table.all.is_empty()).then_some(together);
        Ok(table)
    }

    /// The same with those for which a model looks, in the order in which equals decide.
    #[must_use]
    pub fn with_models(self, models: Vec<ModelGuardrail>) -> Self {
        Self { models, ..self }
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.all.is_empty() && self.models.is_empty()
    }

    /// Those for which a model looks and that concern a key and its holder.
    #[must_use]
    pub fn models_of(&self, key: Option<&Key>) -> Vec<Arc<ModelRule>> {
        let concerned = self.models.iter().filter(|guardrail| concerns(&guardrail.scope, key));
        concerned.map(|guardrail| guardrail.rule.clone()).collect()
    }

    /// Those that look with a pattern and concern a key and its holder; `None` where there are none.
    ///
    /// # Errors
    /// When their automata cannot be built.
    pub fn of(&self, key: Option<&Key>) -> Result<Option<Arc<RuleSet>>, SetError> {
        if self.all.is_empty() || self.everybody.is_some() {
            return Ok(self.everybody.clone());
        }
        let concerned = self.all.iter().enumerate().filter(|(_, guardrail)| concerns(&guardrail.scope, key));
        let chosen: Box<[usize]> = concerned.map(|(index, _)| index).collect();
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

fn concerns(scope: &Scope, key: Option<&Key>) -> bool {
    match key {
        Some(key) => scope.covers(&key.name, &key.caller),
        None => scope.covers("", &Caller::default()),
    }
}
