//! What an admitted request holds until it has ended.

use std::sync::Arc;

use super::meter::Meter;
use super::{Cap, Scope};

/// The counts of one admitted request. Dropping it lets the next request run; its requests and tokens stay counted for their
/// minute unless [`Self::settle`] or [`Self::withdraw`] says otherwise.
#[derive(Debug)]
pub struct Permit {
    pub(super) held: [Option<Held>; 3],
}

/// The counts of one request in one meter.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) counted: Counted,
    pub(super) meter: Arc<Meter>,
    /// Entries of the windows the request is counted in.
    pub(super) requests: u64,
    pub(super) tokens: u64,
}

/// A scope a request is counted in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Whose cap it is.
    pub scope: Scope,
    /// Id of the role or key; `None` for the global scope.
    pub id: Option<Arc<str>>,
    /// The caps.
    pub cap: Cap,
    /// Tokens counted for the request so far: the estimate, at most the cap.
    pub reserved: u64,
}

impl Permit {
    /// The scopes the request is counted in, in the order global, role, key.
    pub fn counted(&self) -> impl Iterator<Item = &Counted> {
        self.held.iter().flatten().map(|held| &held.counted)
    }

    /// Whether there is anything to settle or to release when the request ends.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.counted().any(|counted| counted.cap.tpm.is_some() || counted.cap.parallel.is_some())
    }

    /// Puts the tokens the request took in place of the estimate: what it did not take can be used again at once, and what it
    /// took beyond counts from `now`.
    pub fn settle(&mut self, tokens: u64, now: u64) {
        for held in self.held.iter_mut().flatten().filter(|held| held.counted.cap.tpm.is_some()) {
            let reserved = std::mem::replace(&mut held.counted.reserved, tokens);
            let mut counters = held.meter.lock();
            match tokens.checked_sub(reserved) {
                Some(0) => {}
                Some(more) => {
                    counters.tokens.count(more, now);
                }
                None => counters.tokens.take_back(held.tokens, reserved - tokens),
            }
        }
    }

    /// Takes all counts back, as if the request had not come.
    pub fn withdraw(self) {
        for held in self.held.iter().flatten() {
            let mut counters = held.meter.lock();
            if held.counted.cap.rpm.is_some() {
                counters.requests.take_back(held.requests, 1);
            }
            counters.tokens.take_back(held.tokens, held.counted.reserved);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        for held in self.held.iter().flatten().filter(|held| held.counted.cap.parallel.is_some()) {
            let mut counters = held.meter.lock();
            counters.running = counters.running.saturating_sub(1);
        }
    }
}
