//! Times at which something happens to a connection that waits, and the one timer for all of them.
//!
//! Pingora bounds each read from a provider, but neither the wait for the first byte apart from the others nor the whole
//! exchange. While it waits for a provider it also watches the client's connection, so that is where time is kept: it is looked
//! at with every read there, many times a second for a stream, and so it has to cost next to nothing.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, Sleep, sleep_until};

/// When something is due. Setting it costs no timer.
#[derive(Debug, Default)]
pub(super) struct Due(Mutex<Option<Instant>>);

impl Due {
    /// Sets or clears the time.
    pub(super) fn set(&self, at: Option<Instant>) {
        *self.0.lock() = at;
    }

    /// The time, where one is set.
    pub(super) fn at(&mut self) -> Option<Instant> {
        *self.0.get_mut()
    }

    /// Whether the time has come; it comes once.
    pub(super) fn strikes(&mut self, now: Instant) -> bool {
        self.0.get_mut().take_if(|at| *at <= now).is_some()
    }
}

/// How often within the time allowed it is looked whether anything has happened.
const LOOKS: u8 = 4;

/// Notices when nothing happens for a while. What happens costs it one flag: it looks several times in every while whether
/// there was anything, so that it strikes after that while, or a quarter of it later at the most.
#[derive(Debug, Default)]
pub(super) struct Idle {
    every: Mutex<Duration>,
    due: Due,
    moved: AtomicBool,
    quiet: u8,
    struck: AtomicBool,
}

impl Idle {
    /// Begins to look, or stops.
    pub(super) fn watch(&self, within: Option<Duration>) {
        let every = within.unwrap_or_default() / u32::from(LOOKS);
        *self.every.lock() = every;
        self.moved.store(true, Ordering::Relaxed);
        self.struck.store(false, Ordering::Relaxed);
        self.due.set(within.map(|_| Instant::now() + every));
    }

    /// Something happens.
    pub(super) fn moves(&self) {
        self.moved.store(true, Ordering::Relaxed);
    }

    /// Whether it struck since it began to look.
    pub(super) fn has_struck(&self) -> bool {
        self.struck.load(Ordering::Relaxed)
    }

    /// When to look again.
    pub(super) fn due(&mut self) -> Option<Instant> {
        self.due.at()
    }

    /// Whether nothing has happened for too long.
    pub(super) fn strikes(&mut self, now: Instant) -> bool {
        if !self.due.strikes(now) {
            return false;
        }
        self.quiet = if std::mem::take(self.moved.get_mut()) { 0 } else { self.quiet + 1 };
        if self.quiet >= LOOKS {
            self.quiet = 0;
            *self.struck.get_mut() = true;
            return true;
        }
        self.due.set(Some(now + *self.every.get_mut()));
        false
    }
}

/// One timer, which runs to the earliest time it was ever asked for and looks again when it fires.
#[derive(Debug, Default)]
pub(super) struct Alarm {
    timer: Option<Pin<Box<Sleep>>>,
    /// The task the timer wakes.
    wakes: Option<Waker>,
}

impl Alarm {
    /// The time it is, once `at` has come. Until then the task is woken for it.
    #[inline]
    pub(super) fn poll(&mut self, at: Instant, cx: &mut Context<'_>) -> Poll<Instant> {
        loop {
            if let Some(timer) = &mut self.timer
                && timer.deadline() <= at
                && !timer.is_elapsed()
            {
                if self.wakes.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                    return Poll::Pending;
                }
                if timer.as_mut().poll(cx).is_pending() {
                    self.wakes = Some(cx.waker().clone());
                    return Poll::Pending;
                }
            }
            let now = Instant::now();
            if now >= at {
                return Poll::Ready(now);
            }
            self.wakes = None;
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(at),
                None => self.timer = Some(Box::pin(sleep_until(at))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_time_that_was_moved_comes_at_its_last_setting_only() {
        let (mut due, mut alarm) = (Due::default(), Alarm::default());
        let start = Instant::now();
        let (soon, late) = (start + Duration::from_secs(1), start + Duration::from_secs(5));
        due.set(Some(soon));
        assert!(poll_fn(|cx| Poll::Ready(alarm.poll(soon, cx).is_pending())).await);
        due.set(Some(late));
        let now = poll_fn(|cx| alarm.poll(late, cx)).await;
        assert_eq!((now, start.elapsed()), (late, Duration::from_secs(5)));
        assert!(!due.strikes(soon) && due.strikes(now));
        assert!(due.at().is_none() && !due.strikes(now), "it comes once");
    }

    #[tokio::test(start_paused = true)]
    async fn a_time_set_before_the_one_waited_for_comes_first() {
        let mut alarm = Alarm::default();
        let start = Instant::now();
        let (soon, late) = (start + Duration::from_secs(1), start + Duration::from_secs(5));
        assert!(poll_fn(|cx| Poll::Ready(alarm.poll(late, cx).is_pending())).await);
        poll_fn(|cx| alarm.poll(soon, cx)).await;
        assert_eq!(start.elapsed(), Duration::from_secs(1));
        poll_fn(|cx| alarm.poll(late, cx)).await;
        assert_eq!(start.elapsed(), Duration::from_secs(5));
    }

    async fn struck_after(idle: &mut Idle) -> Duration {
        let start = Instant::now();
        loop {
            let at = idle.due().expect("it looks");
            tokio::time::sleep_until(at).await;
            if idle.strikes(Instant::now()) {
                return start.elapsed();
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_noticed_once_and_not_while_anything_happens() {
        let mut idle = Idle::default();
        assert!(idle.due().is_none() && !idle.strikes(Instant::now()), "it does not look yet");
        idle.watch(Some(Duration::from_secs(8)));
        for _ in 0..20 {
            tokio::time::sleep(Duration::from_secs(7)).await;
            assert!(!idle.strikes(Instant::now()));
            idle.moves();
        }
        let after = struck_after(&mut idle).await;
        assert!((8..=10).contains(&after.as_secs()), "{after:?}");
        assert!(idle.has_struck() && idle.due().is_none());
        idle.watch(Some(Duration::from_secs(8)));
        assert!(!idle.has_struck(), "it looks anew");
        idle.watch(None);
        assert!(idle.due().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn whichever_task_waits_last_is_woken() {
        let at = Instant::now() + Duration::from_secs(1);
        let mut alarm = Alarm::default();
        assert!(poll_fn(|cx| Poll::Ready(alarm.poll(at, cx).is_pending())).await);
        let other = tokio::spawn(async move { poll_fn(|cx| alarm.poll(at, cx)).await });
        assert_eq!(other.await.expect("it ends"), at);
    }
}
