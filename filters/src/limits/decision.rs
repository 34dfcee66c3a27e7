//! How the caps decide about a request, and the figures a client is told.

use std::time::Duration;

use http::HeaderName;

use super::{Measure, Scope};
use crate::verdict::{Code, Rejection};

/// What a request may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// No cap applies.
    Unlimited,
    /// Admitted.
    Admitted(Standing),
    /// Refused.
    Refused(Refusal),
}

/// The tightest caps a request is under, after it was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Of requests per minute; `None` without a cap.
    pub requests: Option<Left>,
    /// Of tokens per minute; `None` without a cap.
    pub tokens: Option<Left>,
}

/// What is left of a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The cap, per minute.
    pub limit: u64,
    /// What may still be used now.
    pub remaining: u64,
    /// How long it takes until all of it may be used, if nothing more is.
    pub reset: Duration,
}

/// The cap that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Whose cap it is.
    pub scope: Scope,
    /// What it caps.
    pub measure: Measure,
    /// The cap.
    pub limit: u64,
    /// When the same request can be admitted at the earliest.
    pub retry_after: Duration,
    /// The figures for the client: of the cap that was reached, else of the tightest.
    pub standing: Standing,
}

impl Standing {
    /// Whether there is nothing to tell.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.requests.is_none() && self.tokens.is_none()
    }

    /// Takes in one more cap; the one with less left stays.
    pub fn tighten(&mut self, measure: Measure, left: Left) {
        let slot = match measure {
            Measure::Requests => &mut self.requests,
            Measure::Tokens => &mut self.tokens,
            Measure::Parallel => return,
        };
        if slot.is_none_or(|tightest| left.remaining < tightest.remaining) {
            *slot = Some(left);
        }
    }
}

impl Refusal {
    /// The error for the client, with the headers of its shape.
    #[must_use]
    pub fn rejection(&self, headers: Vec<(HeaderName, String)>) -> Rejection {
        let whose = match self.scope {
            Scope::Global => "of this service",
            Scope::Role => "of the API key's role",
            Scope::Key => "of this API key",
        };
        let what = match self.measure {
            Measure::Requests => "requests per minute",
            Measure::Tokens => "tokens per minute",
            Measure::Parallel => "requests at the same time",
        };
        let message = format!("The limit {whose} of {} {what} is reached.", self.limit);
        let mut rejection = Rejection::new(Code::RateLimited, message).with_retry_after(self.retry_after);
        rejection.headers = headers;
        rejection
    }
}
