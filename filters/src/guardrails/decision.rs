//! What was found, what is decided about it, and what a text looks like once it is masked.

use std::borrow::Cow;
use std::sync::Arc;

use super::action::Action;
use super::mask::{self, Edit, Mask, edited, part, seen_chars};
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
        mask::edits(findings.iter().filter_map(|finding| self.mask_of(finding)).collect(), text, base)
    }

    /// The text with all that rules mask replaced; borrowed where that is nothing.
    #[must_use]
    pub fn mask<'t>(&self, text: &'t str, findings: &[Finding]) -> Cow<'t, str> {
        edited(text, &self.edits(text, 0, findings))
    }

    fn mask_of(&self, finding: &Finding) -> Option<Mask<'_>> {
        let rule = self.rule(finding)?;
        let Action::Mask(template) = rule.action() else { return None };
        Some(Mask::new((finding.start, finding.end), rule.name(), template, (rule.priority(), finding.rule)))
    }
}
