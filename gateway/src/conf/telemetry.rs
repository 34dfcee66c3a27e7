//! `telemetry`, `metrics` and `licence`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How request records reach the database.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Telemetry {
    /// Records written in one transaction.
    pub batch_size: usize,
    /// Milliseconds after which an incomplete batch is written.
    pub batch_timeout_ms: u64,
    /// Whether prompts and answers are kept where neither key nor user decides.
    pub content_logging: bool,
    /// For which requests the gateway counts tokens itself, beside what the provider says.
    pub own_token_counts: OwnTokenCounts,
}

/// For which requests the gateway counts tokens itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OwnTokenCounts {
    /// Those whose provider did not tell, or whose answer ended before it could.
    #[default]
    Missing,
    /// Every request for which a model writes an answer.
    All,
}

/// The metrics listener of the Enterprise build.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Metrics {
    /// Whether it listens.
    pub enabled: bool,
    /// Its port.
    pub port: u16,
    /// Its address.
    pub bind: IpAddr,
}

/// Where the last good licence is kept.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Licence {
    /// A file name inside `data_dir`.
    pub cache: PathBuf,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self { batch_size: 256, batch_timeout_ms: 500, content_logging: false, own_token_counts: OwnTokenCounts::Missing }
    }
}

impl Metrics {
    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        SocketAddr::new(self.bind, self.port)
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self { enabled: false, port: 9091, bind: IpAddr::V4(Ipv4Addr::LOCALHOST) }
    }
}

impl Default for Licence {
    fn default() -> Self {
        Self { cache: PathBuf::from("licence-cache.jwt") }
    }
}
