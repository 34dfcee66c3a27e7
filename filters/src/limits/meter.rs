//! The counters of one scope, and the meters of all keys or roles.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};

use super::decision::Left;
use super::window::Window;
use super::{Cap, Measure};

/// Parts of the map that are swept one at a time.
const SHARDS: usize = 64;
/// How often every part is swept, in milliseconds.
const SWEPT_EVERY: u64 = 12_800;
/// When a caller may ask again that found too many requests running: nobody knows when one of them ends.
const RUNNING_RETRY: Duration = Duration::from_secs(1);

/// The counters of one scope, behind one lock.
pub(super) type Meter = Mutex<Counters>;

/// What was used of the caps of one scope.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) requests: Window,
    pub(super) tokens: Window,
    pub(super) running: u32,
}

impl Counters {
    /// Whether one more request that reserves `tokens` fits under `cap`; else the cap it meets and the wait.
    pub(super) fn check(&mut self, cap: &Cap, tokens: u64, now: u64) -> Result<(), (Measure, u64, Duration)> {
        if let Some(rpm) = cap.rpm.map(u64::from) {
            self.requests.check(1, rpm, now).map_err(|wait| (Measure::Requests, rpm, wait))?;
        }
        if let Some(tpm) = cap.tpm {
            self.tokens.check(tokens, tpm, now).map_err(|wait| (Measure::Tokens, tpm, wait))?;
        }
        match cap.parallel {
            Some(most) if self.running >= most => Err((Measure::Parallel, u64::from(most), RUNNING_RETRY)),
            _ => Ok(()),
        }
    }

    /// What is left of the cap on that measure.
    pub(super) fn left(&self, cap: &Cap, measure: Measure, now: u64) -> Option<Left> {
        let (limit, window) = match measure {
            Measure::Requests => (u64::from(cap.rpm?), &self.requests),
            Measure::Tokens => (cap.tpm?, &self.tokens),
            Measure::Parallel => return None,
        };
        Some(Left { limit, remaining: limit.saturating_sub(window.used()), reset: window.empties(now) })
    }

    fn is_idle(&mut self, now: u64) -> bool {
        self.requests.is_idle(now) & self.tokens.is_idle(now) && self.running == 0
    }
}

/// The meters of all keys, or of all roles. Those that count nothing any more are dropped in passing, a small part of the map at
/// a time.
#[derive(Debug)]
pub(super) struct Meters {
    shards: Vec<RwLock<HashMap<Arc<str>, Arc<Meter>>>>,
    next_sweep: AtomicU64,
    turn: AtomicUsize,
}

impl Default for Meters {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| RwLock::default()).collect(), next_sweep: AtomicU64::new(0), turn: AtomicUsize::new(0) }
    }
}

impl Meters {
    /// The meter of that id.
    pub(super) fn find(&self, id: &Arc<str>, now: u64) -> Arc<Meter> {
        self.sweep_in_turn(now);
        let Some(shard) = self.shards.get(shard_of(id)) else { return Arc::default() };
        if let Some(meter) = shard.read().get(id) {
            return meter.clone();
        }
        shard.write().entry(id.clone()).or_default().clone()
    }

    /// Meters that exist.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().len()).sum()
    }

    fn sweep_in_turn(&self, now: u64) {
        let due = self.next_sweep.load(Ordering::Relaxed);
        let next = now.saturating_add(SWEPT_EVERY / SHARDS as u64);
        if now < due || self.next_sweep.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % SHARDS;
        let Some(mut shard) = self.shards.get(turn).and_then(RwLock::try_write) else { return };
        // Nobody can take a meter while the map is locked, so one without other holders stays so.
        shard.retain(|_, meter| Arc::strong_count(meter) > 1 || !meter.lock().is_idle(now));
        if shard.capacity() > 4 * shard.len() {
            shard.shrink_to_fit();
        }
    }
}

fn shard_of(id: &str) -> usize {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    usize::try_from(hasher.finish() % SHARDS as u64).unwrap_or(0)
}
