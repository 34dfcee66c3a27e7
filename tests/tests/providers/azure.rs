//! Azure: both forms of its addresses, keys, and tokens of Entra.

use std::collections::HashMap;

use serde_json::json;
use svc_demo::Options as DemoOptions;
use svc_tests::gateway::Gateway;
use svc_tests::raw;
use svc_tests::shapes::{Shape, events};
use svc_tests::stub::{Reply, Stub};
use svc_tests::upstream::Upstream;

use crate::{ask, ask_at_once, expect_silence, options};

const SECRET: &str = "entra-client-secret-0123456789";

fn upstream(key: &str) -> Upstream {
    Upstream::with(DemoOptions { keys: vec![key.to_owned()], ..DemoOptions::default() })
}

#[test]
fn deployments_and_the_newer_form_are_addressed_as_azure_wants_them() {
    let upstream = upstream("azure-key-0123456789");
    let providers = format!(
        "  - {{name: classic, kind: azure_openai, base_url: \"{0}\", keys: [azure-key-0123456789]}}\n  - {{name: v1, kind: azure_openai, base_url: \"{0}/openai/v1\", keys: [azure-key-0123456789]}}",
        upstream.url()
    );
    let models = "  - {name: old, targets: [{provider: classic, model: my-deployment}]}\n  - {name: new, targets: [{provider: v1, model: my-deployment}]}";
    let gateway = Gateway::start(options(&providers, models));
    for (model, target) in
        [("old", "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"), ("new", "/openai/v1/chat/completions")]
    {
        for stream in [false, true] {
            let answer = ask(&gateway, Shape::Chat, model, "Hello", stream);
            assert_eq!(answer.status, 200, "{model}: {}", answer.text());
            let chunks = events(&answer.text());
            let whole = |chunk: &serde_json::Value| chunk["id"].as_str().is_some_and(|id| !id.is_empty()) && chunk["model"] == model;
            assert!(chunks.iter().all(whole) && stream != chunks.is_empty(), "strict clients need both: {}", answer.text());
            let seen = upstream.newest();
            assert_eq!(seen.target(), target);
            assert_eq!(seen.header("api-key"), Some("azure-key-0123456789"));
            assert_eq!(seen.header("authorization"), None, "the client's key stays here");
        }
    }
    for model in ["old", "new"] {
        let answer = raw::post(gateway.address, "/v1/responses", svc_tests::gateway::KEY, &json!({"model": model, "input": "Hello"}));
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(upstream.newest().target(), "/openai/v1/responses", "the deployments form never had it");
    }
    let embedded = raw::post(gateway.address, "/v1/embeddings", svc_tests::gateway::KEY, &json!({"model": "old", "input": "Hello"}));
    assert_eq!(embedded.status, 200, "{}", embedded.text());
    assert_eq!(upstream.newest().target(), "/openai/deployments/my-deployment/embeddings?api-version=2024-10-21");
}

/// A token service that gives tokens to one application.
fn directory() -> Stub {
    Stub::start(|asked| {
        let form: HashMap<String, String> = form_urlencoded::parse(&asked.body).into_owned().collect();
        let is = |name: &str, value: &str| form.get(name).is_some_and(|found| found == value);
        let right = asked.target == "/acme/oauth2/v2.0/token"
            && asked.method == "POST"
            && asked.header("content-type") == Some("application/x-www-form-urlencoded")
            && is("grant_type", "client_credentials")
            && is("client_id", "app-1")
            && is("scope", "https://cognitiveservices.azure.com/.default");
        if right && is("client_secret", SECRET) {
            Reply::json(200, json!({"token_type": "Bearer", "expires_in": 3599, "ext_expires_in": 3599, "access_token": "entra-token-1"}))
        } else {
            Reply::json(401, json!({"error": "invalid_client", "error_description": format!("{} is not right", form["client_secret"])}))
        }
    })
}

fn with_entra(upstream: &Upstream, directory: &Stub, secret: &str) -> svc_tests::gateway::Options {
    let providers = format!(
        "  - {{name: azure, kind: azure_openai, base_url: \"{}\", entra: {{tenant: acme, client_id: app-1, client_secret: {secret}, token_url: \"{}/acme/oauth2/v2.0/token\"}}}}",
        upstream.url(),
        directory.url()
    );
    options(&providers, "  - {name: m, targets: [{provider: azure, model: d}]}")
}

#[test]
fn a_token_of_entra_is_fetched_once_and_used_for_all() {
    let (upstream, directory) = (upstream("entra-token-1"), directory());
    let gateway = Gateway::start(with_entra(&upstream, &directory, SECRET));
    ask_at_once(&gateway, Shape::Chat, "m", 16);
    assert_eq!(directory.asked().len(), 1, "one fetches, the others wait");
    assert_eq!(upstream.newest().header("authorization"), Some("Bearer entra-token-1"));
}

#[test]
fn an_application_that_is_refused_makes_the_provider_unavailable_and_no_secret_leaks() {
    let (upstream, directory) = (upstream("entra-token-1"), directory());
    let gateway = Gateway::start(with_entra(&upstream, &directory, "wrong-client-secret-98765"));
    let answer = ask(&gateway, Shape::Chat, "m", "Hello", false);
    Shape::Chat.expect_error("refused by Entra", &answer, 502, "upstream_unavailable");
    gateway.says("it answered 401 invalid_client");
    expect_silence(&gateway, &answer, &["wrong-client-secret-98765"]);
    assert_eq!(upstream.count(), 0, "nothing is asked without a credential");
}
