//! Generated secrets in files: complete or absent, never half written, and the same for every process that starts.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rand::TryRngCore;
use rand::rngs::OsRng;

const PRIVATE_DIR: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;
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
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(PRIVATE_DIR).create(folder)?;
    let draft = write_draft(path)?;
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match linked {
        Ok(()) => {
            File::open(folder)?.sync_all()?;
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
        fs::set_permissions(path, Permissions::from_mode(PRIVATE_FILE))?;
        log::warn!("{} was open to other users of this machine; it is now readable by its owner only", path.display());
    }
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// Writes a new secret to a file that no other process knows, and waits until it is on the disk.
fn write_draft(path: &Path) -> io::Result<PathBuf> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", random_hex::<8>()?));
    let draft = path.with_file_name(name);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(PRIVATE_FILE).open(&draft)?;
    writeln!(file, "{}", random_hex::<32>()?)?;
    file.sync_all()?;
    Ok(draft)
}

fn random_hex<const BYTES: usize>() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    OsRng.try_fill_bytes(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().fold(String::with_capacity(BYTES * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
