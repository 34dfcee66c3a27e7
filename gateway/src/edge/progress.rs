//! How far the head of a connection's current request has come.

use std::sync::atomic::{AtomicU8, Ordering};

const NOTHING: u8 = 0;
const BEGUN: u8 = 1;
const WHOLE: u8 = 2;

/// Told by the connection, and looked at by who bounds the time.
#[derive(Debug, Default)]
pub(super) struct Progress(AtomicU8);

impl Progress {
    /// Another request is waited for.
    pub(super) fn begin_anew(&self) {
        self.0.store(NOTHING, Ordering::Relaxed);
    }

    /// Something has arrived.
    pub(super) fn arrived(&self) {
        if self.0.load(Ordering::Relaxed) == NOTHING {
            self.0.store(BEGUN, Ordering::Relaxed);
        }
    }

    /// The head is whole.
    pub(super) fn complete(&self) {
        self.0.store(WHOLE, Ordering::Relaxed);
    }

    /// Whether a part of the head has arrived.
    pub(super) fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed) != NOTHING
    }

    /// Whether the head is whole.
    pub(super) fn is_whole(&self) -> bool {
        self.0.load(Ordering::Relaxed) == WHOLE
    }
}
