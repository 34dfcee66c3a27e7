//! The configuration a request is served under: immutable, replaced as a whole, read without waiting.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use svc_filters::policy::Policy;

use crate::conf::TimeoutOverrides;
use crate::providers::{Position, Provider};

/// Everything that can change while the gateway runs.
#[derive(Debug)]
pub struct Snapshot {
    /// The database's revision this was read at.
    pub revision: i64,
    /// When it was read.
    pub loaded: Instant,
    /// What the filters consult.
    pub policy: Policy,
    /// Time-outs of models that have their own, by canonical name.
    pub timeouts: HashMap<Arc<str>, TimeoutOverrides>,
    /// Breakers an operator holds.
    pub held: Vec<Held>,
    /// Providers by name.
    pub providers: HashMap<Arc<str>, Arc<Provider>>,
    /// What each provider was made from, by its name, so that an unchanged one is taken over.
    pub fingerprints: HashMap<Arc<str>, Fingerprint>,
}

impl Snapshot {
    /// The order by which an operator holds the breaker of a provider's model.
    #[must_use]
    pub fn held(&self, provider: &str, model: &str, now: Instant) -> Option<&Held> {
        let concerns = |held: &&Held| {
            *held.provider == *provider
                && held.model.as_deref().is_none_or(|held| held == model)
                && held.until.is_none_or(|until| until > now)
        };
        // What names the model goes before what concerns all of them.
        self.held.iter().filter(concerns).max_by_key(|held| held.model.is_some())
    }
}

/// A breaker an operator holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The provider.
    pub provider: Arc<str>,
    /// The model's name there; none = all of them.
    pub model: Option<Arc<str>>,
    /// Where it is held.
    pub position: Position,
    /// Why.
    pub reason: Arc<str>,
    /// Until when.
    pub until: Option<Instant>,
}

/// A digest of the rows a provider was made from.
pub type Fingerprint = [u8; 32];

/// The snapshot in force.
#[derive(Debug)]
pub struct Live(ArcSwap<Snapshot>);

impl Live {
    /// Puts the first snapshot in force.
    #[must_use]
    pub fn new(snapshot: Snapshot) -> Self {
        Self(ArcSwap::from_pointee(snapshot))
    }

    /// The snapshot in force, to be kept.
    #[must_use]
    pub fn hold(&self) -> Arc<Snapshot> {
        self.0.load_full()
    }

    /// Puts a newer snapshot in force.
    pub fn replace(&self, snapshot: Snapshot) {
        self.0.store(Arc::new(snapshot));
    }
}
