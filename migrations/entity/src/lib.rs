//! The tables both programs share, as SeaORM entities: one module per table.
//!
//! Ids are lower-case UUIDv7 text made by the caller, times are Unix milliseconds, JSON is text that holds JSON;
//! so a row looks the same on SQLite and on PostgreSQL.

pub mod agent;
pub mod api_key;
pub mod api_key_use;
pub mod application;
pub mod audit;
pub mod breaker_override;
pub mod config_revision;
pub mod event_outbox;
pub mod group;
pub mod group_member;
pub mod guardrail;
pub mod model;
pub mod model_alias;
pub mod model_fallback;
pub mod model_target;
pub mod organisation;
pub mod provider;
pub mod provider_key;
pub mod request_log;
pub mod role;
pub mod routing_rule;
pub mod setting;
mod source;
pub mod team;
pub mod team_member;
mod translation;
pub mod user;

pub use api_key::{ContentLogging, KeyStatus};
pub use breaker_override::ForcedPosition;
pub use provider::ProviderKind;
pub use provider_key::ProviderKeyStatus;
pub use request_log::{Outcome, OwnerKind};
pub use source::Source;
pub use translation::Translation;
pub use user::AccountStatus;
