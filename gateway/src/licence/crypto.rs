//! The signatures behind `jsonwebtoken`: Ed25519 by `ring`, and nothing else. Whatever else a token asks for has no code to run.

use std::sync::Once;

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, EncodingKey};
use ring::signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey};
use signature::{Signer, Verifier};

static PROVIDER: CryptoProvider =
    CryptoProvider { signer_factory: signer, verifier_factory: verifier, key_utils: KeyUtils::new_unimplemented() };
static INSTALLED: Once = Once::new();

/// Makes `jsonwebtoken` use it. Has to be called before that package is used; may be called often.
pub(super) fn install() {
    INSTALLED.call_once(|| {
        // Nobody else in these programs installs one, so it cannot be taken.
        let _ = PROVIDER.install_default();
    });
}

struct Signs(Ed25519KeyPair);

struct Verifies([u8; 32]);

fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    if *algorithm != Algorithm::EdDSA || key.family() != AlgorithmFamily::Ed {
        return Err(ErrorKind::UnsupportedAlgorithm.into());
    }
    let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key.as_bytes()).map_err(|_| ErrorKind::InvalidEddsaKey)?;
    Ok(Box::new(Signs(pair)))
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    if *algorithm != Algorithm::EdDSA || key.family() != AlgorithmFamily::Ed {
        return Err(ErrorKind::UnsupportedAlgorithm.into());
    }
    let key = key.try_get_as_bytes()?.try_into().map_err(|_| ErrorKind::InvalidEddsaKey)?;
    Ok(Box::new(Verifies(key)))
}

impl Signer<Vec<u8>> for Signs {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        Ok(self.0.sign(message).as_ref().to_vec())
    }
}

impl JwtSigner for Signs {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

impl Verifier<Vec<u8>> for Verifies {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        UnparsedPublicKey::new(&ED25519, self.0).verify(message, signature).map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Verifies {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}
