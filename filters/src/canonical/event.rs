//! An answer as a sequence of events. A whole answer is the same sequence with each text in one event.

use super::{Failure, Finish, Raw, SearchHit, Signature, Text};
use crate::usage::Usage;

/// Takes the events of an answer one by one.
pub type Sink<'s> = &'s mut dyn FnMut(Event<'_>);

/// One step of an answer. `choice` counts the answers of one request from 0; `call` counts the tool calls of the whole choice
/// from 0 in order of first appearance. Calls may be interleaved; texts, reasoning and calls come in the model's order.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The provider began. Comes once, first.
    Start {
        /// The provider's id of the answer.
        id: Option<Text<'a>>,
        /// Unix seconds, where told.
        created: Option<i64>,
    },
    /// More text.
    Text {
        /// Which answer.
        choice: u32,
        /// Never empty.
        text: Text<'a>,
    },
    /// More of a refusal.
    Refusal {
        /// Which answer.
        choice: u32,
        /// Never empty.
        text: Text<'a>,
    },
    /// More reasoning.
    Reasoning {
        /// Which answer.
        choice: u32,
        /// Never empty.
        text: Text<'a>,
    },
    /// The signature of the reasoning so far, whole, which ends that block of reasoning. May come without any text before it.
    ReasoningSigned {
        /// Which answer.
        choice: u32,
        /// The signature.
        signature: Signature<'a>,
    },
    /// A block of reasoning only its provider can read, whole.
    Redacted {
        /// Which answer.
        choice: u32,
        /// The block.
        signature: Signature<'a>,
    },
    /// A call begins.
    ToolStart {
        /// Which answer.
        choice: u32,
        /// Which call.
        call: u32,
        /// The provider's id; made up by the decoder where the provider gives none. Never empty.
        id: Text<'a>,
        /// Name; never empty.
        name: Text<'a>,
        /// Arguments are free text.
        custom: bool,
        /// Continuity token that belongs to the call.
        signature: Option<Signature<'a>>,
    },
    /// More of a call's arguments: a fragment of JSON text, or of free text.
    ToolArguments {
        /// Which answer.
        choice: u32,
        /// Which call.
        call: u32,
        /// Never empty.
        fragment: Text<'a>,
    },
    /// A call is complete. Every call that began ends before `Finish`; a call without any fragment has the arguments `{}`.
    ToolEnd {
        /// Which answer.
        choice: u32,
        /// Which call.
        call: u32,
    },
    /// A source of the text so far.
    Citation {
        /// Which answer.
        choice: u32,
        /// The source.
        citation: Citation<'a>,
    },
    /// A search of the web that ran within the answer, whole.
    WebSearch {
        /// Which answer.
        choice: u32,
        /// Its id.
        id: Text<'a>,
        /// What was searched for.
        query: Text<'a>,
        /// What was found.
        hits: Vec<SearchHit<'a>>,
    },
    /// A picture or sound the model made, whole.
    Media {
        /// Which answer.
        choice: u32,
        /// Such as `image/png`.
        media_type: Text<'a>,
        /// Standard base64.
        data: Text<'a>,
    },
    /// Log probabilities in the chat-completions form: the elements of `logprobs.content`, without brackets.
    Logprobs {
        /// Which answer.
        choice: u32,
        /// Elements joined by commas.
        elements: Raw<'a>,
    },
    /// Something only its own shape knows; noted as lost. `kind` is the vendor's name.
    Unknown {
        /// Such as `mcp_tool_use`.
        kind: Text<'a>,
    },
    /// Nothing happened; the provider is alive.
    Ping,
    /// One answer is complete.
    Finish {
        /// Which answer.
        choice: u32,
        /// Why it ended.
        finish: Finish<'a>,
    },
    /// Usage so far; the last one counts.
    Usage(Usage),
    /// The provider failed within its answer. Nothing follows.
    Failed(Failure<'a>),
    /// The provider ended its answer properly. Comes once, last.
    End,
}

/// A source of the answer's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation<'a> {
    /// Address.
    pub url: Text<'a>,
    /// Title, or empty.
    pub title: Text<'a>,
    /// The words cited from there, or empty.
    pub cited: Text<'a>,
    /// Where the text it supports begins and ends, in characters of the choice's whole text, where told.
    pub span: Option<(u64, u64)>,
}
