//! Where a request is translated to, and what is known of the model there.

use serde::Serialize;

use crate::shape::Shape;

/// The kinds of provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// The chat-completions vendor and the services that copy its API.
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

impl ProviderKind {
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

/// Where a request goes.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Dialect to write.
    pub shape: Shape,
    /// Kind of provider.
    pub kind: ProviderKind,
    /// Name of the model there.
    pub model: &'a str,
    /// Tag of provider and model, for continuity tokens.
    pub origin: u32,
    /// What the model can do.
    pub capabilities: Capabilities,
    /// What the provider wants otherwise than its vendor.
    pub quirks: Quirks,
}

/// How a model is asked to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingStyle {
    /// It does not think.
    None,
    /// By a budget in tokens.
    Budget,
    /// By an effort or level; it decides itself how much.
    Adaptive,
    /// By either.
    Both,
    /// As adaptive, and it cannot be switched off.
    Always,
}

/// What a model accepts. Defaults follow its name, see [`Capabilities::of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Temperature, `top_p` and `top_k`.
    pub sampling: bool,
    /// Temperature together with `top_p`.
    pub both_sampling: bool,
    /// Penalties.
    pub penalties: bool,
    /// How it thinks.
    pub thinking: ThinkingStyle,
    /// Efforts it knows beyond low, medium and high, as a set of [`crate::translate::map::Effort`] bits.
    pub efforts: u8,
    /// Largest thinking budget.
    pub budget_cap: u32,
    /// Smallest thinking budget that is not zero.
    pub budget_floor: u32,
    /// Whether thinking can be switched off by a budget of zero.
    pub can_disable: bool,
    /// `any` and named tool choice.
    pub forced_tools: bool,
    /// The last turn may be the assistant's.
    pub prefill: bool,
    /// Largest output, in tokens.
    pub max_output: u32,
    /// Structured output by schema.
    pub schema_output: bool,
    /// Pictures by URL.
    pub url_images: bool,
    /// Ids on function calls (generate content).
    pub call_ids: bool,
    /// Thought signatures must come back (generate content).
    pub signatures: bool,
    /// `parametersJsonSchema` and `responseJsonSchema` (generate content).
    pub json_schema: bool,
    /// Functions together with a search tool or a JSON answer (generate content).
    pub mixed_tools: bool,
    /// Tools with reasoning only through the responses dialect (chat completions).
    pub needs_responses: bool,
    /// Reasoning model: no stop sequences, no penalties (chat completions).
    pub reasoning_model: bool,
    /// Pictures at all.
    pub vision: bool,
}

/// What a provider of the chat-completions shape wants otherwise than the vendor itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// It is the vendor itself or Azure, not a service that copies its API.
    pub vendor: bool,
    /// Knows `max_completion_tokens`; else `max_tokens` is written.
    pub max_completion_tokens: bool,
    /// Takes `stream_options`.
    pub stream_options: bool,
    /// Takes the role `developer`; else `system` is written.
    pub developer_role: bool,
    /// Wants earlier reasoning back as `reasoning_content`.
    pub echo_reasoning: bool,
    /// Serves the responses dialect.
    pub responses: bool,
    /// Takes `top_k`.
    pub top_k: bool,
}

impl Quirks {
    /// What the vendor itself takes.
    pub const VENDOR: Self = Self {
        vendor: true,
        max_completion_tokens: true,
        stream_options: true,
        developer_role: true,
        echo_reasoning: false,
        responses: true,
        top_k: false,
    };

    /// What services that copy the API take. Many take `top_k` too; some refuse what they do not know.
    pub const COMPATIBLE: Self = Self {
        vendor: false,
        max_completion_tokens: false,
        stream_options: true,
        developer_role: false,
        echo_reasoning: false,
        responses: false,
        top_k: false,
    };
}
