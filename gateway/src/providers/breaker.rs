//! Circuit breakers: whether a model of a provider is asked at all.
//!
//! A breaker opens after failures in a row, or when too large a share of the recent tries failed. After a pause it lets one real
//! request through at a time; two that succeed close it, one that fails opens it for twice as long.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use rand::Rng;

use crate::conf;

/// Successes that close a half-open breaker.
const CLOSING: u32 = 2;
/// Slices of the window in which failures are counted.
const SLICES: u32 = 10;
/// How far the pause is off its nominal length at the most, so that gateways do not come back all at once: in percent.
const JITTER: u32 = 20;

/// Where a breaker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Requests pass.
    Closed,
    /// None passes.
    Open,
    /// One passes at a time.
    HalfOpen,
}

impl Position {
    /// The word of logs and events.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

/// A change of position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Where the breaker stood.
    pub from: Position,
    /// Where it stands.
    pub to: Position,
}

/// The breakers of one provider, by model.
#[derive(Debug)]
pub struct Breakers {
    conf: conf::Breaker,
    by_model: RwLock<HashMap<Arc<str>, Arc<Breaker>>>,
}

impl Breakers {
    /// Breakers that are all closed.
    #[must_use]
    pub fn new(conf: conf::Breaker) -> Self {
        Self { conf, by_model: RwLock::default() }
    }

    /// The breaker of a model.
    #[must_use]
    pub fn of(&self, model: &Arc<str>) -> Arc<Breaker> {
        if let Some(breaker) = self.by_model.read().get(model) {
            return breaker.clone();
        }
        self.by_model.write().entry(model.clone()).or_insert_with(|| Arc::new(Breaker::new(self.conf.clone()))).clone()
    }

    /// The breaker of a model that was asked before.
    #[must_use]
    pub fn find(&self, model: &str) -> Option<Arc<Breaker>> {
        self.by_model.read().get(model).cloned()
    }
}

/// The breaker of one model of one provider.
#[derive(Debug)]
pub struct Breaker {
    conf: conf::Breaker,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    in_a_row: u32,
    /// How often it opened since it was last closed.
    trips: u32,
    window: Window,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Closed,
    Open { until: Instant },
    HalfOpen { probing: bool, succeeded: u32 },
}

impl Breaker {
    /// A closed breaker.
    #[must_use]
    pub fn new(conf: conf::Breaker) -> Self {
        let window = Window::new(*conf.window);
        Self { conf, state: Mutex::new(State { phase: Phase::Closed, in_a_row: 0, trips: 0, window }) }
    }

    /// Lets one request through, or says when the next may come.
    ///
    /// # Errors
    /// The time at which it is worth asking again.
    pub fn enter(self: &Arc<Self>, now: Instant) -> Result<Pass, Instant> {
        let mut state = self.state.lock();
        let kind = match &mut state.phase {
            Phase::Closed => Kind::Plain,
            Phase::Open { until } if *until > now => return Err(*until),
            Phase::HalfOpen { probing: true, .. } => return Err(now),
            Phase::HalfOpen { probing, .. } => {
                *probing = true;
                Kind::Probe
            }
            Phase::Open { .. } => {
                state.phase = Phase::HalfOpen { probing: true, succeeded: 0 };
                Kind::FirstProbe
            }
        };
        Ok(Pass { breaker: self.clone(), kind })
    }

    /// Lets a request through whatever the position: every other target is worse.
    #[must_use]
    pub fn enter_anyway(self: &Arc<Self>) -> Pass {
        Pass { breaker: self.clone(), kind: Kind::Probe }
    }

    /// Whether [`Breaker::enter`] would let a request through.
    #[must_use]
    pub fn would_pass(&self, now: Instant) -> bool {
        match self.state.lock().phase {
            Phase::Closed | Phase::HalfOpen { probing: false, .. } => true,
            Phase::HalfOpen { .. } => false,
            Phase::Open { until } => until <= now,
        }
    }

    /// Where it stands, and until when where it is open.
    #[must_use]
    pub fn standing(&self, now: Instant) -> (Position, Option<Instant>) {
        match self.state.lock().phase {
            Phase::Closed => (Position::Closed, None),
            Phase::Open { until } if until > now => (Position::Open, Some(until)),
            Phase::Open { .. } | Phase::HalfOpen { .. } => (Position::HalfOpen, None),
        }
    }

