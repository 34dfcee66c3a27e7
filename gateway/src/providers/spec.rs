//! A provider as configured.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use svc_filters::translate::ProviderKind;

use super::KeyLabel;
use crate::conf::{self, Compatibility, Secret};

/// Which HTTP versions are spoken with a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Http2 {
    /// HTTP/2 where TLS negotiates it.
    #[default]
    Auto,
    /// HTTP/1.1 only.
    Never,
    /// HTTP/2 only, also in clear text.
    Always,
}

/// Time-outs towards a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// To a usable connection.
    pub connect: Duration,
    /// To the first byte of the answer.
    pub first_byte: Duration,
    /// Between two pieces of the answer.
    pub idle: Duration,
    /// For the whole exchange.
    pub total: Duration,
}

impl Timeouts {
    /// These with others in their place, where those say so.
    #[must_use]
    pub fn with(self, own: &conf::TimeoutOverrides) -> Self {
        let or = |own: Option<conf::Period>, general: Duration| own.map_or(general, |own| own.get());
        Self {
            connect: or(own.connect, self.connect),
            first_byte: or(own.first_byte, self.first_byte),
            idle: or(own.idle, self.idle),
            total: or(own.total, self.total),
        }
    }
}

/// A provider as configured.
pub struct ProviderSpec {
    /// Unique name.
    pub name: Arc<str>,
    /// Kind.
    pub kind: ProviderKind,
    /// `http` or `https` URL without query; a path is kept as prefix.
    pub base_url: String,
    /// Credentials, in order of preference.
    pub keys: Vec<(KeyLabel, KeySpec)>,
    /// Time-outs.
    pub timeouts: Timeouts,
    /// HTTP versions.
    pub http2: Http2,
    /// PEM certificates to trust in place of the system's.
    pub ca_pem: Option<String>,
    /// Headers added to every request, lower-case names.
    pub headers: Vec<(String, String)>,
    /// Version of the API that the query names, for Azure.
    pub api_version: Option<String>,
    /// Label for region pins.
    pub label: Option<String>,
    /// Region that requests are signed for, for Bedrock.
    pub region: Option<String>,
    /// Project and location, for Vertex.
    pub place: Option<Place>,
    /// What it takes otherwise than the vendor of its API.
    pub compatibility: Compatibility,
    /// Whether clients see what it says of its rate limits.
    pub shows_limits: bool,
    /// When its breakers open.
    pub breaker: conf::Breaker,
    /// Requests at the same time, and how long others wait.
    pub queue: Option<(u32, Duration)>,
}

/// A place on Google Cloud.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The project's id.
    pub project: String,
    /// Such as `us-central1`, or `global`.
    pub location: String,
    /// The project that is billed, where it is another one.
    pub user_project: Option<String>,
}

/// A credential in clear.
#[derive(Clone)]
pub enum KeySpec {
    /// A key that is sent.
    Plain(Secret),
    /// The keys of an AWS account or role, as JSON.
    Aws(Secret),
    /// Whatever AWS credentials the environment offers.
    AwsEnvironment,
    /// The key file of a Google Cloud service account, as JSON.
    ServiceAccount(Secret),
    /// The account of the machine or container on Google Cloud.
    GoogleEnvironment,
    /// An application of Microsoft Entra, as JSON.
    Entra(Secret),
}

/// Why a provider cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The base URL is malformed.
    #[error("set up the provider `{0}`: its base_url is not an http or https URL")]
    BaseUrl(Arc<str>),
    /// A credential or extra header cannot be sent.
    #[error("set up the provider `{0}`: {1} holds characters that no HTTP header can carry")]
    Header(Arc<str>, String),
    /// The certificates cannot be read.
    #[error("set up the provider `{0}`: its ca holds no readable PEM certificate")]
    Ca(Arc<str>),
    /// A credential is not what its kind needs.
    #[error("set up the provider `{0}`: {1}")]
    Credential(Arc<str>, &'static str),
    /// The host name has no address.
    #[error("resolve the host of the provider `{0}`: {1}")]
    Resolve(Arc<str>, std::io::Error),
}

impl fmt::Debug for KeySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Aws(_) => "Aws",
            Self::AwsEnvironment => "AwsEnvironment",
            Self::ServiceAccount(_) => "ServiceAccount",
            Self::GoogleEnvironment => "GoogleEnvironment",
            Self::Entra(_) => "Entra",
        })
    }
}
