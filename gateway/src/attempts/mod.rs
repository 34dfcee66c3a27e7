//! The tries of one request: the plan, the target and credential in use, and what became of each.

mod judge;
mod made;
mod retry_after;

pub use judge::{Judgement, judge};
pub use made::{CREDENTIAL, GONE, QUEUE, STALE, UNSENDABLE};
pub use retry_after::retry_after;

use std::sync::Arc;
use std::time::{Duration, Instant};

use svc_filters::routing::Target;

use self::made::{Made, RENEWED, SIGNATURE};
use crate::exchange::micros;
use crate::providers::{Pass, Position, Provider, SelectedKey, Slot, Turn};
use crate::state::Gateway;
use crate::store::{AttemptView, Snapshot, TryRecord};

/// Tries per request, over all targets and credentials.
const MOST: usize = 12;

/// Plan and progress.
#[derive(Default)]
pub struct Attempts {
    plan: Vec<Arc<Target>>,
    place: usize,
    tried_keys: u64,
    made: Vec<Made>,
    repeat: bool,
    bare: bool,
    last_rejected: bool,
}

impl Attempts {
    /// Sets the order of targets.
    pub fn follow(&mut self, plan: Vec<Arc<Target>>) {
        self.plan = plan;
        self.place = 0;
        self.tried_keys = 0;
    }

    /// Begins the next try: the next credential of the current target, else the next target. Targets whose breaker is open, or
    /// whose credentials all rest, are passed over, unless that leaves none at all: then the one due soonest is tried. `None` when nothing is left.
    pub fn begin(&mut self, gateway: &Gateway, snapshot: &Snapshot, now_ms: u64) -> Option<(Arc<Target>, Arc<Provider>)> {
        let now = Instant::now();
        if std::mem::take(&mut self.repeat) {
            return self.again(gateway, now);
        }
        while self.made.len() < MOST {
            let Some(target) = self.plan.get(self.place).cloned() else { return self.last_resort(gateway, snapshot, now, now_ms) };
            if let Some((provider, key)) = self.candidate(&target, snapshot, now_ms)
                && provider.is_rested(self.tried_keys, now_ms)
                && let Ok(pass) = enter(snapshot, &provider, &target, now)
            {
                return Some(self.make(gateway, (target, provider), key, pass, now));
            }
            self.skip_target();
        }
        None
    }

    /// The target whose breaker is due soonest, where all are open and none was tried.
    fn last_resort(&mut self, gateway: &Gateway, snapshot: &Snapshot, now: Instant, now_ms: u64) -> Option<(Arc<Target>, Arc<Provider>)> {
        if !self.made.is_empty() {
            return None;
        }
        let mut due: Vec<(Instant, usize)> = Vec::new();
        for (place, target) in self.plan.iter().enumerate() {
            if let Some(provider) = snapshot.providers.get(&target.provider) {
                let entered = enter(snapshot, provider, target, now);
                due.extend(entered.map_or_else(|due| due, |_| Some(now)).map(|due| (due, place)));
            }
        }
        self.place = due.into_iter().min()?.1;
        self.tried_keys = 0;
        let target = self.plan.get(self.place)?.clone();
        let (provider, key) = self.candidate(&target, snapshot, now_ms)?;
        let pass = provider.breaker(&target.upstream_model).enter_anyway();
        Some(self.make(gateway, (target, provider), key, Some(pass), now))
    }

    fn make(
        &mut self,
        gateway: &Gateway,
        (target, provider): (Arc<Target>, Arc<Provider>),
        key: Option<SelectedKey>,
        pass: Option<Pass>,
        started: Instant,
    ) -> (Arc<Target>, Arc<Provider>) {
        if let Some(key) = &key {
            self.tried_keys |= crate::providers::bit(key.index);
        }
        let half_opened = pass.as_ref().is_some_and(Pass::half_opened);
        if let Some(before) = self.made.last_mut() {
            before.leave();
        }
        let mut made = Made {
            target: self.place,
            model: target.upstream_model.clone(),
            provider: provider.clone(),
            key,
            started,
            status: 0,
            failure: "",
            us: 0,
            broke: None,
            pass,
            slot: None,
            queue_us: None,
            under_way: false,
        };
        if provider.queue().is_none() {
            made.enter();
        }
        if half_opened {
            made.announce(gateway, Some(Turn { from: Position::Open, to: Position::HalfOpen }));
        }
        // One is enough for nearly all.
        self.made.reserve_exact(1);
        self.made.push(made);
        (target, provider)
    }

