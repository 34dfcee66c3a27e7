//! Continuity tokens: what a vendor gives out with its reasoning and wants back unaltered. Each is bound to where it was made.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

/// Not secret: it only has to be the same for every request.
const SECRET: &[u8] = b"svc-demo";
const NONCE: usize = 8;

/// A token bound to `place` and `content`; `seed` makes two tokens for the same content differ.
pub(crate) fn mint(place: &str, content: &str, seed: &str) -> String {
    let digest = hmac::sign(&key(), seed.as_bytes());
    let nonce = digest.as_ref().get(..NONCE).unwrap_or_default();
    let proof = hmac::sign(&key(), &message(place, content, nonce));
    STANDARD.encode([nonce, proof.as_ref()].concat())
}

/// Whether a token was minted for `place` and `content`. Both alphabets of base64 are taken, as proto JSON does.
pub(crate) fn holds(place: &str, content: &str, token: &str) -> bool {
    let token = token.replace('-', "+").replace('_', "/");
    let Ok(bytes) = STANDARD.decode(token) else { return false };
    let Some((nonce, proof)) = bytes.split_at_checked(NONCE) else { return false };
    hmac::verify(&key(), &message(place, content, nonce), proof).is_ok()
}

fn key() -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, SECRET)
}

fn message(place: &str, content: &str, nonce: &[u8]) -> Vec<u8> {
    [place.as_bytes(), &[0], content.as_bytes(), &[0], nonce].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_holds_only_where_it_was_made_and_unaltered() {
        let token = mint("anthropic", "a thought", "1");
        assert!(holds("anthropic", "a thought", &token));
        assert!(!holds("gemini", "a thought", &token), "foreign");
        assert!(!holds("anthropic", "another thought", &token), "moved");
        assert!(!holds("anthropic", "a thought", &token.replacen(token.get(..1).unwrap(), "_", 1)), "altered");
        assert_ne!(token, mint("anthropic", "a thought", "2"));
    }
}
