//! `/admin/guardrails`: what guardrails find in a text, without a request.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};
use svc_filters::guardrails::{Decision, Finding, Guardrail, Guardrails, Place, RuleSet};

use super::fields::Fields;
use super::problem::{Answer, Fault, Problem};
use super::routing::key_called;
use crate::conf::{self, Conf};
use crate::store::Snapshot;

/// What is asked.
struct Question {
    text: String,
    place: Place,
    /// Whose guardrails: id or name of a key; those of everybody where there is none.
    key: Option<String>,
    /// Guardrails to try instead of those in force.
    candidates: Option<Vec<conf::Guardrail>>,
}

/// `POST /admin/guardrails/test`
pub(super) async fn test(snapshot: Arc<Snapshot>, body: &Bytes) -> Result<Answer, Problem> {
    let body = body.clone();
    // Patterns take a while to compile, and a text may be long.
    tokio::task::spawn_blocking(move || answer(&snapshot, &body)).await.map_err(|_| Problem::Internal)?
}

fn answer(snapshot: &Snapshot, body: &Bytes) -> Result<Answer, Problem> {
    let question = Question::read(body)?;
    let key = question.key.as_deref().map(|name| key_called(snapshot, name)).transpose()?;
    let candidates = question.candidates.map(|specs| compiled(&specs)).transpose()?;
    let table = candidates.as_ref().unwrap_or(&snapshot.policy.guardrails);
    let rules = table.of(key.as_deref()).map_err(|error| Problem::field("guardrails", error.to_string()))?;
    let shown = match rules {
        None => json!({"findings": [], "decision": null, "text": question.text}),
        Some(rules) => shown(&rules, question.place, &question.text),
    };
    Ok(Answer::json(StatusCode::OK, shown))
}

impl Question {
    fn read(json: &[u8]) -> Result<Self, Problem> {
        let mut fields = Fields::parse(json)?;
        let text = match fields.value("text") {
            Some(Value::String(text)) => Some(text),
            _ => {
                fields.fault("text", "must be a text");
                None
            }
        };
        let place = fields.optional_choice("place", &Place::ALL.map(|place| (place.as_str(), place))).flatten();
        let key = fields.optional_text("key").flatten();
        let candidates = candidates(&mut fields);
        fields.finish()?;
        Ok(Self { text: text.ok_or(Problem::Internal)?, place: place.unwrap_or(Place::Messages), key, candidates })
    }
}

fn candidates(fields: &mut Fields) -> Option<Vec<conf::Guardrail>> {
    let given = fields.value("guardrails").filter(|given| !given.is_null())?;
    match Conf::guardrails_of(&given) {
        Ok(guardrails) => Some(guardrails),
        Err(problems) => {
            fields.faults(problems.into_iter().map(|problem| Fault { field: problem.path, detail: problem.message }));
            None
        }
    }
}

/// The candidates that look with a pattern, ready to be asked.
fn compiled(specs: &[conf::Guardrail]) -> Result<Guardrails, Problem> {
    let wrong = |error: String| Problem::field("guardrails", format!("cannot be used: failed to {error}"));
    let mut all = Vec::with_capacity(specs.len());
    for spec in specs.iter().filter(|spec| !spec.kind.needs_model()) {
        let rule = Arc::new(spec.rule().map_err(|error| wrong(error.to_string()))?);
        all.push(Guardrail { rule, scope: spec.scope.clone() });
    }
    Guardrails::new(all).map_err(|error| wrong(error.to_string()))
}

fn shown(rules: &RuleSet, place: Place, text: &str) -> Value {
    let findings = rules.scan(place, text);
    let decision = rules
        .resolve(&findings)
        .map(|decision: Decision| json!({"guardrail": &**decision.rule.name(), "action": decision.action().as_str()}));
    let all: Vec<Value> = findings.iter().filter_map(|finding| one(rules, finding, text)).collect();
    json!({"findings": all, "decision": decision, "text": rules.mask(text, &findings)})
}

/// A finding with offsets in Unicode code points.
fn one(rules: &RuleSet, finding: &Finding, text: &str) -> Option<Value> {
    let rule = rules.rule(finding)?;
    let start = text.get(..finding.start)?.chars().count();
    let end = start + text.get(finding.start..finding.end)?.chars().count();
    Some(json!({
        "guardrail": &**rule.name(), "action": rule.action().as_str(), "place": finding.place.as_str(), "start": start, "end": end,
    }))
}
