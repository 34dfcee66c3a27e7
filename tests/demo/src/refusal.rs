//! Errors before they have a form; [`render`] gives them each vendor's own.

mod render;

use serde_json::Value;

use crate::call::Shape;
use crate::vendor::Vendor;

/// An error before it has a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) message: String,
    pub(crate) param: Option<Box<str>>,
    pub(crate) code: Option<Box<str>>,
    /// Overrides the type or status name that follows from the HTTP status.
    pub(crate) kind: Option<Box<str>>,
    /// Seconds.
    pub(crate) retry_after: Option<u64>,
    /// `details` of the generate-content form; the first one is the messages form's.
    pub(crate) details: Vec<Value>,
}

impl Refusal {
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), param: None, code: None, kind: None, retry_after: None, details: Vec::new() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    pub(crate) fn param(mut self, param: impl Into<Box<str>>) -> Self {
        self.param = Some(param.into());
        self
    }

    pub(crate) fn code(mut self, code: impl Into<Box<str>>) -> Self {
        self.code = Some(code.into());
        self
    }

    pub(crate) fn detail(mut self, detail: Value) -> Self {
        self.details.push(detail);
        self
    }
}

/// What a vendor's service says when it fails by itself, for `demo:error=<status>`.
pub(crate) fn demanded(vendor: Vendor, status: u16) -> Refusal {
    let message = match status {
        400 => "The request was refused because it was asked to be.",
        401 | 403 => "The credentials were refused because they were asked to be.",
        404 => "The model does not exist or you do not have access to it.",
        429 => "Rate limit reached for requests. Please try again later.",
        529 => "Overloaded",
        500 => "The server had an error while processing your request. Sorry about that!",
        503 => "The engine is currently overloaded, please try again later.",
        _ => "The demonstration provider was asked to fail.",
    };
    let code = match (vendor.shape(), status) {
        (Shape::ChatCompletions, 401) => Some("invalid_api_key"),
        (Shape::ChatCompletions, 404) => Some("model_not_found"),
        (Shape::ChatCompletions, 429) => Some("rate_limit_exceeded"),
        (Shape::ChatCompletions, 503) => Some("server_is_overloaded"),
        _ => None,
    };
    let refusal = Refusal::new(status, message);
    match code {
        Some(code) => refusal.code(code),
        None => refusal,
    }
}
