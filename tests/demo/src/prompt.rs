//! What every shape's request comes down to before it is answered.

use serde_json::Value;

use crate::conversation::Conversation;

/// A tool the caller offers.
#[derive(Debug, Clone)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) schema: Value,
    /// It takes a free text, which is the member `input` of its schema here.
    pub(crate) custom: bool,
}

impl Tool {
    pub(crate) fn function(name: &str, schema: Value) -> Self {
        Self { name: name.to_owned(), schema, custom: false }
    }

    pub(crate) fn custom(name: &str) -> Self {
        let schema = serde_json::json!({"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]});
        Self { name: name.to_owned(), schema, custom: true }
    }
}

/// Whether and what the caller wants called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Choice {
    #[default]
    Auto,
    Never,
    /// Any of the tools.
    Must,
    /// Only these, and whether one of them must be called.
    Among {
        names: Vec<String>,
        must: bool,
    },
}

impl Choice {
    pub(crate) fn named(name: &str) -> Self {
        Self::Among { names: vec![name.to_owned()], must: true }
    }

    pub(crate) fn forces(&self) -> bool {
        matches!(self, Self::Must | Self::Among { must: true, .. })
    }

    pub(crate) fn permits(&self, name: &str) -> bool {
        match self {
            Self::Auto | Self::Must => true,
            Self::Never => false,
            Self::Among { names, .. } => names.iter().any(|listed| listed == name),
        }
    }
}

/// One request, without its shape.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prompt {
    pub(crate) model: String,
    pub(crate) conversation: Conversation,
    pub(crate) tools: Vec<Tool>,
    pub(crate) choice: Choice,
    /// False when the caller forbids more than one call at a time.
    pub(crate) parallel: bool,
    /// Schema the answer has to follow; an empty object when any JSON will do.
    pub(crate) schema: Option<Value>,
    /// Whether the model reasons before it answers.
    pub(crate) thinking: bool,
    /// Texts that end the answer before they are said.
    pub(crate) stops: Vec<String>,
    /// Whether the vendor may search the web for the answer.
    pub(crate) search: bool,
    /// Bytes of text in the whole request.
    pub(crate) bytes: usize,
    /// Most output tokens.
    pub(crate) limit: Option<u64>,
}

/// Bytes of all text in a value: what the input tokens are counted from.
pub(crate) fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(fields) => fields.values().map(text_bytes).sum(),
        _ => 0,
    }
}

/// The texts of a list of JSON strings; a single string counts as a list of one.
pub(crate) fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
