//! The keys that verify licences: compiled in, and never read where the gateway runs.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject;

use super::spki;

/// Name and base64 text of the keys in `conf/licence-keys/`, or in the directory `SVC_LICENCE_KEYS` named when this was built.
const SHIPPED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/licence_keys.rs"));

/// The key of the project's own tests, which everybody can sign with. Only builds with debug assertions hold it.
#[cfg(debug_assertions)]
const OF_TESTS: Option<&str> = Some(include_str!("../../../tests/licence/public.pem"));
#[cfg(not(debug_assertions))]
const OF_TESTS: Option<&str> = None;

/// A key that verifies licences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    /// What it is called: its file, without the extension.
    pub name: String,
    bytes: [u8; 32],
}

/// A key that signs licences. Not printed.
pub struct SigningKey {
    pkcs8: Vec<u8>,
    public: VerifyingKey,
}

/// Why a file is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is no Ed25519 public key in PEM.
    #[error("read the key: it is no Ed25519 public key in PEM (`BEGIN PUBLIC KEY`)")]
    Public,
    /// It is no Ed25519 private key in PEM.
    #[error("read the key: it is no Ed25519 private key in PEM (`BEGIN PRIVATE KEY`)")]
    Private,
    /// The system gives no randomness.
    #[error("make a key: the system gives no randomness")]
    Random,
}

/// The keys this build trusts.
#[must_use]
pub fn trusted() -> Vec<VerifyingKey> {
    trusted_with(OF_TESTS)
}

/// The keys of a build that holds the tests' key, or not.
fn trusted_with(of_tests: Option<&str>) -> Vec<VerifyingKey> {
    let shipped = SHIPPED.iter().filter_map(|(name, text)| VerifyingKey::from_text(name, text).ok());
    shipped.chain(of_tests.and_then(|pem| VerifyingKey::from_pem("tests", pem).ok())).collect()
}

impl VerifyingKey {
    /// Reads a PEM file.
    ///
    /// # Errors
    /// When it holds anything but one Ed25519 public key.
    pub fn from_pem(name: &str, pem: &str) -> Result<Self, KeyError> {
        Self::from_text(name, &spki::key_text(pem).ok_or(KeyError::Public)?)
    }

    fn from_text(name: &str, text: &str) -> Result<Self, KeyError> {
        let bytes = STANDARD.decode(text).map_err(|_| KeyError::Public)?;
        Ok(Self { name: name.to_owned(), bytes: bytes.try_into().map_err(|_| KeyError::Public)? })
    }

    /// The PEM file.
    #[must_use]
    pub fn to_pem(&self) -> String {
        spki::pem(&STANDARD.encode(self.bytes))
    }

    pub(super) const fn bytes(&self) -> &[u8; 32] {
        &self.bytes
    }
}

impl SigningKey {
    /// Makes a new pair.
    ///
    /// # Errors
    /// When the system gives no randomness.
    pub fn generate() -> Result<Self, KeyError> {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| KeyError::Random)?;
        Self::from_der(pkcs8.as_ref().to_vec())
    }

    /// Reads a PEM file, of this program or of OpenSSL.
    ///
    /// # Errors
    /// When it holds no Ed25519 private key.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let key = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| KeyError::Private)?;
        Self::from_der(key.secret_pkcs8_der().to_vec())
    }

    fn from_der(pkcs8: Vec<u8>) -> Result<Self, KeyError> {
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&pkcs8).map_err(|_| KeyError::Private)?;
        let bytes = pair.public_key().as_ref().try_into().map_err(|_| KeyError::Private)?;
        Ok(Self { pkcs8, public: VerifyingKey { name: "own".to_owned(), bytes } })
    }

    /// What verifies its signatures.
    #[must_use]
    pub const fn public(&self) -> &VerifyingKey {
        &self.public
    }

    /// The PEM file.
    #[must_use]
    pub fn to_pem(&self) -> String {
        let text = STANDARD.encode(&self.pkcs8);
        let (first, rest) = text.split_at_checked(64).unwrap_or((&text, ""));
        format!("-----BEGIN PRIVATE KEY-----\n{first}\n{rest}\n-----END PRIVATE KEY-----\n")
    }

    pub(super) fn pkcs8(&self) -> &[u8] {
        &self.pkcs8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_build_with_debug_assertions_trusts_the_key_of_the_tests() {
        let of_tests = VerifyingKey::from_pem("tests", include_str!("../../../tests/licence/public.pem")).unwrap();
        assert!(trusted_with(OF_TESTS).contains(&of_tests) == cfg!(debug_assertions));
        assert!(!trusted_with(None).iter().any(|key| key.bytes == of_tests.bytes), "a release build has none to trust");
        let private = SigningKey::from_pem(include_str!("../../../tests/licence/private.pem")).unwrap();
        assert_eq!(private.public().bytes, of_tests.bytes, "the two files are a pair");
    }

    #[test]
    fn every_shipped_key_is_one() {
        assert_eq!(trusted_with(None).len(), SHIPPED.len());
    }

    #[test]
    fn keys_survive_their_files() {
        let key = SigningKey::generate().unwrap();
        let read = SigningKey::from_pem(&key.to_pem()).unwrap();
        assert_eq!(read.public().bytes, key.public().bytes);
        let public = VerifyingKey::from_pem("own", &key.public().to_pem()).unwrap();
        assert_eq!(public.bytes, key.public().bytes);
    }

    #[test]
    fn other_files_are_no_keys() {
        let key = SigningKey::generate().unwrap();
        assert_eq!(VerifyingKey::from_pem("k", &key.to_pem()).err(), Some(KeyError::Public), "a private key is not published by mistake");
        assert_eq!(SigningKey::from_pem(&key.public().to_pem()).err(), Some(KeyError::Private));
        let rsa = "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAK\n-----END PUBLIC KEY-----\n";
        for other in ["", "text", rsa, &key.public().to_pem().repeat(2), &key.public().to_pem().replace("MCow", "MCox")] {
            assert_eq!(VerifyingKey::from_pem("k", other).err(), Some(KeyError::Public), "{other}");
        }
    }
}
