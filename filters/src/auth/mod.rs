//! Who calls: service-issued keys, their secrets and the identity behind them.

mod caller;
mod filter;
mod secret;
mod table;

pub use caller::Caller;
pub use filter::{AuthFilter, may_call};
pub use secret::{KeySecret, Pepper, SecretHash};
pub use table::{KeyTable, Lookup};

use std::sync::Arc;

use crate::translate::Policy;

/// What an operator decided about a key. Revoked is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStatus {
    /// May be used until it expires.
    Active,
    /// Refused until it is made active again.
    Disabled,
    /// Refused for ever.
    Revoked,
}

/// The person or program a key belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A person, by user id.
    User(Arc<str>),
    /// A program, by agent id.
    Agent(Arc<str>),
}

/// Everything the request path knows about one key.
#[derive(Clone, Debug)]
pub struct Key {
    /// Database id.
    pub id: Arc<str>,
    /// Name the operator gave it.
    pub name: Arc<str>,
    /// Public part of a minted secret; `None` for a declared secret of another form.
    pub public_id: Option<Arc<str>>,
    /// Peppered hash of the secret.
    pub secret: SecretHash,
    /// Peppered hash of the secret before the last rotation, and the Unix milliseconds until which it is accepted.
    pub previous_secret: Option<(SecretHash, i64)>,
    /// Who it belongs to.
    pub owner: Owner,
    /// Team id.
    pub team: Option<Arc<str>>,
    /// Application id.
    pub application: Option<Arc<str>>,
    /// Role id.
    pub role: Option<Arc<str>>,
    /// Names the key may call, canonical or alias; `None` for every model.
    pub allowed_models: Option<Vec<Arc<str>>>,
    /// Requests per sliding minute; `None` for no limit, 0 to block.
    pub rpm_limit: Option<u32>,
    /// Tokens per sliding minute; `None` for no limit, 0 to block.
    pub tpm_limit: Option<u64>,
    /// Requests at the same time; `None` for no limit, 0 to block.
    pub max_parallel: Option<u32>,
    /// Unix milliseconds after which the key is refused.
    pub expires_at: Option<i64>,
    /// Status set by an operator.
    pub status: KeyStatus,
    /// Its holder by name, for rules.
    pub caller: Caller,
    /// Tags as a JSON object; `None` without tags.
    pub tags: Option<Arc<str>>,
    /// What is done about fields a provider of another shape has no words for; `None` as the model says.
    pub translation: Option<Policy>,
}
