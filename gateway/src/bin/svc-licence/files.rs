//! Files this program writes: never over another one.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};

/// For the owner only.
pub(crate) const PRIVATE: u32 = 0o600;
/// For everybody to read.
pub(crate) const PUBLIC: u32 = 0o644;

/// Creates a file.
pub(crate) fn create(path: &Path, text: &str, mode: u32) -> Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .with_context(|| format!("failed to create {}", path.display()))?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).with_context(|| format!("failed to write {}", path.display()))
}

/// Reads a text file.
pub(crate) fn read(path: &str) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("failed to read {path}"))
}
