//! The wire shapes a client or a provider may speak.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A wire shape. The names are the ones used in configuration, logs and fixtures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// `POST /v1/chat/completions` and its sibling endpoints.
    ChatCompletions,
    /// `POST /v1/messages`.
    Messages,
    /// `POST /v1beta/models/<model>:generateContent` and its sibling verbs.
    GenerateContent,
    /// `POST /v1/responses`. Errors have the chat-completions envelope.
    Responses,
}

impl Shape {
    /// The name used in logs, fixtures and the request log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat_completions",
            Self::Messages => "messages",
            Self::GenerateContent => "generate_content",
            Self::Responses => "responses",
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
