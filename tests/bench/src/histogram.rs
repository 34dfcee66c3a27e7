//! Counts of durations in log-linear steps: constant memory, a relative error below one percent, no sampling.

use serde::Serialize;

/// Steps per power of two, as a power of two.
const STEP_BITS: u32 = 7;
const STEPS: u64 = 1 << STEP_BITS;
/// Longest duration told apart, about eighteen minutes; longer ones count as this.
const LONGEST_NS: u64 = (1 << 40) - 1;
const SLOTS: usize = 4_352;

/// How often each duration was seen.
#[derive(Debug, Clone)]
pub struct Histogram {
    slots: Vec<u64>,
    count: u64,
    sum_ns: u128,
    longest_ns: u64,
}

/// What a run reports about one kind of duration. Nanoseconds, but for `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Durations recorded.
    pub count: u64,
    /// Their mean.
    pub mean_ns: u64,
    /// Half were at most this long.
    pub p50_ns: u64,
    /// Nine in ten were at most this long.
    pub p90_ns: u64,
    /// 99 in 100 were at most this long.
    pub p99_ns: u64,
    /// 999 in 1,000 were at most this long.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { slots: vec![0; SLOTS], count: 0, sum_ns: 0, longest_ns: 0 }
    }
}

impl Histogram {
    /// Counts one duration.
    pub fn record(&mut self, ns: u64) {
        let ns = ns.min(LONGEST_NS);
        if let Some(slot) = self.slots.get_mut(slot_of(ns)) {
            *slot += 1;
        }
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.longest_ns = self.longest_ns.max(ns);
    }

    /// The duration that `permille` thousandths of the recorded ones do not exceed; 0 when nothing was recorded.
    #[must_use]
    pub fn quantile(&self, permille: u64) -> u64 {
        let rank = (self.count * permille).div_ceil(1_000).max(1);
        let mut seen = 0;
        for (slot, times) in self.slots.iter().enumerate() {
            seen += times;
            if seen >= rank {
                return top_of(slot).min(self.longest_ns);
            }
        }
        self.longest_ns
    }

    /// The figures a report shows.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mean = self.sum_ns.checked_div(u128::from(self.count)).unwrap_or(0);
        Summary {
            count: self.count,
            mean_ns: u64::try_from(mean).unwrap_or(u64::MAX),
            p50_ns: self.quantile(500),
            p90_ns: self.quantile(900),
            p99_ns: self.quantile(990),
            p999_ns: self.quantile(999),
            max_ns: self.longest_ns,
        }
    }
}

/// Durations below 256 ns have a slot each; above, the eight leading bits choose it.
fn slot_of(ns: u64) -> usize {
    let shift = (u64::BITS - ns.leading_zeros()).saturating_sub(STEP_BITS + 1);
    usize::try_from(u64::from(shift) * STEPS + (ns >> shift)).unwrap_or(SLOTS)
}

/// The longest duration that falls into `slot`.
fn top_of(slot: usize) -> u64 {
    let slot = u64::try_from(slot).unwrap_or(u64::MAX);
    let shift = (slot / STEPS).saturating_sub(1);
    ((slot - shift * STEPS + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_lies_within_one_percent_below_the_top_of_its_slot() {
        let mut ns = 1;
        while ns < LONGEST_NS {
            let top = top_of(slot_of(ns));
            assert!(top >= ns && (top - ns) * 100 <= ns, "{ns} fell into a slot that ends at {top}");
            ns += ns / 13 + 1;
        }
        assert!(slot_of(LONGEST_NS) < SLOTS);
    }

    #[test]
    fn quantiles_of_an_even_spread_are_where_they_should_be() {
        let mut histogram = Histogram::default();
        (1..=1_000).for_each(|us| histogram.record(us * 1_000));
        let summary = histogram.summary();
        for (found, expected) in [(summary.p50_ns, 500_000), (summary.p90_ns, 900_000), (summary.p99_ns, 990_000)] {
            assert!(found >= expected && found <= expected + expected / 100, "{found} instead of {expected}");
        }
        assert_eq!((summary.count, summary.mean_ns, summary.max_ns), (1_000, 500_500, 1_000_000));
    }

    #[test]
    fn an_empty_histogram_reports_zeros() {
        let summary = Histogram::default().summary();
        assert_eq!((summary.count, summary.p50_ns, summary.p99_ns), (0, 0, 0));
    }
}
