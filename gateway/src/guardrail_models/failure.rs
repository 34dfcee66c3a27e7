//! Why a model could not look.

use crate::fetch::FetchError;

/// Why a model could not look. Nothing of what it was shown is in it.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// `guardrail_models.url` is empty.
    #[error("ask the model: no sidecar is configured")]
    NoSidecar,
    /// Its circuit is open.
    #[error("ask the model: it failed repeatedly and is not asked at present")]
    Resting,
    /// A text has no room in a call, or the sidecar takes none this long.
    #[error("ask the model: the text is too long for it")]
    TooLong,
    /// The call failed, or took too long.
    #[error("ask the model: {0}")]
    Call(#[source] FetchError),
    /// The time was over before the call could be made, or at the sidecar.
    #[error("ask the model: the deadline has passed")]
    Late,
    /// The sidecar refused.
    #[error("ask the model: the sidecar answered {status} {code}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// The sidecar's word for it.
        code: String,
    },
    /// The answer is none to the question, or its model is of another kind than the guardrail.
    #[error("read the model's answer: it is not what a guardrail of this kind needs")]
    Unclear,
}

impl Failure {
    /// Whether the model, or the way to it, is to blame, rather than the request or the configuration.
    pub(super) const fn is_the_models(&self) -> bool {
        match self {
            Self::NoSidecar | Self::Resting | Self::TooLong | Self::Unclear => false,
            Self::Call(_) | Self::Late => true,
            Self::Refused { status, .. } => *status >= 500,
        }
    }

    /// Whether it says nothing about the model: what is not `ordinary` may rightly take long.
    pub(super) const fn tells_nothing(&self, ordinary: bool) -> bool {
        !ordinary && matches!(self, Self::Late | Self::Call(FetchError::TimedOut(_)))
    }

    /// Whether another try of the same request would fail the same way.
    #[must_use]
    pub const fn is_the_requests(&self) -> bool {
        matches!(self, Self::TooLong)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_long_text_that_is_late_says_nothing_about_the_model() {
        for late in [Failure::Late, Failure::Call(FetchError::TimedOut(Duration::ZERO))] {
            assert!(late.is_the_models() && late.tells_nothing(false) && !late.tells_nothing(true), "{late}");
        }
        let gone = Failure::Call(FetchError::Http("ConnectRefused".to_owned()));
        assert!(gone.is_the_models() && !gone.tells_nothing(false));
        assert!(!Failure::TooLong.is_the_models() && !Failure::Unclear.is_the_models());
    }
}
