//! Own token counts. Requests leave here what is to be counted; the flush worker counts it, on its own thread, and puts the
//! numbers into the rows. Nothing waits for it: what finds no room is not counted, and what a killed process left here is gone.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use svc_filters::endpoint::Endpoint;
use svc_filters::tokens::{Heard, Hearing, Prompt};

use super::record::Record;
use crate::conf::OwnTokenCounts;
use crate::request_id::RequestId;

/// Requests that may wait.
const ITEMS: usize = 16_384;
/// Memory that what waits may hold, in bytes.
const BYTES: usize = 64 << 20;
/// Counts that may wait for their records: those of minutes, while the database is away.
const COUNTS: usize = 65_536;
/// How long a count waits for a record of which the journal, read to its end, has nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// The tokens of one request as the gateway counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnCounts {
    /// Of the request.
    pub prompt: Option<u64>,
    /// Of the answer.
    pub completion: Option<u64>,
}

/// What is to be counted of one request.
#[derive(Debug)]
pub struct Uncounted {
    /// The request.
    pub id: RequestId,
    /// The model whose vocabulary counts.
    pub model: Arc<str>,
    /// The request's body, or what is left of it.
    pub prompt: Option<Prompt>,
    /// The text of the answer.
    pub answer: Heard,
}

impl Uncounted {
    fn held(&self) -> usize {
        size_of::<Self>() + self.prompt.as_ref().map_or(0, Prompt::held) + self.answer.held()
    }

    fn count(&self) -> OwnCounts {
        OwnCounts { prompt: self.prompt.as_ref().map(|prompt| prompt.count(&self.model)), completion: Some(self.answer.count(&self.model)) }
    }
}

/// Where requests leave what is to be counted.
#[derive(Debug)]
pub struct Counting {
    hearing: Hearing,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    items: VecDeque<Uncounted>,
    bytes: usize,
}

impl Counting {
    /// Counts what the configuration says, or everything where metrics are to tell of it.
    #[must_use]
    pub fn new(counted: OwnTokenCounts, measured: bool) -> Self {
        let hearing = match counted {
            OwnTokenCounts::Missing if !measured => Hearing::Missing,
            OwnTokenCounts::Missing | OwnTokenCounts::All => Hearing::All,
        };
        Self { hearing, waiting: Mutex::default() }
    }

    /// Which answers of an endpoint are listened to: only those a model writes.
    #[must_use]
    pub const fn hearing(&self, endpoint: Endpoint) -> Hearing {
        if endpoint.translates() || matches!(endpoint, Endpoint::Completions) { self.hearing } else { Hearing::Nothing }
    }

    /// Leaves what is to be counted, before the request's end is noted in the journal. Lost where there is no room.
    pub fn leave(&self, uncounted: Uncounted) {
        let held = uncounted.held();
        let mut waiting = self.waiting.lock();
        if waiting.items.len() < ITEMS && waiting.bytes.saturating_add(held) <= BYTES {
            waiting.bytes += held;
            waiting.items.push_back(uncounted);
        }
    }

    fn len(&self) -> usize {
        self.waiting.lock().items.len()
    }

    fn next(&self) -> Option<Uncounted> {
        self.waiting.lock().items.pop_front()
    }

    /// Gives back the room of what was counted.
    fn done(&self, bytes: usize) {
        let mut waiting = self.waiting.lock();
        waiting.bytes = waiting.bytes.saturating_sub(bytes);
    }
}

/// The flush worker's side: counts, until their records are written.
#[derive(Debug, Default)]
pub struct Counter {
    counts: HashMap<String, (Instant, OwnCounts)>,
}

impl Counter {
    /// Counts everything that was left by now, and lets other tasks of the thread have their turn in between.
    pub async fn count(&mut self, counting: &Counting) {
        for _ in 0..counting.len() {
            let Some(uncounted) = counting.next() else { return };
            if self.counts.len() < COUNTS {
                self.counts.insert(uncounted.id.as_str().to_owned(), (Instant::now(), uncounted.count()));
            }
            counting.done(uncounted.held());
            tokio::task::yield_now().await;
        }
    }

