//! What is done about fields without a counterpart, by key and by model.

use serde_json::json;
use svc_tests::admin::Admin;
use svc_tests::gateway::{Gateway, Options};
use svc_tests::raw::Connection;
use svc_tests::upstream::Upstream;

use super::message;

const MODELS: &str = r#"
  - {name: strict-model, targets: [{provider: generate, model: demo-1}], translation: strict}
  - {name: lossy-model, targets: [{provider: generate, model: demo-1}], translation: lossy}
  - {name: either-model, targets: [{provider: generate, model: demo-1}, {provider: chat, model: demo-1, priority: 1}], translation: strict}
"#;
const KEYS: &str = r#"
  - {name: strict, secret: test-key-strict-0001, owner: {user: dev@example.com}, translation: strict}
"#;

#[test]
fn the_stricter_of_key_and_model_decides() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_models(MODELS).with(KEYS));
    let all = svc_tests::gateway::KEY;
    for (key, model, refused) in [
        (all, "generate-model", false),
        (all, "lossy-model", false),
        (all, "strict-model", true),
        ("test-key-strict-0001", "lossy-model", true),
        ("test-key-strict-0001", "chat-model", false),
        (all, "either-model", false),
    ] {
        let body = json!({"model": model, "messages": [{"role": "user", "content": "hi"}], "logit_bias": {"1": 1}});
        let mut connection = Connection::open(gateway.address);
        let bearer = format!("Bearer {key}");
        connection.post("/v1/chat/completions", &[("authorization", &bearer), ("content-type", "application/json")], body.to_string());
        let answer = connection.answer().expect("an answer");
        let told = format!("{key} {model}: {}", answer.text());
        if refused {
            assert_eq!((answer.status, answer.header("x-svc-error-code")), (400, Some("unsupported_translation")), "{told}");
            assert!(message(&answer).contains("logit_bias") && message(&answer).contains("chat_completions>generate_content"), "{told}");
        } else {
            assert_eq!(answer.status, 200, "{told}");
        }
    }
}

#[test]
fn keys_made_over_the_api_have_a_policy_too() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    let admin = Admin::new(gateway.address);
    let wanted = json!({"name": "careful", "owner": {"user": "dev@example.com"}, "translation": "strict"});
    let created = admin.call("POST", "/admin/keys", &wanted);
    assert_eq!((created.status, &created.json()["translation"]), (201, &json!("strict")), "{}", created.text());
    let path = format!("/admin/keys/{}", created.json()["id"].as_str().expect("an id"));
    let changed = admin.call("PATCH", &path, &json!({"translation": null}));
    assert_eq!((changed.status, &changed.json()["translation"]), (200, &json!(null)), "{}", changed.text());
    let refused = admin.call("PATCH", &path, &json!({"translation": "loose"}));
    assert_eq!(refused.status, 422, "{}", refused.text());
}