    fn succeeded(&self, probe: bool, now: Instant) -> Option<Turn> {
        let mut state = self.state.lock();
        match (&mut state.phase, probe) {
            (Phase::Closed, _) => {
                state.in_a_row = 0;
                state.window.count(now, false);
                None
            }
            (Phase::HalfOpen { probing, succeeded }, true) => {
                *probing = false;
                *succeeded += 1;
                let closes = *succeeded >= CLOSING;
                closes.then(|| state.close(*self.conf.window))
            }
            (Phase::Open { .. }, true) => {
                state.phase = Phase::HalfOpen { probing: false, succeeded: 1 };
                Some(Turn { from: Position::Open, to: Position::HalfOpen })
            }
            // What was asked before it opened tells nothing about now.
            (Phase::Open { .. } | Phase::HalfOpen { .. }, false) => None,
        }
    }

    fn failed(&self, probe: bool, now: Instant) -> Option<Turn> {
        let mut state = self.state.lock();
        match (state.phase, probe) {
            (Phase::Closed, _) => {
                state.in_a_row += 1;
                state.window.count(now, true);
                let (all, failed) = state.window.counts();
                let many = all >= self.conf.min_requests && f64::from(failed) >= self.conf.failure_ratio * f64::from(all);
                let opens = self.conf.enabled && (state.in_a_row >= self.conf.consecutive_failures || many);
                opens.then(|| state.open(Position::Closed, &self.conf, now))
            }
            (Phase::HalfOpen { .. }, true) => Some(state.open(Position::HalfOpen, &self.conf, now)),
            (Phase::Open { .. }, _) | (Phase::HalfOpen { .. }, false) => None,
        }
    }

    /// The probe ended without telling anything.
    fn unused(&self) {
        if let Phase::HalfOpen { probing, .. } = &mut self.state.lock().phase {
            *probing = false;
        }
    }
}

impl State {
    fn open(&mut self, from: Position, conf: &conf::Breaker, now: Instant) -> Turn {
        let nominal = conf.open.saturating_mul(1_u32.checked_shl(self.trips).unwrap_or(u32::MAX)).min(*conf.max_open);
        let percent = rand::rng().random_range(100 - JITTER..=100 + JITTER);
        self.trips = self.trips.saturating_add(1);
        self.phase = Phase::Open { until: now + nominal * percent / 100 };
        Turn { from, to: Position::Open }
    }

    fn close(&mut self, window: Duration) -> Turn {
        *self = Self { phase: Phase::Closed, in_a_row: 0, trips: 0, window: Window::new(window) };
        Turn { from: Position::HalfOpen, to: Position::Closed }
    }
}

/// One request on its way. Dropped without a verdict it tells nothing: the client may have left.
#[derive(Debug)]
pub struct Pass {
    breaker: Arc<Breaker>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Probe,
    /// The one whose leave changed the position.
    FirstProbe,
    Told,
}

impl Pass {
    /// Whether it changed the breaker's position to half-open.
    #[must_use]
    pub fn half_opened(&self) -> bool {
        self.kind == Kind::FirstProbe
    }

    /// The provider answered. Gives the breaker's turn, where that moves it.
    pub fn succeeded(mut self, now: Instant) -> Option<Turn> {
        let probe = self.tell();
        self.breaker.succeeded(probe, now)
    }

    /// The provider failed. Gives the breaker's turn, where that moves it.
    pub fn failed(mut self, now: Instant) -> Option<Turn> {
        let probe = self.tell();
        self.breaker.failed(probe, now)
    }

    fn tell(&mut self) -> bool {
        let kind = std::mem::replace(&mut self.kind, Kind::Told);
        kind != Kind::Plain
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if matches!(self.kind, Kind::Probe | Kind::FirstProbe) {
            self.breaker.unused();
        }
    }
}

/// Tries of the last while, in slices.
#[derive(Debug)]
struct Window {
    began: Instant,
    slice: Duration,
    newest: u128,
    all: [u32; SLICES as usize],
    failed: [u32; SLICES as usize],
}

impl Window {
    fn new(length: Duration) -> Self {
        let slice = (length / SLICES).max(Duration::from_millis(1));
        Self { began: Instant::now(), slice, newest: 0, all: [0; SLICES as usize], failed: [0; SLICES as usize] }
    }

    fn count(&mut self, now: Instant, failed: bool) {
        let slice = now.saturating_duration_since(self.began).as_nanos() / self.slice.as_nanos();
        let passed = slice.saturating_sub(self.newest).min(u128::from(SLICES));
        for step in 1..=passed {
            let place = place(slice - passed + step);
            self.all.get_mut(place).into_iter().chain(self.failed.get_mut(place)).for_each(|count| *count = 0);
        }
        self.newest = self.newest.max(slice);
        let place = place(self.newest);
        self.all.get_mut(place).into_iter().for_each(|count| *count += 1);
        self.failed.get_mut(place).into_iter().for_each(|count| *count += u32::from(failed));
    }

    fn counts(&self) -> (u32, u32) {
        (self.all.iter().sum(), self.failed.iter().sum())
    }
}

