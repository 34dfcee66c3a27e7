//! A credential that has to be fetched: kept, renewed before it ends, and fetched by one at a time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use async_trait::async_trait;
use tokio::sync::Mutex;

use super::credential::CredentialError;

/// How long before its end a credential is renewed while it is still in use.
const AHEAD: Duration = Duration::from_secs(10 * 60);
/// How long a failure to fetch stands before the next try.
const FAILURE_STANDS: Duration = Duration::from_secs(1);
/// The same for a renewal while the old credential still serves.
const RENEWAL_FAILURE_STANDS: Duration = Duration::from_secs(15);

/// Where a credential comes from.
#[async_trait]
pub(super) trait Source: Send + Sync + 'static {
    /// The credential.
    type Value: Send + Sync + 'static;

    /// Fetches it, within a bounded time. Gives how long it is good for; `None` is for ever.
    async fn fetch(&self) -> Result<(Self::Value, Option<Duration>), CredentialError>;
}

/// The cache of one credential.
pub(super) struct Cached<S: Source> {
    source: S,
    held: ArcSwapOption<Held<S::Value>>,
    /// Held while someone fetches; the last failure.
    flight: Arc<Mutex<Option<Failure>>>,
}

struct Held<V> {
    value: Arc<V>,
    renew_at: Option<Instant>,
    ends_at: Option<Instant>,
}

struct Failure {
    at: Instant,
    error: CredentialError,
}

impl<S: Source> Cached<S> {
    pub(super) fn new(source: S) -> Arc<Self> {
        Arc::new(Self { source, held: ArcSwapOption::empty(), flight: Arc::new(Mutex::new(None)) })
    }

    /// The credential: the one held while it is good, else a fetched one. Waits for the one who fetches, whose time is bounded.
    pub(super) async fn get(self: &Arc<Self>) -> Result<Arc<S::Value>, CredentialError> {
        let now = Instant::now();
        if let Some(held) = self.held(now) {
            if held.renew_at.is_some_and(|at| now >= at) {
                self.renew_behind(now);
            }
            return Ok(held.value.clone());
        }
        let mut flight = self.flight.lock().await;
        if let Some(held) = self.held(Instant::now()) {
            return Ok(held.value.clone());
        }
        if let Some(failure) = flight.as_ref().filter(|failure| failure.at >= now || failure.at.elapsed() < FAILURE_STANDS) {
            return Err(failure.error.clone());
        }
        self.fetch(&mut flight).await
    }

    /// Drops the credential if it is still `used`: the provider refused it.
    pub(super) fn drop_used(&self, used: &Arc<S::Value>) {
        let held = self.held.load();
        if held.as_ref().is_some_and(|held| Arc::ptr_eq(&held.value, used)) {
            self.held.compare_and_swap(&held, None);
        }
    }

    fn held(&self, now: Instant) -> Option<Arc<Held<S::Value>>> {
        self.held.load_full().filter(|held| held.ends_at.is_none_or(|end| now < end))
    }

    /// Renews in a task of its own, unless someone is at it, or just failed.
    fn renew_behind(self: &Arc<Self>, now: Instant) {
        let Ok(mut flight) = self.flight.clone().try_lock_owned() else { return };
        if flight.as_ref().is_some_and(|failure| now.duration_since(failure.at) < RENEWAL_FAILURE_STANDS) {
            return;
        }
        let this = self.clone();
        // The task ends by the deadline of the fetch.
        tokio::spawn(async move {
            if let Err(error) = this.fetch(&mut flight).await {
                log::warn!("a credential could not be renewed and stays in use: failed to {error}");
            }
        });
    }

    async fn fetch(&self, flight: &mut Option<Failure>) -> Result<Arc<S::Value>, CredentialError> {
        match self.source.fetch().await {
            Ok((value, lifetime)) => {
                let now = Instant::now();
                let value = Arc::new(value);
                let held = Held {
                    value: value.clone(),
                    renew_at: lifetime.and_then(|lifetime| now.checked_add(lifetime.saturating_sub(AHEAD).max(lifetime / 2))),
                    ends_at: lifetime.and_then(|lifetime| now.checked_add(lifetime)),
                };
                self.held.store(Some(Arc::new(held)));
                *flight = None;
                Ok(value)
            }
            Err(error) => {
                *flight = Some(Failure { at: Instant::now(), error: error.clone() });
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct Counter {
        fetched: AtomicUsize,
        lifetime: Option<Duration>,
        fails: bool,
    }

    #[async_trait]
    impl Source for Arc<Counter> {
        type Value = usize;

        async fn fetch(&self) -> Result<(usize, Option<Duration>), CredentialError> {
            let number = self.fetched.fetch_add(1, Ordering::SeqCst) + 1;
            tokio::task::yield_now().await;
            if self.fails { Err(CredentialError::Missing("nothing")) } else { Ok((number, self.lifetime)) }
        }
    }

    fn counter(lifetime: Option<Duration>, fails: bool) -> (Arc<Counter>, Arc<Cached<Arc<Counter>>>) {
        let counter = Arc::new(Counter { fetched: AtomicUsize::new(0), lifetime, fails });
        (counter.clone(), Cached::new(counter))
    }

    #[tokio::test]
    async fn many_at_once_fetch_once() {
        let (counter, cached) = counter(Some(Duration::from_secs(3600)), false);
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..64 {
            let cached = cached.clone();
            tasks.spawn(async move { cached.get().await.map(|value| *value) });
        }
        while let Some(value) = tasks.join_next().await {
            assert_eq!(value.unwrap().unwrap(), 1);
        }
        assert_eq!(counter.fetched.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn those_who_wait_for_a_failing_fetch_share_its_failure() {
        let (counter, cached) = counter(None, true);
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..64 {
            let cached = cached.clone();
            tasks.spawn(async move { cached.get().await.is_err() });
        }
        while let Some(failed) = tasks.join_next().await {
            assert!(failed.unwrap());
        }
        assert_eq!(counter.fetched.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_dropped_credential_is_fetched_anew_and_a_newer_one_stays() {
        let (_, cached) = counter(None, false);
        let first = cached.get().await.unwrap();
        cached.drop_used(&first);
        let second = cached.get().await.unwrap();
        assert_eq!(*second, 2);
        cached.drop_used(&first);
        assert_eq!(*cached.get().await.unwrap(), 2, "the one in use was not the one refused");
    }

    #[tokio::test]
    async fn near_its_end_a_credential_serves_while_it_is_renewed_behind() {
        let (counter, cached) = counter(Some(Duration::from_secs(3600)), false);
        assert_eq!(*cached.get().await.unwrap(), 1);
        let soon = Instant::now() + Duration::from_secs(60);
        let held = Held { value: Arc::new(0), renew_at: Some(Instant::now()), ends_at: Some(soon) };
        cached.held.store(Some(Arc::new(held)));
        assert_eq!(*cached.get().await.unwrap(), 0, "no one waits for a renewal");
        let deadline = Instant::now() + Duration::from_secs(10);
        while *cached.get().await.unwrap() == 0 {
            assert!(Instant::now() < deadline, "the renewal ends");
            tokio::task::yield_now().await;
        }
        assert_eq!(counter.fetched.load(Ordering::SeqCst), 2);
    }
}
