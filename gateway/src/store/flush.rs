//! The flush worker: reads the journal and writes the request log and the outbox of events in batches.
//!
//! The journal is the queue, so nothing waits in memory and a database outage costs disk only. After each batch the place up
//! to which everything is written is noted in a checkpoint; rows written twice after a crash meet the unique request id. Metrics are
//! counted first, from the same journal (see `measuring`), so that they go on while the database is away.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sea_orm::{DatabaseConnection, DbErr};
use tokio::sync::watch;

use super::checkpoint::{Checkpoint, CheckpointError};
use super::counting::Counter;
use super::journal::{Encoded, Entry, Position, Reader};
use super::key_use::KeyUse;
use super::measuring::Measuring;
use super::{outbox, request_log};
use crate::state::Gateway;

/// Rows written in one transaction, where the configured batch is not larger: a row of a large transaction costs the database
/// markedly less.
const ROWS: usize = 1024;
/// The file in the journal's folder that says up to where it is in the database.
const WRITTEN: &str = "checkpoint";
/// Longest wait between two tries while the database is away.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Why records cannot be flushed.
#[derive(Debug, thiserror::Error)]
pub enum FlushError {
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] super::journal::JournalError),
    /// The database failed.
    #[error("write the request log: {0}")]
    Database(#[from] DbErr),
    /// A checkpoint failed.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// Moves records from the journal to the database.
pub struct Flusher {
    gateway: Arc<Gateway>,
    database: DatabaseConnection,
    checkpoint: Checkpoint,
    reader: Reader,
    /// Requests that began and have not ended, by id, with the place of their begin. Only those of earlier processes may have to
    /// be written, so only theirs are kept.
    open: BTreeMap<Box<str>, (Position, Option<Encoded>)>,
    /// Up to where the journal is of earlier processes; `None` once that is read.
    inherited: Option<Position>,
    batch: Vec<Encoded>,
    events: Vec<Encoded>,
    key_use: KeyUse,
    counter: Counter,
    /// Where metrics are asked for.
    measuring: Option<Measuring>,
}

impl Flusher {
    /// Prepares the worker. What earlier processes left, up to `until` where this process began to append, is written first: what
    /// ended as it is, what only began as interrupted.
    ///
    /// # Errors
    /// When a checkpoint cannot be opened.
    pub fn new(gateway: Arc<Gateway>, database: DatabaseConnection, folder: &Path, until: Position) -> Result<Self, FlushError> {
        let checkpoint = Checkpoint::open(folder.join(WRITTEN))?;
        let reader = gateway.journal.reader(checkpoint.read().unwrap_or_default());
        let measuring = Measuring::begin(&gateway, folder, until)?;
        Ok(Self {
            gateway,
            database,
            checkpoint,
            reader,
            inherited: Some(until),
            open: BTreeMap::new(),
            batch: Vec::new(),
            events: Vec::new(),
            key_use: KeyUse::default(),
            counter: Counter::default(),
            measuring,
        })
    }

    /// Works until `stop` turns true and everything appended by then is written, or one more try has failed.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut wait = Duration::ZERO;
        loop {
            let stopping = *stop.borrow();
            match self.drain().await {
                Ok(()) if stopping => return,
                Ok(()) => wait = Duration::ZERO,
                Err(error) => {
                    wait = (wait * 2).clamp(Duration::from_millis(200), LONGEST_WAIT);
                    log::error!("failed to {error}; {} bytes wait in the journal", self.gateway.journal.bytes_waiting());
                    if stopping {
                        return;
                    }
                }
            }
            self.rest(wait, &mut stop).await;
        }
    }

    /// Waits for work: the batch time or a full segment, or after a failure its pause.
    async fn rest(&self, pause: Duration, stop: &mut watch::Receiver<bool>) {
        let journal = &self.gateway.journal;
        let work = async {
            if !pause.is_zero() {
                return tokio::time::sleep(pause).await;
            }
            journal.appended().await;
            let batch = Duration::from_millis(self.gateway.conf.telemetry.batch_timeout_ms);
            tokio::select! {
                () = tokio::time::sleep(batch) => {}
                () = journal.filled() => {}
            }
        };
        tokio::select! {
            () = work => {}
            _ = stop.changed() => {}
        }
    }

    /// Writes everything appended so far.
    async fn drain(&mut self) -> Result<(), FlushError> {
        let until = self.gateway.journal.end_position();
        // What is to be counted is left before the end of a request is noted, so that nothing up to here is missed.
        self.counter.count(&self.gateway.counting).await;
        if let Some(measuring) = &mut self.measuring {
            measuring.measure(&self.gateway, &self.counter, until).await;
        }
        let size = self.gateway.conf.telemetry.batch_size.max(ROWS);
        loop {
            let more = self.fill(until, size)?;
            self.hand_over().await?;
            if !self.batch.is_empty() {
                let mut records = Vec::with_capacity(self.batch.len());
                records.extend(self.batch.iter().filter_map(Encoded::record));
                if records.len() < self.batch.len() {
                    log::error!("{} journal entries cannot be read and are left out", self.batch.len() - records.len());
                }
                self.counter.fill(&mut records);
                request_log::insert(&self.database, &records).await?;
                self.counter.written(&records);
                if let Err(error) = self.key_use.touch(&self.database, &records).await {
                    log::warn!("the last use of some keys is not noted: {error}");
                }
                if let Some(traces) = &self.gateway.traces {
                    traces.hand_over(&records);
                }
                drop(records);
                self.batch.clear();
            }
            self.note()?;
            if !more {
                self.counter.tidy(Instant::now());
                self.gateway.journal.prepare()?;
                return Ok(());
            }
        }
    }

    /// Writes the events that were read to the outbox, before the requests they come from.
    async fn hand_over(&mut self) -> Result<(), FlushError> {
        if self.events.is_empty() {
            return Ok(());
        }
        let events: Vec<_> = self.events.iter().filter_map(Encoded::event).collect();
        outbox::insert(&self.database, &events).await?;
        self.events.clear();
        Ok(())
    }

    /// Fills the batch; `false` when nothing is left before `until`.
    fn fill(&mut self, until: Position, size: usize) -> Result<bool, FlushError> {
        while self.batch.len() + self.events.len() < size {
            match self.reader.next(self.inherited.unwrap_or(until))? {
                Some(Entry::Begin(position, begun)) => {
                    let id = begun.id().unwrap_or_default().into();
                    let kept = self.inherited.is_some().then_some(begun);
                    self.open.insert(id, (position, kept));
                }
                Some(Entry::End(ended)) => {
                    self.open.remove(ended.id().unwrap_or_default());
                    self.batch.push(ended);
                }
                Some(Entry::Event(event)) => self.events.push(event),
                None if self.inherited.take().is_some() => self.interrupt(),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Logs the requests that earlier processes began and never ended.
    fn interrupt(&mut self) {
        let interrupted = std::mem::take(&mut self.open).into_values().filter_map(|(_, begun)| begun);
        let before = self.batch.len();
        self.batch.extend(interrupted);
        let count = self.batch.len() - before;
        if count > 0 {
            log::info!("{count} requests of an earlier process were interrupted by its end");
        }
    }

    /// Notes the place before which no entry is needed any more.
    fn note(&self) -> Result<(), FlushError> {
        let oldest = self.open.values().map(|(position, _)| *position).min();
        let position = oldest.unwrap_or_else(|| self.reader.position());
        self.checkpoint.write(position)?;
        self.gateway.journal.release_before(position)?;
        Ok(())
    }
}
