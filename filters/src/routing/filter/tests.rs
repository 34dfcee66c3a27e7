use std::borrow::Cow;

use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Value, json};

use super::*;
use crate::auth::{KeyTable, Pepper};
use crate::guardrails::Guardrails;
use crate::limits::Caps;
use crate::passage::{BodyKind, Facts};
use crate::policy::Policy;
use crate::routing::rules::{Rule, RuleSet};
use crate::routing::{Model, ModelTable, Target};
use crate::shape::Shape;
use crate::translate::{ProviderKind, Quirks};

fn policy(specs: &Value) -> Policy {
    let model = |name: &str| {
        let target = Target::new(name.into(), ProviderKind::Openai, Quirks::VENDOR, Shape::ChatCompletions, "m".into());
        let targets = vec![Arc::new(target.in_region(Some("us".into())))];
        Model { name: name.into(), aliases: Vec::new(), targets, fallbacks: Vec::new(), affinity: true, created_at: 0, translation: None }
    };
    let models = ModelTable::new(vec![model("large"), model("small")]).expect("distinct");
    let specs: Vec<_> = serde_json::from_value(specs.clone()).expect("rules");
    let rules = RuleSet::new(specs.iter().map(|spec| Rule::compile(spec).expect("a rule")).collect(), &models);
    Policy { keys: KeyTable::new(Pepper::new(&[7; 32]), []), models, caps: Caps::default(), rules, guardrails: Guardrails::default() }
}

