//! A sliding minute of amounts: requests or tokens.
//!
//! Amounts of up to 100 ms share an entry, which leaves the window when its newest amount is a minute old. So no 60 seconds ever
//! hold more than the cap; amounts further apart than that are kept as exactly as in a log, closer ones count at most 100 ms too
//! long, which is 1/600 of the cap.

use std::collections::VecDeque;
use std::time::Duration;

/// Length of the window, in milliseconds.
pub const MINUTE_MS: u64 = 60_000;
/// How far apart the amounts of one entry may be, in milliseconds.
pub const ENTRY_MS: u64 = 100;

/// Amounts counted over the last minute, on any clock of milliseconds that never goes back.
#[derive(Debug, Default)]
pub struct Window {
    entries: VecDeque<Entry>,
    used: u64,
}

/// Amounts counted close together.
#[derive(Clone, Copy, Debug)]
struct Entry {
    first: u64,
    last: u64,
    amount: u64,
}

impl Window {
    /// Whether `amount` fits under `cap` at `now`; else how long it takes until it does. Counts nothing.
    ///
    /// # Errors
    /// The wait, which is a whole minute where the amount never fits.
    pub fn check(&mut self, amount: u64, cap: u64, now: u64) -> Result<(), Duration> {
        self.advance(now);
        if amount.saturating_add(self.used) <= cap && cap > 0 {
            return Ok(());
        }
        let mut left = self.used;
        for entry in &self.entries {
            left = left.saturating_sub(entry.amount);
            if amount.saturating_add(left) <= cap && cap > 0 {
                return Err(Duration::from_millis(entry.leaves().saturating_sub(now)));
            }
        }
        Err(Duration::from_millis(MINUTE_MS))
    }

    /// Counts `amount` at `now`, whatever the cap. Returns the entry it is in, for [`Self::take_back`].
    pub fn count(&mut self, amount: u64, now: u64) -> u64 {
        self.advance(now);
        self.used = self.used.saturating_add(amount);
        if let Some(entry) = self.entries.back_mut().filter(|entry| now < entry.first.saturating_add(ENTRY_MS)) {
            entry.amount = entry.amount.saturating_add(amount);
            entry.last = entry.last.max(now);
            return entry.first;
        }
        self.entries.push_back(Entry { first: now, last: now, amount });
        now
    }

    /// Takes `amount` out of an entry, unless that has left the window meanwhile.
    pub fn take_back(&mut self, entry: u64, amount: u64) {
        let Ok(position) = self.entries.binary_search_by_key(&entry, |entry| entry.first) else { return };
        if let Some(entry) = self.entries.get_mut(position) {
            let taken = amount.min(entry.amount);
            entry.amount -= taken;
            self.used = self.used.saturating_sub(taken);
        }
    }

    /// The sum of the window as of the last call.
    #[must_use]
    pub const fn used(&self) -> u64 {
        self.used
    }

    /// How long it takes until the window is empty, if nothing more is counted.
    #[must_use]
    pub fn empties(&self, now: u64) -> Duration {
        let newest = self.entries.iter().rev().find(|entry| entry.amount > 0);
        Duration::from_millis(newest.map_or(0, |entry| entry.leaves().saturating_sub(now)))
    }

    /// Whether nothing is counted at `now`. Frees the memory of what was.
    pub fn is_idle(&mut self, now: u64) -> bool {
        self.advance(now);
        if self.entries.is_empty() {
            self.entries = VecDeque::new();
        }
        self.entries.is_empty()
    }

    fn advance(&mut self, now: u64) {
        while let Some(entry) = self.entries.front().filter(|entry| entry.leaves() <= now) {
            self.used = self.used.saturating_sub(entry.amount);
            self.entries.pop_front();
        }
    }
}

