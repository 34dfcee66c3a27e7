//! `server`: where the gateway listens and how much it takes from one client.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ByteSize, Period};

/// The listener for the proxy and `/admin`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Address and port of the proxy and of `/admin`.
    pub listen: SocketAddr,
    /// Certificate and key for HTTPS and HTTP/2; without it the listener speaks plain HTTP.
    pub tls: Option<Tls>,
    /// Worker threads; 0 means one per core.
    pub threads: usize,
    /// The largest request body, after decompression.
    pub max_body: ByteSize,
    /// How long running requests may go on after SIGTERM, once no new ones are accepted.
    pub grace_period: Period,
    /// What one client may take before it is refused.
    pub limits: ServerLimits,
}

/// PEM files for HTTPS.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate chain, leaf first.
    pub cert: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Bounds on what a client sends and on how slowly it may do so.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerLimits {
    /// All header lines of a request together.
    pub header_bytes: ByteSize,
    /// Header lines in one request.
    pub header_count: usize,
    /// From the first byte of a request to the end of its headers.
    pub header_deadline: Period,
    /// Between two pieces of a request body.
    pub body_idle: Period,
    /// From the first to the last byte of a request body.
    pub body_total: Period,
    /// The slowest upload, in bytes per second, measured after its first 10 s; 0 allows any.
    pub min_upload_rate: ByteSize,
    /// How long an unused connection is kept open.
    pub keepalive_idle: Period,
    /// Requests on one connection before it is closed.
    pub keepalive_requests: u32,
    /// Open connections of all clients.
    pub connections: usize,
    /// Open connections of one client address.
    pub connections_per_address: usize,
    /// How deep JSON in a request may nest.
    pub json_depth: usize,
    /// All buffered request bodies together; beyond it new requests get 503.
    pub body_memory: ByteSize,
    /// Concurrent HTTP/2 streams on one connection.
    pub h2_streams: u32,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 3000)),
            tls: None,
            threads: 0,
            max_body: ByteSize::mib(32),
            grace_period: Period::secs(30),
            limits: ServerLimits::default(),
        }
    }
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            header_bytes: ByteSize::kib(64),
            header_count: 100,
            header_deadline: Period::secs(10),
            body_idle: Period::secs(30),
            body_total: Period::secs(120),
            min_upload_rate: ByteSize::kib(1),
            keepalive_idle: Period::secs(60),
            keepalive_requests: 1_000,
            connections: 20_000,
            connections_per_address: 1_024,
            json_depth: 128,
            body_memory: ByteSize::mib(512),
            h2_streams: 100,
        }
    }
}
