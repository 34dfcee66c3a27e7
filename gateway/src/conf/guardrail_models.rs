//! `guardrail_models`: the sidecar that runs the models of guardrails.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ByteSize, Period, Secret};

/// What is wrong with a guardrail that needs a model where there is none to ask.
pub const NO_SIDECAR: &str = "needs a sidecar to ask, and `guardrail_models.url` is empty";

/// Where the models of guardrails are asked, and within which bounds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GuardrailModels {
    /// Base URL of the sidecar; empty where there is none.
    pub url: String,
    /// The bearer token it asks for; empty where it asks for none.
    #[serde(skip_serializing)]
    #[schemars(extend("default" = ""))]
    pub token: Secret,
    /// How long a request waits for all of its models together before `on_failure` of the guardrail decides.
    pub deadline: Period,
    /// Texts in one call; at most what the sidecar's `limits.texts_per_request` allows.
    pub max_texts: usize,
    /// Bytes of one call; at most what the sidecar's `limits.body_bytes` allows.
    pub max_bytes: ByteSize,
}

impl GuardrailModels {
    /// The base URL without a slash at its end; `None` where there is no sidecar.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        (!self.url.is_empty()).then(|| self.url.trim_end_matches('/'))
    }
}

impl Default for GuardrailModels {
    fn default() -> Self {
        Self { url: String::new(), token: Secret::default(), deadline: Period::secs(1), max_texts: 64, max_bytes: ByteSize::mib(4) }
    }
}
