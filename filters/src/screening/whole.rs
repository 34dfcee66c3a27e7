//! Whole bodies shown to the content rules.

use super::report::Report;
use super::splices::splices;
use super::texts::{Body, Found, answer_texts_at, request_texts_at};
use crate::guardrails::{Decision, Finding, Place, Places, RuleSet};
use crate::passage::BodyKind;
use crate::wire::json::{Edit as Splice, splice};

/// What rules found in a body, and what they make of it.
#[derive(Clone, Debug, Default)]
pub struct Screened {
    /// What was looked at, and what was found, in the order of the body; offsets count from the start of the text it stands in.
    pub report: Report,
    /// Everything that was found, with its place in its text.
    pub findings: Vec<Finding>,
    /// How many texts were looked at.
    pub texts: usize,
    /// What is decided; `None` where nothing was found.
    pub decision: Option<Decision>,
    edits: Vec<Splice<'static>>,
}

impl Screened {
    /// The body with everything replaced that rules mask. `None` where that is nothing.
    #[must_use]
    pub fn apply(&self, body: &[u8]) -> Option<Vec<u8>> {
        (!self.edits.is_empty()).then(|| splice(body, &mut self.edits.clone()))
    }

    /// Whether anything is masked.
    #[must_use]
    pub const fn masks(&self) -> bool {
        !self.edits.is_empty()
    }
}

/// Shows the texts of a request to the rules; see [`request_texts`](super::request_texts).
#[must_use]
pub fn screen_request(rules: &RuleSet, body: Body<'_>) -> Screened {
    screen(rules, Places::PROMPT, |places, screened| {
        request_texts_at(body, places, &mut |found| screened.look(rules, body.bytes(), &found));
    })
}

/// Shows the texts of a whole answer to the rules; see [`answer_texts`](super::answer_texts).
#[must_use]
pub fn screen_answer(rules: &RuleSet, kind: BodyKind, body: &[u8]) -> Screened {
    screen(rules, Places::ANSWER, |places, screened| {
        answer_texts_at(kind, body, places, &mut |found| screened.look(rules, body, &found));
    })
}

/// Has `look` look at those of `places` at which rules do.
fn screen(rules: &RuleSet, places: Places, look: impl FnOnce(Places, &mut Screened)) -> Screened {
    let mut screened = Screened::default();
    let places: Places = Place::ALL.into_iter().filter(|place| places.contains(*place) && rules.looks_at(*place)).collect();
    if places.is_empty() {
        return screened;
    }
    look(places, &mut screened);
    screened.decision = rules.resolve(&screened.findings);
    screened
}

impl Screened {
    fn look(&mut self, rules: &RuleSet, body: &[u8], found: &Found<'_>) {
        self.texts += 1;
        self.report.looked(found.place, found.text.len());
        if !rules.may_match(found.place, &found.text) {
            return;
        }
        let findings = rules.scan(found.place, &found.text);
        self.edits.extend(splices(body, found, rules.edits(&found.text, 0, &findings)));
        findings.iter().for_each(|finding| self.report.note(finding));
        self.findings.extend(findings);
    }
}
