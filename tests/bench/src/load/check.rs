//! Whether an answer is the one the mock gave: complete, and with nothing lost on the way.

use memchr::{memchr, memmem};

use super::plan::Expected;
use crate::stamp;

const EXCERPT: usize = 300;

/// Follows one answer.
#[derive(Debug)]
pub(super) struct Check<'a> {
    expected: &'a Expected,
    /// Bytes not yet looked at: the whole document, or the unfinished line of a stream.
    pending: Vec<u8>,
    /// The last line of a stream that was looked at and was not a delta.
    last_line: Vec<u8>,
    deltas: u64,
    has_usage: bool,
    ended: bool,
    /// A line came after the terminal event.
    went_on: bool,
}

impl<'a> Check<'a> {
    pub(super) fn new(expected: &'a Expected) -> Self {
        Self { expected, pending: Vec::new(), last_line: Vec::new(), deltas: 0, has_usage: false, ended: false, went_on: false }
    }

    /// Takes the next piece of the body. `on_delta` learns how many nanoseconds each delta was on its way.
    pub(super) fn feed(&mut self, content: &[u8], mut on_delta: impl FnMut(u64)) {
        self.pending.extend_from_slice(content);
        if matches!(self.expected, Expected::Marker(_)) {
            return;
        }
        let now_ns = stamp::now_ns();
        let mut pending = std::mem::take(&mut self.pending);
        let mut used = 0;
        while let Some(line) = pending.get(used..).and_then(|rest| rest.get(..=memchr(b'\n', rest)?)) {
            self.line(line.trim_ascii_end(), now_ns, &mut on_delta);
            used += line.len();
        }
        pending.drain(..used);
        self.pending = pending;
    }

    /// What is wrong with the answer, if anything. To be asked at its end.
    pub(super) fn verdict(&self) -> Result<(), String> {
        let wrong = match self.expected {
            Expected::Marker(marker) if memmem::find(&self.pending, marker).is_some() => return Ok(()),
            Expected::Marker(_) => "the marker is missing".to_owned(),
            Expected::Deltas(deltas) if self.deltas != *deltas => format!("{} deltas instead of {deltas}", self.deltas),
            Expected::Deltas(_) if !self.has_usage => "usage is missing".to_owned(),
            Expected::Deltas(_) if !self.ended => "the terminal event is missing".to_owned(),
            Expected::Deltas(_) if self.went_on => "events came after the terminal event".to_owned(),
            Expected::Deltas(_) => return Ok(()),
        };
        Err(format!("{wrong}: {}", self.excerpt()))
    }

    /// The start of what was received last, for a message.
    pub(super) fn excerpt(&self) -> String {
        let text = if self.pending.is_empty() { &self.last_line } else { &self.pending };
        String::from_utf8_lossy(text.get(..EXCERPT).unwrap_or(text)).into_owned()
    }

    fn line(&mut self, line: &[u8], now_ns: u64, on_delta: &mut impl FnMut(u64)) {
        let Some(data) = line.strip_prefix(b"data:") else { return };
        self.went_on |= self.ended;
        if let Some(written_ns) = stamp::read(data) {
            self.deltas += 1;
            on_delta(now_ns.saturating_sub(written_ns));
            return;
        }
        self.has_usage |= names_usage(data);
        self.ended = is_terminal(data);
        data.clone_into(&mut self.last_line);
    }
}

/// Token counts as any of the three shapes writes them.
fn names_usage(data: &[u8]) -> bool {
    [&b"\"completion_tokens\""[..], b"\"output_tokens\"", b"\"candidatesTokenCount\""].iter().any(|name| memmem::find(data, name).is_some())
}

/// The event after which a client of each shape stops reading.
fn is_terminal(data: &[u8]) -> bool {
    data.trim_ascii() == b"[DONE]" || [&b"\"message_stop\""[..], b"\"finishReason\""].iter().any(|name| memmem::find(data, name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"completion_tokens\":2}}\n\n";
    const DONE: &str = "data: [DONE]\n\n";

    fn delta(ns: u64) -> String {
        let mut text = Vec::new();
        stamp::write(ns, &mut text);
        format!("data: {{\"delta\":\"{}\"}}\n\n", String::from_utf8(text).unwrap())
    }

    fn check(stream: &str, split: usize) -> Result<(), String> {
        let expected = Expected::Deltas(2);
        let mut check = Check::new(&expected);
        let (left, right) = stream.as_bytes().split_at(split);
        check.feed(left, |_| ());
        check.feed(right, |_| ());
        check.verdict()
    }

    #[test]
    fn a_complete_stream_passes_however_it_is_split() {
        let stream = [delta(1), delta(2), USAGE.to_owned(), DONE.to_owned()].concat();
        for split in 0..=stream.len() {
            assert_eq!(check(&stream, split), Ok(()), "split at {split}");
        }
    }

    #[test]
    fn a_stream_that_lost_or_gained_something_fails() {
        let (one, two) = (delta(1), delta(2));
        for (stream, why) in [
            ([&one, USAGE, DONE].concat(), "1 deltas instead of 2"),
            ([&one, &two, &one, USAGE, DONE].concat(), "3 deltas instead of 2"),
            ([&one, &two, DONE].concat(), "usage is missing"),
            ([&one, &two, USAGE].concat(), "the terminal event is missing"),
            ([&one, USAGE, DONE, &two].concat(), "events came after"),
        ] {
            assert!(check(&stream, 0).unwrap_err().contains(why), "{why}");
        }
    }

    #[test]
    fn a_document_needs_the_marker() {
        let expected = Expected::Marker(b"bench-answer".to_vec());
        let mut check = Check::new(&expected);
        check.feed(b"{\"content\":\"bench-", |_| ());
        assert!(check.verdict().is_err());
        check.feed(b"answer\"}", |_| ());
        assert_eq!(check.verdict(), Ok(()));
    }
}
