//! What one translation yields besides bytes, and what the way back needs to know.

use std::sync::Arc;

use crate::canonical::Losses;
use crate::shape::Shape;

/// A request in the provider's dialect.
#[derive(Clone, Debug, Default)]
pub struct Encoding {
    /// The body.
    pub body: Vec<u8>,
    /// What it could not carry.
    pub losses: Losses,
    /// What the answer must be changed back by.
    pub adaptations: Adaptations,
}

/// Changes made to a request that its answer must undo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adaptations {
    /// Tool names: as sent, and as the client knows them.
    pub renamed: Vec<(String, String)>,
    /// A hidden tool whose arguments are the answer's text.
    pub json_tool: Option<String>,
    /// Tools for free text that were sent as functions with one text argument `input`, by the name sent.
    pub custom: Vec<String>,
    /// The answer's JSON is wrapped in an object with the one member `value`.
    pub wrapped: bool,
    /// Tools were declared in the old form `functions`, and a call is to be told in that form.
    pub legacy_calls: bool,
}

/// What an encoder of answers needs to know of the client.
#[derive(Clone, Debug)]
pub struct ClientView {
    /// The client's dialect.
    pub shape: Shape,
    /// The provider's dialect, which minted untagged signatures.
    pub upstream: Shape,
    /// Tag of provider and model, for continuity tokens.
    pub origin: u32,
    /// The model name the client asked for.
    pub model: Arc<str>,
    /// Id of the request; ids of answers are made of it where the provider's do not fit.
    pub request_id: Arc<str>,
    /// Unix seconds.
    pub created: i64,
    /// The client wants usage at the end of a chat-completions stream.
    pub include_usage: bool,
    /// The client wants to see reasoning.
    pub show_reasoning: bool,
    /// A generate-content stream is framed as a JSON array rather than as events.
    pub array: bool,
}
