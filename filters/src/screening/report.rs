//! What is told of a screening afterwards: what was looked at, what was found and what was done. Never a text.

use std::time::Duration;

use serde_json::{Value, json};

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
        let places: Vec<&str> = Place::ALL.into_iter().filter(|place| self.places.contains(*place)).map(Place::as_str).collect();
        let findings: Vec<Value> = self.findings.iter().filter_map(|noted| noted.told(rules)).collect();
        let mut told = json!({
            "rules": rules.rules().len(), "places": places, "bytes": self.bytes,
            "us": u64::try_from(took.as_micros()).unwrap_or(u64::MAX), "findings": findings,
        });
        if let Some(told) = told.as_object_mut() {
            told.extend((self.more > 0).then(|| ("more_findings".to_owned(), json!(self.more))));
            told.extend(decision.map(|decision| ("decided".to_owned(), json!(&**decision.rule.name()))));
            told.extend(decision.map(|decision| ("action".to_owned(), json!(decision.action().as_str()))));
        }
        told.to_string()
    }
}

impl Noted {
    fn told(&self, rules: &RuleSet) -> Option<Value> {
        let rule = rules.rules().get(self.rule)?;
        let (guardrail, action, place) = (&**rule.name(), rule.action().as_str(), self.place.as_str());
        Some(json!({"guardrail": guardrail, "action": action, "place": place, "length": self.chars}))
    }
}
