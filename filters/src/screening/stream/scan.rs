//! One text under the rules.

use std::sync::Arc;

use crate::guardrails::{Edit, Finding, Place, RuleSet, Settled, Stream};

/// A text that comes piece by piece. Offsets count from its start.
pub(super) struct Scan {
    stream: Stream,
    upto: usize,
    len: usize,
}

/// What a piece settled.
#[derive(Default)]
pub(super) struct Told {
    pub(super) findings: Vec<Finding>,
    pub(super) edits: Vec<Edit>,
}

impl Scan {
    pub(super) fn new(rules: &Arc<RuleSet>, place: Place) -> Self {
        Self { stream: Stream::new(rules, place), upto: 0, len: 0 }
    }

    pub(super) fn push(&mut self, rules: &RuleSet, piece: &str) -> Told {
        self.len += piece.len();
        let settled = self.stream.push(piece);
        self.settle(rules, settled)
    }

    /// The text has ended.
    pub(super) fn end(&mut self, rules: &RuleSet) -> Told {
        let settled = self.stream.end();
        self.settle(rules, settled)
    }

    /// Up to where no finding changes the text any more.
    pub(super) const fn upto(&self) -> usize {
        self.upto
    }

    /// Bytes that came.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    fn settle(&mut self, rules: &RuleSet, Settled { upto, findings, text }: Settled) -> Told {
        let base = std::mem::replace(&mut self.upto, upto);
        let edits = if findings.is_empty() { Vec::new() } else { rules.edits(&text, base, &findings) };
        Told { findings, edits }
    }
}
