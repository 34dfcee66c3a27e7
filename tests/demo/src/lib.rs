//! A provider for demonstrations and tests: every kind of provider, answers without a vendor account, refusals like the vendors' own.
//!
//! What it does beyond answering is asked for by markers in the model name or the last user text; see [`HELP`].

mod auth;
mod azure;
mod bedrock;
mod behaviour;
mod call;
mod chat_completions;
mod completions;
mod conversation;
mod deliver;
mod directive;
mod embeddings;
mod frames;
mod generate_content;
mod generation;
mod images;
mod media;
mod messages;
mod models;
mod moderations;
mod multipart;
mod options;
mod picture;
mod platform;
mod prompt;
mod refusal;
mod reply;
mod responses;
mod routes;
mod sample;
mod seal;
mod seen;
mod serve;
mod speech;
mod sse;
mod transcriptions;
mod usage;
mod validate;
mod vendor;
mod vertex;

pub use auth::GoogleError;
pub use options::{AwsAccess, Command, Options, OptionsError};
pub use serve::{Demo, StartError};

/// The text of `svc-demo --help`: options, endpoints and every marker.
pub const HELP: &str = include_str!("../README.md");
