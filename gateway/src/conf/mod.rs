//! The configuration: one YAML file, read once at start.
//!
//! Every key but `providers`, `models` and `keys` has a default. `${VAR}` and `${VAR:-default}` are filled in from the
//! environment. Unknown and duplicate keys, wrong types and contradictions are errors that name file, line and path.

mod admin;
mod compatibility;
mod database;
mod de;
mod de_error;
mod declared;
mod egress;
mod error;
mod expand;
mod guardrail_models;
mod keys;
mod limits;
mod load;
mod models;
mod node;
mod providers;
mod resolve;
mod rules;
pub mod schema;
mod secret;
mod server;
mod size;
mod telemetry;
mod timeouts;
mod translation;
mod tree;
mod validate;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use admin::{Admin, Basic, RateCards};
pub use compatibility::Compatibility;
pub use database::{Database, Redis};
pub use egress::{Cidr, Egress, NotANetwork};
pub use error::{ConfError, Problem};
pub use expand::Lookup;
pub use guardrail_models::{GuardrailModels, NO_SIDECAR};
pub use keys::{ContentLogging, Key, KeyStatus, Timestamp};
pub use limits::{Limits, OnLimiterError};
pub use models::{Capabilities, Model, Target};
pub use providers::{Aws, Entra, Http2, Provider, ProviderKind, Vertex};
pub use secret::Secret;
pub use server::{Server, ServerLimits, Tls};
pub use size::{ByteSize, NotASize};
pub use svc_filters::guardrails::GuardrailSpec as Guardrail;
pub use svc_filters::period::{NotAPeriod, Period};
pub use svc_filters::routing::rules::{
    Arm, Day, NotATime, NotAnAmount, Offset, Owner, Range, Redirect, RuleKind, RuleSpec as Rule, Scope, Spend, Sticky, TimeOfDay,
    TimeWindow, Usd, When,
};
pub use telemetry::{Licence, LogFormat, Metrics, OwnTokenCounts, Telemetry, Traces};
pub use timeouts::{Breaker, TimeoutOverrides, Timeouts};
pub use translation::Translation;

/// The whole configuration of both programs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Conf {
    /// The listener for the proxy and `/admin`.
    pub server: Server,
    /// The database both programs use.
    pub database: Database,
    /// The directory of the journal, the licence cache and generated secrets.
    pub data_dir: PathBuf,
    /// Counters shared by several gateways.
    pub redis: Redis,
    /// The admin secret and the admin service.
    pub admin: Admin,
    /// Where prices come from.
    pub rate_cards: RateCards,
    /// How request records reach the database.
    pub telemetry: Telemetry,
    /// The metrics listener of the Enterprise build.
    pub metrics: Metrics,
    /// Caps over all keys together.
    pub limits: Limits,
    /// How long an upstream may take.
    pub timeouts: Timeouts,
    /// When an upstream counts as down.
    pub breaker: Breaker,
    /// How often a waiting client of a silent upstream hears something; 0 means never.
    pub client_keepalive: Period,
    /// Private networks that may be reached.
    pub egress: Egress,
    /// Where the models of guardrails are asked.
    pub guardrail_models: GuardrailModels,
    /// Where the last good licence is kept.
    pub licence: Licence,
    /// The filter chain, in order.
    pub filters: Vec<String>,
    /// Declared providers.
    pub providers: Vec<Provider>,
    /// Declared models.
    pub models: Vec<Model>,
    /// Declared keys.
    pub keys: Vec<Key>,
    /// Declared routing rules.
    pub rules: Vec<Rule>,
    /// Declared guardrails.
    pub guardrails: Vec<Guardrail>,
}

impl Conf {
    /// Where the admin service finds the gateway: as configured, else the listener's own address, without a trailing slash.
    #[must_use]
    pub fn gateway_url(&self) -> String {
        if !self.admin.gateway_url.is_empty() {
            return self.admin.gateway_url.trim_end_matches('/').to_owned();
        }
        let scheme = if self.server.tls.is_some() { "https" } else { "http" };
        let mut address = self.server.listen;
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() { std::net::Ipv4Addr::LOCALHOST.into() } else { std::net::Ipv6Addr::LOCALHOST.into() });
        }
        format!("{scheme}://{address}")
    }
}

impl Default for Conf {
    fn default() -> Self {
        let chain = ["auth", "limits", "guardrails", "routing", "translation", "cost"];
        Self {
            server: Server::default(),
            database: Database::default(),
            data_dir: PathBuf::from("data"),
            redis: Redis::default(),
            admin: Admin::default(),
            rate_cards: RateCards::default(),
            telemetry: Telemetry::default(),
            metrics: Metrics::default(),
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            breaker: Breaker::default(),
            client_keepalive: Period::secs(15),
            egress: Egress::default(),
            guardrail_models: GuardrailModels::default(),
            licence: Licence::default(),
            filters: chain.map(str::to_owned).to_vec(),
            providers: Vec::new(),
            models: Vec::new(),
            keys: Vec::new(),
            rules: Vec::new(),
            guardrails: Vec::new(),
        }
    }
}
