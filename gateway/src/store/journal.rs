//! The journal: records on their way to the database, in append-only files that survive the death of the process.
//!
//! Segments are pre-allocated files mapped into memory, so an append is a copy and no system call, and what was copied
//! belongs to the kernel: `kill -9` loses nothing that was appended. Each entry is `length u32 | crc32 u32 | kind u8 |
//! payload`, little-endian, the checksum over kind and payload and begun with the segment's number; a zero length or a wrong
//! checksum ends a segment. A segment that is read is used again under another number, and each entry is followed by zeros where the
//! next head will be.
//!
//! A `begin` entry is written before a provider is asked and an `end` entry before the client sees the last byte. A replay
//! finds requests that began and never ended. An `event` entry is something operators are told of.

mod reader;
mod segment;

pub use reader::{Encoded, Entry, Position, Reader};

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::Notify;

use super::outbox::EventView;
use segment::Segment;

/// Bytes of one segment file: some thousand requests. Two of them are in memory most of the time.
const SEGMENT_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of an entry before its payload.
const HEAD: usize = 8;
/// The largest payload, kind included.
const MAX_PAYLOAD: usize = 1024 * 1024;

/// Why the journal cannot take or give an entry.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file could not be made, mapped or read.
    #[error("{action} the journal file {path}: {source}")]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Every allowed byte is waiting for the database.
    #[error("append to the journal: all {limit} bytes wait for the database")]
    Full {
        /// The bound.
        limit: u64,
    },
    /// A record could not be encoded.
    #[error("append to the journal: {0}")]
    Encode(#[from] postcard::Error),
    /// A record is larger than any request may cause.
    #[error("append to the journal: a record of more than {MAX_PAYLOAD} bytes")]
    TooLarge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Begin = 1,
    End = 2,
    Event = 3,
}

/// The writing side, shared by all requests.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    limit: u64,
    writer: Mutex<Writer>,
    written: AtomicU64,
    wake: Notify,
    filled: Notify,
}

#[derive(Debug)]
struct Writer {
    segment: Segment,
    offset: usize,
    /// Numbers and sizes of the segments not yet released by the reader, the current one included.
    live: BTreeMap<u64, u64>,
    /// The reserve, which becomes the next segment.
    next: Option<Segment>,
    /// The oldest full segment, which becomes the reserve once it is released.
    full: Option<Segment>,
}

impl Writer {
    /// Whether the segment has room for any record.
    fn has_room(&self) -> bool {
        self.offset + HEAD + MAX_PAYLOAD <= SEGMENT_BYTES
    }
}

impl Journal {
    /// Opens the journal in `folder`, after whatever earlier processes left there. At most `limit` bytes may wait.
    ///
    /// # Errors
    /// When the folder or a segment cannot be made.
    pub fn open(folder: &Path, limit: u64) -> Result<Self, JournalError> {
        fs::create_dir_all(folder).map_err(|source| JournalError::File { action: "create", path: folder.to_owned(), source })?;
        let mut live: BTreeMap<u64, u64> = segment::list(folder)?.into_iter().map(|number| (number, SEGMENT_BYTES as u64)).collect();
        let number = live.last_key_value().map_or(1, |(last, _)| last + 1);
        let segment = Segment::reserve(folder, SEGMENT_BYTES)?.become_segment(folder, number)?;
        live.insert(number, SEGMENT_BYTES as u64);
        let writer = Writer { segment, offset: 0, live, next: None, full: None };
        Ok(Self {
            folder: folder.to_owned(),
            limit,
            writer: Mutex::new(writer),
            written: AtomicU64::new(pack(number, 0)),
            wake: Notify::new(),
            filled: Notify::new(),
        })
    }

    /// Notes that a request goes to a provider (a record in either of its forms): it will be logged even if this process dies now.
    ///
    /// # Errors
    /// When the journal is full or a file cannot be made.
    pub fn begin(&self, record: &impl Serialize) -> Result<(), JournalError> {
        self.append(Kind::Begin, record, false)
    }

    /// Notes how a request ended. One that `begun` is taken even when the journal is full.
    ///
    /// # Errors
    /// When the journal is full or a file cannot be made.
    pub fn end(&self, record: &impl Serialize, begun: bool) -> Result<(), JournalError> {
        self.append(Kind::End, record, begun)
    }

