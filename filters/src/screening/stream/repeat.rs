//! Events that differ from the last one only in their text: they are not read.

use super::event::Data;
use super::sight::Key;
use crate::wire::groove::Groove;
use crate::wire::json::Span;

/// Bytes around a text that are kept, at most.
const MOST: usize = 1024;

/// The event that came last, without its text, and whose text that was.
#[derive(Default)]
pub(super) struct Repeat {
    groove: Groove,
    last: Option<Last>,
}

#[derive(Clone, Copy)]
struct Last {
    key: Key,
    /// Where its data began.
    start: usize,
    /// Bytes after its data.
    behind: usize,
}

/// An event that has nothing but more of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Again {
    pub(super) key: Key,
    /// Where the data lies in the event.
    pub(super) data: Span,
    /// Where the text lies in the event, between the quotes.
    pub(super) text: Span,
}

impl Repeat {
    /// What there is in an event, if it is the last one with another text. It has as many lines, and ends as that did.
    pub(super) fn of(&self, raw: &[u8]) -> Option<Again> {
        let Last { key, start, behind } = self.last?;
        let (text, length) = self.groove.follow(raw)?;
        let text = Span::within(raw, text);
        (length == raw.len()).then_some(Again { key, data: Span { start, end: length - behind }, text })
    }

    /// Remembers an event that was read. `only` is the text that was seen in it, where nothing else was.
    pub(super) fn learn(&mut self, raw: &[u8], data: Data, only: Option<(Key, &[u8])>) {
        self.last = None;
        if let (Data::Line(span) | Data::Element(span), Some((key, text))) = (data, only) {
            self.groove.learn(raw, text, MOST);
            self.last = Some(Last { key, start: span.start, behind: raw.len() - span.end });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sight::Field;
    use super::*;

    const KEY: Key = Key { group: 0, part: 0, field: Field::Text };

    fn event(text: &str) -> Vec<u8> {
        format!("event: delta\ndata: {{\"id\":\"x\",\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n").into_bytes()
    }

    /// A repeat that has learnt from `raw`, in which `text` was the only one.
    fn learnt(raw: &[u8], text: &str) -> Repeat {
        let mut repeat = Repeat::default();
        let at = memchr::memmem::find(raw, text.as_bytes()).unwrap();
        repeat.learn(raw, Data::of_event(raw).0, Some((KEY, &raw[at..at + text.len()])));
        repeat
    }

    #[test]
    fn only_the_text_may_differ() {
        assert_eq!(Repeat::default().of(&event("one")), None, "nothing was seen yet");
        let first = event("one");
        let mut repeat = learnt(&first, "one");
        for text in ["two", "", r#"a \"quote\" and \\"#, "naïve 漢"] {
            let raw = event(text);
            let again = repeat.of(&raw).unwrap();
            assert_eq!((again.key, again.text.of(&raw)), (KEY, text.as_bytes()));
            assert!(matches!(Data::of_event(&raw).0, Data::Line(span) if span == again.data));
        }
        let others = [&first[..first.len() - 1], b"data: {\"id\":\"y\",\"choices\":[{\"delta\":{\"content\":\"two\"}}]}\n\n", b"{}", b""];
        for other in others {
            assert_eq!(repeat.of(other), None);
        }
        assert_eq!(repeat.of(&event(r#"x"},"more":{"a":""#)), None, "a text that ends is not the last");
        assert_eq!(repeat.of(&event("two\n\nevents")), None);
        assert_eq!(repeat.of(&[event("two"), event("events")].concat()), None);
        repeat.learn(&first, Data::of_event(&first).0, None);
        assert_eq!(repeat.of(&first), None, "an event in which more was seen comes after it");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let long = event(&format!("{}one", "x".repeat(MOST)));
        assert_eq!(learnt(&long, "one").of(&long), None);
    }
}
