//! `timeouts` and `breaker`: how long an upstream may take and when it counts as down.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Period;

/// Time-outs of one upstream attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// DNS, TCP and TLS together.
    pub connect: Period,
    /// From the end of the request to the first byte of the answer.
    pub first_byte: Period,
    /// Between two pieces of the answer.
    pub idle: Period,
    /// The whole attempt.
    pub total: Period,
}

/// Time-outs of one provider; what is left out follows `timeouts`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TimeoutOverrides {
    /// DNS, TCP and TLS together.
    pub connect: Option<Period>,
    /// From the end of the request to the first byte of the answer.
    pub first_byte: Option<Period>,
    /// Between two pieces of the answer.
    pub idle: Option<Period>,
    /// The whole attempt.
    pub total: Option<Period>,
}

/// The circuit breaker of each provider and model.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Breaker {
    /// Whether it opens at all.
    pub enabled: bool,
    /// Failures in a row that open it.
    pub consecutive_failures: u32,
    /// The share of failures inside the window that opens it, 0 to 1.
    pub failure_ratio: f64,
    /// Requests inside the window before the share counts.
    pub min_requests: u32,
    /// How far back the share looks.
    pub window: Period,
    /// How long it stays open the first time; doubles each time after.
    pub open: Period,
    /// The longest it stays open.
    pub max_open: Period,
}

impl TimeoutOverrides {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Timeouts {
    /// These time-outs with a provider's own in their place.
    #[must_use]
    pub fn with(&self, own: &TimeoutOverrides) -> Self {
        Self {
            connect: own.connect.unwrap_or(self.connect),
            first_byte: own.first_byte.unwrap_or(self.first_byte),
            idle: own.idle.unwrap_or(self.idle),
            total: own.total.unwrap_or(self.total),
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Period::secs(5), first_byte: Period::secs(60), idle: Period::secs(120), total: Period::secs(600) }
    }
}

impl Default for Breaker {
    fn default() -> Self {
        Self {
            enabled: true,
            consecutive_failures: 5,
            failure_ratio: 0.5,
            min_requests: 20,
            window: Period::secs(30),
            open: Period::secs(30),
            max_open: Period::secs(300),
        }
    }
}
