//! What becomes of a request that one provider refuses or cannot take.

use serde_json::{Value, json};
use svc_tests::gateway::{Gateway, Options};
use svc_tests::stub::{Asked, Reply, Stub};
use svc_tests::upstream::Upstream;

use super::post;

const ANSWER: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}"#;

/// A messages provider that takes no signature, as another cloud's might.
fn unsigned(asked: &Asked) -> Reply {
    if asked.text().contains("signature") {
        let message = "messages.1.content.0: Invalid `signature` in `thinking` block";
        return Reply::json(400, json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}));
    }
    Reply::json(200, ANSWER)
}

#[test]
fn a_conversation_whose_signatures_a_provider_refuses_goes_on_without_its_reasoning() {
    let upstream = Upstream::start();
    let stub = Stub::start(unsigned);
    let providers = format!("  - {{name: strict, kind: anthropic, base_url: \"{}\", keys: [upstream-key-messages]}}\n", stub.url());
    let models = "  - {name: strict-model, targets: [{provider: strict, model: m}]}\n";
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_providers(&providers).with_models(models));
    let said = json!([{"type": "thinking", "thinking": "hm", "signature": "EqQB"}, {"type": "text", "text": "a"}]);
    let body = json!({"model": "strict-model", "max_tokens": 5, "messages": [
        {"role": "user", "content": "x"}, {"role": "assistant", "content": said}, {"role": "user", "content": "y"},
    ]});
    let answer = post(&gateway, "/v1/messages", &body);
    assert_eq!((answer.status, answer.header("x-svc-attempts")), (200, Some("2")), "{}", answer.text());
    let sent: Vec<Value> = stub.asked().iter().map(|asked| serde_json::from_slice(&asked.body).expect("JSON")).collect();
    assert_eq!(sent[1]["messages"][1]["content"], json!([{"type": "text", "text": "a"}]));

    let body = json!({"model": "strict-model", "max_tokens": 5, "messages": [{"role": "user", "content": "say signature"}]});
    let answer = post(&gateway, "/v1/messages", &body);
    assert_eq!((answer.status, answer.header("x-svc-attempts")), (400, Some("1")), "nothing is there that could go: {}", answer.text());
}

#[test]
fn a_target_that_cannot_take_a_request_does_not_hide_that_another_failed() {
    let upstream = Upstream::start();
    let stub = Stub::start(|_| Reply::json(503, json!({"error": {"message": "busy", "type": "server_error"}})));
    let providers = format!("  - {{name: busy, kind: openai, base_url: \"{}/v1\", keys: [upstream-key-chat]}}\n", stub.url());
    let models = "  - {name: pair, targets: [{provider: busy, model: m}, {provider: messages, model: demo-1, priority: 1}]}\n\
                  - {name: alone, targets: [{provider: messages, model: demo-1}]}\n"
        .replace("\n- ", "\n  - ");
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_providers(&providers).with_models(&models));
    let body = |model: &str| json!({"model": model, "messages": [{"role": "user", "content": "x"}], "n": 3});
    let refused = post(&gateway, "/v1/chat/completions", &body("alone"));
    assert_eq!((refused.status, refused.header("x-svc-error-code")), (400, Some("unsupported_translation")), "{}", refused.text());
    let failed = post(&gateway, "/v1/chat/completions", &body("pair"));
    assert_eq!((failed.status, failed.header("x-svc-error-code")), (503, Some("upstream_unavailable")), "{}", failed.text());
}

#[test]
fn a_providers_rate_limits_are_shown_where_the_caller_has_none_of_ours() {
    let upstream = Upstream::start();
    let stub = Stub::start(|_| {
        Reply::json(200, ANSWER).with("anthropic-ratelimit-requests-remaining", 7).with("x-ratelimit-limit-requests", 9).with("x-secret", 1)
    });
    let provider = |name: &str, more: &str| {
        format!("  - {{name: {name}, kind: anthropic, base_url: \"{}\", keys: [upstream-key-messages]{more}}}\n", stub.url())
    };
    let providers = provider("open", "") + &provider("shy", ", rate_limit_headers: false");
    let models =
        "  - {name: open-model, targets: [{provider: open, model: m}]}\n  - {name: shy-model, targets: [{provider: shy, model: m}]}\n";
    let key = "  - {name: capped, secret: test-key-capped-001, owner: {user: dev@example.com}, rpm_limit: 50}\n";
    let options = Options::standard(&upstream.url()).with_providers(&providers).with_models(models).with(key);
    let gateway = Gateway::start(options);
    let ask = |model: &str, key: &str| {
        let body = json!({"model": model, "max_tokens": 5, "messages": [{"role": "user", "content": "x"}]});
        svc_tests::raw::post(gateway.address, "/v1/messages", key, &body)
    };
    let shown = |answer: &svc_tests::raw::Answer| {
        ["anthropic-ratelimit-requests-remaining", "x-ratelimit-limit-requests", "x-secret"]
            .map(|name| answer.header(name).map(str::to_owned))
    };
    let all = svc_tests::gateway::KEY;
    assert_eq!(shown(&ask("open-model", all)), [Some("7".to_owned()), Some("9".to_owned()), None]);
    assert_eq!(shown(&ask("shy-model", all)), [None, None, None]);
    assert_eq!(shown(&ask("open-model", "test-key-capped-001")), [Some("49".to_owned()), None, None]);
}
