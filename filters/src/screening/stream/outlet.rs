//! What becomes of findings: changes to a text, and the place at which an answer is cut off.

use std::sync::Arc;

use super::escape::escaped;
use super::scan::Told;
use super::stop::Stop;
use crate::guardrails::{Finding, RuleSet};
use crate::screening::report::Report;

/// A stretch of a text that is replaced.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) start: usize,
    pub(super) end: usize,
    /// What takes its place, until it is written.
    pub(super) with: Option<Vec<u8>>,
}

/// Where an answer is cut off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) at: usize,
    pub(super) finding: Finding,
}

/// What all texts of an answer share.
pub(super) struct Bench<'b> {
    pub(super) rules: &'b Arc<RuleSet>,
    pub(super) report: &'b mut Report,
}

/// What was found in one text, in bytes of it as it was sent.
#[derive(Debug, Default)]
pub(super) struct Outlet {
    pub(super) changes: Vec<Change>,
    pub(super) cut: Option<Cut>,
    /// What is found is not told.
    pub(super) quiet: bool,
}

impl Outlet {
    /// Takes findings and edits in. `at` tells where a place of the text lies; `json` that the text stands in a string of JSON there.
    pub(super) fn take(&mut self, bench: &mut Bench<'_>, told: Told, json: bool, at: impl Fn(usize) -> usize) {
        for finding in &told.findings {
            self.find(bench, finding, at(finding.start));
        }
        for edit in told.edits {
            let with = if json { escaped(&edit.replacement) } else { edit.replacement.into_bytes() };
            self.changes.push(Change { start: at(edit.start), end: at(edit.end), with: Some(with) });
        }
    }

    /// Takes one finding in that begins at `at`. What follows a place at which the answer is cut off was never seen.
    pub(super) fn find(&mut self, bench: &mut Bench<'_>, finding: &Finding, at: usize) {
        if self.cut.is_some_and(|cut| at > cut.at) {
            return;
        }
        let stops = bench.rules.rule(finding).is_some_and(|rule| Stop::of(rule.action()).is_some());
        if !self.quiet || stops {
            bench.report.note(finding);
        }
        if stops {
            let decides = |cut: &Cut| {
                let stricter = bench.rules.resolve(&[cut.finding, *finding]);
                stricter.is_some_and(|decision| decision.finding == *finding)
            };
            if self.cut.as_ref().is_none_or(decides) {
                self.cut = Some(Cut { at, finding: *finding });
            }
        }
    }
}
