//! Guardrails for which a model looks: what the sidecar says of a request, and what is done about it before it goes anywhere.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use svc_filters::endpoint::Endpoint;
use svc_filters::guardrails::{Action, Detour, ModelFinding, ModelRule, OnFailure, Place, Places, decisive};
use svc_filters::policy::Policy;
use svc_filters::screening::{Body, Prompt};
use svc_filters::verdict::{Code, Rejection};

use crate::events::{Event, Ruled};
use crate::exchange::Exchange;
use crate::guardrail_models::{Failure, Looked};

/// Under which name the request log keeps what models looked for in a prompt.
const NOTE: &str = "guardrails_models";
/// The most findings of one guardrail that are listed; the rest are counted.
const LISTED: usize = 50;
/// When a request that could not be looked at is worth another try.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What is done about a request that goes on.
#[derive(Debug, Default)]
pub struct Judged {
    /// The body with everything replaced that is to be masked, where that is anything.
    pub masked: Option<Vec<u8>>,
    /// Where it goes instead of the model it asks for, and the priority of the guardrail that says so.
    pub detour: Option<(Detour, i32)>,
}

/// Shows the prompt, as far as it is masked already, to the models of the guardrails that concern the caller.
///
/// # Errors
/// A refusal, where a guardrail blocks or could not look.
pub async fn judge(exchange: &mut Exchange, policy: &Policy, endpoint: Endpoint, model: &str) -> Result<Judged, Rejection> {
    let rules = policy.guardrails.models_of(exchange.key.as_deref());
    let Some(facts) = exchange.facts.as_deref().filter(|_| !rules.is_empty()) else { return Ok(Judged::default()) };
    let gateway = exchange.gateway.clone();
    // The texts, and the calls they are put into.
    let _memory = gateway.body_memory.hold(exchange.body.len().saturating_mul(2))?;
    let places = rules.iter().fold(Places::NONE, |places, rule| places.union(rule.places));
    let prompt = Prompt::read(Body::of(endpoint.body_kind(), facts, &exchange.body), places);
    let opinions = gateway.guardrail_models.ask(&rules, &prompt).await;
    let findings: Vec<ModelFinding> = opinions.iter().flatten().flat_map(|looked| looked.findings.iter().cloned()).collect();
    let decided = decisive(&rules, &findings);
    exchange.notes.push((NOTE.to_owned(), note(&rules, &opinions, decided.map(|(rule, _)| &**rule))));
    if let Some((rule, finding)) = decided.filter(|(rule, _)| rule.action == Action::Block) {
        return Err(refuse(exchange, rule, finding.place, model));
    }
    for (rule, opinion) in rules.iter().zip(&opinions) {
        if let (OnFailure::Closed, Err(failure)) = (rule.on_failure, opinion) {
            return Err(unable(rule, failure));
        }
    }
    let detour = decided.and_then(|(rule, _)| match &rule.action {
        Action::Redirect(detour) => Some((detour.clone(), rule.priority)),
        _ => None,
    });
    Ok(Judged { masked: prompt.masked(&exchange.body, &rules, &findings), detour })
}

/// Tells operators of a block.
fn refuse(exchange: &Exchange, rule: &ModelRule, place: Place, model: &str) -> Rejection {
    let ruled = Ruled::of(exchange, &rule.name, model);
    exchange.gateway.tell(&Event::GuardrailBlocked(ruled, place));
    Rejection::new(Code::ContentGuardrailBlocked, format!("The guardrail `{}` refuses this request.", rule.name))
}

fn unable(rule: &ModelRule, failure: &Failure) -> Rejection {
    let name = &rule.name;
    if failure.is_the_requests() {
        return Rejection::invalid(format!("The guardrail `{name}` cannot look at a text this long.")).with_status(413);
    }
    let message = format!("The guardrail `{name}` cannot look at this request at present.");
    Rejection::new(Code::UpstreamUnavailable, message).with_status(503).with_retry_after(RETRY_AFTER)
}

/// JSON text for the log: what was shown to the models, what they found, or why they could not look. Never a text.
fn note(rules: &[Arc<ModelRule>], opinions: &[Result<Looked, Arc<Failure>>], decided: Option<&ModelRule>) -> String {
    let all: Vec<Value> = rules.iter().zip(opinions).map(|(rule, opinion)| one(rule, opinion)).collect();
    let mut note = json!({"guardrails": all});
    if let Some(rule) = decided {
        add(&mut note, "decided", json!(&*rule.name));
        add(&mut note, "action", json!(rule.action.as_str()));
    }
    note.to_string()
}

fn one(rule: &ModelRule, opinion: &Result<Looked, Arc<Failure>>) -> Value {
    let looked = match opinion {
        Ok(looked) => looked,
        Err(failure) => {
            let on_failure = if rule.on_failure == OnFailure::Open { "open" } else { "closed" };
            return json!({"guardrail": &*rule.name, "model": &*rule.model, "failure": failure.to_string(), "on_failure": on_failure});
        }
    };
    let found: Vec<Value> = looked.findings.iter().take(LISTED).map(|finding| self::found(rule, finding)).collect();
    let mut one = json!({
        "guardrail": &*rule.name, "action": rule.action.as_str(), "model": &*rule.model, "texts": looked.texts, "bytes": looked.bytes,
        "ms": u64::try_from(looked.took.as_millis()).unwrap_or(u64::MAX), "findings": found,
    });
    if let Some(more) = looked.findings.len().checked_sub(LISTED).filter(|more| *more > 0) {
        add(&mut one, "more_findings", json!(more));
    }
    one
}

fn found(rule: &ModelRule, finding: &ModelFinding) -> Value {
    let mut found = json!({"place": finding.place.as_str(), "label": finding.label, "score": finding.score});
    if rule.finds_parts {
        add(&mut found, "length", json!(finding.chars));
    }
    found
}

fn add(object: &mut Value, key: &str, value: Value) {
    object.as_object_mut().and_then(|members| members.insert(key.to_owned(), value));
}
