//! The one record a request leaves behind, as the journal stores it and the request log shows it.

use serde::{Deserialize, Serialize};

use svc_filters::usage::Usage;

/// How a request ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequestOutcome {
    /// The answer reached its end.
    Complete,
    /// A provider failed or answered with an error.
    UpstreamError,
    /// The gateway refused the request.
    Refused,
    /// The client went away first.
    ClientGone,
    /// The gateway ended before the request did; found when the journal is replayed.
    #[default]
    Interrupted,
}

impl RequestOutcome {
    /// The text of the request log's column.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::UpstreamError => "upstream_error",
            Self::Refused => "refused",
            Self::ClientGone => "client_gone",
            Self::Interrupted => "interrupted",
        }
    }
}

/// One attempt at a target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// Provider name.
    pub provider: String,
    /// Model name at the provider.
    pub model: String,
    /// HTTP status; 0 where none came.
    pub status: u16,
    /// Why it was not delivered; empty where it was.
    pub failure: String,
    /// Microseconds from its start to the status or failure.
    pub us: u64,
}

/// Everything the request log keeps about one request. Texts are empty where the log has null.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Unique request id, 32 hexadecimal digits.
    pub request_id: String,
    /// Unix milliseconds.
    pub started_at: i64,
    /// Key id.
    pub key_id: Option<String>,
    /// `user` or `agent`.
    pub owner_kind: Option<String>,
    /// User or agent id.
    pub owner_id: Option<String>,
    /// Team id.
    pub team_id: Option<String>,
    /// Application id.
    pub application_id: Option<String>,
    /// Shape of the client.
    pub client_shape: String,
    /// Endpoint name.
    pub endpoint: String,
    /// Path without query.
    pub path: String,
    /// Provider that answered.
    pub provider: Option<String>,
    /// Its shape.
    pub provider_shape: Option<String>,
    /// Model the client asked for.
    pub model_asked: Option<String>,
    /// Canonical model.
    pub model_resolved: Option<String>,
    /// Model name sent to the provider.
    pub model_upstream: Option<String>,
    /// HTTP status sent to the client.
    pub status: u16,
    /// `x-svc-error-code` sent to the client.
    pub error_code: Option<String>,
    /// How it ended.
    pub outcome: RequestOutcome,
    /// Whether the answer was streamed.
    pub stream: bool,
    /// Microseconds from first request byte parsed to the end.
    pub total_us: u64,
    /// Microseconds to the provider's first answer byte.
    pub first_byte_us: Option<u64>,
    /// Microseconds spent in the gateway before the provider was asked.
    pub overhead_us: u64,
    /// What the provider says was used.
    pub usage: Option<Usage>,
    /// Bytes of the request body.
    pub request_bytes: u64,
    /// Bytes of the answer body.
    pub response_bytes: u64,
    /// Address of the client.
    pub client_address: Option<String>,
    /// User agent of the client.
    pub user_agent: Option<String>,
    /// Tags as a JSON object.
    pub tags: Option<String>,
    /// Attempts in order.
    pub attempts: Vec<AttemptRecord>,
    /// Notes of the filters.
    pub notes: Vec<(String, String)>,
    /// Provider's own request id.
    pub upstream_request_id: Option<String>,
    /// Finish reason in the provider's words.
    pub finish_reason: Option<String>,
}
