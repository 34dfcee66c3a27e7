//! One row per client request, with what it cost and why it went where it went.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// What kind of owner a key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Serialize, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum OwnerKind {
    /// A person.
    User,
    /// A program.
    Agent,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Serialize, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The client has the whole answer.
    Complete,
    /// An upstream answered with an error, or none answered.
    UpstreamError,
    /// The gateway refused it.
    Refused,
    /// The client went away.
    ClientGone,
    /// The answer broke off.
    Interrupted,
}

/// One request. Nothing here is a foreign key: rows outlive what they name.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "request_log")]
pub struct Model {
    /// UUID version 7. Unique, so that a journal replayed twice writes a row once, and sorts by `started_at`, which its first 48 bits
    /// are.
    #[sea_orm(primary_key, auto_increment = false)]
    pub request_id: String,
    /// Unix milliseconds. Has no index; a range of ids is one of times.
    pub started_at: i64,
    /// The key, when one was recognised.
    pub key_id: Option<String>,
    /// What owns the key.
    pub owner_kind: Option<OwnerKind>,
    /// Id of the user or agent.
    pub owner_id: Option<String>,
    /// The key's team.
    pub team_id: Option<String>,
    /// The key's application.
    pub application_id: Option<String>,
    /// Shape the client spoke.
    pub client_shape: String,
    /// What was asked for, such as `chat_completions` or `models`.
    pub endpoint: String,
    /// Path of the request, without secrets.
    pub path: String,
    /// Name of the provider that answered.
    pub provider: Option<String>,
    /// Shape the provider spoke.
    pub provider_shape: Option<String>,
    /// Model as the client named it.
    pub model_asked: Option<String>,
    /// Canonical name of the model.
    pub model_resolved: Option<String>,
    /// Model as the provider names it.
    pub model_upstream: Option<String>,
    /// Name of the routing rule that decided.
    pub rule: Option<String>,
    /// HTTP status the client got.
    pub status: i32,
    /// The gateway's error code, when it made the error.
    pub error_code: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the answer was streamed.
    pub stream: bool,
    /// How many upstream calls were made.
    pub attempts: i32,
    /// Microseconds from the first byte of the request to the last of the answer.
    pub total_us: i64,
    /// Microseconds to the first byte of the answer.
    pub first_byte_us: Option<i64>,
    /// Microseconds spent waiting in queues.
    pub queue_us: i64,
    /// Microseconds the gateway itself added.
    pub overhead_us: i64,
    /// Prompt tokens that came from no cache.
    pub input_uncached: Option<i64>,
    /// Prompt tokens read from the vendor's cache.
    pub cache_read: Option<i64>,
    /// Prompt tokens written to the vendor's cache for five minutes.
    pub cache_write_5m: Option<i64>,
    /// Prompt tokens written to the vendor's cache for an hour.
    pub cache_write_1h: Option<i64>,
    /// Answer tokens, reasoning included.
    pub output: Option<i64>,
    /// Reasoning tokens among `output`.
    pub reasoning: Option<i64>,
    /// Prompt tokens as the gateway counted them.
    pub own_prompt_tokens: Option<i64>,
    /// Answer tokens as the gateway counted them.
    pub own_completion_tokens: Option<i64>,
    /// Billionths of the currency's unit; none = unpriced.
    pub cost_nano: Option<i64>,
    /// ISO 4217 code.
    pub cost_currency: Option<String>,
    /// `priced`, `unpriced` or `estimated`.
    pub cost_status: Option<String>,
    /// Bytes of the request's body.
    pub request_bytes: i64,
    /// Bytes of the answer's body.
    pub response_bytes: i64,
    /// Address the client came from.
    pub client_address: Option<String>,
    /// The client's user agent.
    pub user_agent: Option<String>,
    /// JSON object.
    pub tags: Option<String>,
    /// JSON object: rules tried, attempts and the like.
    pub decision: Option<String>,
}

/// Log rows refer to nothing.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
