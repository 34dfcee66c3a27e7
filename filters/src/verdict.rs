//! What a filter decides about a request.

use std::borrow::Cow;
use std::time::Duration;

use http::HeaderName;

/// The decision of one filter.
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The next filter decides.
    Continue,
    /// The request ends here with an error in the client's shape.
    Reject(Box<Rejection>),
}

impl From<Rejection> for Verdict {
    fn from(rejection: Rejection) -> Self {
        Self::Reject(Box::new(rejection))
    }
}

/// Machine-readable reason of an error made by the gateway, sent as `x-svc-error-code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// No key, or one that is not known.
    KeyNotFound,
    /// The key is disabled, revoked or expired.
    KeyDisabled,
    /// The key may not call this model.
    ModelNotAllowed,
    /// No model has this name.
    ModelNotFound,
    /// A cap on requests was reached.
    RateLimited,
    /// A guardrail refused the content.
    ContentGuardrailBlocked,
    /// A routing rule refused the request.
    RoutingDenied,
    /// A budget is spent.
    BudgetExceeded,
    /// No provider could answer.
    UpstreamUnavailable,
    /// The request itself is wrong.
    InvalidRequest,
    /// The request cannot be carried to a provider of another shape.
    UnsupportedTranslation,
}

impl Code {
    /// Every code, in the order of the specification.
    pub const ALL: [Self; 11] = [
        Self::KeyNotFound,
        Self::KeyDisabled,
        Self::ModelNotAllowed,
        Self::ModelNotFound,
        Self::RateLimited,
        Self::ContentGuardrailBlocked,
        Self::RoutingDenied,
        Self::BudgetExceeded,
        Self::UpstreamUnavailable,
        Self::InvalidRequest,
        Self::UnsupportedTranslation,
    ];

    /// The text of the `x-svc-error-code` header.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::KeyNotFound => "key_not_found",
            Self::KeyDisabled => "key_disabled",
            Self::ModelNotAllowed => "model_not_allowed",
            Self::ModelNotFound => "model_not_found",
            Self::RateLimited => "rate_limited",
            Self::ContentGuardrailBlocked => "content_guardrail_blocked",
            Self::RoutingDenied => "routing_denied",
            Self::BudgetExceeded => "budget_exceeded",
            Self::UpstreamUnavailable => "upstream_unavailable",
            Self::InvalidRequest => "invalid_request",
            Self::UnsupportedTranslation => "unsupported_translation",
        }
    }
}

/// An error for the client: why, and what it may be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    /// The reason.
    pub code: Code,
    /// HTTP status where it is not the code's usual one.
    pub status: Option<u16>,
    /// One or two safe sentences for the client.
    pub message: Cow<'static, str>,
    /// The request field at fault.
    pub param: Option<Cow<'static, str>>,
    /// When a further try may succeed.
    pub retry_after: Option<Duration>,
    /// Further headers of the error.
    pub headers: Vec<(HeaderName, String)>,
}

impl Rejection {
    /// A rejection with the code's usual status.
    #[must_use]
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, status: None, message: message.into(), param: None, retry_after: None, headers: Vec::new() }
    }

    /// A rejection of a malformed request, 400.
    #[must_use]
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::InvalidRequest, message)
    }

    /// Sets the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Names the field at fault.
    #[must_use]
    pub fn with_param(mut self, param: impl Into<Cow<'static, str>>) -> Self {
        self.param = Some(param.into());
        self
    }

    /// Says when a further try may succeed.
    #[must_use]
    pub fn with_retry_after(mut self, after: Duration) -> Self {
        self.retry_after = Some(after);
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}
