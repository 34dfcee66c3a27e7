//! Everything the filters consult, as one immutable value.

use crate::auth::KeyTable;
use crate::guardrails::Guardrails;
use crate::limits::Caps;
use crate::routing::ModelTable;
use crate::routing::rules::RuleSet;

/// A consistent view of the configured policy. A change makes a new one; a request keeps the one it began with.
#[derive(Debug)]
pub struct Policy {
    /// Keys and the identities behind them.
    pub keys: KeyTable,
    /// Models, aliases and targets.
    pub models: ModelTable,
    /// Caps that are not a key's own.
    pub caps: Caps,
    /// Rules that decide before a target is chosen.
    pub rules: RuleSet,
    /// What is looked for in prompts and answers.
    pub guardrails: Guardrails,
}
