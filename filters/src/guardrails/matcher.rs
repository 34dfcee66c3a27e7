//! What a match is, the same for whole texts and for streams.
//!
//! Matches of a rule are found from left to right and do not overlap; at one start the pattern's own order of preference decides, as in
//! Perl. A match that starts at `s` has to end within the rule's bound, `s + max_match`; what the pattern asks of its surroundings is
//! looked up beyond it. Where the check fails there is no match at `s`, and the search goes on one character later.

use regex_automata::{Anchored, Input};

use super::rule::Rule;
use super::view::View;

/// Bytes searched at a time while matches keep within their bound; few in tests, so that short texts take several windows.
const WINDOW: usize = if cfg!(test) { 16 } else { 65_536 };

/// Where the rule's match at `start` ends.
pub(super) fn match_at(rule: &Rule, view: &View<'_>, start: usize) -> Option<usize> {
    let input = Input::new(view.text).span(start..view.limit(start, rule.max_match())).anchored(Anchored::Yes);
    let end = rule.regex().search_half(&input)?.offset();
    checked(rule, view, start, end)
}

/// The matches of the rule from left to right go to `found`. Returns where it stopped, if a match without the bound went beyond it: to
/// look for bounded ones start by start would take long there.
pub(super) fn matches(rule: &Rule, view: &View<'_>, mut found: impl FnMut(usize, usize)) -> Option<usize> {
    let (max, len) = (rule.max_match(), view.text.len());
    let window = WINDOW.max(2 * max);
    let mut from = 0;
    while from < len {
        let to = len.min(from + window);
        // Of starts after this one the window does not hold everything that counts.
        let last = if to == len { len } else { to - max };
        // A search without the bound finds the first start at which anything matches. No start before has a match, and at that start
        // the bounded match is the same if it ends in time.
        match rule.regex().search(&Input::new(view.text).span(from..to)).filter(|found| found.start() <= last) {
            Some(first) if first.end() > view.limit(first.start(), max) => return Some(first.start()),
            Some(first) => match checked(rule, view, first.start(), first.end()) {
                Some(end) => {
                    found(first.start(), end);
                    from = end;
                }
                None => from = view.next(first.start()),
            },
            None if to == len => return None,
            None => from = view.next(last),
        }
    }
    None
}

fn checked(rule: &Rule, view: &View<'_>, start: usize, end: usize) -> Option<usize> {
    let length = rule.checked(view.text.get(start..end)?)?;
    (length > 0).then_some(start + length)
}
