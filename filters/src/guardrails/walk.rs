//! Going through the starts of a text, from the first that is not decided to the first that cannot be.

use super::live::{Hit, Start};
use super::matcher;
use super::set::{Lens, RuleSet};
use super::spans::{Span, Spans};
use super::view::View;

/// How far a text is gone through.
#[derive(Clone, Default)]
pub(super) struct Walk {
    /// Offset in the view of the first start that is not decided.
    pub(super) cursor: usize,
    /// Where matches end that reach beyond the cursor: the rule, and the offset in the whole text.
    taken: Vec<(usize, usize)>,
}

impl Walk {
    /// From `cursor` on.
    pub(super) const fn from(cursor: usize) -> Self {
        Self { cursor, taken: Vec::new() }
    }

    /// Goes on to the first start that is open, or to the end. What is found goes to `spans`, where `concerns` holds for
    /// the rule and the start. Returns whether a start is open.
    pub(super) fn advance(
        &mut self,
        (set, lens): (&RuleSet, &Lens),
        view: &View<'_>,
        ended: bool,
        concerns: impl Fn(usize, usize) -> bool,
        spans: &mut Spans,
    ) -> bool {
        let open = if ended { None } else { lens.sieve.first_open(view.text, self.cursor) };
        if let Some(open) = open.filter(|open| !view.is_stretched(*open)) {
            self.cursor = open;
            self.prune(view);
            return open < view.text.len();
        }
        let (mut automata, mut hits) = (lens.live.borrow(), Vec::new());
        while let Some((at, start)) = automata.next(view, self.cursor, ended, &mut hits) {
            self.cursor = at;
            if matches!(start, Start::Open) {
                self.prune(view);
                return true;
            }
            for hit in hits.drain(..).filter(|hit| concerns(hit.rule, at)) {
                self.try_match(set, view, hit, spans);
            }
            self.cursor = at + 1;
        }
        self.cursor = view.text.len();
        self.prune(view);
        false
    }

    /// How far matches reach beyond the cursor.
    pub(super) fn ahead(&self, base: usize) -> Vec<(usize, usize)> {
        self.taken.iter().map(|(rule, end)| (*rule, end - base - self.cursor)).collect()
    }

    fn try_match(&mut self, set: &RuleSet, view: &View<'_>, hit: Hit, spans: &mut Spans) {
        let start = view.base + self.cursor;
        let Some(rule) = set.rules().get(hit.rule) else { return };
        let is_taken = self.taken.iter().any(|(rule, end)| *rule == hit.rule && *end > start);
        if is_taken || hit.end > view.limit(self.cursor, rule.max_match()) {
            return;
        }
        let Some(end) = matcher::match_at(rule, view, self.cursor) else { return };
        spans.add(Span { rule: hit.rule, start: view.original_start(self.cursor), end: view.original_end(end) });
        self.taken.retain(|(rule, _)| *rule != hit.rule);
        self.taken.push((hit.rule, view.base + end));
    }

    fn prune(&mut self, view: &View<'_>) {
        let cursor = view.base + self.cursor;
        self.taken.retain(|(_, end)| *end > cursor);
        self.taken.sort_unstable();
    }
}
