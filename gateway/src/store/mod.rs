//! What outlives a request: the configuration read from the database, and the records written to it.

mod audit;
mod checkpoint;
mod counting;
mod declare;
mod flush;
mod journal;
mod key_use;
mod load;
mod measuring;
mod outbox;
mod record;
mod refresh;
pub mod request_log;
mod seal;
mod settings;
mod snapshot;
#[cfg(test)]
pub(crate) mod testing;
mod transaction;

pub use audit::{AuditError, verify};
pub(crate) use audit::{Change, append as append_audit};
pub use checkpoint::CheckpointError;
pub use counting::{Counter, Counting, OwnCounts, Uncounted};
pub use declare::{DeclareError, declare};
pub use flush::{FlushError, Flusher};
pub use journal::{Encoded, Entry, Journal, JournalError, Position, Reader};
pub use key_use::KeyUse;
pub use load::{LoadError, load};
pub use outbox::EventView;
pub(crate) use outbox::insert as insert_events;
pub use record::{AttemptRecord, AttemptView, Record, RecordView, RequestOutcome, TraceRecord, TryRecord};
pub use refresh::refresh;
pub use seal::{SealError, Sealer};
pub use snapshot::{Fingerprint, Live, Snapshot};
pub(crate) use transaction::begin_write;
