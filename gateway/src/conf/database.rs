//! `database` and `redis`: what is kept, and what several gateways share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Period, Secret};

const DEFAULT_URL: &str = "sqlite://data/svc.db";

/// The database both programs use.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Database {
    /// `sqlite://path/to/file.db`, or `postgres://user:password@host:5432/name`.
    #[serde(skip_serializing)]
    #[schemars(extend("default" = DEFAULT_URL))]
    pub url: Secret,
    /// Connections in the pool.
    pub max_connections: u32,
}

/// The shared counters of several gateways.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Redis {
    /// `redis://` or `rediss://`; empty where one gateway runs alone.
    #[serde(skip_serializing)]
    #[schemars(extend("default" = ""))]
    pub url: Secret,
    /// How long a request waits for an answer before `limits.on_limiter_error` decides.
    pub timeout: Period,
}

impl Database {
    /// Whether this is the embedded SQLite database.
    #[must_use]
    pub fn is_embedded(&self) -> bool {
        self.url.reveal().starts_with("sqlite:")
    }
}

impl Redis {
    /// The URL, or `None` where counters stay in this process.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        (!self.url.is_empty()).then(|| self.url.reveal())
    }
}

impl Default for Redis {
    fn default() -> Self {
        Self { url: Secret::default(), timeout: Period::millis(50) }
    }
}

impl Default for Database {
    fn default() -> Self {
        Self { url: Secret::new(DEFAULT_URL), max_connections: 10 }
    }
}
