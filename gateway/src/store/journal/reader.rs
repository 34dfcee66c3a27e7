//! Reading the journal, during operation and after a restart.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use super::{HEAD, JournalError, Kind, MAX_PAYLOAD, segment};
use crate::store::outbox::EventView;
use crate::store::record::Record;

/// A place in the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// Number of the segment.
    pub segment: u64,
    /// Byte offset in it.
    pub offset: u64,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A request that goes to a provider, and where the entry is. Nearly all of them end, so most are never decoded.
    Begin(Position, Encoded),
    /// A request that ended.
    End(Encoded),
    /// Something operators are told of.
    Event(Encoded),
}

/// A record or event as the journal has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded(Bytes);

impl Encoded {
    /// The id of the request or event.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        // The id is the first field of both.
        postcard::take_from_bytes(self.bytes()).ok().map(|(id, _)| id)
    }

    /// The record, its texts borrowed.
    #[must_use]
    pub fn record(&self) -> Option<Record<&str>> {
        postcard::from_bytes(self.bytes()).ok()
    }

    /// The event, its texts borrowed.
    #[must_use]
    pub fn event(&self) -> Option<EventView<'_>> {
        postcard::from_bytes(self.bytes()).ok()
    }

    /// What follows the kind.
    fn bytes(&self) -> &[u8] {
        self.0.get(1..).unwrap_or_default()
    }
}

/// Reads entries in order up to a given position.
#[derive(Debug)]
pub struct Reader {
    folder: PathBuf,
    position: Position,
    file: Option<(u64, fs::File)>,
    /// What was read last. Entries share it.
    chunk: Bytes,
    chunk_start: u64,
}

/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

impl Reader {
    pub(super) fn new(folder: PathBuf, position: Position) -> Self {
        Self { folder, position, file: None, chunk: Bytes::new(), chunk_start: 0 }
    }

    /// The position after the entries read so far.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// The next entry before `until`, or `None` where nothing is left.
    ///
    /// # Errors
    /// When a file cannot be read. Damaged entries are skipped with the rest of their segment and logged.
    pub fn next(&mut self, until: Position) -> Result<Option<Entry>, JournalError> {
        loop {
            if self.position >= until {
                return Ok(None);
            }
            let start = self.position;
            match self.payload(until)? {
                Some(payload) => {
                    self.position.offset += (HEAD + payload.len()) as u64;
                    if let Some(entry) = decode(payload, start) {
                        return Ok(Some(entry));
                    }
                    log::error!("a journal entry at {start:?} is damaged and was skipped");
                }
                None if !self.advance(until)? => return Ok(None),
                None => {}
            }
        }
    }

    /// The payload at the position, or `None` at the end of the segment's entries.
    fn payload(&mut self, until: Position) -> Result<Option<Bytes>, JournalError> {
        let Some(head) = self.range(self.position.offset, HEAD, until)?.and_then(|range| self.chunk.get(range)) else { return Ok(None) };
        let (length, checksum) = head.split_at(4);
        let length = u32::from_le_bytes(length.try_into().unwrap_or_default());
        let checksum = u32::from_le_bytes(checksum.try_into().unwrap_or_default());
        if length == 0 || length as usize > MAX_PAYLOAD {
            return Ok(None);
        }
        let payload = self.range(self.position.offset + HEAD as u64, length as usize, until)?.map(|range| self.chunk.slice(range));
        Ok(payload.filter(|bytes| segment::checksum(self.position.segment, bytes) == checksum))
    }

    /// Where the bytes lie in the chunk, which is read where it does not hold them.
    fn range(&mut self, offset: u64, count: usize, until: Position) -> Result<Option<Range<usize>>, JournalError> {
        match self.held(offset, count) {
            None if self.fill(offset, count, until)? => Ok(self.held(offset, count)),
            held => Ok(held),
        }
    }

    /// Where the bytes lie in the chunk, where they are in it.
    fn held(&self, offset: u64, count: usize) -> Option<Range<usize>> {
        let start = usize::try_from(offset.checked_sub(self.chunk_start)?).ok()?;
        let end = start.checked_add(count)?;
        (end <= self.chunk.len()).then_some(start..end)
    }

    /// Reads a chunk at `offset`, never past the bytes known to be written.
    fn fill(&mut self, offset: u64, count: usize, until: Position) -> Result<bool, JournalError> {
        use std::os::unix::fs::FileExt;
        let number = self.position.segment;
        if self.file.as_ref().is_none_or(|(open, _)| *open != number) {
            let path = segment::path(&self.folder, number);
            match fs::File::open(&path) {
                Ok(file) => self.file = Some((number, file)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                Err(source) => return Err(JournalError::File { action: "open", path, source }),
            }
        }
        let Some((_, file)) = &self.file else { return Ok(false) };
        let mut wanted = CHUNK.max(count);
        if number == until.segment {
            wanted = wanted.min(usize::try_from(until.offset.saturating_sub(offset)).unwrap_or(0));
        }
        let mut chunk = BytesMut::zeroed(wanted);
        let mut filled = 0;
        while let Some(rest) = chunk.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let at = offset + u64::try_from(filled).unwrap_or(0);
            let read = file.read_at(rest, at).map_err(|source| JournalError::File {
                action: "read",
                path: segment::path(&self.folder, number),
                source,
            })?;
            if read == 0 {
                break;
            }
            filled += read;
        }
        chunk.truncate(filled);
        self.chunk = chunk.freeze();
        self.chunk_start = offset;
        Ok(filled >= count)
    }

    /// Moves to the next segment that exists; `false` where there is none before `until`.
    fn advance(&mut self, until: Position) -> Result<bool, JournalError> {
        let next = segment::list(&self.folder)?.into_iter().find(|number| *number > self.position.segment);
        let Some(number) = next.filter(|number| *number <= until.segment) else { return Ok(false) };
        self.position = Position { segment: number, offset: 0 };
        self.chunk = Bytes::new();
        self.chunk_start = 0;
        Ok(true)
    }
}

fn decode(payload: Bytes, position: Position) -> Option<Entry> {
    let kind = *payload.first()?;
    let encoded = Encoded(payload);
    encoded.id()?;
    match kind {
        kind if kind == Kind::End as u8 => Some(Entry::End(encoded)),
        kind if kind == Kind::Begin as u8 => Some(Entry::Begin(position, encoded)),
        kind if kind == Kind::Event as u8 => Some(Entry::Event(encoded)),
        _ => None,
    }
}
