//! Rules that decide about a request before a target is chosen.

mod spec;

pub use self::spec::{
    Arm, Day, NotATime, NotAnAmount, Offset, Owner, Range, Redirect, RuleKind, RuleSpec, Scope, Spend, Sticky, TimeOfDay, TimeWindow,
    Usd, When,
};
