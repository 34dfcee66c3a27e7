//! Events that differ from the last one only in their text.
//!
//! Most events of a stream are such. They need not be read: where the bytes before a text and after it are the same, so is everything
//! a reader would see in them.

use super::sight::{Form, Key, Sight};
use crate::wire::json::string_end;

/// Bytes around a text that are kept, at most.
const MOST: usize = 1024;

/// The event that came last, without its text.
#[derive(Default)]
pub(super) struct Repeat {
    /// Everything up to the text.
    before: Vec<u8>,
    /// Everything from its closing quote on.
    after: Vec<u8>,
    key: Option<Key>,
}

impl Repeat {
    /// The one thing to see in an event that repeats the last one.
    pub(super) fn of<'d>(&self, data: &'d [u8]) -> Option<Sight<'d>> {
        let key = self.key?;
        let rest = data.strip_prefix(self.before.as_slice())?;
        let (end, _) = string_end(rest, 0)?;
        let (text, after) = rest.split_at_checked(end - 1)?;
        (after == self.after).then_some(Sight::Piece { key, form: Form::Text, text, quiet: false })
    }

    /// Remembers an event that was read. `only` is what was seen in it, where that was one thing.
    pub(super) fn learn(&mut self, data: &[u8], only: Option<Sight<'_>>) {
        self.key = None;
        let Some(Sight::Piece { key, form: Form::Text, text, quiet: false }) = only else { return };
        let start = text.as_ptr().addr().saturating_sub(data.as_ptr().addr());
        let (Some(before), Some(after)) = (data.get(..start), data.get(start + text.len()..)) else { return };
        if before.len() + after.len() > MOST || !after.starts_with(b"\"") {
            return;
        }
        self.key = Some(key);
        self.before.clear();
        self.before.extend_from_slice(before);
        self.after.clear();
        self.after.extend_from_slice(after);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sight::Field;
    use super::*;

    const KEY: Key = Key { group: 0, part: 0, field: Field::Text };

    fn event(text: &str) -> Vec<u8> {
        format!(r#"{{"id":"x","choices":[{{"delta":{{"content":"{text}"}}}}]}}"#).into_bytes()
    }

    fn text_of<'d>(repeat: &Repeat, data: &'d [u8]) -> Option<&'d [u8]> {
        match repeat.of(data)? {
            Sight::Piece { text, key: KEY, form: Form::Text, quiet: false } => Some(text),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_the_text_may_differ() {
        let mut repeat = Repeat::default();
        let first = event("one");
        assert!(repeat.of(&first).is_none(), "nothing was seen yet");
        let at = first.windows(3).position(|bytes| bytes == b"one").unwrap();
        let sight = |text| Sight::Piece { key: KEY, form: Form::Text, text, quiet: false };
        repeat.learn(&first, Some(sight(&first[at..at + 3])));
        for text in ["two", "", r#"a \"quote\" and \\"#, "naïve 漢"] {
            assert_eq!(text_of(&repeat, &event(text)), Some(text.as_bytes()));
        }
        for other in [&first[..first.len() - 1], br#"{"id":"y","choices":[{"delta":{"content":"two"}}]}"#, b"{}", b""] {
            assert!(repeat.of(other).is_none());
        }
        assert!(repeat.of(&event(r#"x"},"more":{"a":""#)).is_none(), "a text that ends is not the last");
        repeat.learn(&first, None);
        assert!(repeat.of(&first).is_none(), "an event in which more was seen comes after it");
        repeat.learn(&first, Some(Sight::Content));
        assert!(repeat.of(&first).is_none());
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut repeat = Repeat::default();
        let long = event(&"x".repeat(MOST));
        let start = long.len() - 8;
        repeat.learn(&long, Some(Sight::Piece { key: KEY, form: Form::Text, text: &long[start..start + 1], quiet: false }));
        assert!(repeat.of(&long).is_none() && repeat.before.is_empty());
    }
}
