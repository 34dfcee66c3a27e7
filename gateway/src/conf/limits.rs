//! `limits`: caps over all keys together, each in any 60 seconds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Caps of the whole installation. `null` means no cap, 0 blocks everything.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Requests per minute.
    pub global_rpm: Option<u32>,
    /// Tokens per minute.
    pub global_tpm: Option<u64>,
    /// Requests at the same time.
    pub global_max_parallel: Option<u32>,
    /// What to do while the shared counters cannot be reached.
    pub on_limiter_error: OnLimiterError,
}

/// What a gateway does while Redis is unreachable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnLimiterError {
    /// Count in this process only.
    #[default]
    Local,
    /// Refuse requests whose key, role or installation has a cap.
    Deny,
}
