//! The form of a key's secret, and the only form in which it is stored.
//!
//! A minted secret is `sk-svc-<12 base62 public id>-<43 base62 secret><6 base62 CRC-32>`. The checksum covers everything
//! before it, so a mistyped or guessed secret is refused without a look-up. A declared secret may have any form of 16
//! characters or more.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use rand::Rng;
use sha2::Sha256;
use subtle::ConstantTimeEq;

const PREFIX: &str = "sk-svc-";
const PUBLIC_ID: usize = 12;
const RANDOM: usize = 43;
const CHECKSUM: usize = 6;
const MINTED: usize = PREFIX.len() + PUBLIC_ID + 1 + RANDOM + CHECKSUM;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A secret in clear. Never printed: its `Debug` shows the public part only.
pub struct KeySecret(String);

impl KeySecret {
    /// Mints a secret with 256 random bits.
    #[must_use]
    pub fn mint(random: &mut impl Rng) -> Self {
        let mut public_id = String::with_capacity(PUBLIC_ID);
        push_random(&mut public_id, PUBLIC_ID, random);
        Self::assemble(&public_id, random)
    }

    /// Mints a secret that keeps the public part of another, so that a key is found under its new and its previous secret.
    /// `None` where the text is no public part.
    #[must_use]
    pub fn mint_with(public_id: &str, random: &mut impl Rng) -> Option<Self> {
        let fits = public_id.len() == PUBLIC_ID && public_id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        fits.then(|| Self::assemble(public_id, random))
    }

    fn assemble(public_id: &str, random: &mut impl Rng) -> Self {
        let mut text = String::with_capacity(MINTED);
        text.push_str(PREFIX);
        text.push_str(public_id);
        text.push('-');
        push_random(&mut text, RANDOM, random);
        let checksum = base62(crc32fast::hash(text.as_bytes()));
        text.push_str(&checksum);
        Self(text)
    }

    /// The secret in clear, to be shown once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The public part, by which the key is found.
    #[must_use]
    pub fn public_id(&self) -> &str {
        Self::public_id_of(&self.0).unwrap_or_default()
    }

    /// The last four characters, which lists may show.
    #[must_use]
    pub fn last_four(text: &str) -> &str {
        text.char_indices().rev().nth(3).and_then(|(start, _)| text.get(start..)).unwrap_or(text)
    }

    /// The public id of a text in minted form, or `None` where it only claims to be one: wrong length, alphabet or checksum.
    #[must_use]
    pub fn public_id_of(text: &str) -> Option<&str> {
        if text.len() != MINTED || !text.is_ascii() {
            return None;
        }
        let (covered, checksum) = text.split_at(MINTED - CHECKSUM);
        let public_id = covered.strip_prefix(PREFIX)?.get(..PUBLIC_ID)?;
        (base62(crc32fast::hash(covered.as_bytes())) == checksum).then_some(public_id)
    }

    /// Whether a text claims to be a minted secret.
    #[must_use]
    pub fn has_minted_prefix(text: &str) -> bool {
        text.starts_with(PREFIX)
    }
}

impl fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeySecret({PREFIX}{}-…)", self.public_id())
    }
}

/// HMAC-SHA-256 of a secret under the pepper. Equality takes the same time wherever two hashes differ.
#[derive(Clone, Copy, Eq, Hash)]
#[expect(clippy::derived_hash_with_manual_eq, reason = "the two agree: both look at all bytes, and equality only takes longer")]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// Reads the 64 hexadecimal digits of the database column.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// The 64 hexadecimal digits of the database column.
    #[must_use]
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl PartialEq for SecretHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash(…)")
    }
}

/// The key under which secrets are hashed (`SVC_KEY_PEPPER`).
#[derive(Clone)]
pub struct Pepper(Hmac<Sha256>);

impl Pepper {
    /// Prepares the pepper; the caller has checked its length.
    #[must_use]
    pub fn new(pepper: &[u8]) -> Self {
        #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
        Self(Hmac::new_from_slice(pepper).expect("HMAC takes a key of any length"))
    }

    /// Hashes a secret in clear.
    #[must_use]
    pub fn hash(&self, secret: &str) -> SecretHash {
        let mut mac = self.0.clone();
        mac.update(secret.as_bytes());
        SecretHash(mac.finalize().into_bytes().into())
    }
}

impl fmt::Debug for Pepper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pepper(…)")
    }
}

fn push_random(text: &mut String, count: usize, random: &mut impl Rng) {
    for _ in 0..count {
        let index = random.random_range(0..ALPHABET.len());
        text.push(ALPHABET.get(index).copied().unwrap_or(b'0') as char);
    }
}

fn base62(mut value: u32) -> String {
    let mut digits = [b'0'; CHECKSUM];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET.get((value % 62) as usize).copied().unwrap_or(b'0');
        value /= 62;
    }
    digits.iter().map(|digit| *digit as char).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minted_secret_has_the_documented_form() {
        let secret = KeySecret::mint(&mut rand::rng());
        assert_eq!(secret.reveal().len(), 7 + 12 + 1 + 43 + 6);
        assert_eq!(KeySecret::public_id_of(secret.reveal()), Some(secret.public_id()));
        assert_eq!(secret.public_id().len(), 12);
    }

    #[test]
    fn a_rotated_secret_keeps_the_public_part_only() {
        let old = KeySecret::mint(&mut rand::rng());
        let new = KeySecret::mint_with(old.public_id(), &mut rand::rng()).expect("a public part");
        assert_eq!(KeySecret::public_id_of(new.reveal()), Some(old.public_id()));
        assert_ne!(new.reveal(), old.reveal());
        assert!(KeySecret::mint_with("too-short", &mut rand::rng()).is_none());
    }

    #[test]
    fn one_changed_character_fails_the_checksum() {
        let secret = KeySecret::mint(&mut rand::rng());
        for position in PREFIX.len()..MINTED {
            let mut bytes = secret.reveal().as_bytes().to_vec();
            bytes[position] = if bytes[position] == b'a' { b'b' } else { b'a' };
            let changed = String::from_utf8(bytes).expect("still ASCII");
            assert_eq!(KeySecret::public_id_of(&changed), None, "a change at {position} must be noticed");
        }
    }

    #[test]
    fn a_secret_is_never_printed() {
        let secret = KeySecret::mint(&mut rand::rng());
        let shown = format!("{secret:?} {:?} {:?}", Pepper::new(b"pepper"), Pepper::new(b"pepper").hash(secret.reveal()));
        assert!(!shown.contains(&secret.reveal()[20..]), "{shown}");
    }

    #[test]
    fn the_stored_hash_depends_on_the_pepper() {
        let one = Pepper::new(b"one").hash("secret");
        assert_eq!(SecretHash::from_hex(&one.to_hex()), Some(one));
        assert_ne!(one, Pepper::new(b"two").hash("secret"));
    }
}
