//! The client shapes as tests use them: paths, bodies, credentials, errors.

use serde_json::{Value, json};

use crate::gateway::KEY;
use crate::raw::{Answer, Connection};

/// A client shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Chat completions.
    Chat,
    /// Messages.
    Messages,
    /// Generate content.
    Generate,
    /// Responses, which providers of chat completions may speak besides.
    Responses,
}

impl Shape {
    /// Those that clients speak.
    pub const CLIENTS: [Self; 4] = [Self::Chat, Self::Messages, Self::Generate, Self::Responses];
    /// Those that are a provider's only one.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Messages, Self::Generate];

    /// The name in code, configuration and database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat_completions",
            Self::Messages => "messages",
            Self::Generate => "generate_content",
            Self::Responses => "responses",
        }
    }

    /// The model of the standard configuration that speaks it.
    #[must_use]
    pub const fn model(self) -> &'static str {
        match self {
            Self::Chat | Self::Responses => "chat-model",
            Self::Messages => "messages-model",
            Self::Generate => "generate-model",
        }
    }

    /// Path of a request for a model.
    #[must_use]
    pub fn path(self, model: &str, stream: bool) -> String {
        match self {
            Self::Chat => "/v1/chat/completions".to_owned(),
            Self::Messages => "/v1/messages".to_owned(),
            Self::Responses => "/v1/responses".to_owned(),
            Self::Generate if stream => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
            Self::Generate => format!("/v1beta/models/{model}:generateContent"),
        }
    }

    /// Body of a request.
    #[must_use]
    pub fn body(self, model: &str, text: &str, stream: bool) -> Value {
        let turns = json!([{"role": "user", "content": text}]);
        match (self, stream) {
            (Self::Chat, false) => json!({"model": model, "messages": turns}),
            (Self::Chat, true) => json!({"model": model, "messages": turns, "stream": true}),
            (Self::Messages, false) => json!({"model": model, "max_tokens": 64, "messages": turns}),
            (Self::Messages, true) => json!({"model": model, "max_tokens": 64, "messages": turns, "stream": true}),
            (Self::Responses, _) => json!({"model": model, "input": text, "stream": stream}),
            (Self::Generate, _) => json!({"contents": [{"role": "user", "parts": [{"text": text}]}]}),
        }
    }

    /// The header this shape's SDKs put a key into.
    #[must_use]
    pub fn credential(self, key: &str) -> (&'static str, String) {
        match self {
            Self::Chat | Self::Responses => ("authorization", format!("Bearer {key}")),
            Self::Messages => ("x-api-key", key.to_owned()),
            Self::Generate => ("x-goog-api-key", key.to_owned()),
        }
    }

    /// Sends a request over a connection.
    pub fn send(self, connection: &mut Connection, key: &str, model: &str, text: &str, stream: bool) {
        let (name, value) = self.credential(key);
        let body = self.body(model, text, stream).to_string();
        connection.post(&self.path(model, stream), &[(name, &value), ("content-type", "application/json")], body);
    }

    /// Sends a request with the key that may do everything and reads its answer.
    ///
    /// # Panics
    /// When there is none.
    pub fn ask(self, connection: &mut Connection, model: &str, text: &str, stream: bool) -> Answer {
        self.send(connection, KEY, model, text, stream);
        connection.answer().expect("an answer")
    }

    /// The text of a complete answer.
    #[must_use]
    pub fn text(self, answer: &Value) -> String {
        let found = match self {
            Self::Chat => answer.pointer("/choices/0/message/content"),
            Self::Messages => answer.pointer("/content/0/text"),
            Self::Generate => answer.pointer("/candidates/0/content/parts/0/text"),
            Self::Responses => answer.pointer("/output/0/content/0/text"),
        };
        found.and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// The model an answer, or an event that names one, says it comes from.
    #[must_use]
    pub fn named_model(self, value: &Value) -> Option<&str> {
        match self {
            Self::Chat => value.get("model")?.as_str(),
            Self::Responses => value.get("model").or_else(|| value.pointer("/response/model"))?.as_str(),
            Self::Messages => value.get("model").or_else(|| value.pointer("/message/model"))?.as_str(),
            Self::Generate => value.get("modelVersion")?.as_str(),
        }
    }

    /// Checks that an answer is an error of the gateway's in this shape.
    ///
    /// # Panics
    /// When anything about it is not as it should be.
    pub fn expect_error(self, case: &str, answer: &Answer, status: u16, code: &str) {
        let told = format!("{} / {case}: {}\n{}", self.name(), answer.head, answer.text());
        assert_eq!(answer.status, status, "the status belongs to the reason: {told}");
        assert_eq!(answer.header("x-svc-error-code"), Some(code), "the header names the reason: {told}");
        assert_eq!(answer.header("x-svc-error-origin"), Some("gateway"), "it was the gateway that refused: {told}");
        let id = answer.header("x-svc-request-id").unwrap_or_default();
        assert!(id.len() >= 16, "every answer has an id: {told}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "SDKs parse by content type: {told}");
        self.expect_envelope(&told, &answer.json(), status, code, id);
    }

    fn expect_envelope(self, told: &str, body: &Value, status: u16, code: &str, id: &str) {
        let error = &body["error"];
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "an error says what is wrong: {told}");
        let [chat, messages, generate] = types(status, code);
        match self {
            Self::Chat | Self::Responses => {
                assert_eq!(error["type"], chat, "{told}");
                assert_eq!(error["code"], code, "{told}");
                assert!(error.get("param").is_some(), "SDKs read `param`: {told}");
            }
            Self::Messages => {
                assert_eq!(body["type"], "error", "{told}");
                assert_eq!(error["type"], messages, "{told}");
                assert_eq!(body["request_id"], id, "body and header name the same request: {told}");
            }
            Self::Generate => {
                assert_eq!(error["code"], status, "{told}");
                assert_eq!(error["status"], generate, "{told}");
            }
        }
    }
}

/// The words of an error in the three shapes.
fn types(status: u16, code: &str) -> [&'static str; 3] {
    match (code, status) {
        ("key_not_found", _) => ["authentication_error", "authentication_error", "UNAUTHENTICATED"],
        ("key_disabled" | "model_not_allowed" | "routing_denied", _) => ["permission_error", "permission_error", "PERMISSION_DENIED"],
        ("model_not_found", _) | (_, 404) => ["invalid_request_error", "not_found_error", "NOT_FOUND"],
        ("rate_limited", _) => ["rate_limit_error", "rate_limit_error", "RESOURCE_EXHAUSTED"],
        ("upstream_unavailable", 503) => ["server_error", "overloaded_error", "UNAVAILABLE"],
        ("upstream_unavailable", 502) => ["server_error", "api_error", "UNAVAILABLE"],
        ("upstream_unavailable", 504) => ["server_error", "timeout_error", "DEADLINE_EXCEEDED"],
        (_, 500) => ["server_error", "api_error", "INTERNAL"],
        (_, 413) => ["invalid_request_error", "request_too_large", "INVALID_ARGUMENT"],
        _ => ["invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"],
    }
}

/// The data of every server-sent event of a body, `[DONE]` left out.
#[must_use]
pub fn events(body: &str) -> Vec<Value> {
    body.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok()).collect()
}