/// The verdict, where the request goes, the rule that decided, and the notes.
type Routed = (Verdict, String, Option<String>, Vec<(Cow<'static, str>, String)>);

fn routed(specs: &Value, body: &'static str) -> Routed {
    filtered(&RoutingFilter::default(), specs, body).0
}

/// The same by a filter that knows of spending, and what operators are told.
fn filtered(filter: &RoutingFilter, specs: &Value, body: &'static str) -> (Routed, Vec<Notice>) {
    let policy = policy(specs);
    let body = Bytes::from_static(body.as_bytes());
    let facts = Facts::read(BodyKind::ChatCompletions, None, &body, 128).expect("valid");
    let headers = HeaderMap::new();
    let mut request = Request {
        random: 1,
        model: facts.model.as_deref().unwrap_or_default(),
        body: &body,
        facts: Some(&facts),
        ..Request::new(Endpoint::ChatCompletions, Shape::ChatCompletions, &headers, &policy)
    };
    let verdict = filter.on_request(&mut request);
    let plan = request.plan.iter().map(|target| &*target.provider).collect::<Vec<_>>().join(",");
    ((verdict, plan, request.rule.map(|rule| rule.to_string()), request.notes), request.notices)
}

fn rejected(verdict: Verdict) -> (Code, String) {
    match verdict {
        Verdict::Reject(rejection) => (rejection.code, rejection.message.into_owned()),
        Verdict::Continue => panic!("it went through"),
    }
}

#[test]
fn without_rules_a_request_goes_where_it_wants_and_nothing_is_noted() {
    assert_eq!(routed(&json!([]), r#"{"model":"large"}"#), (Verdict::Continue, "large".to_owned(), None, Vec::new()));
    let (verdict, ..) = routed(&json!([]), r#"{"model":"gone"}"#);
    assert_eq!(rejected(verdict).0, Code::ModelNotFound);
}

#[test]
fn a_rule_reads_the_request_itself() {
    let specs = json!([{"name": "move", "kind": "cost_saver", "redirect": {"model": "small"},
        "when": {"stream": true, "tools": true, "metadata": {"job": "x"}, "prompt_tokens": {"min": 5, "max": 20}}}]);
    let body = r#"{"model":"large","stream":true,"tools":[{}],"metadata":{"job":"x"},"messages":[{"role":"user","content":"a b c"}]}"#;
    assert_eq!(routed(&specs, body), (Verdict::Continue, "small".to_owned(), Some("move".to_owned()), Vec::new()));
    let body = r#"{"model":"large","stream":true,"tools":[{}],"metadata":{"job":"y"},"messages":[]}"#;
    assert_eq!(routed(&specs, body), (Verdict::Continue, "large".to_owned(), None, Vec::new()));
}

#[test]
fn a_refusal_names_the_rule() {
    let (verdict, plan, rule, _) = routed(&json!([{"name": "closed", "kind": "deny"}]), r#"{"model":"large"}"#);
    assert_eq!(rejected(verdict), (Code::RoutingDenied, "The routing rule `closed` refuses this request.".to_owned()));
    assert_eq!((plan.as_str(), rule.as_deref()), ("", Some("closed")));
    let (verdict, _, rule, notes) = routed(&json!([{"name": "home", "kind": "cost_saver", "region": "eu"}]), r#"{"model":"large"}"#);
    let message = "The routing rule `home` keeps this request in the region `eu`, where nothing serves the model.";
    assert_eq!(rejected(verdict), (Code::RoutingDenied, message.to_owned()));
    assert_eq!(rule.as_deref(), Some("home"));
    assert_eq!(notes, [("rules_region".into(), "home".to_owned()), ("region".into(), "eu".to_owned())]);
}

#[test]
fn what_rules_did_beside_deciding_is_noted() {
    let specs = json!([
        {"name": "try", "kind": "deny", "log_only": true},
        {"name": "lost", "kind": "cost_saver", "redirect": {"model": "gone"}},
        {"name": "odd", "kind": "custom", "when": {"cel": "tags.a == 'b'"}, "redirect": {"model": "small"}},
        {"name": "money", "kind": "spend_circuit", "spend": {"limit_usd": 0, "window": "1h"}},
        {"name": "halves", "kind": "ab", "split": [{"model": "small", "weight": 1}, {"model": "large", "weight": 0}], "tags": ["gdpr"]},
    ]);
    let (_, plan, rule, notes) = routed(&specs, r#"{"model":"large"}"#);
    assert_eq!((plan.as_str(), rule.as_deref()), ("small", Some("halves")));
    let expected = [
        ("rule_arm", "small"),
        ("rules_log_only", "try"),
        ("compliance", "gdpr"),
        ("rule_skipped", "lost: there is no model `gone`"),
        ("rule_failed", "odd: a key is missing"),
        ("rule_spend_unknown", "money"),
    ];
    assert_eq!(notes, expected.map(|(name, value)| (Cow::Borrowed(name), value.to_owned())));
}

/// Everybody has spent a dollar.
#[derive(Debug)]
struct ADollar;

impl Spends for ADollar {
    fn spent(&self, _: &Rule, _: i64) -> Option<i64> {
        Some(1_000_000_000)
    }
}

#[test]
fn operators_are_told_of_refusals_and_of_circuits_that_trip() {
    let filter = RoutingFilter::new(Arc::new(ADollar));
    let told = |specs: Value| filtered(&filter, &specs, r#"{"model":"large"}"#).1;
    let (denied, tripped) =
        (|rule: &str| Notice::RoutingDenied { rule: rule.into() }, |rule: &str| Notice::SpendCircuitTripped { rule: rule.into() });
    let circuit = |more: Value| {
        let mut rule = json!({"name": "money", "kind": "spend_circuit", "spend": {"limit_usd": 0.5, "window": "1h"}});
        more.as_object().into_iter().flatten().for_each(|(name, value)| rule[name] = value.clone());
        json!([rule])
    };
    assert_eq!(told(json!([{"name": "no", "kind": "deny"}])), [denied("no")]);
    assert_eq!(told(json!([{"name": "home", "kind": "cost_saver", "region": "eu"}])), [denied("home")]);
    assert_eq!(told(circuit(json!({}))), [tripped("money"), denied("money")]);
    assert_eq!(told(circuit(json!({"redirect": {"model": "small"}}))), [tripped("money")]);
    for quiet in [json!([]), circuit(json!({"log_only": true})), circuit(json!({"spend": {"limit_usd": 2, "window": "1h"}}))] {
        assert_eq!(told(quiet.clone()), [], "{quiet}");
    }
}
