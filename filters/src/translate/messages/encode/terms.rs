//! What the fields of a request are called in the dialect the client wrote it in, for losses and refusals.

use std::fmt;

use crate::shape::Shape;

/// Names of fields in one dialect.
pub(super) struct Terms {
    messages: &'static str,
    content: &'static str,
    pub(super) arguments: &'static str,
    pub(super) image: &'static str,
    pub(super) detail: &'static str,
    pub(super) document: &'static str,
    pub(super) audio: &'static str,
    pub(super) video: &'static str,
    pub(super) reasoning: &'static str,
    pub(super) max_output: &'static str,
    pub(super) temperature: &'static str,
    pub(super) top_p: &'static str,
    pub(super) top_k: &'static str,
    pub(super) presence: &'static str,
    pub(super) frequency: &'static str,
    pub(super) seed: &'static str,
    pub(super) n: &'static str,
    pub(super) logprobs: &'static str,
    pub(super) top_logprobs: &'static str,
    pub(super) stop: &'static str,
    pub(super) thinking: &'static str,
    pub(super) format: &'static str,
    pub(super) verbosity: &'static str,
    pub(super) user: &'static str,
    pub(super) service_tier: &'static str,
    pub(super) tool_choice: &'static str,
    pub(super) parameters: &'static str,
    pub(super) strict: &'static str,
    pub(super) web_search: &'static str,
}

const CHAT: Terms = Terms {
    messages: "messages",
    content: "content",
    arguments: "tool_calls.function.arguments",
    image: "messages.content.image_url",
    detail: "messages.content.image_url.detail",
    document: "messages.content.file",
    audio: "messages.content.input_audio",
    video: "messages.content.video",
    reasoning: "messages.reasoning_content",
    max_output: "max_completion_tokens",
    temperature: "temperature",
    top_p: "top_p",
    top_k: "top_k",
    presence: "presence_penalty",
    frequency: "frequency_penalty",
    seed: "seed",
    n: "n",
    logprobs: "logprobs",
    top_logprobs: "top_logprobs",
    stop: "stop",
    thinking: "reasoning_effort",
    format: "response_format",
    verbosity: "verbosity",
    user: "user",
    service_tier: "service_tier",
    tool_choice: "tool_choice",
    parameters: "tools.function.parameters",
    strict: "tools.function.strict",
    web_search: "web_search_options",
};

const RESPONSES: Terms = Terms {
    messages: "input",
    content: "content",
    arguments: "arguments",
    image: "input.content.input_image",
    detail: "input.content.input_image.detail",
    document: "input.content.input_file",
    audio: "input.content.input_audio",
    video: "input.content.video",
    reasoning: "input.reasoning",
    max_output: "max_output_tokens",
    thinking: "reasoning.effort",
    format: "text.format",
    verbosity: "text.verbosity",
    parameters: "tools.parameters",
    strict: "tools.strict",
    web_search: "tools.web_search",
    ..CHAT
};

const MESSAGES: Terms = Terms {
    arguments: "input",
    image: "messages.content.image",
    document: "messages.content.document",
    reasoning: "messages.content.thinking",
    max_output: "max_tokens",
    stop: "stop_sequences",
    thinking: "thinking",
    format: "output_config.format",
    user: "metadata.user_id",
    parameters: "tools.input_schema",
    strict: "tools.strict",
    web_search: "tools.web_search",
    ..CHAT
};

const GENERATE: Terms = Terms {
    messages: "contents",
    content: "parts",
    arguments: "functionCall.args",
    image: "contents.parts.inlineData",
    detail: "generationConfig.mediaResolution",
    document: "contents.parts.inlineData",
    audio: "contents.parts.inlineData",
    video: "contents.parts.inlineData",
    reasoning: "contents.parts.thought",
    max_output: "generationConfig.maxOutputTokens",
    temperature: "generationConfig.temperature",
    top_p: "generationConfig.topP",
    top_k: "generationConfig.topK",
    presence: "generationConfig.presencePenalty",
    frequency: "generationConfig.frequencyPenalty",
    seed: "generationConfig.seed",
    n: "generationConfig.candidateCount",
    logprobs: "generationConfig.responseLogprobs",
    top_logprobs: "generationConfig.logprobs",
    stop: "generationConfig.stopSequences",
    thinking: "generationConfig.thinkingConfig",
    format: "generationConfig.responseSchema",
    verbosity: "verbosity",
    user: "labels",
    service_tier: "serviceTier",
    tool_choice: "toolConfig",
    parameters: "tools.functionDeclarations.parameters",
    strict: "tools.functionDeclarations.strict",
    web_search: "tools.googleSearch",
};

impl Terms {
    pub(super) const fn of(shape: Shape) -> &'static Self {
        match shape {
            Shape::ChatCompletions => &CHAT,
            Shape::Messages => &MESSAGES,
            Shape::GenerateContent => &GENERATE,
            Shape::Responses => &RESPONSES,
        }
    }

    pub(super) const fn messages(&self) -> &'static str {
        self.messages
    }
}

/// Where a block stands in the client's body.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) terms: &'static Terms,
    /// Number of the message, where turns and messages are counted alike.
    pub(super) turn: Option<usize>,
    pub(super) block: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.turn {
            Some(turn) => write!(f, "{}[{turn}].{}[{}]", self.terms.messages, self.terms.content, self.block),
            None => write!(f, "{}.{}", self.terms.messages, self.terms.content),
        }
    }
}