    /// Notes an event. Events are few, so that they are taken even when the journal is full.
    ///
    /// # Errors
    /// When a file cannot be made.
    pub fn event(&self, event: &EventView<'_>) -> Result<(), JournalError> {
        self.append(Kind::Event, event, true)
    }

    /// Position after the last entry.
    #[must_use]
    pub fn end_position(&self) -> Position {
        unpack(self.written.load(Ordering::Acquire))
    }

    /// Bytes held by segments that wait for the database.
    #[must_use]
    pub fn bytes_waiting(&self) -> u64 {
        self.writer.lock().live.values().sum()
    }

    /// Whether further records can be taken.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let writer = self.writer.lock();
        writer.live.values().sum::<u64>() < self.limit || writer.has_room()
    }

    /// A reader from `position` on; positions of removed segments move to the oldest that is left.
    #[must_use]
    pub fn reader(&self, position: Position) -> Reader {
        Reader::new(self.folder.clone(), position)
    }

    /// Lets go of the segments before `position`.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn release_before(&self, position: Position) -> Result<(), JournalError> {
        let mut writer = self.writer.lock();
        let done: Vec<u64> = writer.live.range(..position.segment.min(writer.segment.number())).map(|(number, _)| *number).collect();
        for number in done {
            if writer.full.as_ref().is_none_or(|full| full.number() != number) {
                segment::remove(&self.folder, number)?;
            }
            writer.live.remove(&number);
        }
        Ok(())
    }

    /// Makes the next segment ready ahead of need, outside the request path. Only one thread may do so at a time.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn prepare(&self) -> Result<(), JournalError> {
        let full = {
            let mut writer = self.writer.lock();
            let Writer { full, live, next, offset, .. } = &mut *writer;
            let read = full.take_if(|full| next.is_none() && !live.contains_key(&full.number()));
            if next.is_some() || read.is_none() && *offset < SEGMENT_BYTES / 4 {
                return Ok(());
            }
            read
        };
        let next = match full {
            Some(full) => full.retire(&self.folder)?,
            None => Segment::reserve(&self.folder, SEGMENT_BYTES)?,
        };
        self.writer.lock().next = Some(next);
        Ok(())
    }

    /// Waits until a record was appended since the last call.
    pub async fn appended(&self) {
        self.wake.notified().await;
    }

    /// Waits until a segment was filled since the last call.
    pub async fn filled(&self) {
        self.filled.notified().await;
    }

    fn append(&self, kind: Kind, record: &impl Serialize, past_bound: bool) -> Result<(), JournalError> {
        let mut guard = self.writer.lock();
        let writer = &mut *guard;
        writer.offset = match writer.segment.put(writer.offset, kind, record)? {
            Some(end) => end,
            None if writer.has_room() => return Err(JournalError::TooLarge),
            None => {
                self.roll(writer, past_bound)?;
                writer.segment.put(0, kind, record)?.ok_or(JournalError::TooLarge)?
            }
        };
        self.written.store(pack(writer.segment.number(), writer.offset), Ordering::Release);
        drop(guard);
        if kind != Kind::Begin {
            self.wake.notify_one();
        }
        Ok(())
    }

    fn roll(&self, writer: &mut Writer, past_bound: bool) -> Result<(), JournalError> {
        if !past_bound && writer.live.values().sum::<u64>() >= self.limit {
            return Err(JournalError::Full { limit: self.limit });
        }
        let number = writer.segment.number() + 1;
        let next = match writer.next.take() {
            Some(reserve) => reserve.become_segment(&self.folder, number)?,
            None => Segment::create(&self.folder, number, SEGMENT_BYTES)?,
        };
        let full = std::mem::replace(&mut writer.segment, next);
        writer.full.get_or_insert(full);
        writer.offset = 0;
        writer.live.insert(number, SEGMENT_BYTES as u64);
        self.filled.notify_one();
        Ok(())
    }
}

/// Segment number and offset in one word, so that readers see both at once.
fn pack(number: u64, offset: usize) -> u64 {
    (number << 32) | u64::try_from(offset).unwrap_or(0)
}