    /// Puts the counts into their records.
    pub fn fill(&self, records: &mut [Record<&str>]) {
        if self.counts.is_empty() {
            return;
        }
        for record in records {
            record.own = self.counts(record.request_id);
        }
    }

    /// The counts of a request; empty where nothing was counted.
    #[must_use]
    pub fn counts(&self, request_id: &str) -> OwnCounts {
        self.counts.get(request_id).map(|(_, counts)| *counts).unwrap_or_default()
    }

    /// Forgets the counts of records that are written.
    pub fn written(&mut self, records: &[Record<&str>]) {
        if self.counts.is_empty() {
            return;
        }
        for record in records {
            self.counts.remove(record.request_id);
        }
    }

    /// Forgets counts whose records never came. To be called when the journal is read to its end.
    pub fn tidy(&mut self, now: Instant) {
        self.counts.retain(|_, (since, _)| now.saturating_duration_since(*since) < PATIENCE);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn uncounted(prompt: Option<Bytes>) -> Uncounted {
        let mut answer = Heard::new(Hearing::All);
        answer.escaped(b"The quick brown fox jumps over the lazy dog.");
        Uncounted { id: RequestId::generate(1), model: "gpt-4o".into(), prompt: prompt.map(Prompt::Whole), answer }
    }

    fn record(id: &str) -> Record<&str> {
        Record { request_id: id, ..Record::default() }
    }

    #[tokio::test]
    async fn what_is_left_is_counted_and_put_into_its_record() {
        let (counting, mut counter) = (Counting::new(OwnTokenCounts::All, false), Counter::default());
        let body = Bytes::from_static(br#"{"messages":[{"role":"user","content":"The quick brown fox jumps over the lazy dog."}]}"#);
        let (one, other) = (uncounted(Some(body)), uncounted(None));
        let (first, second) = (one.id, other.id);
        counting.leave(one);
        counting.leave(other);
        counter.count(&counting).await;
        assert_eq!((counting.len(), counting.waiting.lock().bytes), (0, 0), "the room is given back");
        let mut records = [record("nobody"), record(second.as_str()), record(first.as_str())];
        for _ in 0..2 {
            counter.fill(&mut records);
            let counts = records.each_ref().map(|record| (record.own.prompt, record.own.completion));
            assert_eq!(counts, [(None, None), (None, Some(10)), (Some(14), Some(10))], "also when the database had to be asked again");
        }
        counter.written(&records);
        assert!(counter.counts.is_empty());
    }

    #[test]
    fn what_finds_no_room_is_lost() {
        let counting = Counting::new(OwnTokenCounts::All, false);
        (0..ITEMS + 10).for_each(|_| counting.leave(uncounted(None)));
        assert_eq!(counting.len(), ITEMS);
        let counting = Counting::new(OwnTokenCounts::All, false);
        (0..10).for_each(|_| counting.leave(uncounted(Some(Bytes::from(vec![b' '; BYTES / 4])))));
        assert_eq!(counting.len(), 3, "a quarter of the room each, and a little more");
        assert!(counting.waiting.lock().bytes <= BYTES);
    }

    #[tokio::test]
    async fn counts_of_records_that_never_come_are_forgotten() {
        let (counting, mut counter) = (Counting::new(OwnTokenCounts::All, false), Counter::default());
        counting.leave(uncounted(None));
        counter.count(&counting).await;
        counter.tidy(Instant::now());
        assert_eq!(counter.counts.len(), 1, "the record may be on its way");
        counter.tidy(Instant::now() + PATIENCE);
        assert!(counter.counts.is_empty());
    }

    #[test]
    fn only_what_a_model_writes_is_listened_to() {
        let counting = Counting::new(OwnTokenCounts::Missing, false);
        assert_eq!(counting.hearing(Endpoint::Responses), Hearing::Missing);
        assert_eq!(counting.hearing(Endpoint::Completions), Hearing::Missing);
        assert_eq!(counting.hearing(Endpoint::Embeddings), Hearing::Nothing);
        assert_eq!(counting.hearing(Endpoint::MessagesCountTokens), Hearing::Nothing);
        assert_eq!(Counting::new(OwnTokenCounts::Missing, true).hearing(Endpoint::Responses), Hearing::All, "metrics tell of every answer");
    }
}
