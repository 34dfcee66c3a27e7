//! The kinds of provider.

use svc_filters::translate::ProviderKind;

/// The API a provider speaks and its way of authenticating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The chat-completions vendor and its compatibles.
    Openai,
    /// The same models on Azure.
    AzureOpenai,
    /// The messages vendor.
    Anthropic,
    /// The messages vendor's models on Amazon Bedrock.
    Bedrock,
    /// The generate-content vendor's developer API.
    Gemini,
    /// The generate-content vendor's and the messages vendor's models on Google Cloud.
    Vertex,
}

impl Kind {
    /// The configuration's name of the kind.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::AzureOpenai => "azure_openai",
            Self::Anthropic => "anthropic",
            Self::Bedrock => "bedrock",
            Self::Gemini => "gemini",
            Self::Vertex => "vertex",
        }
    }
}

/// The kind as the translation knows it.
impl From<Kind> for ProviderKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Openai => Self::Openai,
            Kind::AzureOpenai => Self::AzureOpenai,
            Kind::Anthropic => Self::Anthropic,
            Kind::Bedrock => Self::Bedrock,
            Kind::Gemini => Self::Gemini,
            Kind::Vertex => Self::Vertex,
        }
    }
}
