//! One pre-allocated file of the journal, mapped into memory.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memmap2::MmapMut;
use serde::Serialize;

use super::{HEAD, JournalError, Kind, MAX_PAYLOAD};

/// Name of the file that is ready to be the next segment. It is none of the journal's yet.
const RESERVE: &str = "reserve";

/// A segment being written.
#[derive(Debug)]
pub(super) struct Segment {
    map: MmapMut,
    /// Its number; 0 while it is the reserve.
    number: u64,
}

impl Segment {
    /// Makes segment `number` with all its bytes allocated, so that a full disk is an error here and not a signal later.
    pub(super) fn create(folder: &Path, number: u64, bytes: usize) -> Result<Self, JournalError> {
        Self::make(&path(folder, number), number, bytes, |_| Ok(()))
    }

    /// Makes the reserve, with all its pages in memory: an append then need not make one, which costs more than all else it does.
    pub(super) fn reserve(folder: &Path, bytes: usize) -> Result<Self, JournalError> {
        Self::make(&folder.join(RESERVE), 0, bytes, |file| fill(file, bytes))
    }

    fn make(path: &Path, number: u64, bytes: usize, ready: impl FnOnce(&File) -> io::Result<()>) -> Result<Self, JournalError> {
        let failed = |source| JournalError::File { action: "create", path: path.to_owned(), source };
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path).map_err(failed)?;
        allocate(&file, bytes).map_err(failed)?;
        ready(&file).map_err(failed)?;
        Ok(Self { map: map(&file).map_err(failed)?, number })
    }

    /// Makes the reserve of a segment that nobody reads any more. Its pages stay where they are; what it holds counts for nothing
    /// under another number.
    pub(super) fn retire(self, folder: &Path) -> Result<Self, JournalError> {
        let from = path(folder, self.number);
        self.moved(&from, &folder.join(RESERVE), 0)
    }

    /// Makes the reserve segment `number`.
    pub(super) fn become_segment(self, folder: &Path, number: u64) -> Result<Self, JournalError> {
        self.moved(&folder.join(RESERVE), &path(folder, number), number)
    }

    fn moved(self, from: &Path, to: &Path, number: u64) -> Result<Self, JournalError> {
        fs::rename(from, to).map_err(|source| JournalError::File { action: "rename", path: from.to_owned(), source })?;
        Ok(Self { map: self.map, number })
    }

    /// Its number.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Writes one entry at `offset` and returns the offset after it; `None` where there is no room for it.
    pub(super) fn put(&mut self, offset: usize, kind: Kind, record: &impl Serialize) -> Result<Option<usize>, postcard::Error> {
        let Some((head, rest)) = self.map.get_mut(offset..).and_then(|rest| rest.split_at_mut_checked(HEAD)) else { return Ok(None) };
        let most = rest.len().min(MAX_PAYLOAD);
        let Some((first, room)) = rest.get_mut(..most).and_then(<[u8]>::split_first_mut) else { return Ok(None) };
        *first = kind as u8;
        let length = match postcard::to_slice(record, room) {
            Ok(written) => 1 + written.len(),
            Err(postcard::Error::SerializeBufferFull) => return Ok(None),
            Err(error) => return Err(error),
        };
        let checksum = checksum(self.number, rest.get(..length).unwrap_or_default());
        // What was here before, in clients' words in part, must not be taken for the head of the next one.
        if let Some(next) = rest.get_mut(length..length + HEAD) {
            next.fill(0);
        }
        // The head comes last, and its length at the very end: without them there is no entry.
        let (length_slot, checksum_slot) = head.split_at_mut(4);
        checksum_slot.copy_from_slice(&checksum.to_le_bytes());
        length_slot.copy_from_slice(&u32::try_from(length).unwrap_or(0).to_le_bytes());
        Ok(Some(offset + HEAD + length))
    }
}

/// What an entry of segment `number` is checked with. The number is part of it, so that what a file held before it became this segment
/// is no entry of it.
pub(super) fn checksum(number: u64, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(number as u32);
    hasher.update(payload);
    hasher.finalize()
}

#[expect(unsafe_code, reason = "a shared mapping is what survives kill -9; the file belongs to this process alone")]
fn map(file: &File) -> io::Result<MmapMut> {
    // SAFETY: the segment was created by this process and no other truncates it while it is mapped; readers only read.
    unsafe { MmapMut::map_mut(file) }
}

#[expect(unsafe_code, reason = "std has no call that allocates the blocks of a file")]
fn allocate(file: &File, bytes: usize) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let length = libc::off_t::try_from(bytes).map_err(io::Error::other)?;
    // SAFETY: the descriptor is open for the whole call.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) } {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Writes zeros. The kernel keeps pages together that were written together, and maps them together into this process.
fn fill(file: &File, bytes: usize) -> io::Result<()> {
    static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];
    for at in (0..bytes).step_by(ZEROS.len()) {
        file.write_all_at(ZEROS.get(..bytes - at).unwrap_or(&ZEROS), at as u64)?;
    }
    Ok(())
}

/// Where segment `number` lies.
pub(super) fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:010}.journal"))
}

/// Numbers of all segments in the folder, ascending.
pub(super) fn list(folder: &Path) -> Result<Vec<u64>, JournalError> {
    let failed = |source| JournalError::File { action: "list", path: folder.to_owned(), source };
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let number: Option<u64> = name.to_str().and_then(|name| name.strip_suffix(".journal")).and_then(|digits| digits.parse().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Removes segment `number`.
pub(super) fn remove(folder: &Path, number: u64) -> Result<(), JournalError> {
    let path = path(folder, number);
    fs::remove_file(&path).map_err(|source| JournalError::File { action: "remove", path, source })
}
