//! The credentials of one provider: which one a try uses, and which ones rest.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::credential::Credential;

/// How long a credential rests that the vendor refused.
const REFUSED_REST: Duration = Duration::from_secs(300);
/// How long a credential rests after the first 429 without `retry-after`; each further one doubles it.
const LIMITED_REST: Duration = Duration::from_secs(1);
/// The longest rest after a 429 without `retry-after`.
const LONGEST_REST: Duration = Duration::from_secs(60);
/// The longest rest a vendor can ask for: quotas of a day come back within one.
const LONGEST_ASKED: Duration = Duration::from_secs(24 * 60 * 60);

/// What a credential is called where people read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyLabel {
    /// Its place among the provider's, from 0; `None` for one of the process's surroundings.
    pub position: Option<i32>,
    /// Its name.
    pub name: Option<String>,
    /// The end of the secret; empty where it has none of its own.
    pub last_four: String,
}

#[derive(Debug)]
struct Held {
    credential: Arc<Credential>,
    label: KeyLabel,
    rests_until: AtomicU64,
    /// Until when it rests after a refusal.
    refused_until: AtomicU64,
    /// Answers of 429 since it last succeeded.
    limited: AtomicU32,
}

/// The credentials of one provider.
#[derive(Debug)]
pub struct KeyRing {
    credentials: Vec<Held>,
    turn: AtomicUsize,
}

/// A credential chosen for one try.
#[derive(Clone, Debug)]
pub struct SelectedKey {
    /// Position in the ring.
    pub index: usize,
    pub(super) credential: Arc<Credential>,
}

impl KeyRing {
    pub(super) fn new(credentials: Vec<(KeyLabel, Credential)>) -> Self {
        let held = |(label, credential)| Held {
            credential: Arc::new(credential),
            label,
            rests_until: AtomicU64::new(0),
            refused_until: AtomicU64::new(0),
            limited: AtomicU32::new(0),
        };
        let credentials = credentials.into_iter().map(held).collect();
        Self { credentials, turn: AtomicUsize::new(0) }
    }

    /// Number of credentials.
    #[must_use]
    pub fn len(&self) -> usize {
        self.credentials.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.credentials.is_empty()
    }

    /// The next credential in turn that is not in `tried` (bits by position). While all rest, the one due soonest is used:
    /// a vendor may have changed its mind, and an answer from it says more than one from us.
    #[must_use]
    pub fn select(&self, tried: u64, now_ms: u64) -> Option<SelectedKey> {
        let count = self.credentials.len();
        let start = self.turn.fetch_add(1, Ordering::Relaxed);
        let untried = (0..count).map(|step| start.wrapping_add(step) % count).filter(|index| tried & bit(*index) == 0);
        let best = untried.min_by_key(|index| {
            let until = self.credentials.get(*index).map_or(0, |credential| credential.rests_until.load(Ordering::Relaxed));
            if until <= now_ms { 0 } else { until }
        })?;
        self.credentials.get(best).map(|credential| SelectedKey { index: best, credential: credential.credential.clone() })
    }

    /// Rests a credential the vendor refused (401, 402, 403). Gives its label, unless it rested after a refusal already.
    pub fn refuse(&self, index: usize, now_ms: u64) -> Option<&KeyLabel> {
        self.rest(index, now_ms, REFUSED_REST);
        let held = self.credentials.get(index)?;
        let until = held.rests_until.load(Ordering::Relaxed);
        (held.refused_until.fetch_max(until, Ordering::Relaxed) <= now_ms).then_some(&held.label)
    }

    /// Rests a credential after 429, for as long as the vendor asks within a day; where it does not say, longer each time, up to a
    /// minute. Returns until when.
    pub fn limit(&self, index: usize, now_ms: u64, retry_after: Option<Duration>) -> u64 {
        let Some(held) = self.credentials.get(index) else { return now_ms };
        let before = held.limited.fetch_add(1, Ordering::Relaxed);
        let own = LIMITED_REST.saturating_mul(1_u32.checked_shl(before).unwrap_or(u32::MAX));
        self.rest(index, now_ms, retry_after.map_or(own.min(LONGEST_REST), |asked| asked.min(LONGEST_ASKED)))
    }

    /// Puts what the vendor asks for in place of a rest until `until` that [`KeyRing::limit`] gave before it was known. A rest for
    /// another reason is not shortened.
    pub fn correct(&self, index: usize, until: u64, now_ms: u64, asked: Duration) {
        let Some(held) = self.credentials.get(index) else { return };
        let told = end(now_ms, asked.min(LONGEST_ASKED));
        if held.rests_until.compare_exchange(until, told, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            held.rests_until.fetch_max(told, Ordering::Relaxed);
        }
    }

