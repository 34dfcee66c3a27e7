//! Events that differ from the last one only in their text: they are not read.

use super::sight::{Form, Key, Sight};
use crate::wire::groove::Groove;

/// Bytes around a text that are kept, at most.
const MOST: usize = 1024;

/// The event that came last, without its text, and whose text that was.
#[derive(Default)]
pub(super) struct Repeat {
    groove: Groove,
    key: Option<Key>,
}

impl Repeat {
    /// The one thing to see in an event that repeats the last one.
    pub(super) fn of<'d>(&self, data: &'d [u8]) -> Option<Sight<'d>> {
        let key = self.key?;
        let (text, length) = self.groove.follow(data)?;
        (length == data.len()).then_some(Sight::Piece { key, form: Form::Text, text, quiet: false })
    }

    /// Remembers an event that was read. `only` is what was seen in it, where that was one thing.
    pub(super) fn learn(&mut self, data: &[u8], only: Option<Sight<'_>>) {
        self.key = None;
        if let Some(Sight::Piece { key, form: Form::Text, text, quiet: false }) = only {
            self.groove.learn(data, text, MOST);
            self.key = Some(key);
        }
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
        assert!(repeat.of(&long).is_none());
    }
}
