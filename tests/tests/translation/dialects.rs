//! Which dialect a provider of the chat-completions API is asked in.

use serde_json::{Value, json};
use svc_tests::gateway::{Gateway, Options};
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;

use super::{ask, post};

const PROVIDERS: &str = r#"
  - {name: vendor, kind: openai, base_url: "{upstream}/v1", keys: [upstream-key-chat], compatibility: {vendor: true}}
  - {name: copy, kind: openai, base_url: "{upstream}/v1", keys: [upstream-key-chat]}
"#;
const MODELS: &str = r#"
  - {name: newest, targets: [{provider: vendor, model: gpt-5.6}]}
  - {name: copied, targets: [{provider: copy, model: compatible-1}]}
"#;

fn start(upstream: &Upstream) -> Gateway {
    Gateway::start(Options::standard(&upstream.url()).with_providers(PROVIDERS).with_models(MODELS))
}

fn tool() -> Value {
    json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}])
}

#[test]
fn tools_with_reasoning_go_through_the_responses_dialect_where_the_vendor_wants_it() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for stream in [false, true] {
        let body = json!({
            "model": "newest", "messages": [{"role": "user", "content": "hi"}], "tools": tool(), "reasoning_effort": "high", "stream": stream,
        });
        let answer = post(&gateway, "/v1/chat/completions", &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(answer.text().contains("look"), "{}", answer.text());
        assert_eq!(answer.header("x-svc-translation").and_then(|told| told.split(';').next()), Some("chat_completions>responses"));
        assert_eq!(upstream.newest().text("path"), "/v1/responses");
    }
}

#[test]
fn a_service_that_copies_the_api_is_asked_in_chat_completions() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let body = json!({"model": "copied", "input": "hi", "instructions": "Be brief.", "max_output_tokens": 50});
    let answer = post(&gateway, "/v1/responses", &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(upstream.newest().text("path"), "/v1/chat/completions");
    let answer = ask(&gateway, Shape::Messages, "copied", "hi", false);
    assert_eq!(answer.status, 200, "{}", answer.text());
}
