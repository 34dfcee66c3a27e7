//! JSON in which only one text changes.
//!
//! Most events of a stream are such. Where the bytes before a text and after it are the same, so is all that a reader would find in
//! them: they are compared instead of walked.

use super::json::string_end;

/// What was around the last text.
#[derive(Debug, Default)]
pub(crate) struct Groove {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Groove {
    /// The text that `bytes` begin with, if all around it is as around the last one, escaped as it is there; and the length of the whole.
    #[inline]
    pub(crate) fn follow<'v>(&self, bytes: &'v [u8]) -> Option<(&'v [u8], usize)> {
        let Self { before, after } = self;
        if before.is_empty() || !bytes.starts_with(before) {
            return None;
        }
        let text_end = string_end(bytes, before.len())?.0 - 1;
        if !bytes.get(text_end..)?.starts_with(after) {
            return None;
        }
        Some((bytes.get(before.len()..text_end)?, text_end + after.len()))
    }

    /// Remembers what is around `inner`, the inside of a string in `value`, unless that is more than `limit` bytes.
    pub(crate) fn learn(&mut self, value: &[u8], inner: &[u8], limit: usize) {
        let start = inner.as_ptr().addr().saturating_sub(value.as_ptr().addr());
        let around = value.split_at_checked(start).and_then(|(before, rest)| Some((before, rest.get(inner.len()..)?)));
        self.before.clear();
        self.after.clear();
        if let Some((before, after)) = around.filter(|(before, after)| before.len() + after.len() <= limit) {
            self.before.extend_from_slice(before);
            self.after.extend_from_slice(after);
        }
    }
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
    fn what_is_kept_is_bounded() {
        let mut groove = Groove::default();
        let value = br#"{"a":"one","b":2}"#;
        groove.learn(value, &value[6..9], value.len() - 4);
        assert!(groove.before.is_empty() && groove.after.is_empty() && groove.follow(value).is_none());
        groove.learn(value, &value[6..9], value.len() - 3);
        assert!(groove.follow(value).is_some());
    }
}
