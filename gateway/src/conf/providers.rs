//! `providers`: the vendors' services and how to reach them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Compatibility, Period, Secret, TimeoutOverrides};

/// One upstream service with its credentials.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The name that targets use.
    pub name: String,
    /// Which API it speaks and how it authenticates.
    pub kind: ProviderKind,
    /// Where it is, without a trailing slash. Left out: the vendor's public address, where there is one for the kind and region.
    #[serde(default)]
    pub base_url: String,
    /// API keys, used in turn; empty ones are dropped.
    #[serde(default, skip_serializing)]
    #[schemars(extend("default" = []))]
    pub keys: Vec<Secret>,
    /// A label for region pins; for Bedrock also the AWS region, for Vertex the location.
    #[serde(default)]
    pub region: Option<String>,
    /// The API version that Azure OpenAI wants in the query: `2024-10-21` for deployments; a `base_url` that ends in `/openai/v1`
    /// needs none.
    #[serde(default)]
    pub api_version: Option<String>,
    /// An application of Microsoft Entra instead of keys, for Azure OpenAI.
    #[serde(default)]
    pub entra: Option<Entra>,
    /// Region and credentials, for Bedrock. Without credentials, here or in `keys`, those of the process's surroundings are
    /// used: environment variables, a web identity, the container's or the machine's role.
    #[serde(default)]
    pub aws: Option<Aws>,
    /// Project and service account, for Vertex. Without a file and without `keys`, the account the machine runs as is used.
    #[serde(default)]
    pub vertex: Option<Vertex>,
    /// Requests at the same time; more wait their turn. `null` means no bound.
    #[serde(default)]
    pub max_concurrency: Option<u32>,
    /// How long a request waits its turn before the next target is tried.
    #[serde(default = "default_queue_timeout")]
    pub queue_timeout: Period,
    /// Time-outs that differ from the general ones.
    #[serde(default)]
    pub timeouts: TimeoutOverrides,
    /// A PEM file with the authorities that may sign its certificate, instead of the public ones.
    #[serde(default)]
    pub ca: Option<PathBuf>,
    /// Whether HTTP/2 is spoken.
    #[serde(default)]
    pub http2: Http2,
    /// Extra header lines on every request to it; never credentials.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Whether clients of its own API see what it says of its rate limits, where they have none of ours. It tells how much the
    /// account may do.
    #[serde(default = "shown")]
    pub rate_limit_headers: bool,
    /// What it takes otherwise than the vendor of its API, for the kind openai and Azure.
    #[serde(default)]
    pub compatibility: Compatibility,
    /// Declared only where this environment variable is set and not empty.
    #[serde(default, skip_serializing)]
    pub when_set: Option<String>,
}

/// The API a provider speaks and its way of authenticating.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// Chat completions with a bearer token; also the many services that copy this API.
    #[serde(rename = "openai")]
    OpenAi,
    /// Chat completions on Azure deployments.
    #[serde(rename = "azure_openai")]
    AzureOpenAi,
    /// Messages.
    Anthropic,
    /// Amazon Bedrock.
    Bedrock,
    /// Generate content with an API key.
    Gemini,
    /// Generate content on Google Cloud.
    Vertex,
}

/// AWS credentials and region.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aws {
    /// Such as `us-east-1`.
    pub region: String,
    /// The access key's id.
    #[serde(default, skip_serializing)]
    pub access_key_id: Secret,
    /// The access key's secret.
    #[serde(default, skip_serializing)]
    pub secret_access_key: Secret,
    /// The session token of temporary credentials.
    #[serde(default, skip_serializing)]
    pub session_token: Option<Secret>,
}

/// A Google Cloud project and the account that may use it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vertex {
    /// The project's id.
    pub project: String,
    /// Such as `us-central1`, or `global`.
    pub location: String,
    /// The account's JSON key file; the token endpoint is read from it.
    #[serde(default)]
    pub service_account_file: Option<PathBuf>,
    /// The project that is billed, where it is another one.
    #[serde(default)]
    pub user_project: Option<String>,
}

/// An application of Microsoft Entra.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entra {
    /// The directory's id or domain.
    pub tenant: String,
    /// The application's id.
    pub client_id: String,
    /// The application's secret.
    #[serde(default, skip_serializing)]
    pub client_secret: Secret,
    /// Where tokens are given, for clouds of their own. `null` is the public one.
    #[serde(default)]
    pub token_url: Option<String>,
    /// What tokens are asked for. `null` is `https://cognitiveservices.azure.com/.default`.
    #[serde(default)]
    pub scope: Option<String>,
}

/// Whether HTTP/2 is spoken to a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Http2 {
    /// Where TLS negotiates it.
    #[default]
    Auto,
    /// HTTP/1.1 only.
    Never,
    /// HTTP/2 only, also without TLS.
    Always,
}

impl ProviderKind {
    /// The name used in the configuration and the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::AzureOpenAi => "azure_openai",
            Self::Anthropic => "anthropic",
            Self::Bedrock => "bedrock",
            Self::Gemini => "gemini",
            Self::Vertex => "vertex",
        }
    }
}

impl Provider {
    /// The vendor's public address for this kind and region, where there is one.
    #[must_use]
    pub fn public_base_url(&self) -> Option<String> {
        match self.kind {
            ProviderKind::OpenAi => Some("https://api.openai.com/v1".to_owned()),
            ProviderKind::Anthropic => Some("https://api.anthropic.com".to_owned()),
            ProviderKind::Gemini => Some("https://generativelanguage.googleapis.com".to_owned()),
            ProviderKind::AzureOpenAi => None,
            ProviderKind::Bedrock => self.aws_region().map(|region| {
                let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
                format!("https://bedrock-runtime.{region}.{domain}")
            }),
            // Without a place, an API key tells the project, and the service the place.
            ProviderKind::Vertex => Some(match self.vertex_location().unwrap_or("global") {
                "global" => "https://aiplatform.googleapis.com".to_owned(),
                region @ ("us" | "eu") => format!("https://aiplatform.{region}.rep.googleapis.com"),
                location => format!("https://{location}-aiplatform.googleapis.com"),
            }),
        }
    }

    /// Whether it has no credential of its own and uses that of the process's surroundings.
    #[must_use]
    pub fn is_ambient(&self) -> bool {
        let keyless = self.keys.iter().all(Secret::is_empty);
        match self.kind {
            ProviderKind::Bedrock => keyless && self.aws.as_ref().is_some_and(|aws| aws.access_key_id.is_empty()),
            ProviderKind::Vertex => keyless && self.vertex.as_ref().is_some_and(|vertex| vertex.service_account_file.is_none()),
            ProviderKind::OpenAi | ProviderKind::AzureOpenAi | ProviderKind::Anthropic | ProviderKind::Gemini => false,
        }
    }

    fn aws_region(&self) -> Option<&str> {
        self.aws.as_ref().map(|aws| aws.region.as_str()).or(self.region.as_deref())
    }

    fn vertex_location(&self) -> Option<&str> {
        self.vertex.as_ref().map(|vertex| vertex.location.as_str()).or(self.region.as_deref())
    }
}

const fn shown() -> bool {
    true
}

const fn default_queue_timeout() -> Period {
    Period::secs(10)
}
