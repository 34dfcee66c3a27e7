//! When each request is due.

use std::cell::Cell;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;

use super::plan::Plan;

const SECOND_NS: u64 = 1_000_000_000;
/// Due times that may wait for a free connection. A proxy that falls further behind than this delays the later ones, whose due
/// times do not move, so nothing is lost from the figures.
const MOST_WAITING: usize = 65_536;

/// Permission to send one request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    /// Latency counts from here, also when the request leaves later because no connection was free.
    pub(super) due: Instant,
}

/// Hands out slots until the plan is fulfilled.
#[derive(Debug)]
pub(super) enum Pace {
    /// The next request is due as soon as somebody asks.
    ClosedLoop { left: Cell<u64>, end: Instant },
    /// Requests are due at fixed times, whether or not earlier ones have been answered.
    Constant(Mutex<mpsc::Receiver<Slot>>),
}

impl Pace {
    pub(super) fn new(plan: &Plan, start: Instant) -> Self {
        let whole = plan.warm_up + plan.run;
        match plan.rate {
            None => Self::ClosedLoop { left: Cell::new(plan.count), end: start + whole },
            Some(rate) => {
                let (sender, receiver) = mpsc::channel(MOST_WAITING);
                let count = plan.count.min(slots_within(whole, rate));
                // The runtime's own timer is only good to a millisecond; a sleeping thread is good to some microseconds. The thread ends
                // with the last slot, or as soon as nobody listens.
                std::thread::spawn(move || tick(start, rate, count, &sender));
                Self::Constant(Mutex::new(receiver))
            }
        }
    }

    /// Waits for the next slot; `None` when there will be none.
    pub(super) async fn next(&self) -> Option<Slot> {
        match self {
            Self::ClosedLoop { left, end } => {
                let due = Instant::now();
                left.set(left.get().checked_sub(1)?);
                (due < *end).then_some(Slot { due })
            }
            Self::Constant(slots) => slots.lock().await.recv().await,
        }
    }
}

fn slots_within(time: Duration, rate: u64) -> u64 {
    u64::try_from(time.as_nanos() * u128::from(rate) / u128::from(SECOND_NS)).unwrap_or(u64::MAX)
}

fn tick(start: Instant, rate: u64, count: u64, slots: &mpsc::Sender<Slot>) {
    for index in 0..count {
        let due = start + Duration::from_nanos(index * SECOND_NS / rate);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        if slots.blocking_send(Slot { due }).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_rate_has_as_many_slots_as_fit() {
        assert_eq!(slots_within(Duration::from_millis(2_500), 100), 250);
        assert_eq!(slots_within(Duration::ZERO, 100), 0);
    }

    #[test]
    fn due_times_do_not_move_when_nobody_takes_the_slots() {
        let (sender, mut receiver) = mpsc::channel(16);
        let start = Instant::now();
        tick(start, 1_000, 5, &sender);
        let due: Vec<_> = std::iter::from_fn(|| receiver.try_recv().ok()).map(|slot| (slot.due - start).as_micros()).collect();
        assert_eq!(due, [0, 1_000, 2_000, 3_000, 4_000]);
    }
}