fn unpack(word: u64) -> Position {
    Position { segment: word >> 32, offset: word & 0xffff_ffff }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Record;

    fn record(id: usize) -> Record {
        Record { request_id: format!("request-{id}"), path: "x".repeat(200), ..Record::default() }
    }

    fn drain(reader: &mut Reader, until: Position) -> Vec<String> {
        let mut ids = Vec::new();
        while let Some(entry) = reader.next(until).expect("readable") {
            if let Entry::End(encoded) = entry {
                ids.extend(encoded.record().map(|record| record.request_id.to_owned()));
            }
        }
        ids
    }

    #[test]
    fn what_was_appended_is_read_in_order_over_segments_and_restarts() {
        let folder = tempfile::tempdir().expect("a folder");
        let count = 120_000;
        {
            let journal = Journal::open(folder.path(), 1 << 30).expect("opens");
            for id in 0..count {
                journal.end(&record(id), false).expect("has room");
            }
            assert!(journal.end_position().segment > 1, "the test has to cross a segment");
        }
        let journal = Journal::open(folder.path(), 1 << 30).expect("opens again");
        journal.end(&record(count), false).expect("has room");
        let ids = drain(&mut journal.reader(Position::default()), journal.end_position());
        assert_eq!(ids.len(), count + 1);
        assert_eq!(ids.last().map(String::as_str), Some("request-120000"));
        assert!(ids.iter().enumerate().all(|(index, id)| *id == format!("request-{index}")));
    }

    #[test]
    fn a_torn_entry_ends_its_segment_and_later_segments_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let end = {
            let journal = Journal::open(folder.path(), 1 << 30).expect("opens");
            journal.end(&record(0), false).expect("has room");
            journal.end(&record(1), false).expect("has room");
            journal.end_position()
        };
        let path = segment::path(folder.path(), end.segment);
        let mut bytes = fs::read(&path).expect("readable");
        let last = usize::try_from(end.offset).expect("small") - 2;
        bytes[last] ^= 0xff;
        fs::write(&path, bytes).expect("writable");
        let journal = Journal::open(folder.path(), 1 << 30).expect("opens again");
        journal.end(&record(2), false).expect("has room");
        assert_eq!(drain(&mut journal.reader(Position::default()), journal.end_position()), ["request-0", "request-2"]);
    }

    #[test]
    fn a_segment_that_was_read_is_used_again_and_what_it_held_is_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        let inode = |number| std::os::unix::fs::MetadataExt::ino(&fs::metadata(segment::path(folder.path(), number)).expect("there"));
        let journal = Journal::open(folder.path(), 1 << 30).expect("opens");
        let first = inode(1);
        let mut ids = 0..;
        for number in 2..=3 {
            while journal.end_position().segment < number {
                journal.end(&record(ids.next().expect("endless")), false).expect("has room");
            }
            journal.release_before(Position { segment: number, offset: 0 }).expect("released");
            while journal.end_position().offset < SEGMENT_BYTES as u64 / 4 {
                journal.end(&record(ids.next().expect("endless")), false).expect("has room");
            }
            journal.prepare().expect("prepared");
        }
        while journal.end_position().segment < 4 {
            journal.end(&record(7), false).expect("has room");
        }
        assert!(!segment::path(folder.path(), 1).exists());
        assert_eq!(inode(3), first, "the first segment is the third");
        drop(journal);
        let journal = Journal::open(folder.path(), 1 << 30).expect("opens again");
        let mut reader = journal.reader(Position { segment: 4, offset: 0 });
        assert_eq!(drain(&mut reader, journal.end_position()), ["request-7"], "and not what the file held as the second");
    }

    #[test]
    fn a_record_that_is_too_large_is_refused_and_the_next_one_is_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::open(folder.path(), 1 << 30).expect("opens");
        let large = Record { path: "x".repeat(MAX_PAYLOAD), ..record(0) };
        assert!(matches!(journal.end(&large, false), Err(JournalError::TooLarge)));
        journal.end(&record(1), false).expect("has room");
        assert_eq!(journal.end_position().segment, 1);
        assert_eq!(drain(&mut journal.reader(Position::default()), journal.end_position()), ["request-1"]);
    }

    #[test]
    fn a_full_journal_refuses_and_takes_records_again_after_a_release() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::open(folder.path(), SEGMENT_BYTES as u64).expect("opens");
        let refused = (0..1_000_000).find(|id| journal.end(&record(*id), false).is_err()).expect("the bound is reached");
        assert!(!journal.has_room(), "after {refused} records");
        journal.release_before(Position { segment: journal.end_position().segment + 1, offset: 0 }).expect("nothing to remove");
        assert!(journal.end(&record(0), false).is_err(), "the current segment is never released");
        journal.end(&record(0), true).expect("a request that began is logged all the same");
    }
}
