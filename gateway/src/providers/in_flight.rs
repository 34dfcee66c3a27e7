//! How many tries a provider has under way.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A count that every try changes twice, on a cache line of its own, so that it does not slow down what lies beside it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct InFlight(AtomicUsize);

impl InFlight {
    /// A try is under way.
    pub fn enter(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// It has ended.
    pub fn leave(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Tries under way.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