impl Entry {
    const fn leaves(&self) -> u64 {
        self.last.saturating_add(MINUTE_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn admit(window: &mut Window, amount: u64, cap: u64, now: u64) -> bool {
        let admitted = window.check(amount, cap, now).is_ok();
        if admitted {
            window.count(amount, now);
        }
        admitted
    }

    /// The window as it would be with a memory of every amount.
    #[derive(Default)]
    struct Log {
        amounts: VecDeque<(u64, u64)>,
        sum: u64,
    }

    impl Log {
        fn admit(&mut self, amount: u64, cap: u64, now: u64) -> bool {
            while let Some((_, left)) = self.amounts.pop_front_if(|(at, _)| *at + MINUTE_MS <= now) {
                self.sum -= left;
            }
            let admitted = self.sum + amount <= cap;
            if admitted {
                self.amounts.push_back((now, amount));
                self.sum += amount;
            }
            admitted
        }
    }

    #[test]
    fn a_cap_admits_exactly_that_many_at_once() {
        let mut window = Window::default();
        assert_eq!((0..1000).filter(|_| admit(&mut window, 1, 100, 5_000)).count(), 100);
    }

    #[test]
    fn a_refusal_says_when_the_window_opens_again() {
        let mut window = Window::default();
        assert!(admit(&mut window, 1, 1, 1_050));
        let after = window.check(1, 1, 2_000).expect_err("the cap is 1");
        let opens = 2_000 + u64::try_from(after.as_millis()).expect("small");
        assert_eq!(opens, 61_050, "to the millisecond");
        assert!(!admit(&mut window, 1, 1, opens - 1), "one millisecond earlier is too early");
        assert!(admit(&mut window, 1, 1, opens));
    }

    #[test]
    fn a_refused_amount_waits_for_as_many_entries_as_it_needs() {
        let mut window = Window::default();
        for (amount, now) in [(10, 1_000), (20, 2_000), (70, 3_000)] {
            assert!(admit(&mut window, amount, 100, now));
        }
        assert_eq!(window.check(25, 100, 4_000), Err(Duration::from_secs(58)), "ten are too few, thirty are enough");
        assert_eq!(window.empties(4_000), Duration::from_secs(59));
        assert_eq!(window.check(101, 100, 4_000), Err(Duration::from_secs(60)), "this never fits");
    }

    #[test]
    fn a_cap_of_zero_blocks_even_an_amount_of_nothing() {
        assert!(!admit(&mut Window::default(), 1, 0, 1));
        assert!(!admit(&mut Window::default(), 0, 0, 1));
    }

    #[test]
    fn what_is_taken_back_can_be_used_again_until_its_entry_has_left() {
        let mut window = Window::default();
        let entry = window.count(90, 1_000);
        window.count(10, 2_000);
        window.take_back(entry, 50);
        assert_eq!(window.used(), 50);
        assert!(admit(&mut window, 50, 100, 3_000));
        assert!(!admit(&mut window, 1, 100, 61_000 - 1));
        assert!(admit(&mut window, 40, 100, 61_000), "the rest of the first entry has left");
        window.take_back(entry, 40);
        assert_eq!(window.used(), 100, "an entry that has left gives nothing back");
    }

    #[test]
    fn an_idle_window_keeps_no_memory() {
        let mut window = Window::default();
        for second in 0..60 {
            window.count(1, second * 1_000);
        }
        assert!(!window.is_idle(118_999));
        assert!(window.is_idle(119_000));
        assert_eq!(window.entries.capacity(), 0);
    }

    #[test]
    fn a_busy_window_has_a_bounded_number_of_entries() {
        let mut window = Window::default();
        for now in 0..200_000 {
            window.count(1, now);
        }
        assert!(window.entries.len() <= 601, "{}", window.entries.len());
    }

    proptest! {
        #[test]
        fn no_sixty_seconds_hold_more_than_the_cap(cap in 1u64..400, steps in prop::collection::vec((0u64..4_000, 1u64..20), 1..400)) {
            let mut window = Window::default();
            let mut now = 0;
            let mut admitted: Vec<(u64, u64)> = Vec::new();
            for (step, amount) in steps {
                now += step;
                if admit(&mut window, amount, cap, now) {
                    admitted.push((now, amount));
                }
            }
            for (position, (start, _)) in admitted.iter().enumerate() {
                let inside = admitted[position..].iter().take_while(|(at, _)| *at < start + MINUTE_MS);
                prop_assert!(inside.map(|(_, amount)| amount).sum::<u64>() <= cap);
            }
        }

        #[test]
        fn under_a_steady_press_at_most_one_in_a_hundred_is_lost(cap in 1u64..2_000, steps in prop::collection::vec(0u64..40, 1..200)) {
            let (mut window, mut log) = (Window::default(), Log::default());
            let (mut now, mut ours, mut theirs) = (0, 0u64, 0u64);
            for step in steps.iter().cycle() {
                now += step.max(&1);
                if now > 600_000 {
                    break;
                }
                ours += u64::from(admit(&mut window, 1, cap, now));
                theirs += u64::from(log.admit(1, cap, now));
            }
            // What the last minute admits may be under way when the time is over.
            prop_assert!(ours * 100 + 100 >= theirs * 99, "{ours} of {theirs}");
        }

        #[test]
        fn requests_a_tenth_of_a_second_apart_are_counted_as_in_a_log(
            cap in 1u64..50,
            steps in prop::collection::vec((100u64..9_000, 1u64..9), 1..300),
        ) {
            let (mut window, mut log) = (Window::default(), Log::default());
            let mut now = 0;
            for (step, amount) in steps {
                now += step;
                prop_assert_eq!(admit(&mut window, amount, cap, now), log.admit(amount, cap, now));
            }
        }
    }
}
