//! The flush worker's part in the metrics: counts every record of the journal once.
//!
//! It reads the journal with a reader of its own, ahead of the one that feeds the database, so that a database that is away neither
//! holds metrics up nor lets a record count again with every try to write it. The place up to which records are counted outlives the
//! process: what an earlier one has appended and not counted is counted by the next, and nothing twice.

use std::io;
use std::path::Path;

use super::checkpoint::{Checkpoint, CheckpointError};
use super::counting::Counter;
use super::journal::{Entry, Position, Reader};
use crate::state::Gateway;

/// The file in the journal's folder that says up to where it is counted.
const COUNTED: &str = "counted";
/// Records after which other tasks of the thread have their turn.
const TURN: usize = 256;

/// Counts what the journal holds.
pub(super) struct Measuring {
    reader: Reader,
    checkpoint: Checkpoint,
}

impl Measuring {
    /// Goes on where the process before this one has stopped, else at `until`, where this one began to append. None where metrics are
    /// not asked for; what is noted is forgotten then.
    ///
    /// # Errors
    /// When the checkpoint cannot be opened or written.
    pub(super) fn begin(gateway: &Gateway, folder: &Path, until: Position) -> Result<Option<Self>, CheckpointError> {
        let path = folder.join(COUNTED);
        if gateway.metrics.is_none() {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => log::warn!("failed to remove {}: {error}", path.display()),
                _ => {}
            }
            return Ok(None);
        }
        let checkpoint = Checkpoint::open(path)?;
        let place = checkpoint.read().unwrap_or(until);
        checkpoint.write(place)?;
        Ok(Some(Self { reader: gateway.journal.reader(place), checkpoint }))
    }

    /// Counts every record before `until`. A failure is logged, since nothing else depends on metrics; the next call goes on there.
    pub(super) async fn measure(&mut self, gateway: &Gateway, counter: &Counter, until: Position) {
        let Some(metrics) = &gateway.metrics else { return };
        let before = self.reader.position();
        let mut more = true;
        while more {
            let snapshot = gateway.live.hold();
            for _ in 0..TURN {
                match self.reader.next(until) {
                    Ok(Some(Entry::End(ended))) => {
                        if let Some(mut record) = ended.record() {
                            record.own = counter.counts(record.request_id);
                            metrics.count(&record, &snapshot);
                        }
                    }
                    Ok(Some(Entry::Begin(..) | Entry::Event(_))) => {}
                    Ok(None) => more = false,
                    Err(error) => {
                        log::error!("metrics lag: failed to {error}");
                        more = false;
                    }
                }
                if !more {
                    break;
                }
            }
            self.note(before);
            tokio::task::yield_now().await;
        }
    }

    fn note(&self, before: Position) {
        let position = self.reader.position();
        if position == before {
            return;
        }
        if let Err(error) = self.checkpoint.write(position) {
            log::warn!("after a restart some requests may count twice: failed to {error}");
        }
    }
}
