//! What was found, what is decided about it, and what a text looks like once it is masked.

use std::borrow::Cow;
use std::sync::Arc;

use super::action::{Action, Template};
use super::fold;
use super::place::Place;
use super::rule::Rule;
use super::set::RuleSet;
use super::spans::Span;

/// Something a rule found. Holds no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule, as an index into the set's rules.
    pub rule: usize,
    /// Where the text stands.
    pub place: Place,
    /// Offset of the first byte in the text.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
    /// Number of characters, without those that cannot be seen.
    pub chars: usize,
}

impl Finding {
    /// The finding of a span; `text` begins `base` bytes after the start of the whole text.
    pub(super) fn of(span: Span, place: Place, text: &str, base: usize) -> Self {
        let chars = seen_chars(part(text, base, span.start, span.end));
        Self { rule: span.rule, place, start: span.start, end: span.end, chars }
    }
}

/// What is done about all findings together.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The rule that decides.
    pub rule: Arc<Rule>,
    /// The first finding of that rule.
    pub finding: Finding,
}

impl Decision {
    /// What is done.
    #[must_use]
    pub fn action(&self) -> &Action {
        self.rule.action()
    }
}

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

impl RuleSet {
    /// What is done: the strictest action decides (block, redirect, mask, only log), among equals the lower priority number, then the
    /// order of the rules. `None` where nothing was found.
    #[must_use]
    pub fn resolve(&self, findings: &[Finding]) -> Option<Decision> {
        let known = findings.iter().filter_map(|finding| Some((self.rule(finding)?, finding)));
        let (rule, finding) = known.min_by_key(|(rule, finding)| (rule.action().rank(), rule.priority(), finding.rule))?;
        Some(Decision { rule: rule.clone(), finding: *finding })
    }

    /// What the findings of rules that mask replace, in order and without overlaps. Findings that overlap are replaced as one, the way
    /// the rule asks that decides among them.
    ///
    /// `text` is the text, or the part of it that begins `base` bytes after its start and holds all findings.
    #[must_use]
    pub fn edits(&self, text: &str, base: usize, findings: &[Finding]) -> Vec<Edit> {
        let mut masks: Vec<Mask<'_>> = findings.iter().filter_map(|finding| self.mask_of(finding)).collect();
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

    /// The text with all that rules mask replaced; borrowed where that is nothing.
    #[must_use]
    pub fn mask<'t>(&self, text: &'t str, findings: &[Finding]) -> Cow<'t, str> {
        let edits = self.edits(text, 0, findings);
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

    fn mask_of(&self, finding: &Finding) -> Option<Mask<'_>> {
        let rule = self.rule(finding)?;
        let Action::Mask(template) = rule.action() else { return None };
        Some(Mask { start: finding.start, end: finding.end, rule, template, finding: *finding })
    }
}

/// A stretch to be masked, and the rule that says how.
struct Mask<'r> {
    start: usize,
    end: usize,
    rule: &'r Rule,
    template: &'r Template,
    finding: Finding,
}

impl Mask<'_> {
    fn join(&mut self, other: Self) {
        let (start, end) = (self.start, self.end.max(other.end));
        if other.order() < self.order() {
            *self = other;
        }
        (self.start, self.end) = (start, end);
    }

    const fn order(&self) -> (i32, usize) {
        (self.rule.priority(), self.finding.rule)
    }

    fn edit(&self, text: &str, base: usize) -> Edit {
        let replaced = seen_chars(part(text, base, self.start, self.end));
        let matched = part(text, base, self.finding.start, self.finding.end);
        Edit { start: self.start, end: self.end, replacement: self.template.fill(self.rule.name(), replaced, matched) }
    }
}

/// The part of the whole text from `start` to `end`, of which `text` begins at `base`.
fn part(text: &str, base: usize, start: usize, end: usize) -> &str {
    start.checked_sub(base).zip(end.checked_sub(base)).and_then(|(start, end)| text.get(start..end)).unwrap_or_default()
}

fn seen_chars(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().filter(|character| !fold::is_unseen(*character)).count() }
}
