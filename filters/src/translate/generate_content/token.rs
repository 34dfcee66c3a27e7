//! Continuity tokens of other shapes in this shape's one field for them, `thoughtSignature`, which holds bytes in base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::base64_text;
use crate::canonical::{Signature, Text};
use crate::translate::map::signature;

/// Marks a block of reasoning only its provider can read, as opposed to the signature of one that was shown.
const REDACTED: &str = "#";

/// A token of another shape that came back.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// The signature of reasoning, or of a call.
    Signed(Signature<'static>),
    /// A whole block of reasoning.
    Redacted(Signature<'static>),
}

/// The field's value for a token of another shape.
pub(super) fn write(signature: &Signature<'_>, redacted: bool) -> String {
    let mark = if redacted { REDACTED } else { "" };
    STANDARD.encode(format!("{mark}{}", signature::tag(signature)))
}

/// Reads what [`write`] wrote; `None` for this vendor's own tokens.
pub(super) fn read(value: &Text<'_>) -> Option<Token> {
    let value = base64_text::standard(value);
    let value = value.decode();
    let head = STANDARD.decode(value.get(..8)?).ok()?;
    let letters = head.strip_prefix(REDACTED.as_bytes()).unwrap_or(&head);
    if letters.get(1..3) != Some(b"1.") {
        return None;
    }
    let whole = String::from_utf8(STANDARD.decode(&*value).ok()?).ok()?;
    match whole.strip_prefix(REDACTED) {
        Some(tagged) => signature::untag(tagged).map(Token::Redacted),
        None => signature::untag(&whole).map(Token::Signed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    #[test]
    fn a_token_of_another_shape_comes_back_in_either_alphabet() {
        let minted = Signature { shape: Shape::Messages, origin: Some(7), value: Text::from("EqQB+/=") };
        for redacted in [false, true] {
            let written = write(&minted, redacted);
            let urlsafe = written.replace('+', "-").replace('/', "_").trim_end_matches('=').to_owned();
            for value in [written, urlsafe] {
                let expected = if redacted { Token::Redacted(minted.clone()) } else { Token::Signed(minted.clone()) };
                assert_eq!(read(&Text::from(value)), Some(expected));
            }
        }
    }

    #[test]
    fn the_vendors_own_tokens_are_none_of_ours() {
        for own in ["", "CvAB", "skip_thought_signature_validator", "CvABAcu98PBzN7z3dQ4kzA==", "é"] {
            assert_eq!(read(&Text::from(own)), None, "{own}");
        }
    }
}
