//! A provider for demonstrations and tests: every client shape, answers without a vendor account, refusals like the vendors' own.
//!
//! What it does beyond answering is asked for by markers in the model name or the last user text; see [`HELP`].

mod auth;
mod behaviour;
mod call;
mod chat_completions;
mod completions;
mod deliver;
mod directive;
mod embeddings;
mod generate_content;
mod images;
mod media;
mod messages;
mod models;
mod moderations;
mod multipart;
mod options;
mod prompt;
mod refusal;
mod reply;
mod responses;
mod routes;
mod sample;
mod seen;
mod serve;
mod speech;
mod sse;
mod transcriptions;
mod usage;
mod validate;

pub use options::{Command, Options, OptionsError};
pub use serve::{Demo, StartError};

/// The text of `svc-demo --help`: options, endpoints and every marker.
pub const HELP: &str = include_str!("../README.md");
