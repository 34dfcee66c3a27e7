//! JSON in which only one text changes.
//!
//! Most events of a stream are such. Where the bytes before a text and after it are the same, so is all that a reader would find in
//! them: they are compared instead of walked.

use std::sync::LazyLock;

use memchr::memchr2;
use memchr::memmem::Finder;

use super::json::{Span, string_end};

/// The member some vendors fill with as many letters as make all events alike in size.
static PADDING: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"obfuscation\":\""));

/// What was around the last text.
#[derive(Debug, Default)]
pub(crate) struct Groove {
    before: Vec<u8>,
    after: Vec<u8>,
    /// Where padding stands in what is after the text. It was left out.
    padding: Option<usize>,
}

impl Groove {
    /// The text that `bytes` begin with, if all around it but padding is as around the last one, escaped as it is there; and the
    /// length of the whole. There are no ends of lines in the text and the padding.
    #[inline]
    pub(crate) fn follow<'v>(&self, bytes: &'v [u8]) -> Option<(&'v [u8], usize)> {
        let Self { before, after, padding } = self;
        if before.is_empty() || !bytes.starts_with(before) {
            return None;
        }
        let text = inside(bytes, before.len())?;
        let mut at = before.len() + text.len();
        let (near, far) = after.split_at_checked(padding.unwrap_or(after.len()))?;
        if !bytes.get(at..)?.starts_with(near) {
            return None;
        }
        at += near.len();
        if padding.is_some() {
            at += inside(bytes, at)?.len();
            if !bytes.get(at..)?.starts_with(far) {
                return None;
            }
            at += far.len();
        }
        Some((text, at))
    }

    /// Remembers what is around `inner`, the inside of a string in `value`, unless that is more than `limit` bytes.
    pub(crate) fn learn(&mut self, value: &[u8], inner: &[u8], limit: usize) {
        let Span { start, end } = Span::within(value, inner);
        let around = value.get(..start).zip(value.get(end..));
        self.before.clear();
        self.after.clear();
        self.padding = None;
        if let Some((before, after)) = around.filter(|(before, after)| before.len() + after.len() <= limit) {
            self.before.extend_from_slice(before);
            self.after.extend_from_slice(after);
            if let Some(at) = PADDING.find(after).map(|at| at + PADDING.needle().len())
                && let Some(letters) = inside(after, at)
            {
                self.after.drain(at..at + letters.len());
                self.padding = Some(at);
            }
        }
    }
}

/// The rest of a string from `at` on, without its quote. None with an end of a line in it: JSON has none there.
#[inline]
fn inside(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let text = bytes.get(at..string_end(bytes, at)?.0 - 1)?;
    memchr2(b'\n', b'\r', text).is_none().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_may_change_and_what_comes_behind_the_whole_may_follow() {
        let mut groove = Groove::default();
        let value = br#"{"a":"one","b":2}"#;
        assert_eq!(groove.follow(value), None, "nothing was there yet");
        groove.learn(value, &value[6..9], value.len());
        assert_eq!(groove.follow(br#"{"a":"tw\"o","b":2}, more"#), Some((&br#"tw\"o"#[..], 19)));
        for other in [&br#"{"a":"one","b":3}"#[..], br#"{"b":"one","b":2}"#, br#"{"a":"one"#, b""] {
            assert_eq!(groove.follow(other), None);
        }
    }

    #[test]
    fn padding_may_change_as_well() {
        let mut groove = Groove::default();
        let value = br#"{"a":"one","obfuscation":"xyz","b":2}"#;
        groove.learn(value, &value[6..9], value.len());
        assert_eq!(groove.follow(value), Some((&b"one"[..], value.len())));
        let other = br#"{"a":"","obfuscation":"12\"345","b":2}"#;
        assert_eq!(groove.follow(other), Some((&b""[..], other.len())));
        for other in [&br#"{"a":"one","obfuscation":"xyz","b":3}"#[..], br#"{"a":"one","obfuscation":null,"b":2}"#, br#"{"a":"one","b":2}"#]
        {
            assert_eq!(groove.follow(other), None);
        }
    }

    #[test]
    fn an_end_of_a_line_is_part_of_no_string() {
        let mut groove = Groove::default();
        let value = br#"{"a":"one","obfuscation":"xyz"}"#;
        groove.learn(value, &value[6..9], value.len());
        for other in [&b"{\"a\":\"o\ne\",\"obfuscation\":\"xyz\"}"[..], b"{\"a\":\"one\",\"obfuscation\":\"x\rz\"}"] {
            assert_eq!(groove.follow(other), None);
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut groove = Groove::default();
        let value = br#"{"a":"one","b":2}"#;
        groove.learn(value, &value[6..9], value.len() - 4);
        assert!(groove.before.is_empty() && groove.after.is_empty() && groove.follow(value).is_none());
        groove.learn(value, &value[6..9], value.len() - 3);
        assert!(groove.follow(value).is_some());
    }
}
