//! Content rules: what is looked for in prompts and answers, and what is done about it.
//!
//! [`Rule`] is one rule, [`RuleSet`] the rules in force for a request. [`RuleSet::scan`] looks at a whole text and [`Stream`] at one
//! that comes piece by piece; both find the same, whatever the pieces. [`RuleSet::resolve`] decides about what was found, and
//! [`RuleSet::edits`] says what is masked. Nothing here prints or keeps a text that was matched.

mod action;
mod automaton;
mod check;
mod decision;
mod fold;
pub mod library;
mod live;
mod map;
mod matcher;
mod pattern;
mod place;
mod rule;
mod set;
mod spans;
mod stream;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod track;
mod trail;
mod view;
mod walk;

pub use self::action::{Action, Template};
pub use self::automaton::SetError;
pub use self::check::Check;
pub use self::decision::{Decision, Edit, Finding};
pub use self::fold::fold;
pub use self::place::{Place, Places};
pub use self::rule::{DEFAULT_MAX_MATCH, DEFAULT_PRIORITY, LooksFor, MAX_MATCH, MAX_PATTERN, Rule, RuleError, RuleSpec};
pub use self::set::RuleSet;
pub use self::stream::{Settled, Stream};

use crate::filter::{self, Filter};

/// The place in the chain where content rules are applied. No rule reaches it yet; declared ones are reported at start.
#[derive(Clone, Copy, Debug)]
pub struct GuardrailsFilter;

impl Filter for GuardrailsFilter {
    fn name(&self) -> &'static str {
        "guardrails"
    }

    fn check(&self, place: &filter::Place<'_>) -> Result<(), String> {
        place.after("auth")
    }
}
