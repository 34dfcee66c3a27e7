//! `telemetry`, `metrics` and `licence`.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use http::Uri;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Secret;

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
    /// How the log is written to standard error.
    pub log_format: LogFormat,
    /// Traces of requests for an OpenTelemetry collector.
    pub traces: Traces,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: a JSON object a line.
    Json,
}

/// Where the traces of requests go.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Traces {
    /// URL of a collector that takes OTLP over HTTP; `/v1/traces` is added where it has no path. Empty where no traces are made.
    pub endpoint: String,
    /// Header lines on every call to it, such as its token.
    #[serde(skip_serializing)]
    #[schemars(extend("default" = {}))]
    pub headers: BTreeMap<String, Secret>,
    /// A PEM file with the authorities that may sign its certificate, instead of the public ones.
    pub ca: Option<PathBuf>,
    /// The share of requests, 0 to 1, whose traces are recorded where the client has not decided it.
    pub sample_ratio: f64,
    /// The name that traces go by.
    pub service_name: String,
}

impl Traces {
    /// The address that spans are sent to; `None` where no traces are made.
    #[must_use]
    pub fn url(&self) -> Option<String> {
        let url: Uri = self.endpoint.parse().ok()?;
        let bare = url.path() == "/";
        Some(if bare { format!("{}/v1/traces", self.endpoint.trim_end_matches('/')) } else { self.endpoint.clone() })
    }
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
        Self {
            batch_size: 256,
            batch_timeout_ms: 500,
            content_logging: false,
            own_token_counts: OwnTokenCounts::Missing,
            log_format: LogFormat::Text,
            traces: Traces::default(),
        }
    }
}

impl Default for Traces {
    fn default() -> Self {
        Self { endpoint: String::new(), headers: BTreeMap::new(), ca: None, sample_ratio: 1.0, service_name: "svc".to_owned() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_path_is_added_where_there_is_none() {
        for (endpoint, url) in [
            ("", None),
            ("http://collector:4318", Some("http://collector:4318/v1/traces")),
            ("https://collector/", Some("https://collector/v1/traces")),
            ("https://collector/otlp/v1/traces", Some("https://collector/otlp/v1/traces")),
        ] {
            let traces = Traces { endpoint: endpoint.to_owned(), ..Traces::default() };
            assert_eq!(traces.url().as_deref(), url, "{endpoint}");
        }
    }
}
