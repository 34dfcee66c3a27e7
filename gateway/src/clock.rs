//! Time, through one seam.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Wall clock and a monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

impl Default for Clock {
    fn default() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Clock {
    /// Unix milliseconds.
    #[must_use]
    pub fn unix_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    /// Milliseconds that never go back, from the start of the process. Starts at two minutes, past any window counted back from it.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.ticks_at(Instant::now())
    }

    /// The same for a time already taken.
    #[must_use]
    pub fn ticks_at(&self, at: Instant) -> u64 {
        120_000 + u64::try_from(at.saturating_duration_since(self.origin).as_millis()).unwrap_or(u64::MAX)
    }
}
