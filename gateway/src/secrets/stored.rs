//! Generated secrets in files: complete or absent, never half written, and the same for every process that starts.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rand::TryRngCore;
use rand::rngs::OsRng;

use crate::private_file;

/// Bits that let anyone but the owner in.
const OTHERS: u32 = 0o077;

/// The text of the file; where there is none, 256 new random bits in hexadecimal are put there first.
///
/// The new text is written to a file of its own and then linked to its name, which fails where another process was
/// faster; that one's text is then read.
pub(super) fn read_or_create(path: &Path) -> io::Result<String> {
    match read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        result => return result,
    }
    let folder = private_file::folder(path)?;
    let draft = private_file::draft(path, &format!("{}\n", random_hex::<32>()?))?;
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match linked {
        Ok(()) => {
            private_file::sync(folder)?;
            log::info!("generated the secret {}; keep a copy of it with the backups", path.display());
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    read(path)
}

fn read(path: &Path) -> io::Result<String> {
    let text = fs::read_to_string(path)?;
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & OTHERS != 0 {
        fs::set_permissions(path, Permissions::from_mode(private_file::MODE))?;
        log::warn!("{} was open to other users of this machine; it is now readable by its owner only", path.display());
    }
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn random_hex<const BYTES: usize>() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    OsRng.try_fill_bytes(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().fold(String::with_capacity(BYTES * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
