//! What takes the place of stretches of a text that guardrails mask.

use std::borrow::Cow;

use super::action::Template;
use super::fold;

/// A stretch of a text that is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Offset of the first byte that goes.
    pub start: usize,
    /// Offset after the last.
    pub end: usize,
    /// What takes its place.
    pub replacement: String,
}

/// A stretch to be masked, and the guardrail that says how.
pub(super) struct Mask<'r> {
    start: usize,
    end: usize,
    name: &'r str,
    template: &'r Template,
    /// Among masks that overlap the lowest decides: priority, then the guardrail's index.
    order: (i32, usize),
    /// The stretch that the guardrail found.
    found: (usize, usize),
}

impl<'r> Mask<'r> {
    /// Masks what a guardrail found, from one byte to another.
    pub(super) const fn new(found: (usize, usize), name: &'r str, template: &'r Template, order: (i32, usize)) -> Self {
        Self { start: found.0, end: found.1, name, template, order, found }
    }

    fn join(&mut self, other: Self) {
        let (start, end) = (self.start, self.end.max(other.end));
        if other.order < self.order {
            *self = other;
        }
        (self.start, self.end) = (start, end);
    }

    fn edit(&self, text: &str, base: usize) -> Edit {
        let replaced = seen_chars(part(text, base, self.start, self.end));
        let matched = part(text, base, self.found.0, self.found.1);
        Edit { start: self.start, end: self.end, replacement: self.template.fill(self.name, replaced, matched) }
    }
}

/// What masks replace, in order and without overlaps. Those that overlap are replaced as one, the way the one asks that decides among
/// them. `text` begins `base` bytes after the start of the whole text and holds all of them.
pub(super) fn edits(mut masks: Vec<Mask<'_>>, text: &str, base: usize) -> Vec<Edit> {
    masks.sort_by_key(|mask| (mask.start, mask.end));
    let mut merged: Vec<Mask<'_>> = Vec::with_capacity(masks.len());
    for mask in masks {
        match merged.last_mut() {
            Some(last) if mask.start < last.end => last.join(mask),
            _ => merged.push(mask),
        }
    }
    merged.iter().map(|mask| mask.edit(text, base)).collect()
}

/// A text with edits made that are in order and do not overlap; borrowed where there are none.
#[must_use]
pub fn edited<'t>(text: &'t str, edits: &[Edit]) -> Cow<'t, str> {
    if edits.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        out.push_str(part(text, 0, from, edit.start));
        out.push_str(&edit.replacement);
        from = edit.end;
    }
    out.push_str(part(text, 0, from, text.len()));
    Cow::Owned(out)
}

/// The part of the whole text from `start` to `end`, of which `text` begins at `base`.
pub(super) fn part(text: &str, base: usize, start: usize, end: usize) -> &str {
    start.checked_sub(base).zip(end.checked_sub(base)).and_then(|(start, end)| text.get(start..end)).unwrap_or_default()
}

/// The number of characters, without those that cannot be seen.
pub(super) fn seen_chars(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().filter(|character| !fold::is_unseen(*character)).count() }
}
