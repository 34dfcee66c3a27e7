//! Files for their owner only, which are there as a whole or not at all.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::request_id::random_bits;

const FOLDER_MODE: u32 = 0o700;
/// Who may read and write such a file.
pub(crate) const MODE: u32 = 0o600;

/// The folder of a file, which is made where it is not there.
pub(crate) fn folder(path: &Path) -> io::Result<&Path> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
    Ok(folder)
}

/// Writes a text to a file beside `path` that no other process knows, and waits until it is on the disk. Whoever asked gives it its
/// name, or takes it away again.
pub(crate) fn draft(path: &Path, text: &str) -> io::Result<PathBuf> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{:016x}.new", random_bits()));
    let draft = path.with_file_name(name);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(&draft)?;
    if let Err(error) = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()) {
        let _ = fs::remove_file(&draft);
        return Err(error);
    }
    Ok(draft)
}

/// Waits until the names of a folder's files are on the disk.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}
