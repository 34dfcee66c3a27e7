//! The text of an answer: kept as it passes, counted later and elsewhere.

use super::count;
use crate::wire::json::{Text, compact};

/// Bytes of text kept where usage is likely to be told.
const LITTLE: usize = 4 << 10;
/// Bytes of text kept where every answer is counted.
const MUCH: usize = 256 << 10;
/// Bytes the first text makes room for.
const FIRST: usize = 512;

/// Which answers are listened to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hearing {
    /// None.
    #[default]
    Nothing,
    /// Those whose provider has not told yet, for good, what was used.
    Missing,
    /// All.
    All,
}

impl Hearing {
    const fn room(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Missing => LITTLE,
            Self::All => MUCH,
        }
    }
}

/// What was heard of one answer: its first text, and how much there was in all.
#[derive(Debug, Default)]
pub struct Heard {
    /// Escaped as between the quotes of a JSON string.
    text: Vec<u8>,
    room: usize,
    bytes: u64,
}

impl Heard {
    /// Nothing yet. Memory is taken with the first text.
    #[must_use]
    pub const fn new(hearing: Hearing) -> Self {
        Self { text: Vec::new(), room: hearing.room(), bytes: 0 }
    }

    /// Takes more text, escaped as between the quotes of a JSON string.
    #[inline]
    pub fn escaped(&mut self, text: &[u8]) {
        self.bytes += text.len() as u64;
        let room = self.room - self.text.len();
        if room > 0 {
            self.keep(text.get(..room).unwrap_or(text));
        }
    }

    /// Takes more text.
    #[inline]
    pub fn text(&mut self, text: &Text<'_>) {
        match text {
            Text::Escaped(inner) => self.escaped(inner),
            Text::Plain(_) => {
                let mut escaped = Vec::new();
                text.escape_into(&mut escaped);
                self.escaped(&escaped);
            }
        }
    }

    /// Takes a JSON value as the text it is, without white space between its tokens.
    pub fn json(&mut self, value: &[u8]) {
        self.text(&Text::Plain(String::from_utf8_lossy(&compact(value))));
    }

    fn keep(&mut self, text: &[u8]) {
        let free = self.text.capacity() - self.text.len();
        if free < text.len() {
            let wanted = (self.text.len() + text.len()).max(self.text.capacity() * 2).max(FIRST).min(self.room);
            self.text.reserve_exact(wanted - self.text.len());
        }
        self.text.extend_from_slice(text);
    }

    /// Whether there was no text.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Memory held, in bytes.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.text.capacity()
    }

    /// Tokens of the whole text, in proportion where only its beginning was kept.
    #[must_use]
    pub fn count(&self, model: &str) -> u64 {
        let kept = if self.bytes > self.text.len() as u64 { unbroken(&self.text) } else { &self.text };
        super::in_proportion(count(model, &Text::Escaped(kept).decode()), self.bytes, kept.len() as u64)
    }
}

/// The text up to the last character or escape that is whole.
fn unbroken(text: &[u8]) -> &[u8] {
    let mut at = 0;
    while let Some(slash) = text.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        let start = at + slash;
        at = start + if text.get(start + 1) == Some(&b'u') { 6 } else { 2 };
        if at > text.len() {
            return text.get(..start).unwrap_or_default();
        }
    }
    match std::str::from_utf8(text) {
        Err(error) if error.error_len().is_none() => text.get(..error.valid_up_to()).unwrap_or_default(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_count_as_the_text_they_make() {
        let mut heard = Heard::new(Hearing::Missing);
        for piece in [r"Gr\u00fc", "ße aus ", r"K\u00f6ln,\n", "世界 \\", "\"ha\\\\\\\""] {
            heard.escaped(piece.as_bytes());
        }
        assert_eq!(heard.count("gpt-4o"), count("gpt-4o", "Grüße aus Köln,\n世界 \"ha\\\""));
    }

    #[test]
    fn json_counts_as_its_text_without_white_space() {
        let mut heard = Heard::new(Hearing::All);
        heard.json(b"{\n  \"path\": \"a\\nb\",\n  \"lines\": [1, 2]\n}");
        assert_eq!(heard.count("gpt-4o"), count("gpt-4o", r#"{"path":"a\nb","lines":[1,2]}"#));
    }

    #[test]
    fn memory_is_taken_with_the_first_text_and_never_beyond_the_bound() {
        for (hearing, bound) in [(Hearing::Missing, LITTLE), (Hearing::All, MUCH)] {
            let mut heard = Heard::new(hearing);
            assert_eq!(heard.held(), 0);
            heard.escaped(b"word");
            assert!(heard.held() <= FIRST);
            (0..100_000).for_each(|_| heard.escaped(b" and another word"));
            heard.escaped(&vec![b'x'; 2 * MUCH]);
            assert_eq!((heard.held(), heard.text.len()), (bound, bound));
        }
    }

    #[test]
    fn what_is_beyond_the_bound_counts_in_proportion() {
        let text = "The quick brown fox jumps over the lazy dog. ".repeat(1000);
        let mut heard = Heard::new(Hearing::Missing);
        text.as_bytes().chunks(7).for_each(|piece| heard.escaped(piece));
        let (own, exact) = (heard.count("gpt-4o"), count("gpt-4o", &text));
        assert!(own.abs_diff(exact) * 100 <= exact, "{own} for {exact}");
    }

    #[test]
    fn a_text_cut_inside_a_character_loses_only_that() {
        assert_eq!(unbroken("ab\u{4e16}".as_bytes().get(..4).unwrap()), b"ab");
        assert_eq!(unbroken(br"ab\u4e1"), b"ab");
        assert_eq!(unbroken(br"ab\\"), br"ab\\");
        assert_eq!(unbroken(br"ab\"), b"ab");
        assert_eq!(unbroken(br"ab\u4e16"), br"ab\u4e16");
    }
}
