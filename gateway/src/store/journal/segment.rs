//! One pre-allocated file of the journal, mapped into memory.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memmap2::MmapMut;

use super::JournalError;

/// A segment being written.
#[derive(Debug)]
pub(super) struct Segment {
    map: MmapMut,
}

impl Segment {
    /// Makes segment `number` with all its bytes allocated, so that a full disk is an error here and not a signal later.
    pub(super) fn create(folder: &Path, number: u64, bytes: usize) -> Result<Self, JournalError> {
        Self::make(folder, number, bytes, |_| Ok(()))
    }

    /// The same with all its pages in memory: an append then need not make one, which costs more than all else it does.
    pub(super) fn prepare(folder: &Path, number: u64, bytes: usize) -> Result<Self, JournalError> {
        Self::make(folder, number, bytes, |file| fill(file, bytes))
    }

    fn make(folder: &Path, number: u64, bytes: usize, ready: impl FnOnce(&File) -> io::Result<()>) -> Result<Self, JournalError> {
        let path = path(folder, number);
        let failed = |source| JournalError::File { action: "create", path: path.clone(), source };
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path).map_err(failed)?;
        allocate(&file, bytes).map_err(failed)?;
        ready(&file).map_err(failed)?;
        Ok(Self { map: map(&file).map_err(failed)? })
    }

    /// Writes one entry at `offset` and returns the offset after it. The caller has checked that it fits.
    pub(super) fn put(&mut self, offset: usize, payload: &[u8]) -> usize {
        let length = u32::try_from(payload.len()).unwrap_or(0).to_le_bytes();
        let checksum = crc32fast::hash(payload).to_le_bytes();
        let end = offset + 8 + payload.len();
        if let Some(slot) = self.map.get_mut(offset..end) {
            let (head, body) = slot.split_at_mut(8);
            body.copy_from_slice(payload);
            let (length_slot, checksum_slot) = head.split_at_mut(4);
            checksum_slot.copy_from_slice(&checksum);
            length_slot.copy_from_slice(&length);
        }
        end
    }
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
