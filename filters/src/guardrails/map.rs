//! Where the characters of a folded text came from.

/// A stretch of folded text and the stretch it came from.
#[derive(Clone, Copy, Debug)]
struct Run {
    folded: usize,
    folded_len: usize,
    original: usize,
    original_len: usize,
    /// Whether both are the same bytes; else they belong together as a whole.
    same: bool,
}

/// Offsets of a folded text to offsets of the text it came from. Grows at the end, and forgets at the front.
#[derive(Clone, Debug, Default)]
pub(super) struct Map {
    runs: Vec<Run>,
    folded: usize,
    original: usize,
    changed_until: usize,
}

impl Map {
    /// A map of a text that is its own folded form up to `at`, and of which no earlier offset will be asked.
    pub(super) const fn at(at: usize) -> Self {
        Self { runs: Vec::new(), folded: at, original: at, changed_until: 0 }
    }

    /// Length of the original seen so far.
    pub(super) const fn original_len(&self) -> usize {
        self.original
    }

    /// The offset in the original after the last character that was changed.
    pub(super) const fn changed_until(&self) -> usize {
        self.changed_until
    }

    /// `len` bytes came through unchanged.
    pub(super) fn same(&mut self, len: usize) {
        match self.runs.last_mut() {
            _ if len == 0 => return,
            Some(last) if last.same && last.original + last.original_len == self.original => {
                last.folded_len += len;
                last.original_len += len;
            }
            _ => self.runs.push(Run { folded: self.folded, folded_len: len, original: self.original, original_len: len, same: true }),
        }
        self.folded += len;
        self.original += len;
    }

    /// One character of `original_len` bytes became `folded_len` bytes, or vanished.
    pub(super) fn changed(&mut self, folded_len: usize, original_len: usize) {
        if folded_len > 0 {
            self.runs.push(Run { folded: self.folded, folded_len, original: self.original, original_len, same: false });
        }
        self.folded += folded_len;
        self.original += original_len;
        self.changed_until = self.original;
    }

    /// Where the character at `at` of the folded text begins in the original; its end for the end.
    pub(super) fn start(&self, at: usize) -> usize {
        match self.run_at(at) {
            Some(run) if run.same => run.original + (at - run.folded),
            Some(run) => run.original,
            None => self.original,
        }
    }

    /// Where the character before `at` of the folded text ends in the original.
    pub(super) fn end(&self, at: usize) -> usize {
        match self.run_at(at.saturating_sub(1)) {
            Some(run) if run.same => run.original + (at - run.folded),
            Some(run) => run.original + run.original_len,
            None => self.original,
        }
    }

    /// The offset in the folded text after all that ends at or before `original`; perhaps inside a character of several bytes.
    pub(super) fn upto(&self, original: usize) -> usize {
        let after = self.runs.partition_point(|run| run.original <= original);
        match after.checked_sub(1).and_then(|index| self.runs.get(index)) {
            Some(run) if run.original + run.original_len <= original => run.folded + run.folded_len,
            Some(run) if run.same => run.folded + (original - run.original),
            Some(run) => run.folded,
            None => 0,
        }
    }

    /// Forgets what came of the folded text before `at`.
    pub(super) fn forget(&mut self, at: usize) {
        let gone = self.runs.partition_point(|run| run.folded + run.folded_len <= at);
        self.runs.drain(..gone);
    }

    fn run_at(&self, at: usize) -> Option<&Run> {
        let after = self.runs.partition_point(|run| run.folded <= at);
        after.checked_sub(1).and_then(|index| self.runs.get(index)).filter(|run| at < run.folded + run.folded_len)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fold::fold_into;
    use super::*;

    fn folded(text: &str) -> (String, Map) {
        let (mut out, mut map) = (String::new(), Map::default());
        fold_into(text, &mut out, &mut map);
        (out, map)
    }

    #[test]
    fn offsets_lead_back_to_the_characters_they_came_from() {
        let text = "a\u{200b}b１ﬁc\u{200b}";
        let (out, map) = folded(text);
        assert_eq!(out, "ab1fic");
        let spans: Vec<&str> = (0..out.len()).map(|at| &text[map.start(at)..map.end(at + 1)]).collect();
        assert_eq!(spans, ["a", "b", "１", "ﬁ", "ﬁ", "c"]);
        assert_eq!(map.start(out.len()), text.len(), "the end is the end");
    }

    #[test]
    fn what_ends_before_an_offset_is_found() {
        let text = "a\u{200b}b１c";
        let (out, map) = folded(text);
        let seen: Vec<&str> = (0..=text.len()).map(|at| &out[..map.upto(at)]).collect();
        assert_eq!(seen, ["", "a", "a", "a", "a", "ab", "ab", "ab", "ab1", "ab1c"]);
    }
}
