//! Rules as they are written: in the configuration, as JSON in the database and in the admin API.

mod clock;
mod usd;
mod when;

use serde::{Deserialize, Serialize};

pub use self::clock::{NotATime, Offset, TimeOfDay};
pub use self::usd::{NotAnAmount, Usd};
pub use self::when::{Day, Range, TimeWindow, When};
use crate::period::Period;

/// One routing rule. The lowest `priority` is asked first, and the first that matches decides unless it only logs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rule"))]
#[serde(deny_unknown_fields)]
pub struct RuleSpec {
    /// Its name, as it appears in decision records.
    pub name: String,
    /// What it does.
    pub kind: RuleKind,
    /// Its place in the order.
    #[serde(default)]
    pub priority: i64,
    /// Whether it is only noted that it would have matched.
    #[serde(default)]
    pub log_only: bool,
    /// Whom it concerns; empty means everybody.
    #[serde(default)]
    pub scope: Scope,
    /// When it matches; empty means always.
    #[serde(default)]
    pub when: When,
    /// Where the request goes instead: for `cost_saver` and `custom`, and for a `spend_circuit` that does not deny.
    #[serde(default)]
    pub redirect: Option<Redirect>,
    /// The arms of an `ab` rule.
    #[serde(default)]
    pub split: Vec<Arm>,
    /// What keeps an `ab` rule's choice the same from request to request.
    #[serde(default)]
    pub sticky: Sticky,
    /// The bound of a `spend_circuit`.
    #[serde(default)]
    pub spend: Option<Spend>,
    /// The only region whose targets may serve a matching request.
    #[serde(default)]
    pub region: Option<String>,
    /// Regulatory labels such as `gdpr`.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// Sends the request to a cheaper model.
    CostSaver,
    /// Splits requests between models by weight.
    Ab,
    /// Refuses the request.
    Deny,
    /// Refuses or redirects once spending has passed a bound.
    SpendCircuit,
    /// Sends what a CEL expression matches to a model.
    Custom,
}

/// Whom a rule or guardrail concerns. Lists are alternatives; different kinds must all match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    /// Users and agents.
    pub owners: Vec<Owner>,
    /// Names of keys.
    pub keys: Vec<String>,
    /// Names of teams.
    pub teams: Vec<String>,
    /// Names of applications.
    pub applications: Vec<String>,
    /// Names of groups.
    pub groups: Vec<String>,
}

/// Another model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Redirect {
    /// Its name or alias.
    pub model: String,
}

/// One side of an `ab` rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// A model's name or alias.
    pub model: String,
    /// Its share.
    pub weight: u32,
}

/// What an `ab` rule remembers its choice by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sticky {
    /// The key.
    #[default]
    Key,
    /// The end user that the request names, else the key.
    EndUser,
}

/// Spending by a rule's scope over a window that ends now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Spend {
    /// US dollars that may be spent.
    pub limit_usd: Usd,
    /// The window.
    pub window: Period,
}

/// Who a key belongs to: exactly one of the two.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// A person, by e-mail address.
    User(String),
    /// A program, by name.
    Agent(String),
}
