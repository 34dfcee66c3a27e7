//! What every shape's request comes down to before it is answered.

use serde_json::Value;

use crate::media::Media;

/// A tool the caller offers.
#[derive(Debug, Clone)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) schema: Value,
}

/// Whether and what the caller wants called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Choice {
    #[default]
    Auto,
    Never,
    Named(String),
}

/// One request, without its shape.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prompt {
    pub(crate) model: String,
    /// Text of the last user turn that has any.
    pub(crate) text: String,
    /// Results of tools, when they end the conversation.
    pub(crate) results: Vec<String>,
    /// Attachments of the last user turn.
    pub(crate) media: Vec<Media>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) choice: Choice,
    /// False when the caller forbids more than one call at a time.
    pub(crate) parallel: bool,
    /// Schema the answer has to follow; an empty object when any JSON will do.
    pub(crate) schema: Option<Value>,
    /// Whether the caller wants to see the reasoning.
    pub(crate) thinking: bool,
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
