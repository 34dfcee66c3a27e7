//! The configuration a request is served under: immutable, replaced as a whole, read without waiting.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use svc_filters::policy::Policy;

use crate::providers::Provider;

/// Everything that can change while the gateway runs.
#[derive(Debug)]
pub struct Snapshot {
    /// The database's revision this was read at.
    pub revision: i64,
    /// When it was read.
    pub loaded: Instant,
    /// What the filters consult.
    pub policy: Policy,
    /// Providers by name.
    pub providers: HashMap<Arc<str>, Arc<Provider>>,
    /// What each provider was made from, by its name, so that an unchanged one is taken over.
    pub fingerprints: HashMap<Arc<str>, Fingerprint>,
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
