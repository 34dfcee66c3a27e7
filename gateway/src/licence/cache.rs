//! The licence that was last found good, in a file of the data directory.
//!
//! Three lines: the licence, when it was last found good (Unix seconds), and a MAC of both under a key derived from the master key.
//! The licence's signature is verified again when the file is read. The MAC keeps whoever can write the file but does not know the
//! installation's secrets from making a licence younger than it is; the licence's own expiry bounds its life in any case.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::keys::VerifyingKey;
use super::state::Cached;
use super::token::{self, LONGEST, Unusable};
use crate::{private_file, secrets};

/// What the derived key is for; another purpose has another key.
const PURPOSE: &[u8] = b"svc licence cache v1";
/// Bytes of the file beside the licence, at most.
const REST: usize = 256;

/// The file, and the key of its MAC.
pub(super) struct Cache {
    path: PathBuf,
    mac: Hmac<Sha256>,
}

/// Why there is no cached licence although there is a file.
#[derive(Debug, thiserror::Error)]
pub(super) enum CacheError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// It is not what this installation wrote.
    #[error("it was changed, or written under another SVC_MASTER_KEY")]
    Foreign,
    /// The licence in it is none any more, such as after its key was removed from the build.
    #[error("{0}")]
    Licence(#[from] Unusable),
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cache").field(&self.path).finish()
    }
}

impl Cache {
    /// The cache in a file.
    pub(super) fn new(path: PathBuf, master_key: &[u8]) -> Self {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
        let mac = Hmac::new_from_slice(&secrets::derived(master_key, PURPOSE)).expect("HMAC takes 32 bytes");
        Self { path, mac }
    }

    /// The licence in the file; `now` is Unix seconds. A file that is not this installation's own counts as none, and the log says so.
    pub(super) fn read(&self, keys: &[VerifyingKey], now: i64) -> Option<Cached> {
        match self.try_read(keys, now) {
            Ok(cached) => Some(cached),
            Err(CacheError::File(error)) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                log::warn!("the cached licence in {} cannot be used: {error}", self.path.display());
                None
            }
        }
    }

    fn try_read(&self, keys: &[VerifyingKey], now: i64) -> Result<Cached, CacheError> {
        let mut text = String::new();
        let longest = LONGEST + REST;
        File::open(&self.path)?.take(longest as u64).read_to_string(&mut text)?;
        let mut lines = text.lines();
        let (Some(token), Some(moment), Some(mac), None) = (lines.next(), lines.next(), lines.next(), lines.next()) else {
            return Err(CacheError::Foreign);
        };
        let mac = URL_SAFE_NO_PAD.decode(mac).map_err(|_| CacheError::Foreign)?;
        self.over(token, moment).verify_slice(&mac).map_err(|_| CacheError::Foreign)?;
        let verified_at = moment.parse().map_err(|_| CacheError::Foreign)?;
        Ok(Cached { claims: token::verify(token, keys, now)?.claims, verified_at })
    }

    /// Puts a licence that was just verified there: the file is there as a whole or as it was.
    pub(super) fn write(&self, token: &str, now: i64) -> Result<(), CacheError> {
        let moment = now.to_string();
        let mac = URL_SAFE_NO_PAD.encode(self.over(token, &moment).finalize().into_bytes());
        let folder = private_file::folder(&self.path)?;
        let draft = private_file::draft(&self.path, &format!("{token}\n{moment}\n{mac}\n"))?;
        if let Err(error) = fs::rename(&draft, &self.path) {
            let _ = fs::remove_file(&draft);
            return Err(error.into());
        }
        Ok(private_file::sync(folder)?)
    }

    fn over(&self, token: &str, moment: &str) -> Hmac<Sha256> {
        // Neither holds a line's end, so that no two pairs are one text.
        self.mac.clone().chain_update(token).chain_update("\n").chain_update(moment)
    }
}

#[cfg(test)]
mod tests;
