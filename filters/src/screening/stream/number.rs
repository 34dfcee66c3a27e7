//! A number among the texts of JSON.

use super::outlet::{Bench, Change, Outlet};
use crate::guardrails::Place;
use crate::wire::json::encode_string;

/// The longest number that is held back, in bytes.
const NUMBER: usize = 1024;

/// A number, held back until it ends, since one that is changed becomes a string.
pub(super) struct Number {
    pub(super) start: usize,
    pub(super) token: String,
    /// It is longer than what is held back: its front has left as it was.
    long: bool,
    /// Its front was changed: the rest vanishes.
    pub(super) changed: bool,
}

impl Number {
    pub(super) const fn at(start: usize) -> Self {
        Self { start, token: String::new(), long: false, changed: false }
    }

    /// Takes in what of `rest`, which is at `at`, belongs to it; returns how much that is, and whether the number is over.
    pub(super) fn push(&mut self, rest: &str, at: usize, out: &mut Outlet) -> (usize, bool) {
        let digits = |byte: u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.bytes().position(|byte| !digits(byte)).unwrap_or(rest.len()).min(NUMBER);
        if self.changed {
            out.changes.push(Change { start: at, end: at + length, with: None });
        } else {
            self.token.push_str(rest.get(..length).unwrap_or_default());
        }
        (length, length < rest.len() && length < NUMBER)
    }

    /// Whether all of it is held, as it came.
    pub(super) const fn is_held_whole(&self) -> bool {
        !self.long && !self.changed
    }

    /// Whether more is held than may be.
    pub(super) const fn is_full(&self) -> bool {
        self.token.len() > NUMBER
    }

    /// Looks at what came of it.
    pub(super) fn settle(&mut self, place: Place, end: usize, bench: &mut Bench<'_>, out: &mut Outlet) {
        let token = std::mem::take(&mut self.token);
        let findings = bench.rules.scan(place, &token);
        findings.iter().for_each(|finding| out.find(bench, finding, self.start + finding.start));
        let edits = bench.rules.edits(&token, 0, &findings);
        if self.long {
            // No quote can be put in front of it any more; any digit leaves it a number.
            let zero = |start: usize, end: usize| Change { start, end, with: Some(b"0".to_vec()) };
            out.changes.extend(edits.iter().map(|edit| zero(self.start + edit.start, self.start + edit.end)));
        } else if !edits.is_empty() {
            let mut with = Vec::new();
            encode_string(&bench.rules.mask(&token, &findings), &mut with);
            out.changes.push(Change { start: self.start, end, with: Some(with) });
            self.changed = true;
        }
        self.long |= !self.changed;
        self.start = end;
    }
}
