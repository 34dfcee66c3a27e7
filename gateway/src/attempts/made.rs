//! One try: where it went, how it ended, and what that says about the provider.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::events::Event;
use crate::exchange::micros;
use crate::providers::{Pass, Position, Provider, SelectedKey, Slot, Turn};
use crate::state::Gateway;

/// What the record says of a target the request cannot be sent to.
pub const UNSENDABLE: &str = "unsendable";
/// What the record says of a try that ended before it had a place at the provider.
pub const QUEUE: &str = "queue";
/// What the record says of a credential that was refused or cannot be had.
pub const CREDENTIAL: &str = "credential";
/// What the record says of a try that is repeated without continuity tokens.
pub(super) const SIGNATURE: &str = "signature";
/// What the record says of a try that is repeated with a renewed credential.
pub(super) const RENEWED: &str = "renewed";
/// What the record says of a try whose client left.
pub const GONE: &str = "client_gone";
/// What the record says of a try on a pooled connection that was closed meanwhile.
pub const STALE: &str = "stale";

/// A try.
pub(super) struct Made {
    pub(super) target: usize,
    pub(super) model: Arc<str>,
    pub(super) provider: Arc<Provider>,
    pub(super) key: Option<SelectedKey>,
    pub(super) started: Instant,
    pub(super) status: u16,
    pub(super) failure: &'static str,
    pub(super) us: u64,
    /// When it failed, where its answer had begun.
    pub(super) broke: Option<Instant>,
    /// The breaker's leave, until it is known what the provider made of it.
    pub(super) pass: Option<Pass>,
    /// The place at a provider that takes only so many at the same time.
    pub(super) slot: Option<Slot>,
    /// Microseconds it waited for that place.
    pub(super) queue_us: Option<u64>,
    /// Whether the provider counts it among those under way.
    pub(super) under_way: bool,
}

impl Made {
    /// The provider is being asked.
    pub(super) fn enter(&mut self) {
        if !self.under_way {
            self.under_way = true;
            self.provider.in_flight().enter();
        }
    }

    /// The provider is done with it, or we with the provider: the next one may have the place.
    pub(super) fn leave(&mut self) {
        self.slot = None;
        if self.under_way {
            self.under_way = false;
            self.provider.in_flight().leave();
        }
    }

    /// Notes the end. What it says about the provider is told at once, but for an answer that may still turn out to be a failure.
    pub(super) fn conclude(&mut self, gateway: &Gateway, status: u16, failure: &'static str) {
        let elapsed = self.started.elapsed();
        self.status = status;
        self.failure = failure;
        self.us = micros(elapsed).max(1);
        let now = self.started + elapsed;
        match verdict(status, failure) {
            Verdict::Down => self.failed(gateway, now),
            Verdict::Up => self.succeeded(gateway, now),
            Verdict::Nothing => self.pass = None,
            Verdict::Open => {}
        }
        if !failure.is_empty() {
            self.leave();
        }
    }

    /// How long it took; up to `now` where its answer is delivered or it has not ended.
    pub(super) fn lasted(&self, now: Instant) -> Duration {
        match self.broke {
            None if self.us > 0 && !self.failure.is_empty() => Duration::from_micros(self.us),
            broke => broke.unwrap_or(now).saturating_duration_since(self.started),
        }
    }

    /// The provider answers: its breaker may count on it.
    pub(super) fn succeeded(&mut self, gateway: &Gateway, now: Instant) {
        if let Some(pass) = self.pass.take() {
            self.announce(gateway, pass.succeeded(now));
            if let Some(key) = &self.key {
                self.provider.keys().succeeded(key.index);
            }
        }
    }

    /// The provider failed before anything of its answer was of use.
    pub(super) fn failed(&mut self, gateway: &Gateway, now: Instant) {
        if let Some(pass) = self.pass.take() {
            self.announce(gateway, pass.failed(now));
        }
    }

    /// Tells of a breaker's turn.
    pub(super) fn announce(&self, gateway: &Gateway, turn: Option<Turn>) {
        let Some(turn) = turn else { return };
        let (provider, model) = (self.provider.name(), &self.model);
        match turn.to {
            Position::Open => log::warn!("circuit open: the model `{model}` of the provider `{provider}` fails and rests"),
            Position::HalfOpen => log::info!("circuit half-open: the model `{model}` of the provider `{provider}` is tried again"),
            Position::Closed => log::info!("circuit closed: the model `{model}` of the provider `{provider}` serves again"),
        }
        let failure = if turn.to == Position::Open { self.failure } else { "" };
        gateway.tell(&Event::Circuit { provider, model, turn, failure, status: self.status });
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        self.leave();
    }
}

/// What the end of a try says about the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Up,
    Down,
    /// Nothing: it was not asked, or it spoke about our credential or how often we ask.
    Nothing,
    /// The body decides.
    Open,
}

fn verdict(status: u16, failure: &str) -> Verdict {
    match (status, failure) {
        (_, UNSENDABLE | QUEUE | CREDENTIAL | SIGNATURE | RENEWED | STALE | GONE) | (401..=403 | 408 | 429, _) => Verdict::Nothing,
        (500 | 502 | 503 | 504 | 529, _) | (0, _) => Verdict::Down,
        (200..=299, "") => Verdict::Open,
        _ => Verdict::Up,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_of_the_provider_speak_against_it() {
        for (status, failure) in [(0, "refused"), (0, "tls"), (0, "dns"), (0, "timeout"), (500, "status"), (503, ""), (529, "status")] {
            assert_eq!(verdict(status, failure), Verdict::Down, "{status} {failure}");
        }
        for (status, failure) in
            [(0, UNSENDABLE), (0, QUEUE), (0, STALE), (401, CREDENTIAL), (0, CREDENTIAL), (429, "status"), (400, SIGNATURE)]
        {
            assert_eq!(verdict(status, failure), Verdict::Nothing, "{status} {failure}");
        }
        for status in [400, 404, 413, 422, 501] {
            assert_eq!(verdict(status, ""), Verdict::Up, "{status}");
        }
        assert_eq!(verdict(200, ""), Verdict::Open);
    }
}
