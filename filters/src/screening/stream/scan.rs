//! One text under the rules.

use std::sync::Arc;

use crate::guardrails::{Edit, Finding, Place, RuleSet, Settled, Stream};

/// A text that comes piece by piece. Offsets count from its start.
pub(super) struct Scan(Stream);

/// What a piece settled.
#[derive(Default)]
pub(super) struct Told {
    pub(super) findings: Vec<Finding>,
    pub(super) edits: Vec<Edit>,
}

impl Scan {
    pub(super) fn new(rules: &Arc<RuleSet>, place: Place) -> Self {
        Self(Stream::new(rules, place))
    }

    pub(super) fn push(&mut self, rules: &RuleSet, piece: &str) -> Told {
        let base = self.0.upto();
        Told::of(rules, base, self.0.push(piece))
    }

    /// The text has ended.
    pub(super) fn end(&mut self, rules: &RuleSet) -> Told {
        let base = self.0.upto();
        Told::of(rules, base, self.0.end())
    }

    /// Up to where no finding changes the text any more.
    pub(super) const fn upto(&self) -> usize {
        self.0.upto()
    }

    /// Bytes that came.
    pub(super) const fn len(&self) -> usize {
        self.0.bytes()
    }
}

impl Told {
    /// What was settled of a text after `base`.
    fn of(rules: &RuleSet, base: usize, Settled { findings, text, .. }: Settled) -> Self {
        let edits = if findings.is_empty() { Vec::new() } else { rules.edits(&text, base, &findings) };
        Self { findings, edits }
    }
}
