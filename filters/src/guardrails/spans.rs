//! Putting found spans in order: those of one rule that overlap become one, and those of any rules that overlap are kept together.

/// Bytes of text that a group of overlapping spans has at most, unless a single one has more. Few in tests, so that short texts come to it.
const GROUP: usize = if cfg!(test) { 256 } else { 65_536 };

/// What a rule found, in bytes from the start of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) rule: usize,
}

/// Spans that were found and are not yet told, since one that overlaps may follow.
///
/// A group of overlapping spans is bounded; one that would make it too long is cut and begins where the group ends. So a text of overlapping matches without end is not held back without end.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    waiting: Vec<Span>,
    group: Vec<Span>,
    group_start: usize,
    group_end: usize,
}

impl Spans {
    /// Takes a span in.
    pub(super) fn add(&mut self, span: Span) {
        self.waiting.push(span);
    }

    /// Tells the spans of groups that are complete when all further spans start at `frontier` or later.
    pub(super) fn settle(&mut self, frontier: usize, tell: &mut Vec<Span>) {
        if self.waiting.is_empty() && self.group.is_empty() {
            return;
        }
        self.waiting.sort_unstable();
        let ready = self.waiting.partition_point(|span| span.start < frontier);
        let ready: Vec<Span> = self.waiting.drain(..ready).collect();
        for span in ready {
            self.feed(span, tell);
        }
        if self.group_end <= frontier {
            tell.append(&mut self.group);
        }
    }

    /// Where the text that belongs to an incomplete group begins.
    pub(super) fn held(&self) -> Option<usize> {
        (!self.group.is_empty()).then_some(self.group_start)
    }

    fn feed(&mut self, span: Span, tell: &mut Vec<Span>) {
        let overlaps = !self.group.is_empty() && span.start < self.group_end;
        if overlaps && (span.end <= self.group_end || span.end <= self.group_start + GROUP) {
            self.group_end = self.group_end.max(span.end);
            return self.join(span);
        }
        tell.append(&mut self.group);
        let start = span.start.max(self.group_end);
        if start < span.end {
            (self.group_start, self.group_end) = (start, span.end);
            self.group.push(Span { start, ..span });
        }
    }

    fn join(&mut self, mut span: Span) {
        span.start = span.start.max(self.group_start);
        if span.start >= span.end {
            return;
        }
        match self.group.iter_mut().rev().find(|other| other.rule == span.rule && span.start < other.end) {
            Some(other) => other.end = other.end.max(span.end),
            None => self.group.push(span),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(spans: &[(usize, usize, usize)]) -> Vec<(usize, usize, usize)> {
        let mut all = Spans::default();
        for (rule, start, end) in spans {
            all.add(Span { start: *start, end: *end, rule: *rule });
        }
        let mut out = Vec::new();
        all.settle(usize::MAX, &mut out);
        out.iter().map(|span| (span.rule, span.start, span.end)).collect()
    }

    #[test]
    fn overlapping_spans_of_one_rule_become_one_and_others_stay() {
        assert_eq!(settled(&[(0, 4, 8), (0, 0, 5), (1, 3, 6), (0, 8, 9)]), [(0, 0, 8), (1, 3, 6), (0, 8, 9)]);
        assert_eq!(settled(&[(0, 0, 5), (0, 0, 5)]), [(0, 0, 5)]);
    }

    #[test]
    fn a_group_is_held_until_nothing_can_overlap_it() {
        let (mut spans, mut out) = (Spans::default(), Vec::new());
        spans.add(Span { start: 2, end: 6, rule: 0 });
        spans.settle(2, &mut out);
        assert_eq!((out.len(), spans.held()), (0, None), "one that starts with it may still come");
        spans.settle(5, &mut out);
        assert_eq!((out.len(), spans.held()), (0, Some(2)));
        spans.settle(6, &mut out);
        assert_eq!((out.len(), spans.held()), (1, None));
    }

    #[test]
    fn a_chain_without_end_is_cut() {
        let chain: Vec<_> = (0..100).map(|n| (n % 2, n * 20, n * 20 + 30)).collect();
        let told = settled(&chain);
        assert!(told.windows(2).all(|pair| pair[0].1 <= pair[1].1 && pair[0].2 > pair[0].1), "in order, and none is empty");
        let cuts = told.windows(2).filter(|pair| pair[0].2 <= pair[1].1).count();
        assert!((6..12).contains(&cuts), "{cuts} cuts in 2,000 bytes");
    }
}
