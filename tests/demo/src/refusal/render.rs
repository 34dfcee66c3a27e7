//! One error, each vendor's envelope.

use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::vendor::Vendor;

impl Refusal {
    /// The body of an error answer.
    pub(crate) fn body(&self, vendor: Vendor, request_id: &str) -> Value {
        match vendor {
            Vendor::OpenAi => self.chat_completions(),
            Vendor::Azure => self.azure(),
            Vendor::Bedrock => json!({"message": self.wrapped()}),
            Vendor::Anthropic => self.messages(request_id),
            // What the model's own service says passes through; what the platform says has the platform's form.
            Vendor::VertexClaude if self.status == 400 || self.status == 529 => self.messages(request_id),
            Vendor::VertexClaude | Vendor::Gemini | Vendor::Vertex => self.generate_content(),
        }
    }

    pub(crate) fn response(&self, vendor: Vendor, request_id: &str) -> Response {
        let mut body = self.body(vendor, request_id);
        if vendor == Vendor::VertexClaude && body.get("type").is_none() {
            body = json!([body]);
        }
        let mut response = axum::Json(body).into_response();
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or_default();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert("retry-after", seconds.into());
        }
        if vendor == Vendor::Bedrock
            && let Ok(name) = HeaderValue::from_str(&format!("{}:http://internal.amazon.com/coral/com.amazon.bedrock/", self.exception()))
        {
            headers.insert("x-amzn-errortype", name);
        }
        response
    }

    /// The name Bedrock gives an error of this status.
    pub(crate) fn exception(&self) -> &str {
        self.kind.as_deref().unwrap_or(match self.status {
            401 | 403 => "AccessDeniedException",
            404 => "ResourceNotFoundException",
            408 => "ModelTimeoutException",
            424 => "ModelErrorException",
            429 => "ThrottlingException",
            503 | 529 => "ServiceUnavailableException",
            500.. => "InternalServerException",
            _ => "ValidationException",
        })
    }

    /// Bedrock quotes what the model's own service says of a request.
    fn wrapped(&self) -> String {
        let quotes = self.status == 400 && self.kind.is_none() && !self.message.starts_with("invalid beta flag");
        if quotes { format!("The model returned the following errors: {}", self.message) } else { self.message.clone() }
    }

    fn chat_completions(&self) -> Value {
        let kind = self.kind.as_deref().unwrap_or(chat_completions_type(self.status));
        json!({"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}})
    }

    /// The platform's own errors have a code and a message only, the code often the status as text.
    fn azure(&self) -> Value {
        let code = match self.status {
            404 if self.param.is_none() => self.code.as_deref().filter(|code| *code != "model_not_found").unwrap_or("DeploymentNotFound"),
            401 => "401",
            429 => "429",
            _ => return self.chat_completions(),
        };
        json!({"error": {"code": code, "message": self.message}})
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
        503 | 529 => "overloaded_error",
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
        503 | 529 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}
