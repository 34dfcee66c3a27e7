//! A sliding minute in slots of 100 ms.
//!
//! The sum reaches over one slot more than a minute, so no 60 seconds ever hold more than the cap; against an exact log it
//! admits at most one slot's share (1/600 of the cap) less.

use std::time::Duration;

const SLOT_MS: u64 = 100;
const SLOTS: usize = 601;

/// Whether one more request fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It fits.
    Admitted,
    /// It does not.
    Refused {
        /// When the oldest counted request leaves the window.
        retry_after: Duration,
    },
}

/// Requests counted over the last minute.
#[derive(Debug)]
pub struct Window {
    slots: Box<[u32; SLOTS]>,
    newest: u64,
    used: u32,
}

impl Default for Window {
    fn default() -> Self {
        Self { slots: Box::new([0; SLOTS]), newest: 0, used: 0 }
    }
}

impl Window {
    /// Whether one more request fits under `cap` at `now_ms` (any monotonic milliseconds). Counts nothing.
    pub fn check(&mut self, cap: u32, now_ms: u64) -> Admission {
        self.advance(now_ms / SLOT_MS);
        if self.used < cap {
            return Admission::Admitted;
        }
        Admission::Refused { retry_after: self.until_free(cap, now_ms) }
    }

    /// Counts one request at `now_ms`.
    pub fn count(&mut self, now_ms: u64) {
        self.advance(now_ms / SLOT_MS);
        if let Some(slot) = self.slots.get_mut(index(self.newest)) {
            *slot = slot.saturating_add(1);
            self.used = self.used.saturating_add(1);
        }
    }

    /// Requests counted in the window as of the last call.
    #[must_use]
    pub fn used(&self) -> u32 {
        self.used
    }

    fn advance(&mut self, slot: u64) {
        if slot <= self.newest {
            return;
        }
        if slot - self.newest >= SLOTS as u64 {
            self.slots.fill(0);
            self.used = 0;
        } else {
            for passed in self.newest + 1..=slot {
                if let Some(old) = self.slots.get_mut(index(passed)) {
                    self.used -= *old;
                    *old = 0;
                }
            }
        }
        self.newest = slot;
    }

    fn until_free(&self, cap: u32, now_ms: u64) -> Duration {
        let mut left = self.used;
        let oldest = self.newest.saturating_sub(SLOTS as u64 - 1);
        for slot in oldest..=self.newest {
            left -= self.slots.get(index(slot)).copied().unwrap_or(0);
            if left < cap {
                return Duration::from_millis(((slot + SLOTS as u64) * SLOT_MS).saturating_sub(now_ms));
            }
        }
        Duration::from_secs(60)
    }
}

fn index(slot: u64) -> usize {
    (slot % SLOTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn admit(window: &mut Window, cap: u32, now_ms: u64) -> bool {
        let admitted = window.check(cap, now_ms) == Admission::Admitted;
        if admitted {
            window.count(now_ms);
        }
        admitted
    }

    #[test]
    fn a_cap_admits_exactly_that_many_at_once() {
        let mut window = Window::default();
        assert_eq!((0..1000).filter(|_| admit(&mut window, 100, 5_000)).count(), 100);
    }

    #[test]
    fn a_refusal_says_when_the_window_opens_again() {
        let mut window = Window::default();
        assert!(admit(&mut window, 1, 1_050));
        let Admission::Refused { retry_after } = window.check(1, 2_000) else { panic!("the cap is 1") };
        let opens = 2_000 + u64::try_from(retry_after.as_millis()).expect("small");
        assert!(!admit(&mut window, 1, opens - 1), "one millisecond earlier is too early");
        assert!(admit(&mut window, 1, opens));
    }

    #[test]
    fn a_cap_of_zero_blocks() {
        assert!(!admit(&mut Window::default(), 0, 1));
    }

    proptest! {
        #[test]
        fn no_sixty_seconds_hold_more_than_the_cap(cap in 1u32..40, steps in prop::collection::vec(0u64..4_000, 1..400)) {
            let mut window = Window::default();
            let mut now = 0;
            let mut admitted: Vec<u64> = Vec::new();
            for step in steps {
                now += step;
                if admit(&mut window, cap, now) {
                    admitted.push(now);
                }
            }
            for (position, start) in admitted.iter().enumerate() {
                let inside = admitted[position..].iter().take_while(|at| **at < start + 60_000).count();
                prop_assert!(inside <= cap as usize);
            }
        }
    }
}
