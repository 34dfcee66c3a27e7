//! Errors in each vendor's own form: one description, three renderings.

use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::call::Shape;

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

    pub(crate) fn body(&self, shape: Shape, request_id: &str) -> Value {
        match shape {
            Shape::ChatCompletions => self.chat_completions(),
            Shape::Messages => self.messages(request_id),
            Shape::GenerateContent => self.generate_content(),
        }
    }

    pub(crate) fn response(&self, shape: Shape, request_id: &str) -> Response {
        let mut response = axum::Json(self.body(shape, request_id)).into_response();
        *response.status_mut() = axum::http::StatusCode::from_u16(self.status).unwrap_or_default();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert("retry-after", seconds.into());
        }
        response
    }

    fn chat_completions(&self) -> Value {
        let kind = self.kind.as_deref().unwrap_or(chat_completions_type(self.status));
        json!({"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}})
    }

    fn messages(&self, request_id: &str) -> Value {
        let kind = self.kind.as_deref().unwrap_or(messages_type(self.status));
        let mut error = json!({"type": kind, "message": self.message});
        if let (Some(detail), Some(fields)) = (self.details.first(), error.as_object_mut()) {
            fields.insert("details".to_owned(), detail.clone());
        }
        json!({"type": "error", "error": error, "request_id": request_id})
    }

    fn generate_content(&self) -> Value {
        let status = self.kind.as_deref().unwrap_or(generate_content_status(self.status));
        let mut error = json!({"code": self.status, "message": self.message, "status": status});
        let mut details = self.details.clone();
        if let Some(seconds) = self.retry_after {
            details.push(json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s")}));
        }
        if let (false, Some(fields)) = (details.is_empty(), error.as_object_mut()) {
            fields.insert("details".to_owned(), Value::Array(details));
        }
        json!({"error": error})
    }
}

/// What a vendor's service says when it fails by itself, for `demo:error=<status>`.
pub(crate) fn demanded(shape: Shape, status: u16) -> Refusal {
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
    let code = match (shape, status) {
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

fn chat_completions_type(status: u16) -> &'static str {
    match status {
        403 => "permission_error",
        429 => "rate_limit_error",
        503 => "service_unavailable_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

fn messages_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        408 | 504 => "timeout_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

fn generate_content_status(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        501 => "UNIMPLEMENTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}
