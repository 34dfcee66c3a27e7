//! Where in a choice's text its sources belong.

use crate::canonical::{Citation, Text};

/// Counts the characters of a text as it grows.
#[derive(Debug, Default)]
pub(super) struct Place {
    characters: u64,
    cited: (u64, u64),
}

impl Place {
    #[inline]
    pub(super) fn advance(&mut self, text: &Text<'_>) {
        self.characters += match text {
            Text::Escaped(inner) if !inner.contains(&b'\\') => first_bytes(inner),
            Text::Plain(text) => first_bytes(text.as_bytes()),
            Text::Escaped(_) => text.decode().chars().count() as u64,
        };
    }

    /// The characters a source supports: those the provider tells, else the text since the source before it. Sources that come
    /// without text between them share theirs.
    pub(super) fn of(&mut self, citation: &Citation<'_>) -> (u64, u64) {
        if let Some(span) = citation.span {
            return span;
        }
        if self.characters > self.cited.1 {
            self.cited = (self.cited.1, self.characters);
        }
        self.cited
    }
}

/// The bytes that begin a character.
fn first_bytes(text: &[u8]) -> u64 {
    text.iter().map(|byte| u64::from(*byte & 0xc0 != 0x80)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_support_the_text_since_the_one_before() {
        let citation = Citation { url: Text::from("u"), title: Text::from(""), cited: Text::from(""), span: None };
        let mut place = Place::default();
        place.advance(&Text::Escaped("é😀".as_bytes()));
        place.advance(&Text::Escaped(br"\n\ud83d\ude00"));
        assert_eq!(place.of(&citation), (0, 4));
        assert_eq!(place.of(&citation), (0, 4), "a second source of the same text");
        place.advance(&Text::from("ab"));
        assert_eq!(place.of(&citation), (4, 6));
        assert_eq!(place.of(&Citation { span: Some((1, 2)), ..citation }), (1, 2));
    }
}