    /// A request with the credential succeeded.
    pub fn succeeded(&self, index: usize) {
        if let Some(held) = self.credentials.get(index)
            && held.limited.load(Ordering::Relaxed) != 0
        {
            held.limited.store(0, Ordering::Relaxed);
        }
    }

    /// Whether a credential that is not in `tried` (bits by position) does not rest.
    #[must_use]
    pub fn has_rested(&self, tried: u64, now_ms: u64) -> bool {
        let mut untried = self.credentials.iter().enumerate().filter(|(index, _)| tried & bit(*index) == 0);
        untried.any(|(_, held)| held.rests_until.load(Ordering::Relaxed) <= now_ms)
    }

    /// Whether a credential is not in `tried` (bits by position).
    #[must_use]
    pub fn has_untried(&self, tried: u64) -> bool {
        (0..self.credentials.len()).any(|index| tried & bit(index) == 0)
    }

    fn rest(&self, index: usize, now_ms: u64, rest: Duration) -> u64 {
        let until = end(now_ms, rest);
        if let Some(credential) = self.credentials.get(index) {
            credential.rests_until.fetch_max(until, Ordering::Relaxed);
        }
        until
    }
}

fn end(now_ms: u64, rest: Duration) -> u64 {
    now_ms.saturating_add(u64::try_from(rest.as_millis()).unwrap_or(u64::MAX))
}

/// The bit a position has in the set of tried ones; positions past the 64th share the last.
pub(crate) fn bit(index: usize) -> u64 {
    1 << index.min(63)
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, header};

    use super::*;

    fn ring(count: usize) -> KeyRing {
        let key = || (KeyLabel::default(), Credential::Plain(header::AUTHORIZATION, HeaderValue::from_static("key")));
        KeyRing::new((0..count).map(|_| key()).collect())
    }

    #[test]
    fn credentials_take_turns() {
        let ring = ring(3);
        let order: Vec<usize> = (0..6).filter_map(|_| ring.select(0, 0)).map(|key| key.index).collect();
        assert_eq!(order, [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn a_refused_credential_is_passed_over_while_another_is_left() {
        let ring = ring(2);
        ring.refuse(0, 1_000);
        assert!((0..4).all(|_| ring.select(0, 2_000).is_some_and(|key| key.index == 1)));
        assert_eq!(ring.select(bit(1), 2_000).map(|key| key.index), Some(0), "the only one left is tried all the same");
        assert!(ring.select(bit(0) | bit(1), 2_000).is_none(), "each is tried once");
    }

    #[test]
    fn only_the_first_of_several_refusals_is_news() {
        let ring = ring(1);
        ring.limit(0, 0, Some(Duration::from_secs(30)));
        assert!(ring.refuse(0, 1_000).is_some(), "it rested for another reason");
        assert!(ring.refuse(0, 1_001).is_none());
        assert!(ring.refuse(0, 301_000).is_none(), "an answer that was under way for long");
        assert!(ring.refuse(0, 1_000_000).is_some());
    }

    #[test]
    fn a_credential_that_is_limited_again_and_again_rests_longer_each_time() {
        let ring = ring(1);
        let mut now = 0;
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            ring.limit(0, now, None);
            assert!(!ring.has_rested(0, now + seconds * 1_000 - 1) && ring.has_rested(0, now + seconds * 1_000), "{seconds} s");
            now += seconds * 1_000;
        }
        ring.succeeded(0);
        ring.limit(0, now, None);
        assert!(ring.has_rested(0, now + 1_000));
    }

    #[test]
    fn what_the_vendor_asks_for_later_takes_the_place_of_a_guess_and_of_nothing_else() {
        for (asked, until) in [(7_000, 7_000), (200, 200), (90_000, 90_000), (100_000_000, 86_400_000)] {
            let ring = ring(1);
            let guess = ring.limit(0, 0, None);
            ring.correct(0, guess, 0, Duration::from_millis(asked));
            assert!(!ring.has_rested(0, until - 1) && ring.has_rested(0, until), "{asked} ms");
        }
        let ring = ring(1);
        let guess = ring.limit(0, 0, None);
        ring.refuse(0, 0);
        ring.correct(0, guess, 0, Duration::from_secs(5));
        assert!(!ring.has_rested(0, 299_999), "a credential that was refused meanwhile goes on resting");
    }

    #[test]
    fn a_limited_credential_returns_when_the_vendor_said() {
        let ring = ring(2);
        ring.limit(0, 0, Some(Duration::from_secs(2)));
        assert!(ring.select(0, 1_999).is_some_and(|key| key.index == 1));
        let seen: Vec<usize> = (0..2).filter_map(|_| ring.select(0, 2_000)).map(|key| key.index).collect();
        assert!(seen.contains(&0));
        ring.limit(0, 0, Some(Duration::from_secs(3_600)));
        assert!(ring.select(0, 3_599_999).is_some_and(|key| key.index == 1), "an hour is an hour");
    }
}
