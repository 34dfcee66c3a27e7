//! Strictness: what the vendors refuse is refused, in their form.

use crate::support::{demo, post};

const CHAT: &str = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
const MESSAGE: &str = r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}"#;
const CONTENT: &str = r#"{"contents":[{"parts":[{"text":"hi"}]}]}"#;
const VERSION: &str = "anthropic-version: 2023-06-01";
const GENERATE: &str = "/v1beta/models/m:generateContent";

#[tokio::test]
async fn each_shape_takes_its_credential_only_where_its_vendor_does() {
    let demo = demo(&["good"]).await;
    let (bearer, own, google) = ("authorization: Bearer good", "x-api-key: good", "x-goog-api-key: good");
    for (path, body, headers, status) in [
        ("/v1/chat/completions", CHAT, [bearer, VERSION], "200"),
        ("/v1/chat/completions", CHAT, [own, VERSION], "401"),
        ("/v1/messages", MESSAGE, [bearer, VERSION], "200"),
        ("/v1/messages", MESSAGE, [own, VERSION], "200"),
        ("/v1/messages", MESSAGE, [google, VERSION], "401"),
        (GENERATE, CONTENT, [google, VERSION], "200"),
        (GENERATE, CONTENT, [bearer, VERSION], "401"),
        (GENERATE, CONTENT, [own, VERSION], "403"),
    ] {
        assert_eq!(post(&demo, path, &headers, body).await.status(), status, "{path} with {}", headers[0]);
    }
}

#[tokio::test]
async fn a_wrong_key_is_refused_in_each_vendors_words() {
    let demo = demo(&["good"]).await;
    let chat = post(&demo, "/v1/chat/completions", &["authorization: Bearer bad"], CHAT).await;
    assert!(chat.status() == "401" && chat.text.contains(r#""code":"invalid_api_key""#), "{}", chat.text);
    let message = post(&demo, "/v1/messages", &["x-api-key: bad", VERSION], MESSAGE).await;
    assert!(message.status() == "401" && message.text.contains(r#""type":"authentication_error""#), "{}", message.text);
    let content = post(&demo, GENERATE, &["x-goog-api-key: bad"], CONTENT).await;
    assert!(content.status() == "400" && content.text.contains("API_KEY_INVALID"), "{}", content.text);
}

#[tokio::test]
async fn unknown_fields_and_missing_ones_are_refused() {
    let demo = demo(&[]).await;
    let headers = ["authorization: Bearer any", VERSION, "x-goog-api-key: any"];
    for (path, body, words) in [
        ("/v1/chat/completions", r#"{"model":"m","messages":[],"foo":1}"#, "Unrecognized request argument supplied: foo"),
        ("/v1/chat/completions", r#"{"model":"m"}"#, "Missing required parameter: 'messages'."),
        ("/v1/messages", r#"{"model":"m","max_tokens":1,"messages":[],"foo":1}"#, "foo: Extra inputs are not permitted"),
        ("/v1/messages", r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#, "max_tokens: Field required"),
        (GENERATE, r#"{"contents":[],"foo":1}"#, "Cannot find field"),
        (GENERATE, "{}", "contents is not specified"),
    ] {
        let refused = post(&demo, path, &headers, body).await;
        assert!(refused.status() == "400" && refused.text.contains(words), "{body}: {}", refused.text);
    }
}

#[tokio::test]
async fn the_newest_messages_version_refuses_sampling_and_the_older_one_does_not() {
    let demo = demo(&[]).await;
    let body = r#"{"model":"m","max_tokens":9,"temperature":1,"messages":[{"role":"user","content":"hi"}]}"#;
    for (version, status) in [("2023-06-01", "200"), ("2026-10-21", "400"), ("2020-01-01", "400")] {
        let version = format!("anthropic-version: {version}");
        assert_eq!(post(&demo, "/v1/messages", &["x-api-key: any", &version], body).await.status(), status, "{version}");
    }
    assert_eq!(post(&demo, "/v1/messages", &["x-api-key: any"], MESSAGE).await.status(), "400", "a version is required");
}

#[tokio::test]
async fn tool_calls_have_to_be_answered() {
    let demo = demo(&[]).await;
    let chat = r#"{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function",
        "function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"b"}]}"#;
    let refused = post(&demo, "/v1/chat/completions", &["authorization: Bearer any"], chat).await;
    assert!(refused.text.contains("must be followed by tool messages"), "{}", refused.text);
    let message = r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use",
        "id":"t1","name":"f","input":{}}]},{"role":"user","content":[{"type":"text","text":"b"},{"type":"tool_result","tool_use_id":"t1"}]}]}"#;
    let refused = post(&demo, "/v1/messages", &["x-api-key: any", VERSION], message).await;
    assert!(refused.text.contains("without `tool_result` blocks immediately after"), "{}", refused.text);
}
