//! Tags on continuity tokens: a token that is shown to a client of another shape says who minted it, so that it comes back
//! byte for byte to that provider and to no other.
//!
//! `m1.` (messages), `g1.` (generate content), `r1.` (responses) or `c1.`, eight hexadecimal digits for provider and model, a
//! full stop, and the token in base64url.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::canonical::{Signature, Text};
use crate::shape::Shape;

const fn letter(shape: Shape) -> char {
    match shape {
        Shape::ChatCompletions => 'c',
        Shape::Messages => 'm',
        Shape::GenerateContent => 'g',
        Shape::Responses => 'r',
    }
}

/// The tag of a provider and the model there.
#[must_use]
pub fn origin(provider: &str, model: &str) -> u32 {
    let digest = Sha256::new().chain_update(provider).chain_update([0]).chain_update(model).finalize();
    digest.iter().take(4).fold(0, |tag, byte| tag << 8 | u32::from(*byte))
}

/// The token as a client of another shape keeps it.
#[must_use]
pub fn tag(signature: &Signature<'_>) -> String {
    let value = signature.value.decode();
    format!("{}1.{:08x}.{}", letter(signature.shape), signature.origin.unwrap_or(0), URL_SAFE_NO_PAD.encode(value.as_bytes()))
}

/// A token that was tagged by [`tag`]; `None` for every other text.
#[must_use]
pub fn untag(text: &str) -> Option<Signature<'static>> {
    let (head, value) = text.split_at_checked(12)?;
    let shape = match head.get(..3)? {
        "c1." => Shape::ChatCompletions,
        "m1." => Shape::Messages,
        "g1." => Shape::GenerateContent,
        "r1." => Shape::Responses,
        _ => return None,
    };
    let origin = u32::from_str_radix(head.get(3..11)?, 16).ok()?;
    let value = String::from_utf8(URL_SAFE_NO_PAD.decode(value).ok()?).ok()?;
    (head.ends_with('.')).then_some(Signature { shape, origin: Some(origin), value: Text::from(value) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_back_byte_for_byte_with_its_origin() {
        let origin = origin("vertex", "gemini-3-pro");
        let minted = Signature { shape: Shape::GenerateContent, origin: Some(origin), value: Text::from("CvAB+/=é") };
        let tagged = tag(&minted);
        assert!(tagged.starts_with("g1.") && tagged.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)));
        assert_eq!(untag(&tagged), Some(minted));
    }

    #[test]
    fn a_vendors_own_token_is_no_tag() {
        for own in ["", "EqQBCkgIBRABGAIiQ", "g1.zzzzzzzz.AA", "g1.00000000", "é1.00000000.AA", "m1.0000000\u{e9}.AA"] {
            assert_eq!(untag(own), None, "{own}");
        }
    }

    #[test]
    fn providers_and_models_have_tags_of_their_own() {
        assert_ne!(origin("a", "bc"), origin("ab", "c"));
    }
}
