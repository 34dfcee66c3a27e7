//! A deadline on what happens while a connection waits.
//!
//! Pingora bounds each read from a provider, but neither the wait for the first byte apart from the others nor the whole
//! exchange. While it waits for a provider it also watches the client's connection, so that is where the deadline strikes: as
//! a read error that no client caused, which the exchange tells apart by its own clock.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use parking_lot::Mutex;
use tokio::time::{Instant, Sleep, sleep_until};

/// When reading stops. Setting it costs no timer: one timer a connection runs to the earliest time it was ever set to, and
/// looks again when it fires.
#[derive(Debug, Default)]
pub(super) struct Deadline {
    at: Mutex<Option<Instant>>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    /// Sets or clears the deadline.
    pub(super) fn set(&self, at: Option<Instant>) {
        *self.at.lock() = at;
    }

    /// Whether the deadline has struck; it strikes once.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        loop {
            let Some(at) = *self.at.get_mut() else { return Poll::Pending };
            // A timer that fires in time tells without a look at the clock.
            if let Some(timer) = &mut self.timer
                && timer.deadline() <= at
                && !timer.is_elapsed()
                && timer.as_mut().poll(cx).is_pending()
            {
                return Poll::Pending;
            }
            if Instant::now() >= at {
                *self.at.get_mut() = None;
                return Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, "the exchange took too long"));
            }
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
    async fn a_deadline_that_was_moved_strikes_at_its_last_time_only() {
        let mut deadline = Deadline::default();
        let start = Instant::now();
        deadline.set(Some(start + Duration::from_secs(1)));
        assert!(poll_fn(|cx| Poll::Ready(deadline.poll(cx).is_pending())).await);
        deadline.set(Some(start + Duration::from_secs(5)));
        poll_fn(|cx| deadline.poll(cx).map(|_| ())).await;
        assert_eq!(start.elapsed(), Duration::from_secs(5));
        assert!(poll_fn(|cx| Poll::Ready(deadline.poll(cx).is_pending())).await, "it strikes once");
    }
}
