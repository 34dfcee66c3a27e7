//! What rules look at: one request, real or made up.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use http::HeaderMap;

use super::cel::Values;
use super::{Owner, Unknown};
use crate::auth::Caller;
use crate::endpoint::Endpoint;
use crate::routing::ModelTable;
use crate::shape::Shape;

/// Everything a rule can ask about a request. What costs something to find out is asked only when a rule needs it.
#[derive(Clone, Copy)]
pub struct Sample<'a> {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Shape of the caller.
    pub shape: Shape,
    /// The model asked for, by any of its names.
    pub model: &'a str,
    /// Whether a stream is asked for.
    pub stream: bool,
    /// Whether tools are offered.
    pub tools: bool,
    /// Whether there are images.
    pub images: bool,
    /// The most tokens the answer may have, where that is given.
    pub max_tokens: Option<u64>,
    /// The end user the request names.
    pub end_user: Option<&'a str>,
    /// Header lines.
    pub headers: &'a HeaderMap,
    /// The key's id.
    pub key_id: &'a str,
    /// The key's name.
    pub key_name: &'a str,
    /// Who holds the key.
    pub caller: &'a Caller,
    /// Unix milliseconds.
    pub now: i64,
    /// A uniform number, for targets that are drawn.
    pub random: u64,
    /// The size of the prompt in tokens, roughly.
    pub prompt_tokens: &'a dyn Fn() -> u64,
    /// The metadata the client sent along.
    pub metadata: &'a dyn Fn() -> BTreeMap<String, String>,
    /// What is not known of the above; conditions on it are neither met nor unmet.
    pub unknown: Unknown,
}

impl std::fmt::Debug for Sample<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sample").field("model", &self.model).field("key", &self.key_name).finish_non_exhaustive()
    }
}

/// A sample with what was found out about it so far.
pub(super) struct Asked<'a> {
    pub(super) sample: &'a Sample<'a>,
    /// The canonical name of the model, where there is such a model, and else what was asked for.
    pub(super) model: &'a str,
    prompt_tokens: OnceCell<u64>,
    metadata: OnceCell<BTreeMap<String, String>>,
    pub(super) values: Values,
}

impl<'a> Asked<'a> {
    pub(super) fn new(sample: &'a Sample<'a>, models: &'a ModelTable) -> Self {
        let model = models.find(sample.model).map_or(sample.model, |model| &model.name);
        Self { sample, model, prompt_tokens: OnceCell::new(), metadata: OnceCell::new(), values: Values::default() }
    }

    pub(super) fn prompt_tokens(&self) -> u64 {
        *self.prompt_tokens.get_or_init(self.sample.prompt_tokens)
    }

    pub(super) fn metadata(&self) -> &BTreeMap<String, String> {
        self.metadata.get_or_init(self.sample.metadata)
    }

    pub(super) fn owner(&self) -> Option<&'a Owner> {
        self.sample.caller.owner.as_ref()
    }

    /// What a sticky choice is remembered by: the end user, where one is wanted and named, else the key.
    pub(super) fn sticks_to(&self, end_user: bool) -> &'a str {
        self.sample.end_user.filter(|_| end_user).unwrap_or(self.sample.key_id)
    }
}
