//! One text under the rules, with as much of it kept as findings need.

use std::sync::Arc;

use crate::guardrails::{Edit, Finding, Place, RuleSet, Settled, Stream};

/// A text that comes piece by piece. Offsets count from its start.
pub(super) struct Scan {
    stream: Stream,
    /// What is not settled.
    kept: String,
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
        Self { stream: Stream::new(rules, place), kept: String::new(), upto: 0, len: 0 }
    }

    pub(super) fn push(&mut self, rules: &RuleSet, piece: &str) -> Told {
        let settled = self.stream.push(piece);
        self.settle(rules, settled, piece)
    }

    /// The text has ended.
    pub(super) fn end(&mut self, rules: &RuleSet) -> Told {
        let settled = self.stream.end();
        self.settle(rules, settled, "")
    }

    /// Up to where no finding changes the text any more.
    pub(super) const fn upto(&self) -> usize {
        self.upto
    }

    /// Bytes that came.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    fn settle(&mut self, rules: &RuleSet, Settled { upto, findings }: Settled, piece: &str) -> Told {
        let base = self.upto;
        self.len += piece.len();
        self.upto = upto;
        if findings.is_empty() && self.kept.is_empty() {
            if upto < self.len {
                let from = piece.len().saturating_sub(self.len - upto);
                self.kept.push_str(piece.get(from..).unwrap_or_default());
            }
            return Told::default();
        }
        self.kept.push_str(piece);
        let edits = if findings.is_empty() { Vec::new() } else { rules.edits(&self.kept, base, &findings) };
        if upto == self.len {
            self.kept = String::new();
        } else if upto > base {
            self.kept.drain(..upto - base);
        }
        Told { findings, edits }
    }
}
