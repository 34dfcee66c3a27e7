//! Content rules: what is looked for in prompts and answers, and what is done about it.
//!
//! [`Rule`] is one rule, [`RuleSet`] the rules in force for a request. [`RuleSet::scan`] looks at a whole text and [`Stream`] at one
//! that comes piece by piece; both find the same, whatever the pieces. [`RuleSet::resolve`] decides about what was found, and
//! [`RuleSet::edits`] says what is masked. [`ModelRule`] is one for which a
//! model looks; this crate asks none, it makes findings of a model's [`Judgement`]s. Nothing here prints or keeps a text that was
//! matched.

mod action;
mod automaton;
mod check;
mod decision;
mod filter;
mod fold;
pub mod library;
mod live;
mod map;
mod mask;
mod matcher;
mod model;
mod pattern;
mod place;
mod problems;
mod rule;
mod set;
mod spans;
mod spec;
mod stream;
mod table;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod track;
mod trail;
mod view;
mod walk;

pub use self::action::{Action, Detour, Template};
pub use self::automaton::SetError;
pub use self::check::Check;
pub use self::decision::{Decision, Finding};
pub use self::filter::GuardrailsFilter;
pub use self::fold::fold;
pub use self::mask::{Edit, edited};
pub use self::model::{DEFAULT_THRESHOLD, Entity, Judgement, ModelFinding, ModelRule, decisive, model_edits};
pub use self::place::{Place, Places};
pub use self::rule::{DEFAULT_MAX_MATCH, DEFAULT_PRIORITY, LooksFor, MAX_MATCH, MAX_PATTERN, Rule, RuleError, RuleSpec};
pub use self::set::RuleSet;
pub use self::spec::{ActionKind, AppliesTo, Elsewhere, GuardrailError, GuardrailKind, GuardrailSpec, OnFailure};
pub use self::stream::{Settled, Stream};
pub use self::table::{Guardrail, Guardrails, ModelGuardrail};

/// The name of the filter in the chain.
pub const FILTER: &str = "guardrails";
