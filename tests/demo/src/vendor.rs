//! The services emulated: each takes its own credentials and wraps errors and streams in its own way.

use crate::call::Shape;

/// One service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vendor {
    OpenAi,
    Azure,
    Anthropic,
    Bedrock,
    Gemini,
    Vertex,
    /// The messages vendor's models as Vertex publishes them.
    VertexClaude,
}

impl Vendor {
    /// The form of its requests and answers.
    pub(crate) fn shape(self) -> Shape {
        match self {
            Self::OpenAi | Self::Azure => Shape::ChatCompletions,
            Self::Anthropic | Self::Bedrock | Self::VertexClaude => Shape::Messages,
            Self::Gemini | Self::Vertex => Shape::GenerateContent,
        }
    }

    /// Whose own shape it is.
    pub(crate) fn of(shape: Shape) -> Self {
        match shape {
            Shape::ChatCompletions => Self::OpenAi,
            Shape::Messages => Self::Anthropic,
            Shape::GenerateContent => Self::Gemini,
        }
    }

    /// A word for it that is part of what its signatures are bound to. The messages vendor's signatures hold wherever its models run.
    pub(crate) fn realm(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Azure => "azure",
            Self::Anthropic | Self::Bedrock | Self::VertexClaude => "anthropic",
            Self::Gemini => "gemini",
            Self::Vertex => "vertex",
        }
    }
}
