//! What a licence that is gone leaves alone, and what it takes away.

use serde_json::{Value, json};
use svc_tests::admin::Admin;
use svc_tests::gateway::KEY;
use svc_tests::licence;
use svc_tests::raw::{self, Answer};

use crate::stage::Stage;

/// A rule that keeps a model in the EU, and a guardrail whose model nobody can ask, so that it refuses whomever it concerns.
const DECLARED: &str = r#"
rules:
  - {name: eu-only, kind: custom, region: eu, tags: [gdpr], when: {cel: "model == 'spread'"}}
guardrail_models: {url: "http://127.0.0.1:1"}
guardrails:
  - {name: polite, kind: toxicity, action: block, scope: {keys: [limited]}}
"#;
const SPREAD: &str = "  - {name: spread, targets: [{provider: chat, model: demo-1, region: us}, {provider: messages, model: demo-1, region: eu, priority: 1}]}\n";

fn ask(stage: &Stage, secret: &str, model: &str) -> Answer {
    let body = json!({"model": model, "messages": [{"role": "user", "content": "Hello!"}]});
    raw::post(stage.gateway.address, "/v1/chat/completions", secret, &body)
}

fn drafts() -> [(&'static str, &'static str, Value); 3] {
    let rule = |more: Value| {
        let mut rule = json!({"name": "draft", "kind": "custom", "when": {"cel": "true"}});
        rule.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        json!({"key": "all", "body": {"model": "chat-model", "messages": []}, "rules": [rule]})
    };
    let guardrail = json!({"text": "hello", "guardrails": [{"name": "draft", "kind": "toxicity", "action": "log_only"}]});
    [
        ("/admin/guardrails/test", "ml_guardrails", guardrail),
        ("/admin/routing/explain", "compliance_rules", rule(json!({"region": "eu"}))),
        ("/admin/routing/explain", "compliance_rules", rule(json!({"tags": ["hipaa"], "redirect": {"model": "chat-model"}}))),
    ]
}

pub(crate) fn expect_gated(admin: &Admin) {
    for (path, feature, body) in drafts() {
        let answer = admin.call("POST", path, &body);
        Admin::expect_problem(path, &answer, 403, "tier_gated");
        let body = answer.json();
        assert_eq!((&body["required_edition"], &body["feature"]), (&json!("enterprise"), &json!(feature)), "{body}");
    }
    let own = json!({"text": "pay with 4111 1111 1111 1111", "guardrails": [{"name": "d", "kind": "detector", "detector": "card_number", "action": "mask"}]});
    assert_eq!(admin.call("POST", "/admin/guardrails/test", &own).status, 200, "the community's own can be tried");
}

#[test]
fn what_exists_keeps_working_without_the_licence_and_all_comes_back_with_it() {
    let mut stage = Stage::with(|options| options.with_models(SPREAD).with(DECLARED));
    let made: Vec<Value> = (0..30).map(|number| stage.create_key(&format!("k{number}")).json()).collect();
    for (path, _, body) in drafts() {
        let answer = stage.admin.call("POST", path, &body);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    }
    assert!(!stage.gateway.log().contains("stay in force"), "{}", stage.gateway.log());

    stage.gateway.relicense(None);
    stage.gateway.says("the configuration declares polite, which stay in force");
    stage.gateway.says("the configuration declares eu-only, which stay in force");
    for key in &made {
        let answer = ask(&stage, key["secret"].as_str().expect("a secret"), "chat-model");
        assert_eq!(answer.status, 200, "keys beyond the cap work: {}", answer.text());
    }
    assert_eq!(ask(&stage, KEY, "spread").header("x-svc-provider"), Some("messages"), "compliance rules apply");
    assert_eq!(ask(&stage, "test-key-limited-01", "default").status, 503, "guardrails that need a model apply");
    let page = stage.admin.get("/admin/keys?limit=100");
    assert_eq!(page["data"].as_array().map(Vec::len), Some(34), "nothing is hidden");
    let path = format!("/admin/keys/{}", made[0]["id"].as_str().expect("an id"));
    assert_eq!(stage.admin.call("PATCH", &path, &json!({"name": "renamed"})).status, 200, "what exists can be changed");
    assert_eq!(stage.admin.call("POST", &format!("{path}/rotate"), &json!({})).status, 200);
    assert_eq!(stage.admin.bare("DELETE", &path).status, 204);
    let refused = stage.create_key("one more");
    Admin::expect_problem("one more", &refused, 403, "cap_exceeded");
    assert_eq!(refused.json()["current"], 34, "a revoked key is a row still");
    expect_gated(&stage.admin);

    stage.gateway.relicense(Some(licence::enterprise()));
    assert_eq!(stage.create_key("one more").status, 201);
    for (path, _, body) in drafts() {
        assert_eq!(stage.admin.call("POST", path, &body).status, 200, "{path}");
    }
    assert_eq!(ask(&stage, KEY, "spread").header("x-svc-provider"), Some("messages"));
}

#[test]
fn a_community_licence_gates_what_is_the_enterprise_editions() {
    let stage = Stage::with(|options| {
        let community = licence::expiring("community", licence::now() + 90 * licence::DAY);
        options.with("guardrail_models: {url: \"http://127.0.0.1:1\"}\n").with_licence(Some(community))
    });
    expect_gated(&stage.admin);
    let shown = stage.licence();
    assert_eq!((&shown["build"], &shown["edition"]), (&json!("enterprise"), &json!("community")), "{shown}");
    for capability in shown["capabilities"].as_array().expect("a list") {
        let is_there = capability["edition"] == "community" || capability["name"] == "metrics";
        assert_eq!(capability["available"], is_there, "the build alone decides about metrics: {capability}");
    }
}
