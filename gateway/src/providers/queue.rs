//! The queue before a provider that takes only so many requests at the same time.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A place at the provider; dropping it lets the next one in.
pub type Slot = OwnedSemaphorePermit;

/// Requests wait in the order they came.
#[derive(Debug)]
pub struct Queue {
    slots: Arc<Semaphore>,
    patience: Duration,
}

impl Queue {
    /// A queue for `most` requests at the same time, in which a request waits for `patience`.
    #[must_use]
    pub fn new(most: u32, patience: Duration) -> Self {
        let most = usize::try_from(most).unwrap_or(Semaphore::MAX_PERMITS).min(Semaphore::MAX_PERMITS);
        Self { slots: Arc::new(Semaphore::new(most)), patience }
    }

    /// A place at once, where nobody has to wait.
    #[must_use]
    pub fn pass(&self) -> Option<Slot> {
        self.slots.clone().try_acquire_owned().ok()
    }

    /// A place once it is this request's turn; `None` when that took too long. Dropping the future leaves the queue.
    pub async fn wait(&self) -> Option<Slot> {
        tokio::time::timeout(self.patience, self.slots.clone().acquire_owned()).await.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn places_are_given_in_the_order_of_arrival() {
        let queue = Arc::new(Queue::new(1, Duration::from_secs(5)));
        let first = queue.pass().expect("it is empty");
        assert!(queue.pass().is_none());
        let order = Arc::new(parking_lot::Mutex::new(Vec::new()));
        let mut waiting = tokio::task::JoinSet::new();
        for number in 0..3 {
            let (queue, order) = (queue.clone(), order.clone());
            waiting.spawn(async move {
                let slot = queue.wait().await.expect("its turn comes");
                order.lock().push(number);
                drop(slot);
            });
            tokio::task::yield_now().await;
        }
        drop(first);
        while waiting.join_next().await.is_some() {}
        assert_eq!(*order.lock(), [0, 1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_ends_in_time_and_leaving_gives_the_turn_to_the_next() {
        let queue = Queue::new(1, Duration::from_secs(5));
        let held = queue.pass().expect("it is empty");
        assert!(queue.wait().await.is_none());
        assert!(tokio::time::timeout(Duration::from_millis(1), queue.wait()).await.is_err());
        drop(held);
        assert!(queue.pass().is_some());
    }
}
