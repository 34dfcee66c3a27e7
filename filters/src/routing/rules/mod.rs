//! Rules that decide about a request before a target is chosen.
//!
//! [`RuleSpec`] is a rule as it is written, [`Rule`] as it is asked, and [`explain`] the decision with everything that led
//! to it: the gateway, a dry run and the tests call the same function, which knows nothing but its arguments.

mod cel;
mod condition;
mod decision;
mod error;
mod explain;
mod names;
mod rule;
mod sample;
mod scope;
mod set;
mod spec;
mod spends;
mod unknown;
mod window;

pub use self::condition::Condition;
pub use self::decision::{Decision, Denial, Outcome, Tested, Tried};
pub use self::error::RuleError;
pub use self::explain::explain;
pub use self::rule::{Bound, Rule};
pub use self::sample::Sample;
pub use self::set::RuleSet;
pub use self::spec::{
    Arm, Day, NotATime, NotAnAmount, Offset, Owner, Range, Redirect, RuleKind, RuleSpec, Scope, Spend, Sticky, TimeOfDay, TimeWindow, Usd,
    When,
};
pub use self::spends::{NoSpends, Spends};
pub use self::unknown::{Fact, Unknown};

#[cfg(test)]
mod tests;
