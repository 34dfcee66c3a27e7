//! What was spent, for rules that look at it.

use std::fmt::Debug;

use super::Rule;

/// Knows what was spent.
pub trait Spends: Debug + Send + Sync {
    /// What everybody in the rule's scope spent over the window of its bound, which ends at `now` (Unix milliseconds), in
    /// billionths of a dollar. `None` where that is not known, which counts as nothing and is noted.
    ///
    /// Called while a request waits: it must not block.
    fn spent(&self, rule: &Rule, now: i64) -> Option<i64>;
}

/// Knows of no spending.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSpends;

impl Spends for NoSpends {
    fn spent(&self, _: &Rule, _: i64) -> Option<i64> {
        None
    }
}
