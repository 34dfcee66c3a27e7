//! What is known of an answer, and what of it Pingora has not written yet.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use svc_filters::canonical::Failure;
use svc_filters::screening::Screen;
use svc_filters::usage::Usage;
use svc_filters::verdict::{Code, Rejection};

use crate::phases::way::Way;
use crate::providers::Unwrapping;

/// What is known of the answer.
#[derive(Default)]
pub struct Answer {
    /// Status sent to the client.
    pub status: u16,
    /// `x-svc-error-code` sent to the client.
    pub error_code: Option<Code>,
    /// Makes the provider's bytes those of its dialect, before the passage.
    pub unwrapping: Option<Box<Unwrapping>>,
    /// Reads and edits, or translates, the body.
    pub way: Option<Way>,
    /// Looks at what is about to leave, where guardrails do.
    pub screening: Option<Box<Screening>>,
    /// Whether the answer is one, so that no other try is made.
    pub released: bool,
    /// Whether a first piece of a stream has left.
    pub begun: bool,
    /// Whether an error has taken the answer's place.
    pub replaced: bool,
    /// Whether it is a stream.
    pub stream: bool,
    /// Time to the provider's first byte.
    pub first_byte: Option<Duration>,
    /// Body bytes sent to the client.
    pub bytes: u64,
    /// The provider's own request id.
    pub upstream_request_id: Option<Box<HeaderValue>>,
    /// The provider's `retry-after`.
    pub retry_after: Option<Box<HeaderValue>>,
    /// Until when the credential rests, where only the body can tell how long the provider wants it to.
    pub guess: Option<u64>,
    /// Whether it is not to be delivered: its body is read, and another candidate tried.
    pub passed_over: bool,
    /// The provider's failure that the client gets in place of an answer.
    pub failure: Option<Box<Failure<'static>>>,
    /// Whether an error was sent inside a started answer.
    pub failed_inside: bool,
    /// Why a filter ended the answer.
    pub stopped: Option<Box<Rejection>>,
}

impl Answer {
    /// Usage that the provider reported.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.way.as_ref()?.usage()
    }

    /// Finish reason in the provider's words.
    #[must_use]
    pub fn finish_reason(&self) -> Option<&str> {
        self.way.as_ref()?.finish_reason()
    }

    /// Whether a guardrail ends the answer with words of its own.
    #[must_use]
    pub fn has_farewell(&self) -> bool {
        self.screening.as_ref().is_some_and(|screening| screening.farewell.is_some())
    }

    /// Takes how a guardrail ends the answer.
    pub fn take_farewell(&mut self) -> Option<Bytes> {
        self.screening.as_mut()?.farewell.take()
    }
}

/// Guardrails on an answer.
pub struct Screening {
    /// Looks at what is about to leave.
    pub screen: Screen,
    /// What was handed to Pingora and not written yet: Pingora forgets it where a guardrail ends the answer.
    pub unwritten: Unwritten,
    /// How a guardrail ends the answer, in place of what the provider would have gone on with.
    pub farewell: Option<Bytes>,
}

/// Pieces of an answer on their way through Pingora.
#[derive(Default)]
pub struct Unwritten {
    writes: u64,
    pieces: Vec<Bytes>,
}

impl Unwritten {
    /// Adds a piece, after so many writes; whatever came before the last write is gone.
    pub fn add(&mut self, writes: u64, piece: Bytes) {
        self.forget(writes);
        self.pieces.push(piece);
    }

    /// Takes what no write has taken along, and `last` after it.
    pub fn take(&mut self, writes: u64, last: Bytes) -> Bytes {
        self.forget(writes);
        let mut pieces = std::mem::take(&mut self.pieces);
        if pieces.is_empty() {
            return last;
        }
        pieces.push(last);
        Bytes::from(pieces.concat())
    }

    fn forget(&mut self, writes: u64) {
        if self.writes != writes {
            self.writes = writes;
            self.pieces.clear();
        }
    }
}
