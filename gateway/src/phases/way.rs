//! An answer's way from the provider's bytes to the client's.

use bytes::Bytes;
use svc_filters::canonical::{Failure, FailureClass, Text};
use svc_filters::passage::{Cutoff, InBandError, Passage, PassageError};
use svc_filters::tokens::{Heard, Hearing};
use svc_filters::translate;
use svc_filters::usage::Usage;

use super::failing::Collected;

/// The way of one answer.
#[derive(Debug)]
pub enum Way {
    /// The client speaks the provider's dialect: bytes pass, but for the few that must differ.
    Passing(Box<Passage>),
    /// The answer is read in one dialect and written in another.
    Translated(Box<translate::Answer>),
    /// The provider answered with an error, which is collected (see [`super::failing`]).
    Failing(Collected),
}

impl Way {
    /// Keeps the answer's text from now on, so that it can be counted.
    pub fn listen(&mut self, hearing: Hearing) {
        match self {
            Self::Passing(passage) => passage.listen(hearing),
            Self::Translated(answer) => answer.listen(hearing),
            Self::Failing(_) => {}
        }
    }

    /// Whether, and how, it still listens.
    #[must_use]
    pub fn hearing(&self) -> Hearing {
        match self {
            Self::Passing(passage) => passage.hearing(),
            Self::Translated(answer) => answer.hearing(),
            Self::Failing(_) => Hearing::Nothing,
        }
    }

    /// What was heard; none where nothing is to be counted.
    pub fn take_heard(&mut self) -> Option<Heard> {
        match self {
            Self::Passing(passage) => passage.take_heard(),
            Self::Translated(answer) => answer.take_heard(),
            Self::Failing(_) => None,
        }
    }

    /// Takes a piece of the provider's body and returns what the client gets now.
    ///
    /// # Errors
    /// When an event or document exceeds its bound.
    pub fn push(&mut self, piece: Bytes, end: bool) -> Result<Bytes, PassageError> {
        match self {
            Self::Passing(passage) => passage.push(piece, end),
            Self::Translated(answer) => answer.push(piece, end),
            Self::Failing(_) => Ok(piece),
        }
    }

    /// What to send when the provider's answer broke off.
    pub fn truncated(&mut self, cutoff: Cutoff, message: &str) -> Bytes {
        match self {
            Self::Passing(passage) => passage.truncated(cutoff, message),
            Self::Translated(answer) => answer.truncated(cutoff, message),
            Self::Failing(_) => Bytes::new(),
        }
    }

    /// Whether the answer came to its proper end.
    #[must_use]
    pub fn terminal_seen(&self) -> bool {
        match self {
            Self::Passing(passage) => passage.terminal_seen(),
            Self::Translated(answer) => answer.terminal_seen(),
            Self::Failing(_) => false,
        }
    }

    /// Whether a part of the answer proper was seen.
    #[must_use]
    pub fn content_started(&self) -> bool {
        match self {
            Self::Passing(passage) => passage.content_started(),
            Self::Translated(answer) => answer.content_started(),
            Self::Failing(_) => false,
        }
    }

    /// The usage told so far.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        match self {
            Self::Passing(passage) => passage.usage(),
            Self::Translated(answer) => answer.usage(),
            Self::Failing(_) => None,
        }
    }

    /// The finish reason in the provider's words.
    #[must_use]
    pub fn finish_reason(&self) -> Option<&str> {
        match self {
            Self::Passing(passage) => passage.finish_reason(),
            Self::Translated(answer) => answer.finish_reason(),
            Self::Failing(_) => None,
        }
    }

    /// Whether the provider failed within its answer.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        match self {
            Self::Passing(passage) => passage.in_band_error().is_some(),
            Self::Translated(answer) => answer.failure().is_some(),
            Self::Failing(_) => true,
        }
    }

    /// Whether the client gets one document.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Translated(answer) if answer.is_whole())
    }

    /// The error the client is to get in place of the answer: the provider failed before anything of the answer proper was
    /// seen, or the client waits for one document. Documents in the client's own dialect go through
    /// whatever they say.
    #[must_use]
    pub fn instead(&self, stream: bool) -> Option<Failure<'static>> {
        match self {
            Self::Passing(passage) if passage.content_started() || !stream => None,
            Self::Passing(passage) => passage.in_band_error().map(failure),
            Self::Translated(answer) if answer.content_started() && !answer.is_whole() => None,
            Self::Translated(answer) => answer.failure().cloned(),
            Self::Failing(_) => None,
        }
    }
}

/// An in-band error in no vendor's words.
fn failure(error: &InBandError) -> Failure<'static> {
    let class = match error.status {
        401 => FailureClass::Auth,
        402 => FailureClass::Billing,
        403 => FailureClass::Permission,
        404 => FailureClass::NotFound,
        409 => FailureClass::Conflict,
        413 => FailureClass::TooLarge,
        429 => FailureClass::Rate,
        400..=499 => FailureClass::BadRequest,
        503 | 529 => FailureClass::Overloaded,
        504 => FailureClass::Timeout,
        _ => FailureClass::Server,
    };
    Failure {
        class,
        status: error.status,
        message: Text::from(error.message.clone()),
        code: Text::from(error.code.clone().or_else(|| error.kind.clone()).unwrap_or_default()),
        param: None,
        retry_after: None,
    }
}
