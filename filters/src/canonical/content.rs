//! Turns of a conversation and the blocks they consist of.

use super::{Raw, Text, ToolCall, ToolResult};
use crate::shape::Shape;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Instructions: `system`, `developer`, `instructions`, `systemInstruction`, wherever they stand.
    System,
    /// The end user, and results of tools.
    User,
    /// The model.
    Assistant,
}

/// One turn. Decoders keep the client's order and do not merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn<'a> {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub blocks: Vec<Block<'a>>,
}

/// A piece of content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block<'a> {
    /// Text.
    Text(Text<'a>),
    /// A picture.
    Image(Media<'a>),
    /// A document.
    Document(Document<'a>),
    /// Sound.
    Audio(Media<'a>),
    /// Moving pictures.
    Video(Media<'a>),
    /// The model calls a tool of the client.
    ToolCall(ToolCall<'a>),
    /// The client answers such a call.
    ToolResult(ToolResult<'a>),
    /// The model's reasoning. The text may be empty where only the signature was shown.
    Reasoning {
        /// Shown reasoning.
        text: Text<'a>,
        /// What proves it to the provider that made it.
        signature: Option<Signature<'a>>,
    },
    /// Reasoning that only its provider can read.
    Redacted(Signature<'a>),
    /// The model refused, in these words.
    Refusal(Text<'a>),
    /// A search of the web that the provider, or the gateway for it, ran within the answer.
    WebSearch {
        /// Id of the call.
        id: Text<'a>,
        /// What was searched for.
        query: Text<'a>,
        /// What was found.
        hits: Vec<SearchHit<'a>>,
    },
    /// A piece that only its own shape knows, as written. `kind` is the vendor's name for it.
    Unknown {
        /// Whose it is.
        shape: Shape,
        /// Such as `mcp_tool_use`.
        kind: Text<'a>,
        /// The whole piece.
        raw: Raw<'a>,
    },
}

/// One page found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit<'a> {
    /// Address.
    pub url: Text<'a>,
    /// Title, or empty.
    pub title: Text<'a>,
    /// The vendor's sealed copy of the content; empty where the gateway made the hit.
    pub sealed: Text<'a>,
}

/// A picture, sound or film.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media<'a> {
    /// Where its bytes are.
    pub source: Source<'a>,
    /// How closely to look, in the chat vendor's words: `auto`, `low`, `high`, `original`.
    pub detail: Option<Text<'a>>,
}

/// A document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document<'a> {
    /// Where its content is.
    pub source: Source<'a>,
    /// Title or file name.
    pub title: Option<Text<'a>>,
    /// Further context for the model.
    pub context: Option<Text<'a>>,
}

/// Where the content of a medium is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// Here.
    Base64 {
        /// Such as `image/png`; empty where the client does not say.
        media_type: Text<'a>,
        /// Standard base64.
        data: Text<'a>,
    },
    /// On the web.
    Url {
        /// Address.
        url: Text<'a>,
        /// Its media type, where the client says it.
        media_type: Option<Text<'a>>,
    },
    /// In the vendor's own store.
    File {
        /// Whose store.
        shape: Shape,
        /// Its id or URI there.
        id: Text<'a>,
        /// Its media type, where the client says it.
        media_type: Option<Text<'a>>,
    },
    /// Plain text (documents).
    Text(Text<'a>),
    /// Blocks (documents).
    Blocks(Vec<Block<'a>>),
}

/// An opaque token of continuity and who minted it. It goes back only there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature<'a> {
    /// Shape of the provider that minted it.
    pub shape: Shape,
    /// Tag of the provider and model that minted it; `None` where the client's own shape minted it and the client does not say.
    pub origin: Option<u32>,
    /// The token, byte for byte as minted.
    pub value: Text<'a>,
}
