//! Escapes of JSON strings, one by one: how long they are, and where a place of the decoded text lies in what was written.

use std::borrow::Cow;

use memchr::memchr;

use crate::wire::json::{Text, lossy};

/// How many bytes the escape at the start of `bytes` has, which start with a backslash; `None` where more bytes have to tell.
pub(super) fn escape_len(bytes: &[u8]) -> Option<usize> {
    if *bytes.get(1)? != b'u' {
        // A character of several bytes after a backslash is no escape, and stands for itself.
        return Some(1 + char_len(*bytes.get(1)?));
    }
    let Some(unit) = unit(bytes)? else { return Some(2) };
    if !(0xd800..0xdc00).contains(&unit) {
        return Some(6);
    }
    match (bytes.get(6), bytes.get(7)) {
        (None, _) | (Some(b'\\'), None) => None,
        (Some(b'\\'), Some(b'u')) => {
            let low = self::unit(bytes.get(6..)?)?;
            Some(if low.is_some_and(|low| (0xdc00..0xe000).contains(&low)) { 12 } else { 6 })
        }
        _ => Some(6),
    }
}

/// The number after `\u`: none yet, or no number.
fn unit(bytes: &[u8]) -> Option<Option<u32>> {
    let mut unit = 0;
    for at in 2..6 {
        let Some(digit) = char::from(*bytes.get(at)?).to_digit(16) else { return Some(None) };
        unit = unit << 4 | digit;
    }
    Some(Some(unit))
}

const fn char_len(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

/// What the escape `bytes` stands for.
pub(super) fn decoded(bytes: &[u8]) -> String {
    Text::Escaped(bytes).decode().into_owned()
}

/// The text of what stands between the quotes of a string, or of JSON as it stands.
pub(super) fn decode(raw: &[u8], escapes: bool) -> Cow<'_, str> {
    if !escapes || memchr(b'\\', raw).is_none() {
        return lossy(raw);
    }
    let mut out = String::with_capacity(raw.len());
    Steps { raw, escapes, at: 0 }.for_each(|step| match step {
        Step::Same(text) => out.push_str(text),
        Step::Other { text, .. } => out.push_str(&text),
    });
    Cow::Owned(out)
}

/// A stretch of what was written.
enum Step<'r> {
    /// It stands for itself.
    Same(&'r str),
    /// It stands for another text.
    Other { raw: usize, text: Cow<'static, str> },
}

struct Steps<'r> {
    raw: &'r [u8],
    escapes: bool,
    at: usize,
}

impl<'r> Iterator for Steps<'r> {
    type Item = Step<'r>;

    fn next(&mut self) -> Option<Step<'r>> {
        let rest = self.raw.get(self.at..).filter(|rest| !rest.is_empty())?;
        let step = if self.escapes && rest.first() == Some(&b'\\') {
            let raw = escape_len(rest).unwrap_or_else(|| cut_short(rest)).min(rest.len());
            Step::Other { raw, text: decoded(rest.get(..raw)?).into() }
        } else {
            let stop = if self.escapes { memchr(b'\\', rest) } else { None };
            let run = rest.get(..stop.unwrap_or(rest.len()))?;
            let chunk = run.utf8_chunks().next()?;
            match chunk.valid() {
                "" => Step::Other { raw: chunk.invalid().len(), text: "\u{fffd}".into() },
                text => Step::Same(text),
            }
        };
        self.at += match &step {
            Step::Same(text) => text.len(),
            Step::Other { raw, .. } => *raw,
        };
        Some(step)
    }
}

/// How much of an escape that the end of its string cut short belongs together.
fn cut_short(rest: &[u8]) -> usize {
    if rest.len() >= 6 { 6 } else { 2 }
}

/// Finds the places of a decoded text in what was written, from front to back.
pub(super) struct Walk<'r> {
    steps: Steps<'r>,
    /// What is left of the last step: bytes written, and bytes of text.
    raw: usize,
    text: usize,
    same: usize,
}

impl<'r> Walk<'r> {
    pub(super) const fn new(raw: &'r [u8], escapes: bool) -> Self {
        Self { steps: Steps { raw, escapes, at: 0 }, raw: 0, text: 0, same: 0 }
    }

    /// Where the character lies that begins `at` bytes into the text. Has to be asked in order.
    pub(super) fn find(&mut self, at: usize) -> usize {
        loop {
            let ahead = at.saturating_sub(self.text);
            if ahead <= self.same {
                (self.raw, self.text, self.same) = (self.raw + ahead, self.text + ahead, self.same - ahead);
                return self.raw;
            }
            (self.raw, self.text, self.same) = (self.raw + self.same, self.text + self.same, 0);
            match self.steps.next() {
                None => return self.raw,
                Some(Step::Same(text)) => self.same = text.len(),
                Some(Step::Other { raw, text }) => (self.raw, self.text) = (self.raw + raw, self.text + text.len()),
            }
        }
    }
}

/// `text` as it stands between the quotes of a string.
pub(super) fn escaped(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    Text::from(text).escape_into(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::json::decode_string;

    #[test]
    fn the_length_of_an_escape_is_known_once_nothing_can_join_it() {
        for (bytes, len) in [
            (r"\n", Some(2)),
            (r#"\"x"#, Some(2)),
            (r"\u20", None),
            (r"\u200b", Some(6)),
            (r"\ud83d", None),
            (r"\ud83dx", Some(6)),
            (r"\ud83d\", None),
            (r"\ud83d\n", Some(6)),
            (r"\ud83d\ude0", None),
            (r"\ud83d\ude00", Some(12)),
            (r"\ud83d\ud83d", Some(6)),
            (r"\u2x", Some(2)),
            (r"\", None),
        ] {
            assert_eq!(escape_len(bytes.as_bytes()), len, "{bytes}");
        }
    }

    proptest::proptest! {
        #[test]
        fn texts_decode_as_strings_do_and_every_character_is_found(
            inner in r#"([a-cé１]|\\n|\\"|\\u00e9|\\ud83d\\ude00|\\ud83d|\\u200b|\\/){0,20}"#,
        ) {
            let text = decode(inner.as_bytes(), true);
            let quoted = decode_string(format!("\"{inner}\"").as_bytes()).into_owned();
            proptest::prop_assert_eq!(&text, &quoted);
            let mut walk = Walk::new(inner.as_bytes(), true);
            for (at, _) in text.char_indices() {
                let found = walk.find(at);
                let rest = decode(&inner.as_bytes()[found..], true);
                proptest::prop_assert_eq!(&text[at..], &*rest, "at {} of {:?}", at, inner);
            }
        }
    }
}
