//! Admission by the counters of this process.

use std::sync::Arc;

use parking_lot::MutexGuard;

use super::caps::applying;
use super::meter::{Counters, Meter, Meters};
use super::permit::Held;
use super::{Caps, Counted, Decision, Measure, Permit, Refusal, Scope, Standing};
use crate::auth::Key;

/// The counters of one process.
#[derive(Debug, Default)]
pub struct Limiter {
    global: Arc<Meter>,
    roles: Meters,
    keys: Meters,
}

/// A scope and its counters, held.
type Locked<'a> = Option<(&'a Counted, MutexGuard<'a, Counters>)>;

impl Limiter {
    /// Counts one request of `key` at `now` (milliseconds of a clock that never goes back) against every cap that applies, all or
    /// nothing, in the order global, role, key. `tokens` estimates what it will take; it is asked where tokens are capped.
    pub fn admit(&self, caps: &Caps, key: &Key, tokens: impl FnOnce() -> u64, now: u64) -> (Decision, Option<Box<Permit>>) {
        let applying = applying(caps, key);
        if applying.iter().all(Option::is_none) {
            return (Decision::Unlimited, None);
        }
        let tokens = if applying.iter().flatten().any(|(.., cap)| cap.tpm.is_some()) { tokens() } else { 0 };
        let mut held = applying.map(|found| {
            let (scope, id, cap) = found?;
            let reserved = cap.tpm.map_or(0, |most| tokens.min(most));
            let counted = Counted { scope, id: id.cloned(), cap, reserved };
            Some(Held { counted, meter: self.meter(scope, id, now), requests: now, tokens: now })
        });
        match count(&mut held, now) {
            Err(refusal) => (Decision::Refused(refusal), None),
            Ok(standing) => (Decision::Admitted(standing), Some(Box::new(Permit { held }))),
        }
    }

    fn meter(&self, scope: Scope, id: Option<&Arc<str>>, now: u64) -> Arc<Meter> {
        match (scope, id) {
            (Scope::Role, Some(id)) => self.roles.find(id, now),
            (Scope::Key, Some(id)) => self.keys.find(id, now),
            _ => self.global.clone(),
        }
    }

    /// Meters of roles and keys that exist.
    #[cfg(test)]
    pub(super) fn meters(&self) -> usize {
        self.roles.count() + self.keys.count()
    }
}

/// Holds every meter while deciding, always in the same order, so that no request is counted in one and refused in another.
fn count(held: &mut [Option<Held>; 3], now: u64) -> Result<Standing, Refusal> {
    let mut locked = held.each_ref().map(|held| held.as_ref().map(|held| (&held.counted, held.meter.lock())));
    check(&mut locked, now)?;
    let mut standing = Standing::default();
    let entries = locked.each_mut().map(|locked| {
        let (counted, counters) = locked.as_mut()?;
        let requests = counted.cap.rpm.map_or(now, |_| counters.requests.count(1, now));
        let tokens = counted.cap.tpm.map_or(now, |_| counters.tokens.count(counted.reserved, now));
        counters.running = counters.running.saturating_add(u32::from(counted.cap.parallel.is_some()));
        tell(&mut standing, counted, counters, now);
        Some((requests, tokens))
    });
    drop(locked);
    for (held, entries) in held.iter_mut().flatten().zip(entries.into_iter().flatten()) {
        (held.requests, held.tokens) = entries;
    }
    Ok(standing)
}

/// Whether the request fits everywhere; else the first cap it meets.
fn check(locked: &mut [Locked<'_>; 3], now: u64) -> Result<(), Refusal> {
    let met = locked.iter_mut().flatten().find_map(|(counted, counters)| {
        let (measure, limit, retry_after) = counters.check(&counted.cap, counted.reserved, now).err()?;
        let left = counters.left(&counted.cap, measure, now);
        Some((Refusal { scope: counted.scope, measure, limit, retry_after, standing: Standing::default() }, left))
    });
    let Some((mut refusal, left)) = met else { return Ok(()) };
    for (counted, counters) in locked.iter_mut().flatten() {
        tell(&mut refusal.standing, counted, counters, now);
    }
    match refusal.measure {
        Measure::Requests => refusal.standing.requests = left,
        Measure::Tokens => refusal.standing.tokens = left,
        Measure::Parallel => {}
    }
    Err(refusal)
}

fn tell(standing: &mut Standing, counted: &Counted, counters: &Counters, now: u64) {
    for measure in [Measure::Requests, Measure::Tokens] {
        if let Some(left) = counters.left(&counted.cap, measure, now) {
            standing.tighten(measure, left);
        }
    }
}

#[cfg(test)]
mod tests;
