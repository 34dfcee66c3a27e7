//! Usage, which chunks tell in part: every count keeps the last value told.

use crate::usage::{Usage, read_generate_content};
use crate::wire::json::{Value, Writer};

const COUNTS: [&str; 6] = [
    "promptTokenCount",
    "cachedContentTokenCount",
    "toolUsePromptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "totalTokenCount",
];

/// The counts told so far.
#[derive(Debug, Default)]
pub(super) struct Told {
    counts: [Option<u64>; COUNTS.len()],
    odd: bool,
    /// The counts as one object of the vendor's.
    whole: Vec<u8>,
}

impl Told {
    /// Takes over what a chunk tells; the usage so far where it tells anything new.
    pub(super) fn merge(&mut self, usage: Value<'_>) -> Option<Usage> {
        let before = self.counts;
        for member in usage.members() {
            let place = COUNTS.iter().position(|name| member.is(name));
            let Some(count) = place.and_then(|place| self.counts.get_mut(place)) else { continue };
            match member.json().u64() {
                Some(told) => *count = Some(told),
                None => self.odd |= !member.json().is_null(),
            }
        }
        if self.counts == before {
            return None;
        }
        self.whole.clear();
        let mut w = Writer::new(&mut self.whole);
        w.begin_object();
        for (name, count) in COUNTS.iter().zip(self.counts) {
            if let Some(count) = count {
                w.whole_field(name, count);
            }
        }
        w.end_object();
        let mut usage = read_generate_content(&self.whole)?;
        usage.suspicious |= self.odd;
        Some(usage)
    }
}
