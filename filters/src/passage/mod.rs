//! Same-shape passage: a body goes through as it came, but for the few bytes that must differ.
//!
//! [`Facts`] reads from a request what routing and limits need and writes the upstream's model name into it. [`Passage`] takes
//! an answer piece by piece, puts the model name the client asked for back, and reads usage, errors and the end on the way.

mod answer;
mod array;
mod chat;
mod closing;
mod error;
mod events;
mod generate;
mod hearing;
mod kind;
mod messages;
mod multipart;
mod output;
mod plain;
mod reading;
mod request;
mod responses;

use std::sync::Arc;

use bytes::Bytes;
use thiserror::Error;

use self::answer::JsonAnswer;
use self::array::ArrayStream;
pub use self::closing::Cutoff;
pub use self::error::InBandError;
use self::events::EventStream;
pub use self::kind::{BodyKind, Framing, PassageKind};
pub use self::multipart::MultipartError;
pub(crate) use self::output::Output;
use self::reading::{Reader, Rules};
pub use self::request::{Facts, FactsError, Traces};
use crate::tokens::{Heard, Hearing};
use crate::usage::Usage;
use crate::wire::framing::FrameTooLarge;

/// Longest JSON answer that is held back to be edited, in bytes.
pub const ANSWER_LIMIT: usize = 32 << 20;

/// What to change in an answer.
#[derive(Clone, Debug, Default)]
pub struct PassageOptions {
    /// The model name the client is to see; none leaves the upstream's.
    pub answer_model: Option<Arc<str>>,
    /// The client did not ask for the usage that was asked of the upstream.
    pub hide_usage: bool,
    /// The request id named in errors of the messages shape.
    pub request_id: Arc<str>,
}

/// Why an answer cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PassageError {
    /// One event or element exceeds the bound.
    #[error("pass the answer on: {0}")]
    TooLarge(#[from] FrameTooLarge),
}

/// An answer on its way to the client.
#[derive(Debug)]
pub struct Passage {
    kind: PassageKind,
    request_id: Arc<str>,
    reader: Reader,
    cut: Cut,
    failed: Option<PassageError>,
}

#[derive(Debug)]
enum Cut {
    /// Holds the bytes that do not tell the framing yet.
    Undecided(Vec<u8>),
    Opaque,
    Json(JsonAnswer),
    Sse(Box<EventStream>),
    Array(Box<ArrayStream>),
}

impl Cut {
    fn new(framing: Framing) -> Self {
        match framing {
            Framing::Unknown => Self::Undecided(Vec::new()),
            Framing::Opaque => Self::Opaque,
            Framing::Json => Self::Json(JsonAnswer::default()),
            Framing::Sse => Self::Sse(Box::default()),
            Framing::JsonArray => Self::Array(Box::default()),
        }
    }
}

impl Passage {
    /// A passage for one answer.
    #[must_use]
    pub fn new(kind: PassageKind, options: PassageOptions) -> Self {
        let rules = Rules::new(options.answer_model.as_deref(), options.hide_usage);
        let reader = Reader::new(kind.body, rules);
        Self { kind, request_id: options.request_id, reader, cut: Cut::new(kind.framing), failed: None }
    }

    /// Keeps the answer's text from now on, so that it can be counted.
    pub fn listen(&mut self, hearing: Hearing) {
        self.reader.listen(hearing);
    }

    /// Whether, and how, it still listens.
    #[must_use]
    pub const fn hearing(&self) -> Hearing {
        self.reader.hearing
    }

    /// What was heard; none where nothing is to be counted.
    pub fn take_heard(&mut self) -> Option<Heard> {
        match self.cut {
            Cut::Undecided(_) | Cut::Opaque => None,
            Cut::Json(_) | Cut::Sse(_) | Cut::Array(_) => self.reader.take_heard(),
        }
    }

    /// Takes the next piece and returns what to send on now. `end` tells that the upstream ended cleanly after it.
    ///
    /// # Errors
    /// When an event exceeds its bound, after everything before it was returned; the caller then sends [`Self::truncated`].
    pub fn push(&mut self, piece: Bytes, end: bool) -> Result<Bytes, PassageError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let Some(piece) = self.decide(piece, end) else { return Ok(Bytes::new()) };
        let reader = &mut self.reader;
        let (out, failed) = match &mut self.cut {
            Cut::Undecided(_) | Cut::Opaque => {
                reader.facts.content_started |= !piece.is_empty();
                reader.facts.terminal |= end;
                (piece, None)
            }
            Cut::Json(answer) => (answer.push(reader, piece, end), None),
            Cut::Sse(stream) => stream.push(reader, piece, end),
            Cut::Array(stream) => stream.push(reader, piece, end),
        };
        self.failed = failed.map(Into::into);
        match self.failed {
            Some(error) if out.is_empty() => Err(error),
            _ => Ok(out),
        }
    }

    /// What to send when the upstream failed, or ended before its terminal event: the shape's in-band error and nothing of what
    /// was held back. Empty when the client already has a complete answer or the upstream's own error, or when nothing can be
    /// said in the framing; `message` goes to the client.
    pub fn truncated(&mut self, cutoff: Cutoff, message: &str) -> Bytes {
        let facts = &self.reader.facts;
        match &mut self.cut {
            Cut::Undecided(_) | Cut::Opaque | Cut::Json(_) => Bytes::new(),
            Cut::Sse(_) if facts.terminal || facts.error.is_some() => Bytes::new(),
            Cut::Sse(stream) => {
                let error = closing::event(self.kind.body, cutoff, message, &self.request_id, self.reader.events);
                stream.close(error)
            }
            Cut::Array(stream) => {
                let complete = facts.finish_reason.is_some() || facts.error.is_some();
                stream.close((!complete).then(|| closing::object(self.kind.body, cutoff, message, &self.request_id)))
            }
        }
    }

    /// Settles the framing once the bytes tell it, and returns those to pass on.
    fn decide(&mut self, piece: Bytes, end: bool) -> Option<Bytes> {
        let Cut::Undecided(held) = &mut self.cut else { return Some(piece) };
        held.extend_from_slice(&piece);
        let framing = self.kind.sniffed(held, end)?;
        let whole = if held.len() == piece.len() { piece } else { Bytes::from(std::mem::take(held)) };
        self.cut = Cut::new(framing);
        Some(whole)
    }

    /// The usage told so far: the last, or the sum of what a messages stream told in parts.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.reader.facts.usage()
    }

    /// The error the upstream put into its answer.
    #[must_use]
    pub fn in_band_error(&self) -> Option<&InBandError> {
        self.reader.facts.error.as_deref()
    }

    /// Whether a part of the answer proper was seen, as opposed to its frame.
    #[must_use]
    pub const fn content_started(&self) -> bool {
        self.reader.facts.content_started
    }

    /// Whether the answer is complete: its terminal event was seen, or for JSON the whole document. A chat stream that ended
    /// cleanly after a finish reason counts too.
    #[must_use]
    pub const fn terminal_seen(&self) -> bool {
        self.reader.facts.terminal
    }

    /// The finish reason, as the upstream spells it.
    #[must_use]
    pub fn finish_reason(&self) -> Option<&str> {
        self.reader.facts.finish_reason.as_deref()
    }

    /// Bytes of memory kept for what is held back.
    #[must_use]
    pub fn held_back(&self) -> usize {
        match &self.cut {
            Cut::Undecided(_) | Cut::Opaque => 0,
            Cut::Json(answer) => answer.held_back(),
            Cut::Sse(stream) => stream.held_back(),
            Cut::Array(stream) => stream.held_back(),
        }
    }
}

#[cfg(test)]
mod tests;
