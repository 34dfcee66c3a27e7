//! Holds back events that come too often.

use std::collections::HashMap;

use parking_lot::Mutex;

/// One event of a kind in this time, in milliseconds.
const PAUSE: u64 = 60_000;
/// Kinds that are remembered. Where more come at once, those beyond are not told.
const MOST: usize = 10_000;

/// What was told of one kind, and what was not since.
#[derive(Clone, Copy, Debug)]
struct Told {
    at: u64,
    held_back: u64,
}

/// Remembers what was told when.
#[derive(Debug, Default)]
pub(super) struct Damper(Mutex<HashMap<Box<[Box<str>]>, Told>>);

impl Damper {
    /// Whether an event of this kind is told at `now` (milliseconds that never go back), and how many were held back before.
    pub(super) fn lets(&self, kind: &[&str], now: u64) -> Option<u64> {
        let kind: Box<[Box<str>]> = kind.iter().map(|part| Box::from(*part)).collect();
        let mut told = self.0.lock();
        if let Some(last) = told.get_mut(&kind) {
            if now.saturating_sub(last.at) < PAUSE {
                last.held_back += 1;
                return None;
            }
            return Some(std::mem::replace(last, Told { at: now, held_back: 0 }).held_back);
        }
        if told.len() >= MOST {
            // Kinds that were quiet for a while make room; how many of them were held back before is then told to nobody.
            told.retain(|_, last| now.saturating_sub(last.at) < PAUSE);
        }
        (told.len() < MOST).then(|| {
            told.insert(kind, Told { at: now, held_back: 0 });
            0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_event_a_minute_is_told_and_the_next_counts_the_others() {
        let damper = Damper::default();
        assert_eq!(damper.lets(&["rule", "key"], 1_000), Some(0));
        for now in [1_000, 30_000, 60_999] {
            assert_eq!(damper.lets(&["rule", "key"], now), None);
        }
        assert_eq!(damper.lets(&["rule", "other"], 2_000), Some(0), "another key is another kind");
        assert_eq!(damper.lets(&["rulek", "ey"], 2_000), Some(0), "parts are kept apart");
        assert_eq!(damper.lets(&["rule", "key"], 61_000), Some(3));
        assert_eq!(damper.lets(&["rule", "key"], 121_000), Some(0));
    }

    #[test]
    fn memory_is_bounded_and_what_was_quiet_makes_room() {
        let damper = Damper::default();
        let storm = |now: u64| (0..MOST + 50).filter(|number| damper.lets(&[&format!("{now} {number}")], now).is_some()).count();
        assert_eq!(storm(0), MOST);
        assert_eq!(storm(30_000), 0);
        assert_eq!(storm(60_000), MOST);
        assert_eq!(damper.0.lock().len(), MOST);
    }
}
