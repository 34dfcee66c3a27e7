//! The scripts Redis runs, and what they are told and say.

use std::time::Duration;

use svc_filters::limits::{Counted, Left, Measure, Permit, Refusal, Standing};

/// Counts one request in all its counters or in none.
pub(super) const ADMIT: &str = concat!(include_str!("scripts/window.lua"), include_str!("scripts/admit.lua"));
/// Ends one request.
pub(super) const FINISH: &str = concat!(include_str!("scripts/window.lua"), include_str!("scripts/finish.lua"));
/// Renews the leases of running requests.
pub(super) const RENEW: &str = concat!(include_str!("scripts/window.lua"), include_str!("scripts/renew.lua"));

/// How every key begins. The braces keep all of them in one slot of a cluster, as a script over several keys needs.
const PREFIX: &str = "svc:{limits}:";
/// Largest number a script counts exactly.
const LARGEST: u64 = 1 << 53;

/// One counter of one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counter {
    /// Its key in Redis.
    pub(super) key: String,
    pub(super) measure: Measure,
    pub(super) cap: u64,
    /// What the request adds to it.
    pub(super) amount: u64,
    place: usize,
}

impl Counter {
    /// The name of its kind in the scripts.
    pub(super) const fn kind(&self) -> &'static str {
        match self.measure {
            Measure::Requests | Measure::Tokens => "window",
            Measure::Parallel => "running",
        }
    }
}

/// The counters of a request, in the order they are asked.
pub(super) fn counters(permit: &Permit) -> Vec<Counter> {
    let mut counters = Vec::with_capacity(4);
    for (place, counted) in permit.counted().enumerate() {
        let Counted { cap, .. } = counted;
        let found = [
            (Measure::Requests, cap.rpm.map(u64::from), 1),
            (Measure::Tokens, cap.tpm, counted.reserved),
            (Measure::Parallel, cap.parallel.map(u64::from), 1),
        ];
        for (measure, cap, amount) in found {
            let Some(cap) = cap else { continue };
            counters.push(Counter { key: key(counted, measure), measure, cap: cap.min(LARGEST), amount: amount.min(LARGEST), place });
        }
    }
    counters
}

fn key(counted: &Counted, measure: Measure) -> String {
    let what = match measure {
        Measure::Requests => "requests",
        Measure::Tokens => "tokens",
        Measure::Parallel => "running",
    };
    let scope = counted.scope.as_str();
    match &counted.id {
        Some(id) => format!("{PREFIX}{scope}:{id}:{what}"),
        None => format!("{PREFIX}{scope}:{what}"),
    }
}

/// What the script for admission said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Admitted, with the entry in each counter.
    Admitted(Standing, Vec<u64>),
    /// Refused.
    Refused(Refusal),
}

/// Reads the answer of [`ADMIT`]; `None` where it is not what the script answers with.
pub(super) fn read(answer: &[i64], counters: &[Counter], permit: &Permit) -> Option<Said> {
    let [refused, after, rest @ ..] = answer else { return None };
    let (told, []) = rest.as_chunks::<3>() else { return None };
    if told.len() != counters.len() {
        return None;
    }
    let mut standing = Standing::default();
    let mut entries = Vec::with_capacity(told.len());
    for (counter, [remaining, empties, entry]) in counters.iter().zip(told) {
        standing.tighten(counter.measure, left(counter, *remaining, *empties));
        entries.push(u64::try_from(*entry).unwrap_or(0));
    }
    let Some(place) = usize::try_from(*refused).ok()?.checked_sub(1) else { return Some(Said::Admitted(standing, entries)) };
    let (counter, [remaining, empties, _]) = counters.get(place).zip(told.get(place))?;
    let met = Some(left(counter, *remaining, *empties));
    match counter.measure {
        Measure::Requests => standing.requests = met,
        Measure::Tokens => standing.tokens = met,
        Measure::Parallel => {}
    }
    let scope = permit.counted().nth(counter.place)?.scope;
    Some(Said::Refused(Refusal { scope, measure: counter.measure, limit: counter.cap, retry_after: millis(*after), standing }))
}

fn left(counter: &Counter, remaining: i64, empties: i64) -> Left {
    Left { limit: counter.cap, remaining: u64::try_from(remaining).unwrap_or(0), reset: millis(empties) }
}

fn millis(count: i64) -> Duration {
    Duration::from_millis(u64::try_from(count).unwrap_or(0))
}
