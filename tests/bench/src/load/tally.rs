//! Counts and durations of one run.

use serde::Serialize;
use tokio::time::Instant;

use super::plan::Plan;
use crate::histogram::{Histogram, Summary};

/// Collects while the run goes on.
#[derive(Debug)]
pub(super) struct Tally {
    record_from: Instant,
    end: Instant,
    first_due: Option<Instant>,
    last_end: Option<Instant>,
    ok: u64,
    ok_in_window: u64,
    failed: u64,
    deltas: u64,
    first_failure: Option<String>,
    whole: Histogram,
    first_byte: Histogram,
    delta: Histogram,
}

/// What `bench-load` prints.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Right answers, those of the warm-up included: what CPU time is divided by.
    pub ok: u64,
    /// Requests without a right answer, those of the warm-up included.
    pub failed: u64,
    /// Deltas received, those of the warm-up included.
    pub deltas: u64,
    /// Right answers that ended inside the measured window.
    pub ok_in_window: u64,
    /// Length of that window.
    pub window_ns: u64,
    /// From the first request to the last answer.
    pub elapsed_ns: u64,
    /// From the due time of a request to the end of its answer.
    pub whole: Summary,
    /// From the due time of a request to the first byte of its answer.
    pub first_byte: Summary,
    /// From the writing of a delta by the mock to its reading here.
    pub delta: Summary,
    /// What went wrong first.
    pub first_failure: Option<String>,
}

impl Tally {
    pub(super) fn new(plan: &Plan, start: Instant) -> Self {
        let record_from = start + plan.warm_up;
        Self {
            record_from,
            end: record_from + plan.run,
            first_due: None,
            last_end: None,
            ok: 0,
            ok_in_window: 0,
            failed: 0,
            deltas: 0,
            first_failure: None,
            whole: Histogram::default(),
            first_byte: Histogram::default(),
            delta: Histogram::default(),
        }
    }

    pub(super) fn delta(&mut self, due: Instant, on_its_way_ns: u64) {
        self.deltas += 1;
        if due >= self.record_from {
            self.delta.record(on_its_way_ns);
        }
    }

    pub(super) fn succeeded(&mut self, due: Instant, first_byte: Instant, ended: Instant) {
        self.ok += 1;
        self.first_due = Some(self.first_due.map_or(due, |first| first.min(due)));
        self.last_end = Some(self.last_end.map_or(ended, |last| last.max(ended)));
        if (self.record_from..self.end).contains(&ended) {
            self.ok_in_window += 1;
        }
        if due >= self.record_from {
            self.whole.record(nanoseconds(due, ended));
            self.first_byte.record(nanoseconds(due, first_byte));
        }
    }

    pub(super) fn failed(&mut self, why: String) {
        self.failed += 1;
        self.first_failure.get_or_insert(why);
    }

    pub(super) fn report(&self) -> Report {
        let elapsed_ns = self.first_due.zip(self.last_end).map_or(0, |(first, last)| nanoseconds(first, last));
        Report {
            ok: self.ok,
            failed: self.failed,
            deltas: self.deltas,
            ok_in_window: self.ok_in_window,
            window_ns: nanoseconds(self.record_from, self.end),
            elapsed_ns,
            whole: self.whole.summary(),
            first_byte: self.first_byte.summary(),
            delta: self.delta.summary(),
            first_failure: self.first_failure.clone(),
        }
    }
}

fn nanoseconds(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.saturating_duration_since(from).as_nanos()).unwrap_or(u64::MAX)
}
