//! Encoded spans on their way to the collector, within a bound.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Bytes that may wait: the spans of some ten thousand requests.
const MOST_BYTES: usize = 16 << 20;
/// What a waiting span takes beside its own bytes.
const EACH: usize = size_of::<Vec<u8>>();
/// Spans of one batch.
pub(super) const BATCH_SPANS: usize = 512;
/// Bytes of one batch: less than any collector takes.
const BATCH_BYTES: usize = 2 << 20;
/// How long the first span of a batch waits for the others.
const BATCH_TIME: Duration = Duration::from_secs(1);

/// A queue with one reader.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Notify,
    closed: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    spans: VecDeque<Vec<u8>>,
    bytes: usize,
    lost: u64,
    closed: bool,
}

/// Spans that are sent together, one after the other.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) spans: Vec<u8>,
    pub(super) count: u64,
}

impl Queue {
    /// Adds an encoded span. One that finds no room is lost.
    pub(super) fn push(&self, span: Vec<u8>) {
        let mut waiting = self.waiting.lock();
        let bytes = waiting.bytes + span.len() + EACH;
        if waiting.closed || bytes > MOST_BYTES {
            waiting.lost += 1;
            return;
        }
        waiting.bytes = bytes;
        waiting.spans.push_back(span);
        let count = waiting.spans.len();
        drop(waiting);
        if count == 1 || count == BATCH_SPANS {
            self.changed.notify_one();
        }
    }

    /// Ends it: what waits can still be taken.
    pub(super) fn close(&self) {
        self.waiting.lock().closed = true;
        self.changed.notify_one();
        self.closed.notify_one();
    }

    /// Whether it has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.waiting.lock().closed
    }

    /// Waits, at most so long, for its end.
    pub(super) async fn ended_within(&self, time: Duration) {
        if !self.is_closed() {
            let _ = tokio::time::timeout(time, self.closed.notified()).await;
        }
    }

    /// How many spans were lost since the last call.
    pub(super) fn take_lost(&self) -> u64 {
        std::mem::take(&mut self.waiting.lock().lost)
    }

    /// Waits for a batch: as many spans as one may have, or those that came within the batch time. `None` when nothing more comes.
    pub(super) async fn batch(&self) -> Option<Batch> {
        let mut until = None;
        loop {
            let (count, closed) = {
                let waiting = self.waiting.lock();
                (waiting.spans.len(), waiting.closed)
            };
            let late = until.is_some_and(|until| Instant::now() >= until);
            match count {
                0 if closed => return None,
                0 => self.changed.notified().await,
                _ if count >= BATCH_SPANS || closed || late => return Some(self.take()),
                _ => {
                    let until = *until.get_or_insert_with(|| Instant::now() + BATCH_TIME);
                    let _ = timeout_at(until, self.changed.notified()).await;
                }
            }
        }
    }

    fn take(&self) -> Batch {
        let mut waiting = self.waiting.lock();
        let mut batch = Batch { spans: Vec::new(), count: 0 };
        while batch.count < BATCH_SPANS as u64
            && let Some(span) = waiting.spans.pop_front_if(|span| batch.spans.is_empty() || batch.spans.len() + span.len() <= BATCH_BYTES)
        {
            waiting.bytes -= span.len() + EACH;
            batch.spans.extend_from_slice(&span);
            batch.count += 1;
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_full_batch_leaves_at_once_and_an_incomplete_one_after_its_time() {
        let queue = Queue::default();
        let began = Instant::now();
        (0..BATCH_SPANS + 3).for_each(|_| queue.push(vec![7; 10]));
        let first = queue.batch().await.unwrap();
        assert_eq!((first.count, first.spans.len(), began.elapsed()), (512, 5120, Duration::ZERO));
        let second = queue.batch().await.unwrap();
        assert_eq!((second.count, began.elapsed()), (3, BATCH_TIME));
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_lets_what_waits_go_at_once() {
        let queue = Queue::default();
        let began = Instant::now();
        queue.push(vec![1]);
        queue.close();
        queue.push(vec![2]);
        assert_eq!(queue.batch().await.unwrap().spans, [1]);
        assert!(queue.batch().await.is_none() && queue.is_closed());
        assert_eq!((began.elapsed(), queue.take_lost()), (Duration::ZERO, 1), "what comes after the end is lost");
    }

    #[tokio::test]
    async fn what_waits_and_what_is_sent_together_is_bounded() {
        let queue = Queue::default();
        let span = vec![0; 100_000];
        (0..1000).for_each(|_| queue.push(span.clone()));
        let room = MOST_BYTES / (span.len() + EACH);
        assert_eq!(queue.take_lost(), 1000 - room as u64);
        assert_eq!(queue.take_lost(), 0, "each is counted once");
        assert_eq!(queue.take().count, (BATCH_BYTES / span.len()) as u64);
        queue.push(span);
        assert_eq!(queue.take_lost(), 0, "there is room again");
        let large = Queue::default();
        large.push(vec![0; BATCH_BYTES + 1]);
        assert_eq!(large.take().count, 1, "a span larger than a batch goes alone");
    }
}
