//! A request.

use super::{Choice, Number, Raw, Text, Tool, Turn};
use crate::shape::Shape;

/// The dialect a body is written in.
pub type Dialect = Shape;

/// What a client asks.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The dialect it was written in.
    pub from: Dialect,
    /// The conversation, instructions included, in the client's order.
    pub turns: Vec<Turn<'a>>,
    /// Tools offered.
    pub tools: Vec<Tool<'a>>,
    /// Which of them may or must be called.
    pub tool_choice: Option<Choice<'a>>,
    /// Whether several may be called at once.
    pub parallel_tool_calls: Option<bool>,
    /// The client declares its tools in the old form `functions`, and knows answers with one call in that form only.
    pub legacy_calls: bool,
    /// Most tokens of the answer, reasoning included.
    pub max_output: Option<u64>,
    /// Sampling.
    pub sampling: Sampling<'a>,
    /// Texts that end the answer.
    pub stop: Vec<Text<'a>>,
    /// Reasoning.
    pub thinking: Thinking<'a>,
    /// The form of the answer.
    pub format: OutputFormat<'a>,
    /// `low`, `medium` or `high` wordiness (chat completions, responses).
    pub verbosity: Option<Text<'a>>,
    /// Tag of the end user: `user`, `safety_identifier`, `metadata.user_id`.
    pub user: Option<Text<'a>>,
    /// Service tier in the client's words.
    pub service_tier: Option<Text<'a>>,
    /// The answer is to be a stream.
    pub stream: bool,
    /// The client wants usage at the end of a chat-completions stream.
    pub include_usage: bool,
    /// Fields with no neutral meaning. Encoders of the same vendor's other dialect may read them; every other encoder notes them
    /// as lost.
    pub extras: Vec<Extra<'a>>,
}

impl Request<'_> {
    /// An empty request of a dialect.
    #[must_use]
    pub fn new(from: Dialect) -> Self {
        Self {
            from,
            turns: Vec::new(),
            tools: Vec::new(),
            tool_choice: None,
            parallel_tool_calls: None,
            legacy_calls: false,
            max_output: None,
            sampling: Sampling::default(),
            stop: Vec::new(),
            thinking: Thinking::default(),
            format: OutputFormat::Text,
            verbosity: None,
            user: None,
            service_tier: None,
            stream: false,
            include_usage: false,
            extras: Vec::new(),
        }
    }
}

/// A field only its own shape knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra<'a> {
    /// Name as in losses: the path without indices, such as `cache_control` (nested marks too) or `tools.strict`.
    pub field: Text<'a>,
    /// Its value.
    pub value: Raw<'a>,
    /// What its loss means.
    pub weight: super::Weight,
}

/// Sampling. Numbers stay as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sampling<'a> {
    /// Temperature.
    pub temperature: Option<Number<'a>>,
    /// Nucleus.
    pub top_p: Option<Number<'a>>,
    /// Number of candidates per token.
    pub top_k: Option<Number<'a>>,
    /// Presence penalty.
    pub presence_penalty: Option<Number<'a>>,
    /// Frequency penalty.
    pub frequency_penalty: Option<Number<'a>>,
    /// Seed.
    pub seed: Option<Number<'a>>,
    /// Number of answers; `None` is one.
    pub n: Option<u64>,
    /// Log probabilities of the chosen tokens are asked for.
    pub logprobs: bool,
    /// And of this many others at each place.
    pub top_logprobs: Option<u64>,
}

/// What the client says about reasoning. All empty: the provider's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thinking<'a> {
    /// Effort by name: `none minimal low medium high xhigh max`, lower case.
    pub effort: Option<Text<'a>>,
    /// Budget in tokens; 0 is off, -1 is the model's choice.
    pub budget: Option<i64>,
    /// The model decides how much (messages `adaptive`).
    pub adaptive: bool,
    /// Explicitly off.
    pub disabled: bool,
    /// Whether the client wants to see it; `None`: it does not say.
    pub shown: Option<bool>,
}

/// The form of the answer's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat<'a> {
    /// Any text.
    #[default]
    Text,
    /// Some JSON object.
    JsonObject,
    /// JSON of a schema.
    Schema {
        /// Name, where the shape has one.
        name: Option<Text<'a>>,
        /// What it is for.
        description: Option<Text<'a>>,
        /// The schema.
        schema: Raw<'a>,
        /// The schema is in the generate-content vendor's own dialect.
        vendor_schema: bool,
        /// It must be matched exactly.
        strict: Option<bool>,
    },
}
