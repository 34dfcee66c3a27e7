//! `rules`: what is decided about a request before a target is chosen.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::when::When;
use super::{Owner, Period};

/// One routing rule. The lowest `priority` is asked first, and the first that matches decides unless it only logs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Redirect {
    /// Its name or alias.
    pub model: String,
}

/// One side of an `ab` rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// A model's name or alias.
    pub model: String,
    /// Its share.
    pub weight: u32,
}

/// What an `ab` rule remembers its choice by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sticky {
    /// The key.
    #[default]
    Key,
    /// The end user that the request names, else the key.
    EndUser,
}

/// Spending by a rule's scope over a window that ends now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spend {
    /// US dollars that may be spent.
    pub limit_usd: Usd,
    /// The window.
    pub window: Period,
}

/// An amount in US dollars, kept in whole billionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usd {
    /// Billionths of a dollar.
    pub nano: i64,
}

/// Why a text is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an amount such as 50 or \"12.50\", with at most nine decimals")]
pub struct NotAnAmount;

impl FromStr for Usd {
    type Err = NotAnAmount;

    fn from_str(text: &str) -> Result<Self, NotAnAmount> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || fraction.len() > 9 {
            return Err(NotAnAmount);
        }
        let whole: i64 = whole.parse().map_err(|_| NotAnAmount)?;
        let fraction: i64 = format!("{fraction:0<9}").parse().map_err(|_| NotAnAmount)?;
        whole.checked_mul(1_000_000_000).and_then(|nano| nano.checked_add(fraction)).map(|nano| Self { nano }).ok_or(NotAnAmount)
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}", self.nano / 1_000_000_000, self.nano % 1_000_000_000)
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UsdVisitor)
    }
}

struct UsdVisitor;

impl Visitor<'_> for UsdVisitor {
    type Value = Usd;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount such as 50 or \"12.50\"")
    }

    fn visit_u64<E: Error>(self, dollars: u64) -> Result<Usd, E> {
        dollars.to_string().parse().map_err(E::custom)
    }

    /// The shortest decimal that reads back as the same number is the one that was written.
    fn visit_f64<E: Error>(self, dollars: f64) -> Result<Usd, E> {
        dollars.to_string().parse().map_err(E::custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Usd, E> {
        text.parse().map_err(E::custom)
    }
}

impl JsonSchema for Usd {
    fn schema_name() -> Cow<'static, str> {
        "Usd".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "US dollars, with at most nine decimals.",
            "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": r"^[0-9]+(\.[0-9]{1,9})?$"}]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact() {
        for (text, nano) in [("0", 0), ("50", 50_000_000_000), ("12.50", 12_500_000_000), ("0.000000001", 1)] {
            assert_eq!(text.parse(), Ok(Usd { nano }), "{text}");
        }
        for text in ["", ".5", "5.", "-1", "1e3", "0.0000000001", "99999999999"] {
            assert_eq!(text.parse::<Usd>(), Err(NotAnAmount), "{text}");
        }
    }
}