    /// Notes how long the current try has stood in its provider's queue.
    pub fn queued(&mut self, time: Duration) {
        if let Some(made) = self.made.last_mut() {
            made.queue_us = Some(micros(time));
        }
    }

    /// Microseconds that all tries have stood in queues.
    #[must_use]
    pub fn queue_us(&self) -> u64 {
        self.made.iter().filter_map(|made| made.queue_us).fold(0, u64::saturating_add)
    }

    /// Keeps the place at the provider that the current try has waited for.
    pub fn take_place(&mut self, slot: Slot) {
        if let Some(made) = self.made.last_mut() {
            made.slot = Some(slot);
            made.enter();
        }
    }

    /// Ends the current try, which a provider refused, and lets the next one repeat it without continuity tokens; once a request.
    pub fn bare(&mut self, gateway: &Gateway, status: u16) -> bool {
        if self.bare {
            return false;
        }
        self.bare = true;
        self.conclude(gateway, status, SIGNATURE);
        self.repeat()
    }

    /// Whether the current try goes without continuity tokens.
    #[must_use]
    pub const fn is_bare(&self) -> bool {
        self.bare
    }

    /// Lets the next try repeat the last one, after a pooled connection turned out to be closed. `false` when too many were made.
    pub fn repeat(&mut self) -> bool {
        self.repeat = self.made.len() < MOST;
        self.repeat
    }

    /// Ends the current try and lets the next one repeat it with a renewed credential; once for each credential and target.
    pub fn renew(&mut self, gateway: &Gateway, status: u16) -> bool {
        let place = |made: &Made| (made.target, made.key.as_ref().map(|key| key.index));
        let Some(last) = self.made.last().map(place) else { return false };
        if self.made.iter().any(|made| made.failure == RENEWED && place(made) == last) {
            return false;
        }
        self.conclude(gateway, status, RENEWED);
        self.repeat()
    }

    /// Whether another try is possible after this one.
    #[must_use]
    pub fn has_next(&self, snapshot: &Snapshot, now_ms: u64) -> bool {
        if self.made.len() >= MOST {
            return false;
        }
        let now = Instant::now();
        let serves = |target: &Target, tried: u64| {
            let provider = snapshot.providers.get(&target.provider).filter(|provider| provider.is_rested(tried, now_ms));
            provider.is_some_and(|provider| match snapshot.held(provider.name(), &target.upstream_model, now) {
                Some(held) => held.position == Position::Closed,
                None => provider.breaker(&target.upstream_model).would_pass(now),
            })
        };
        let here = self.plan.get(self.place).is_some_and(|target| self.other_key(target, snapshot) && serves(target, self.tried_keys));
        here || self.plan.get(self.place + 1..).is_some_and(|rest| rest.iter().any(|target| serves(target, 0)))
    }

    /// The target that is to be tried first.
    #[must_use]
    pub fn first(&self) -> Option<&Target> {
        self.plan.first().map(|target| &**target)
    }

    /// Leaves the current target for the next one.
    pub fn skip_target(&mut self) {
        self.place += 1;
        self.tried_keys = 0;
    }

    /// The answer of the current try is delivered after all, failure or not.
    pub fn deliver(&mut self) {
        if let Some(made) = self.made.last_mut() {
            made.failure = "";
        }
    }

    /// Notes how the current try ended. An empty failure means that its answer is delivered.
    pub fn conclude(&mut self, gateway: &Gateway, status: u16, failure: &'static str) {
        if let Some(made) = self.made.last_mut()
            && made.us == 0
        {
            made.conclude(gateway, status, failure);
        }
    }

    /// The answer is one: the provider works.
    pub fn vouch(&mut self, gateway: &Gateway) {
        if let Some(made) = self.made.last_mut() {
            made.succeeded(gateway, Instant::now());
        }
    }

