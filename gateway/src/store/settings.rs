//! What `provider.settings` holds: everything about a provider that has no column of its own, never a secret.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::conf::{self, Aws, Compatibility, Http2, Period, TimeoutOverrides, Vertex};

/// Names of stored credentials that are more than a plain key.
pub(super) mod key_names {
    /// The keys of an AWS account or role, as JSON.
    pub(in crate::store) const AWS: &str = "aws";
    /// The key file of a Google Cloud service account.
    pub(in crate::store) const SERVICE_ACCOUNT: &str = "service_account";
    /// An application of Microsoft Entra, as JSON.
    pub(in crate::store) const ENTRA: &str = "entra";
}

/// The settings of one provider.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Settings {
    pub(super) timeouts: TimeoutOverrides,
    pub(super) http2: Http2,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) headers: BTreeMap<String, String>,
    /// PEM certificates, not the name of their file, so that every gateway has the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ca_pem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_concurrency: Option<u32>,
    pub(super) queue_timeout: Period,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) api_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) aws: Option<Aws>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) vertex: Option<Vertex>,
    /// The credential is the one of the process's surroundings: none was declared.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) ambient: bool,
    #[serde(skip_serializing_if = "Compatibility::is_empty")]
    pub(super) compatibility: Compatibility,
    /// Clients do not see its rate limits.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) hides_limits: bool,
}

impl Settings {
    /// The settings of a declared provider.
    ///
    /// # Errors
    /// When the file with its certificates cannot be read.
    pub(super) fn declared(provider: &conf::Provider) -> std::io::Result<Self> {
        Ok(Self {
            timeouts: provider.timeouts.clone(),
            http2: provider.http2,
            headers: provider.headers.clone(),
            ca_pem: provider.ca.as_ref().map(std::fs::read_to_string).transpose()?,
            max_concurrency: provider.max_concurrency,
            queue_timeout: provider.queue_timeout,
            api_version: provider.api_version.clone(),
            aws: provider.aws.clone(),
            vertex: provider.vertex.clone(),
            ambient: provider.is_ambient(),
            compatibility: provider.compatibility.clone(),
            hides_limits: !provider.rate_limit_headers,
        })
    }

    /// The column's text.
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}
