//! A request of the log, as far as its row tells.

use std::collections::BTreeMap;
use std::sync::Arc;

use entity::request_log;
use http::HeaderMap;
use svc_entity as entity;
use svc_filters::auth::{Caller, Key};
use svc_filters::endpoint::Endpoint;
use svc_filters::policy::Policy;
use svc_filters::routing::rules::{Fact, Sample, Unknown};

use crate::control::problem::Problem;
use crate::request_id::random_bits;

/// What no row keeps.
const NEVER_KEPT: Unknown =
    Unknown::NOTHING.and(Fact::Tools).and(Fact::Images).and(Fact::Headers).and(Fact::Metadata).and(Fact::EndUser).and(Fact::MaxTokens);

/// The request.
#[derive(Debug)]
pub(super) struct Logged<'a> {
    pub(super) endpoint: Endpoint,
    pub(super) model: &'a str,
    /// Its key as it is now; `None` where it is gone.
    pub(super) key: Option<Arc<Key>>,
    pub(super) unknown: Unknown,
    row: &'a request_log::Model,
    key_id: &'a str,
    prompt_tokens: Option<u64>,
}

impl<'a> Logged<'a> {
    /// Reads a row.
    ///
    /// # Errors
    /// When no rule could have been asked about the request.
    pub(super) fn new(row: &'a request_log::Model, policy: &Policy) -> Result<Self, Problem> {
        let not = |why: &str| Problem::field("request_id", format!("names a request that {why}"));
        let endpoint = Endpoint::named(&row.endpoint).ok_or_else(|| not("asked no model"))?;
        let model = row.model_asked.as_deref().ok_or_else(|| not("was refused before its model was known"))?;
        let key_id = row.key_id.as_deref().ok_or_else(|| not("came with no known key"))?;
        let key = policy.keys.called(key_id).into_iter().find(|key| &*key.id == key_id);
        let prompt_tokens = prompt_tokens(row);
        let mut unknown = NEVER_KEPT;
        if prompt_tokens.is_none() {
            unknown = unknown.and(Fact::PromptTokens);
        }
        if key.is_none() {
            unknown = unknown.and(Fact::Caller);
        }
        Ok(Self { endpoint, model, key, unknown, row, key_id, prompt_tokens })
    }

    /// Shows it to `look`, at its own time or another (Unix milliseconds).
    pub(super) fn sampled<T>(&self, at: Option<i64>, look: impl FnOnce(&Sample<'_>) -> T) -> T {
        let (nobody, headers) = (Caller::default(), HeaderMap::new());
        look(&Sample {
            endpoint: self.endpoint,
            shape: self.endpoint.shape(),
            model: self.model,
            stream: self.row.stream,
            tools: false,
            images: false,
            max_tokens: None,
            end_user: None,
            headers: &headers,
            key_id: self.key_id,
            key_name: self.key.as_ref().map_or("", |key| &key.name),
            caller: self.key.as_ref().map_or(&nobody, |key| &key.caller),
            now: at.unwrap_or(self.row.started_at),
            random: random_bits(),
            prompt_tokens: &|| self.prompt_tokens.unwrap_or(0),
            metadata: &BTreeMap::new,
            unknown: self.unknown,
        })
    }
}

/// The size of the prompt as it was counted: by the gateway, or else by the provider.
fn prompt_tokens(row: &request_log::Model) -> Option<u64> {
    let parts = [row.input_uncached, row.cache_read, row.cache_write_5m, row.cache_write_1h];
    let told = row.input_uncached.map(|_| parts.into_iter().flatten().fold(0, i64::saturating_add));
    row.own_prompt_tokens.or(told).and_then(|tokens| u64::try_from(tokens).ok())
}
