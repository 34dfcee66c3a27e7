//! A place in the journal, noted in a file of its own.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::journal::Position;

/// Why a place cannot be noted.
#[derive(Debug, thiserror::Error)]
#[error("{action} the journal's checkpoint {path}: {source}")]
pub struct CheckpointError {
    /// What was tried.
    action: &'static str,
    /// The file.
    path: PathBuf,
    /// The cause.
    source: io::Error,
}

/// A noted place, checked by a sum, since a power cut may tear it.
#[derive(Debug)]
pub(super) struct Checkpoint {
    file: File,
    path: PathBuf,
}

impl Checkpoint {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// When that is not possible.
    pub(super) fn open(path: PathBuf) -> Result<Self, CheckpointError> {
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        match opened {
            Ok(file) => Ok(Self { file, path }),
            Err(source) => Err(CheckpointError { action: "open", path, source }),
        }
    }

    /// The noted place; none where none was noted or the note is torn.
    pub(super) fn read(&self) -> Option<Position> {
        let mut bytes = [0; 20];
        self.file.read_exact_at(&mut bytes, 0).ok()?;
        let (body, checksum) = bytes.split_at(16);
        if checksum != crc32fast::hash(body).to_le_bytes() {
            return None;
        }
        let (segment, offset) = body.split_at(8);
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        Some(Position { segment: number(segment), offset: number(offset) })
    }

    /// Notes a place.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn write(&self, position: Position) -> Result<(), CheckpointError> {
        let mut bytes = Vec::with_capacity(20);
        bytes.extend_from_slice(&position.segment.to_le_bytes());
        bytes.extend_from_slice(&position.offset.to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        let written = self.file.write_all_at(&bytes, 0);
        written.map_err(|source| CheckpointError { action: "write", path: self.path.clone(), source })
    }
}
