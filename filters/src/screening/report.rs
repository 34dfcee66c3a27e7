//! What is told of a screening afterwards: what was looked at, what was found and what was done. Never a text.

use std::time::Duration;

use serde::Serialize;

use crate::guardrails::{Decision, Finding, Place, Places, RuleSet};

/// The most findings that are told one by one.
const LISTED: usize = 100;

/// Something that was found. Holds no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    /// The rule, as an index into the set's rules.
    pub rule: usize,
    /// Where the text stood.
    pub place: Place,
    /// Number of characters, without those that cannot be seen.
    pub chars: usize,
}

/// What was looked at, and what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What was found, in the order in which it was decided.
    pub findings: Vec<Noted>,
    /// How many more findings there were.
    pub more: u64,
    /// The places of texts that were looked at.
    pub places: Places,
    /// Bytes of text that were looked at; of a text that is told several times, only the first telling counts.
    pub bytes: u64,
}

impl Report {
    pub(super) fn note(&mut self, finding: &Finding) {
        if self.findings.len() < LISTED {
            self.findings.push(Noted { rule: finding.rule, place: finding.place, chars: finding.chars });
        } else {
            self.more += 1;
        }
    }

    pub(super) fn looked(&mut self, place: Place, bytes: usize) {
        self.places = self.places.with(place);
        self.bytes = self.bytes.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    /// JSON text for the request log.
    #[must_use]
    pub fn told(&self, rules: &RuleSet, decision: Option<&Decision>, took: Duration) -> String {
        let places: Vec<&'static str> = Place::ALL.into_iter().filter(|place| self.places.contains(*place)).map(Place::as_str).collect();
        let told = Told {
            rules: rules.rules().len(),
            places,
            bytes: self.bytes,
            us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            findings: self.findings.iter().filter_map(|noted| noted.told(rules)).collect(),
            more_findings: (self.more > 0).then_some(self.more),
            decided: decision.map(|decision| &**decision.rule.name()),
            action: decision.map(|decision| decision.action().as_str()),
        };
        serde_json::to_string(&told).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct Told<'r> {
    rules: usize,
    places: Vec<&'static str>,
    bytes: u64,
    us: u64,
    findings: Vec<ToldFinding<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more_findings: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
}

#[derive(Serialize)]
struct ToldFinding<'r> {
    guardrail: &'r str,
    action: &'static str,
    place: &'static str,
    length: usize,
}

impl Noted {
    fn told<'r>(&self, rules: &'r RuleSet) -> Option<ToldFinding<'r>> {
        let rule = rules.rules().get(self.rule)?;
        Some(ToldFinding { guardrail: rule.name(), action: rule.action().as_str(), place: self.place.as_str(), length: self.chars })
    }
}