    /// Notes a failure after the answer had begun, which speaks against the provider where nothing of it was of use yet.
    pub fn broke(&mut self, gateway: &Gateway, failure: &'static str) {
        if let Some(made) = self.made.last_mut() {
            let now = Instant::now();
            made.failure = failure;
            made.broke = Some(now);
            if failure == GONE { made.pass = None } else { made.failed(gateway, now) }
        }
    }

    /// The target of the last try.
    #[must_use]
    pub fn current(&self) -> Option<&Target> {
        self.plan.get(self.made.last()?.target).map(|target| &**target)
    }

    /// The credential of the last try.
    #[must_use]
    pub fn key(&self) -> Option<&SelectedKey> {
        self.made.last()?.key.as_ref()
    }

    /// The provider of the last try.
    #[must_use]
    pub fn provider(&self) -> Option<&Arc<Provider>> {
        Some(&self.made.last()?.provider)
    }

    /// Number of tries so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.made.len()
    }

    /// Whether every try so far ended in this failure.
    #[must_use]
    pub fn all_failed_by(&self, failure: &str) -> bool {
        !self.made.is_empty() && self.made.iter().all(|made| made.failure == failure)
    }

    /// Remembers that the provider refused our credential.
    pub fn credential_refused(&mut self) {
        self.last_rejected = true;
    }

    /// Whether a provider refused our credential.
    #[must_use]
    pub fn was_refused(&self) -> bool {
        self.last_rejected
    }

    /// The tries as the record keeps them.
    #[must_use]
    pub fn records(&self) -> Vec<AttemptView<'_>> {
        let views = self.made.iter().map(|made| AttemptView {
            provider: made.provider.name(),
            model: self.plan.get(made.target).map_or("", |target| &*target.upstream_model),
            status: made.status,
            failure: made.failure,
            us: made.us,
            queue_us: made.queue_us,
        });
        views.collect()
    }

    /// What the spans of the tries need beside those, for a request that began at `started`; a try that has not ended lasts until `now`.
    #[must_use]
    pub fn traced(&self, started: Instant, now: Instant) -> Vec<TryRecord<&str>> {
        let tries = self.made.iter().map(|made| {
            let (host, port) = made.provider.server();
            TryRecord {
                after_us: micros(made.started.saturating_duration_since(started)),
                lasted_us: micros(made.lasted(now)),
                kind: made.provider.kind().as_str(),
                host,
                port,
            }
        });
        tries.collect()
    }

    fn again(&mut self, gateway: &Gateway, now: Instant) -> Option<(Arc<Target>, Arc<Provider>)> {
        let last = self.made.last()?;
        let (place, provider, key) = (last.target, last.provider.clone(), last.key.clone());
        let target = self.plan.get(place)?.clone();
        let pass = provider.breaker(&target.upstream_model).enter(now).ok();
        self.place = place;
        Some(self.make(gateway, (target, provider), key, pass, now))
    }

    /// The provider and credential for a target, where one is untried. A provider without credentials is tried once.
    fn candidate(&self, target: &Target, snapshot: &Snapshot, now_ms: u64) -> Option<(Arc<Provider>, Option<SelectedKey>)> {
        let provider = snapshot.providers.get(&target.provider)?;
        if provider.keys().is_empty() {
            return (!self.tried_here()).then(|| (provider.clone(), None));
        }
        let key = provider.keys().select(self.tried_keys, now_ms)?;
        Some((provider.clone(), Some(key)))
    }

    fn other_key(&self, target: &Target, snapshot: &Snapshot) -> bool {
        let Some(provider) = snapshot.providers.get(&target.provider) else { return false };
        if provider.keys().is_empty() { !self.tried_here() } else { provider.keys().has_untried(self.tried_keys) }
    }

    fn tried_here(&self) -> bool {
        self.made.last().is_some_and(|made| made.target == self.place)
    }
}

/// Asks the breaker for leave, unless an operator holds it; says when it is worth asking again.
fn enter(snapshot: &Snapshot, provider: &Provider, target: &Target, now: Instant) -> Result<Option<Pass>, Option<Instant>> {
    match snapshot.held(provider.name(), &target.upstream_model, now).map(|held| held.position) {
        Some(Position::Closed) => Ok(None),
        Some(_) => Err(None),
        None => provider.breaker(&target.upstream_model).enter(now).map(Some).map_err(Some),
    }
}
