//! From places in a text to places in the JSON string it was decoded from.

use memchr::memchr;

use crate::guardrails::Edit;
use crate::wire::json::Text;

/// The bytes of an escape with four hexadecimal digits.
const UNIT: usize = 6;

/// What stands between the quotes of a string that holds `text`.
pub(super) fn escape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    Text::from(text).escape_into(&mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Edits of a text as edits of `escaped`, the inside of the JSON string it was decoded from. They are in order and do not overlap,
/// before and after.
pub(super) fn lift(escaped: &[u8], edits: Vec<Edit>) -> Vec<Edit> {
    let mut cursor = Cursor::new(escaped);
    let mut lifted = Vec::with_capacity(edits.len());
    // Whether what stands before the edit in the new string is half a pair of surrogates, the first.
    let (mut half, mut before) = (false, 0);
    let mut edits = edits.into_iter().peekable();
    while let Some(Edit { start, end, replacement }) = edits.next() {
        let raw_start = cursor.seek(start);
        half = if start > before { cursor.half } else { half } && replacement.is_empty();
        let mut raw_end = cursor.seek(end);
        let mut replacement = escape(&replacement);
        // Two halves that come to stand side by side would be read as one character.
        if half && cursor.meets_second_half() && edits.peek().is_none_or(|next| next.start > end) {
            raw_end += UNIT;
            replacement.push(char::REPLACEMENT_CHARACTER);
        }
        before = end;
        lifted.push(Edit { start: raw_start, end: raw_end, replacement });
    }
    lifted
}

/// A place in a text, and where it is in the escaped form.
pub(super) struct Cursor<'e> {
    escaped: &'e [u8],
    raw: usize,
    text: usize,
    half: bool,
}

impl<'e> Cursor<'e> {
    /// At the start.
    pub(super) const fn new(escaped: &'e [u8]) -> Self {
        Self { escaped, raw: 0, text: 0, half: false }
    }

    /// Goes on to the offset `text` of the decoded text; returns the offset in the escaped form. Never goes back.
    pub(super) fn seek(&mut self, text: usize) -> usize {
        while self.text < text {
            let rest = self.escaped.get(self.raw..).unwrap_or_default();
            let ahead = rest.get(..text - self.text).unwrap_or(rest);
            let plain = memchr(b'\\', ahead).unwrap_or(ahead.len());
            let (raw, decoded) = if plain > 0 { (plain, plain) } else { escape_lengths(rest) };
            if raw == 0 {
                break;
            }
            self.half = plain == 0 && raw == UNIT && is_first_half(rest);
            self.raw += raw;
            self.text += decoded;
        }
        self.raw
    }

    fn meets_second_half(&self) -> bool {
        self.escaped.get(self.raw..).is_some_and(is_second_half)
    }
}

/// How many bytes the escape takes that `rest` begins with, and how many the character it stands for, as decoding has it.
fn escape_lengths(rest: &[u8]) -> (usize, usize) {
    match (rest.get(1), unit(rest)) {
        (None, _) => (rest.len(), rest.len()),
        (Some(b'u'), None) => (2, char::REPLACEMENT_CHARACTER.len_utf8()),
        (Some(_), None) => (2, 1),
        (_, Some(_)) if is_pair(rest) => (2 * UNIT, 4),
        (_, Some(unit)) => (UNIT, char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER).len_utf8()),
    }
}

fn is_pair(rest: &[u8]) -> bool {
    is_first_half(rest) && rest.get(UNIT..).is_some_and(is_second_half)
}

fn is_first_half(rest: &[u8]) -> bool {
    unit(rest).is_some_and(|unit| (0xd800..0xdc00).contains(&unit))
}

fn is_second_half(rest: &[u8]) -> bool {
    unit(rest).is_some_and(|unit| (0xdc00..0xe000).contains(&unit))
}

/// The number of the `\u` escape that `rest` begins with.
fn unit(rest: &[u8]) -> Option<u32> {
    let digits = rest.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |code, digit| Some((code << 4) | char::from(*digit).to_digit(16)?))
}

/// The text of what stands between a string's quotes.
pub(super) fn decode(escaped: &[u8]) -> String {
    Text::Escaped(escaped).decode().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `escaped` with the part `gone` of its text replaced.
    fn replaced(escaped: &str, gone: &str, replacement: &str) -> String {
        let text = decode(escaped.as_bytes());
        let start = text.find(gone).unwrap();
        let edits = lift(escaped.as_bytes(), vec![Edit { start, end: start + gone.len(), replacement: replacement.to_owned() }]);
        let edit = &edits[0];
        format!("{}{}{}", &escaped[..edit.start], edit.replacement, &escaped[edit.end..])
    }

    #[test]
    fn only_the_escapes_of_what_goes_are_touched() {
        assert_eq!(replaced(r"a\/\u0034\u00e91\n", "4é", "\"x\""), r#"a\/\"x\"1\n"#);
        assert_eq!(replaced(r"\ud83d\ude00b\ud83d\ude01", "b", ""), r"\ud83d\ude00\ud83d\ude01");
        assert_eq!(replaced(r"\ud83d\ude00b", "\u{1f600}", "x"), "xb");
        assert_eq!(replaced(r"\\u0034 4", "4 4", "x"), r"\\u003x");
    }

    #[test]
    fn halves_of_a_pair_are_not_joined() {
        assert_eq!(replaced(r"\ud83dx\ude00y", "x", ""), "\\ud83d\u{fffd}y");
        assert_eq!(replaced(r"\\ud83dx\ude00y", "x", ""), r"\\ud83d\ude00y", "this is no escape");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_have_the_places_that_decoding_gives_them(escaped in r#"([a-zé😀]|\\[nu"\\/x]|\\u00e9|\\ud83d|\\ude00){0,12}\\?"#) {
            let text = decode(escaped.as_bytes());
            for (at, _) in text.char_indices() {
                let raw = Cursor::new(escaped.as_bytes()).seek(at);
                proptest::prop_assert_eq!(decode(&escaped.as_bytes()[..raw]), &text[..at]);
                proptest::prop_assert_eq!(decode(&escaped.as_bytes()[raw..]), &text[at..]);
            }
            proptest::prop_assert_eq!(Cursor::new(escaped.as_bytes()).seek(text.len()), escaped.len());
        }
    }
}
