//! `/admin/guardrails`: what guardrails find in a text, without a request.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};
use svc_filters::guardrails::{
    Edit, Finding, Guardrail, Guardrails, ModelFinding, ModelGuardrail, ModelRule, Place, RuleSet, decisive, edited, model_edits,
};
use svc_filters::screening::Prompt;

use super::fields::Fields;
use super::problem::{Answer, Fault, Problem};
use super::routing::key_called;
use crate::conf::{self, Conf};
use crate::guardrail_models::{self, Failure};
use crate::licence::{Feature, Licence};
use crate::state::Gateway;
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

/// What patterns found, and what models are still to be asked.
struct Looked {
    text: String,
    place: Place,
    findings: Vec<Value>,
    decided: Option<Decided>,
    /// What patterns mask.
    edits: Vec<Edit>,
    models: Vec<Arc<ModelRule>>,
}

/// A guardrail that decides over others: its rank and priority, its name and its action.
type Decided = ((u8, i32), Arc<str>, &'static str);

/// `POST /admin/guardrails/test`
pub(super) async fn test(gateway: Arc<Gateway>, body: &Bytes) -> Result<Answer, Problem> {
    let body = body.clone();
    let snapshot = gateway.live.hold();
    let has_models = gateway.guardrail_models.is_configured();
    let licence = gateway.licence.clone();
    // Patterns take a while to compile, and a text may be long.
    let looked =
        tokio::task::spawn_blocking(move || look(&snapshot, has_models, &licence, &body)).await.map_err(|_| Problem::Internal)??;
    Ok(Answer::json(StatusCode::OK, looked.shown(&gateway).await))
}

fn look(snapshot: &Snapshot, has_models: bool, licence: &Licence, body: &Bytes) -> Result<Looked, Problem> {
    let question = Question::read(body)?;
    for guardrail in question.candidates.iter().flatten() {
        licence.require(Feature::of_guardrail(guardrail))?;
    }
    let key = question.key.as_deref().map(|name| key_called(snapshot, name)).transpose()?;
    let candidates = question.candidates.map(|specs| compiled(&specs, has_models)).transpose()?;
    let table = candidates.as_ref().unwrap_or(&snapshot.policy.guardrails);
    let rules = table.of(key.as_deref()).map_err(|error| Problem::field("guardrails", error.to_string()))?;
    let Question { text, place, .. } = question;
    let models = table.models_of(key.as_deref());
    let mut looked = Looked { text, place, findings: Vec::new(), decided: None, edits: Vec::new(), models };
    let Some(rules) = rules else { return Ok(looked) };
    let findings = rules.scan(place, &looked.text);
    looked.edits = rules.edits(&looked.text, 0, &findings);
    looked.decided = rules.resolve(&findings).map(|decision| {
        let rule = &decision.rule;
        ((rule.action().rank(), rule.priority()), rule.name().clone(), rule.action().as_str())
    });
    looked.findings = findings.iter().filter_map(|finding| one(&rules, finding, &looked.text)).collect();
    Ok(looked)
}

impl Looked {
    /// The answer, once models have looked at what patterns leave of the text.
    async fn shown(mut self, gateway: &Gateway) -> Value {
        let masked = edited(&self.text, &self.edits).into_owned();
        let opinions = gateway.guardrail_models.try_out(&self.models, &Prompt::of(self.place, &masked)).await;
        let findings: Vec<ModelFinding> = opinions.iter().flatten().flat_map(|looked| looked.findings.iter().cloned()).collect();
        let judged =
            decisive(&self.models, &findings).map(|(rule, _)| ((rule.action.rank(), rule.priority), &rule.name, rule.action.as_str()));
        if let Some((order, name, action)) = judged
            && self.decided.as_ref().is_none_or(|(decided, ..)| order < *decided)
        {
            self.decided = Some((order, name.clone(), action));
        }
        let judged: Vec<Value> = findings.iter().filter_map(|finding| self.judged(finding)).collect();
        self.findings.extend(judged);
        let decision = self.decided.as_ref().map(|(_, name, action)| json!({"guardrail": &**name, "action": action}));
        let text = edited(&masked, &model_edits(&self.models, &masked, findings.iter())).into_owned();
        let mut shown = json!({"findings": self.findings, "decision": decision, "text": text});
        let failures: Vec<Value> = self.models.iter().zip(&opinions).filter_map(|(rule, opinion)| failed(rule, opinion)).collect();
        if let Some(members) = shown.as_object_mut().filter(|_| !failures.is_empty()) {
            members.insert("failures".to_owned(), json!(failures));
        }
        shown
    }

    /// What a model found, with offsets of the text before patterns masked anything.
    fn judged(&self, finding: &ModelFinding) -> Option<Value> {
        let rule = self.models.get(finding.rule)?;
        let start = self.text.get(..before(&self.edits, finding.span.0, false))?.chars().count();
        let end = self.text.get(..before(&self.edits, finding.span.1, true))?.chars().count();
        Some(json!({
            "guardrail": &*rule.name, "action": rule.action.as_str(), "place": finding.place.as_str(), "start": start, "end": end,
            "label": finding.label, "score": finding.score,
        }))
    }
}

/// Where an offset of the edited text was before the edits: inside of a replacement, the start or the end of what it replaced.
fn before(edits: &[Edit], at: usize, is_end: bool) -> usize {
    let mut grown = 0_usize;
    let mut shrunk = 0_usize;
    for edit in edits {
        let start = (edit.start + grown).saturating_sub(shrunk);
        let end = start + edit.replacement.len();
        if at < start || (at == start && (is_end || start < end)) {
            break;
        }
        if at < end {
            return if is_end { edit.end } else { edit.start };
        }
        grown += edit.replacement.len();
        shrunk += edit.end - edit.start;
    }
    (at + shrunk).saturating_sub(grown)
}

fn failed(rule: &ModelRule, opinion: &Result<guardrail_models::Looked, Arc<Failure>>) -> Option<Value> {
    let failure = opinion.as_ref().err()?;
    Some(json!({"guardrail": &*rule.name, "failure": failure.to_string()}))
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

/// The candidates, ready to be asked.
fn compiled(specs: &[conf::Guardrail], has_models: bool) -> Result<Guardrails, Problem> {
    let wrong = |error: String| Problem::field("guardrails", format!("cannot be used: failed to {error}"));
    let (mut patterns, mut models) = (Vec::with_capacity(specs.len()), Vec::new());
    for (index, spec) in specs.iter().enumerate() {
        let scope = spec.scope.clone();
        if !spec.kind.needs_model() {
            let rule = Arc::new(spec.rule().map_err(|error| wrong(error.to_string()))?);
            patterns.push(Guardrail { rule, scope });
        } else if has_models {
            let rule = Arc::new(ModelRule::of(spec).map_err(|error| wrong(error.to_string()))?);
            models.push(ModelGuardrail { rule, scope });
        } else {
            let field = format!("guardrails[{index}].kind");
            let detail = format!("a guardrail of the kind `{}` {}", spec.kind.as_str(), conf::NO_SIDECAR);
            return Err(Problem::Invalid(vec![Fault { field, detail }]));
        }
    }
    Ok(Guardrails::new(patterns).map_err(|error| wrong(error.to_string()))?.with_models(models))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_after_edits_is_found_before_them() {
        let edit = |start, end, replacement: &str| Edit { start, end, replacement: replacement.to_owned() };
        // "ab4444cd55ef" became "ab[x]cdef".
        let edits = [edit(2, 6, "[x]"), edit(8, 10, "")];
        let starts: Vec<usize> = (0..=9).map(|at| before(&edits, at, false)).collect();
        assert_eq!(starts, [0, 1, 2, 2, 2, 6, 7, 10, 11, 12]);
        let ends: Vec<usize> = (0..=9).map(|at| before(&edits, at, true)).collect();
        assert_eq!(ends, [0, 1, 2, 6, 6, 6, 7, 8, 11, 12]);
    }
}