fn place(slice: u128) -> usize {
    usize::try_from(slice % u128::from(SLICES)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(from: Position, to: Position) -> Option<Turn> {
        Some(Turn { from, to })
    }

    fn breaker() -> Arc<Breaker> {
        Arc::new(Breaker::new(conf::Breaker::default()))
    }

    fn pass(breaker: &Arc<Breaker>, now: Instant) -> Pass {
        breaker.enter(now).expect("it lets requests through")
    }

    fn open(breaker: &Arc<Breaker>, now: Instant) {
        for _ in 0..5 {
            pass(breaker, now).failed(now);
        }
        assert_eq!(breaker.standing(now).0, Position::Open);
    }

    #[test]
    fn failures_in_a_row_open_it_and_a_success_between_starts_anew() {
        let (breaker, now) = (breaker(), Instant::now());
        for _ in 0..4 {
            assert_eq!(pass(&breaker, now).failed(now), None);
        }
        assert_eq!(pass(&breaker, now).succeeded(now), None);
        for _ in 0..4 {
            assert_eq!(pass(&breaker, now).failed(now), None);
        }
        assert_eq!(pass(&breaker, now).failed(now), turn(Position::Closed, Position::Open));
        assert!(breaker.enter(now).is_err() && !breaker.would_pass(now));
    }

    #[test]
    fn half_of_twenty_within_the_window_open_it() {
        let (breaker, start) = (breaker(), Instant::now());
        let mut opened = Vec::new();
        for count in 0..20 {
            let now = start + Duration::from_secs(count);
            let pass = pass(&breaker, now);
            opened.push(if count % 2 == 0 { pass.succeeded(now) } else { pass.failed(now) });
        }
        assert_eq!(opened.pop(), Some(turn(Position::Closed, Position::Open)), "the twentieth is the tenth failure");
        assert!(opened.iter().all(Option::is_none));
    }

    #[test]
    fn what_is_older_than_the_window_does_not_count() {
        let (breaker, start) = (breaker(), Instant::now());
        for count in 0..18 {
            let pass = pass(&breaker, start);
            if count % 2 == 0 {
                pass.succeeded(start)
            } else {
                pass.failed(start)
            };
        }
        let later = start + Duration::from_secs(31);
        for count in 0..18 {
            let pass = pass(&breaker, later);
            assert_eq!(if count % 2 == 0 { pass.succeeded(later) } else { pass.failed(later) }, None, "{count}");
        }
    }

    #[test]
    fn after_its_pause_it_lets_one_through_at_a_time_and_two_successes_close_it() {
        let (breaker, start) = (breaker(), Instant::now());
        open(&breaker, start);
        assert!(breaker.enter(start + Duration::from_secs(23)).is_err(), "30 s less a fifth");
        let later = start + Duration::from_secs(37);
        let probe = pass(&breaker, later);
        assert!(probe.half_opened());
        assert!(breaker.enter(later).is_err(), "one at a time");
        drop(probe);
        assert_eq!(pass(&breaker, later).succeeded(later), None, "the client of the first left, which tells nothing");
        assert_eq!(pass(&breaker, later).succeeded(later), turn(Position::HalfOpen, Position::Closed));
        assert_eq!(breaker.standing(later).0, Position::Closed);
    }

    #[test]
    fn each_failed_probe_doubles_the_pause_up_to_its_bound() {
        let (breaker, mut now) = (breaker(), Instant::now());
        open(&breaker, now);
        for nominal in [30, 60, 120, 240, 300, 300] {
            let until = breaker.enter(now).expect_err("it is open").saturating_duration_since(now);
            let bounds = Duration::from_secs(nominal * 8 / 10)..=Duration::from_secs(nominal * 12 / 10);
            assert!(bounds.contains(&until), "{until:?} for {nominal} s");
            now += until;
            assert_eq!(pass(&breaker, now).failed(now), turn(Position::HalfOpen, Position::Open));
        }
    }

    #[test]
    fn what_was_asked_before_it_opened_tells_nothing_afterwards() {
        let (breaker, now) = (breaker(), Instant::now());
        let early = pass(&breaker, now);
        open(&breaker, now);
        let later = now + Duration::from_secs(60);
        let probe = pass(&breaker, later);
        assert_eq!(early.failed(later), None);
        assert_eq!(probe.succeeded(later), None);
        assert_eq!(breaker.standing(later).0, Position::HalfOpen);
    }

    #[test]
    fn one_that_is_switched_off_never_opens() {
        let breaker = Arc::new(Breaker::new(conf::Breaker { enabled: false, ..conf::Breaker::default() }));
        let now = Instant::now();
        assert!((0..100).all(|_| pass(&breaker, now).failed(now).is_none()));
    }
}
