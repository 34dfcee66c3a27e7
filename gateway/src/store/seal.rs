//! Provider credentials at rest: AES-256-GCM under a key derived from the master key.
//!
//! The row a credential belongs to is authenticated with it, so that one row's text does not open in another row.

use std::fmt;

use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{Aes256Gcm, KeyInit};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::secrets;

/// What the derived key is for; another purpose has another key.
const PURPOSE: &[u8] = b"svc provider credentials v1";
/// Table and column, which are authenticated together with the row's id.
const PLACE: &str = "provider_key.secret_sealed";
const NONCE: usize = 12;

/// Why a credential cannot be sealed or opened. Says nothing of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The cipher refused.
    #[error("seal a provider credential")]
    Seal,
    /// The text was sealed under another master key or for another row, or was changed.
    #[error("open a provider credential: it was sealed under another SVC_MASTER_KEY, or changed since")]
    Open,
}

/// Seals and opens provider credentials.
#[derive(Clone)]
pub struct Sealer(Aes256Gcm);

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer(…)")
    }
}

impl Sealer {
    /// Derives the key from the master key, whose length the caller has checked.
    #[must_use]
    pub fn new(master_key: &[u8]) -> Self {
        Self::for_purpose(master_key, PURPOSE)
    }

    fn for_purpose(master_key: &[u8], purpose: &[u8]) -> Self {
        Self(Aes256Gcm::new(&secrets::derived(master_key, purpose).into()))
    }

    /// Seals a credential for the row `row_id`: base64 of nonce and ciphertext, different every time.
    ///
    /// # Errors
    /// When the cipher refuses, which it does for texts of many gigabytes only.
    pub fn seal(&self, row_id: &str, clear: &str) -> Result<String, SealError> {
        let nonce: [u8; NONCE] = rand::random();
        let place = place(row_id);
        let payload = Payload { msg: clear.as_bytes(), aad: place.as_bytes() };
        let ciphertext = self.0.encrypt(&nonce.into(), payload).map_err(|_| SealError::Seal)?;
        Ok(STANDARD.encode([nonce.as_slice(), &ciphertext].concat()))
    }

    /// Opens what was sealed for the row `row_id`.
    ///
    /// # Errors
    /// When it was sealed under another key or for another row, or was changed.
    pub fn open(&self, row_id: &str, sealed: &str) -> Result<String, SealError> {
        let bytes = STANDARD.decode(sealed).map_err(|_| SealError::Open)?;
        let (nonce, ciphertext) = bytes.split_first_chunk::<NONCE>().ok_or(SealError::Open)?;
        let place = place(row_id);
        let payload = Payload { msg: ciphertext, aad: place.as_bytes() };
        let clear = self.0.decrypt(&(*nonce).into(), payload).map_err(|_| SealError::Open)?;
        String::from_utf8(clear).map_err(|_| SealError::Open)
    }
}

fn place(row_id: &str) -> String {
    format!("{PLACE}.{row_id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASTER: &[u8] = b"a master key of at least 32 bytes";

    #[test]
    fn a_sealed_credential_opens_in_its_own_row_only() {
        let sealer = Sealer::new(MASTER);
        let sealed = sealer.seal("row-1", "sk-vendor").unwrap();
        assert_eq!(sealer.open("row-1", &sealed).as_deref(), Ok("sk-vendor"));
        assert_eq!(sealer.open("row-2", &sealed), Err(SealError::Open), "swapped rows must not open");
    }

    #[test]
    fn a_key_for_another_purpose_or_from_another_master_key_does_not_open_it() {
        let sealed = Sealer::new(MASTER).seal("row", "sk-vendor").unwrap();
        assert_eq!(Sealer::for_purpose(MASTER, b"something else").open("row", &sealed), Err(SealError::Open));
        assert_eq!(Sealer::new(b"another master key of 32 bytes or more").open("row", &sealed), Err(SealError::Open));
    }

    #[test]
    fn every_changed_byte_is_noticed_and_nothing_repeats() {
        let sealer = Sealer::new(MASTER);
        let sealed = sealer.seal("row", "sk-vendor").unwrap();
        assert_ne!(sealed, sealer.seal("row", "sk-vendor").unwrap(), "nonces are random");
        let bytes = STANDARD.decode(&sealed).unwrap();
        for position in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[position] ^= 1;
            assert_eq!(sealer.open("row", &STANDARD.encode(changed)), Err(SealError::Open));
        }
        for text in ["", "AAAA", "not base64!"] {
            assert_eq!(sealer.open("row", text), Err(SealError::Open));
        }
    }

    #[test]
    fn the_key_is_never_printed() {
        assert_eq!(format!("{:?}", Sealer::new(MASTER)), "Sealer(…)");
    }
}
