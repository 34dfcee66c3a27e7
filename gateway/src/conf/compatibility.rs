//! `compatibility`: what a provider of the chat-completions API takes otherwise than the vendor itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use svc_filters::translate::{ProviderKind, Quirks};

/// Host of the vendor's own service.
const VENDOR_HOST: &str = "api.openai.com";

/// What requests translated to this provider may hold. `null` follows the host: the vendor's own service and Azure take
/// everything; a service that copies the API is asked in the plainest way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Compatibility {
    /// It behaves as the vendor itself; the default of the keys below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor: Option<bool>,
    /// It serves `/responses`. Without, requests of that shape are translated to chat completions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responses: Option<bool>,
    /// It takes `max_completion_tokens`; else `max_tokens` is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_completion_tokens: Option<bool>,
    /// It takes `stream_options`, without which streams tell no usage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_options: Option<bool>,
    /// It takes the role `developer`; else `system` is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub developer_role: Option<bool>,
    /// It wants earlier reasoning back as `reasoning_content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub echo_reasoning: Option<bool>,
    /// It takes `top_k`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<bool>,
}

impl Compatibility {
    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What the translation has to know of a provider of this kind at this host.
    #[must_use]
    pub fn quirks(&self, kind: ProviderKind, host: &str) -> Quirks {
        let told = kind != ProviderKind::Openai || host.eq_ignore_ascii_case(VENDOR_HOST);
        let base = if self.vendor.unwrap_or(told) { Quirks::VENDOR } else { Quirks::COMPATIBLE };
        Quirks {
            vendor: base.vendor,
            max_completion_tokens: self.max_completion_tokens.unwrap_or(base.max_completion_tokens),
            stream_options: self.stream_options.unwrap_or(base.stream_options),
            developer_role: self.developer_role.unwrap_or(base.developer_role),
            echo_reasoning: self.echo_reasoning.unwrap_or(base.echo_reasoning),
            responses: self.responses.unwrap_or(base.responses),
            top_k: self.top_k.unwrap_or(base.top_k),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_tells_the_vendor_and_keys_override_it() {
        let auto = Compatibility::default();
        assert_eq!(auto.quirks(ProviderKind::Openai, "API.openai.com"), Quirks::VENDOR);
        assert_eq!(auto.quirks(ProviderKind::AzureOpenai, "mine.openai.azure.com"), Quirks::VENDOR);
        assert_eq!(auto.quirks(ProviderKind::Openai, "localhost"), Quirks::COMPATIBLE);
        let said = Compatibility { vendor: Some(true), responses: Some(false), ..auto };
        assert_eq!(said.quirks(ProviderKind::Openai, "localhost"), Quirks { responses: false, ..Quirks::VENDOR });
    }
}
