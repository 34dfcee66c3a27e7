//! Bedrock: signed requests, framed answers, errors and counts, seen from a client of the messages shape.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use svc_demo::{AwsAccess, Options as DemoOptions};
use svc_tests::certificates::certify;
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{self, Connection};
use svc_tests::request_log::Database;
use svc_tests::shapes::{Shape, events};
use svc_tests::stub::{Asked, Reply, Stub};
use svc_tests::upstream::Upstream;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use crate::{ask, expect_silence, options};

const SECRET: &str = "aws+secret/access/key+0123456789";
const MODEL: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

fn upstream(token: Option<&str>) -> Upstream {
    with(DemoOptions::default(), token)
}

fn with(options: DemoOptions, token: Option<&str>) -> Upstream {
    let aws = AwsAccess {
        key: "AKIDEXAMPLE".to_owned(),
        secret: SECRET.to_owned(),
        token: token.map(str::to_owned),
        region: "eu-west-1".to_owned(),
    };
    Upstream::with(DemoOptions { aws: Some(aws), keys: vec!["bedrock-api-key-1".to_owned()], ..options })
}

fn conf(url: &str, credential: &str) -> Options {
    let providers = format!("  - {{name: bedrock, kind: bedrock, base_url: \"{url}\", {credential}}}");
    let models = format!(
        "  - {{name: claude, targets: [{{provider: bedrock, model: \"{MODEL}\"}}]}}\n  - {{name: llama, targets: [{{provider: bedrock, model: \"meta.llama3-70b-instruct-v1:0\"}}]}}"
    );
    options(&providers, &models)
}

fn signed(url: &str) -> Options {
    conf(url, &format!("aws: {{region: eu-west-1, access_key_id: AKIDEXAMPLE, secret_access_key: \"{SECRET}\"}}"))
}

#[test]
fn signed_requests_are_accepted_and_answers_are_of_the_messages_dialect() {
    let upstream = upstream(None);
    let gateway = Gateway::start(signed(&upstream.url()));
    let answer = ask(&gateway, Shape::Messages, "claude", "Hello Bedrock", false);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(Shape::Messages.named_model(&answer.json()), Some("claude"), "the client's own name");
    assert_eq!(upstream.newest().text("path"), "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke");

    let answer = ask(&gateway, Shape::Messages, "claude", "Hello Bedrock", true);
    assert_eq!((answer.status, answer.complete), (200, true), "{}", answer.text());
    assert!(answer.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")), "{}", answer.head);
    let events = events(&answer.text());
    assert_eq!(events.first().map(|event| event["message"]["model"].clone()), Some(json!("claude")));
    assert_eq!(events.last(), Some(&json!({"type": "message_stop"})), "the service's own figures are left out");
    assert!(answer.text().contains("event: content_block_delta\ndata: {"), "{}", answer.text());
    let seen = upstream.newest();
    assert!(seen.text("path").ends_with("/invoke-with-response-stream"));
    assert_eq!((seen.header("x-api-key"), seen.header("anthropic-version")), (None, None));
    expect_silence(&gateway, &answer, &[SECRET]);
}

#[test]
fn a_body_keeps_every_byte_but_those_the_service_wants_otherwise() {
    let upstream = upstream(None);
    let gateway = Gateway::start(signed(&upstream.url()));
    let body = r#"{ "model":"claude", "max_tokens" : 6.4e1,"service_tier":"auto","messages":[{"role":"user","content":"caf\u00e9"}], "stream":false }"#;
    let mut connection = Connection::open(gateway.address);
    let headers = [("x-api-key", KEY), ("content-type", "application/json"), ("anthropic-beta", "oauth-2025-04-20,context-1m-2025-08-07")];
    connection.post("/v1/messages", &headers, body);
    let answer = connection.answer().expect("an answer");
    let id = answer.header("x-svc-request-id").expect("every answer has an id").to_owned();
    assert_eq!(
        upstream.newest().text("body"),
        r#"{ "anthropic_version":"bedrock-2023-05-31","anthropic_beta":["context-1m-2025-08-07"],"max_tokens" : 6.4e1,"messages":[{"role":"user","content":"caf\u00e9"}] }"#
    );
    let row = Database::open(&gateway.database_url()).row(&id);
    let decision = row.decision.expect("a decision record");
    assert!(decision.contains("bedrock: anthropic-beta oauth-2025-04-20, service_tier"), "the record says what was left out: {decision}");
}

#[test]
fn over_http_2_the_signature_is_that_of_what_arrives() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    certify(folder.path(), "DNS:localhost", 2);
    let file = |name: &str| folder.path().join(name);
    let upstream = with(DemoOptions { tls: Some((file("leaf.pem"), file("leaf.key"))), ..DemoOptions::default() }, None);
    let url = format!("https://localhost:{}", upstream.address().port());
    for http2 in ["auto", "always", "never"] {
        let mut options = signed(&url);
        options.conf =
            options.conf.replace("kind: bedrock,", &format!("kind: bedrock, http2: {http2}, ca: \"{}\",", file("ca.pem").display()));
        let gateway = Gateway::start(options);
        for (text, stream) in [("Hello".to_owned(), false), ("Hello".to_owned(), true), ("y".repeat(300_000), false)] {
            let answer = ask(&gateway, Shape::Messages, "claude", &text, stream);
            assert_eq!(answer.status, 200, "http2: {http2}, {} bytes: {:.500}\n{}", text.len(), answer.text(), gateway.log());
        }
    }
}

#[test]
fn session_tokens_and_api_keys_authorise_too() {
    let upstream = upstream(Some("session/token+1=="));
    let credential = format!(
        "aws: {{region: eu-west-1, access_key_id: AKIDEXAMPLE, secret_access_key: \"{SECRET}\", session_token: \"session/token+1==\"}}"
    );
    for credential in [credential.as_str(), "keys: [bedrock-api-key-1]"] {
        let gateway = Gateway::start(conf(&upstream.url(), credential));
        let answer = ask(&gateway, Shape::Messages, "claude", "Hello", true);
        assert_eq!(answer.status, 200, "{credential}: {}", answer.text());
    }
    assert_eq!(upstream.newest().header("authorization"), Some("Bearer bedrock-api-key-1"));
}

#[test]
fn a_wrong_secret_is_no_fault_of_the_client() {
    let upstream = upstream(None);
    let credential = "aws: {region: eu-west-1, access_key_id: AKIDEXAMPLE, secret_access_key: another-secret-0123}";
    let gateway = Gateway::start(conf(&upstream.url(), credential));
    let answer = ask(&gateway, Shape::Messages, "claude", "Hello", false);
    Shape::Messages.expect_error("wrong secret", &answer, 502, "upstream_unavailable");
    assert_eq!(upstream.count(), 1, "a signature that is wrong at the right time is not repeated");
    expect_silence(&gateway, &answer, &["another-secret-0123"]);
}

#[test]
fn tokens_are_counted() {
    let upstream = upstream(None);
    let gateway = Gateway::start(signed(&upstream.url()));
    let body = json!({"model": "claude", "messages": [{"role": "user", "content": "How many tokens are these?"}]});
    let answer = raw::post(gateway.address, "/v1/messages/count_tokens", KEY, &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.json()["input_tokens"].as_u64().is_some_and(|count| count > 0), "{}", answer.text());
    assert_eq!(upstream.newest().text("path"), "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens");
}

#[test]
fn other_families_are_refused_before_anything_is_sent() {
    let upstream = upstream(None);
    let gateway = Gateway::start(signed(&upstream.url()));
    let answer = ask(&gateway, Shape::Messages, "llama", "Hello", false);
    Shape::Messages.expect_error("another family", &answer, 400, "unsupported_translation");
    assert!(answer.text().contains("meta.llama3-70b-instruct-v1:0"), "{}", answer.text());
    assert_eq!(upstream.count(), 0);
}

#[test]
fn errors_come_as_the_messages_vendors_own() {
    for (name, status, (ours, kind)) in [
        ("ValidationException:http://internal/", 400, (400, "invalid_request_error")),
        ("ThrottlingException", 429, (429, "rate_limit_error")),
        ("ServiceUnavailableException", 503, (529, "overloaded_error")),
        ("ModelErrorException", 424, (500, "api_error")),
    ] {
        let stub = Stub::start(move |_| {
            Reply::json(status, json!({"message": "The model returned the following errors: max_tokens: no"}))
                .with("x-amzn-errortype", name)
                .with("x-amzn-requestid", "aws-request-1")
        });
        let gateway = Gateway::start(signed(&stub.url()));
        let answer = ask(&gateway, Shape::Messages, "claude", "Hello", true);
        assert_eq!(answer.status, ours, "{name}: {}", answer.text());
        assert_eq!(answer.json()["error"], json!({"type": kind, "message": "max_tokens: no"}));
        assert_eq!(answer.header("x-svc-error-origin"), Some("upstream"));
        assert_eq!(answer.header("x-svc-upstream-request-id"), Some("aws-request-1"));
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

/// A frame with text headers.
fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(u8::try_from(name.len()).expect("a short name"));
        block.extend_from_slice(name.as_bytes());
        block.push(7);
        block.extend_from_slice(&u16::try_from(value.len()).expect("a short value").to_be_bytes());
        block.extend_from_slice(value.as_bytes());
    }
    let length = |bytes: usize| u32::try_from(bytes).expect("a small frame").to_be_bytes();
    let mut raw = [length(16 + block.len() + payload.len()), length(block.len())].concat();
    raw.extend_from_slice(&crc32fast::hash(&raw).to_be_bytes());
    raw.extend_from_slice(&block);
    raw.extend_from_slice(payload);
    raw.extend_from_slice(&crc32fast::hash(&raw).to_be_bytes());
    raw
}

fn chunk(event: &Value) -> Vec<u8> {
    let payload = json!({"bytes": STANDARD.encode(event.to_string()), "p": "abcd"}).to_string();
    frame(&[(":event-type", "chunk"), (":content-type", "application/json"), (":message-type", "event")], payload.as_bytes())
}

/// The first events of an answer, up to some text.
fn beginning() -> Vec<u8> {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}});
    [
        chunk(&json!({"type": "message_start", "message": message})),
        chunk(&json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})),
        chunk(&json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}})),
    ]
    .concat()
}

#[test]
fn what_goes_wrong_inside_a_stream_is_an_error_event_and_never_a_clean_end() {
    let exception = frame(&[(":message-type", "exception"), (":exception-type", "throttlingException")], br#"{"message":"slow down"}"#);
    let mut broken = chunk(&json!({"type": "message_stop"}));
    broken[40] ^= 1;
    let cut = chunk(&json!({"type": "message_stop"}))[..20].to_vec();
    for (name, tail, kind) in [
        ("exception", exception, "rate_limit_error"),
        ("checksum", broken, "api_error"),
        ("cut", cut, "overloaded_error"),
        ("end", Vec::new(), "overloaded_error"),
    ] {
        let body = [beginning(), tail].concat();
        let stub = Stub::start(move |_| Reply {
            status: 200,
            headers: vec![("content-type", "application/vnd.amazon.eventstream".to_owned())],
            body: body.clone(),
        });
        let gateway = Gateway::start(signed(&stub.url()));
        let answer = ask(&gateway, Shape::Messages, "claude", "Hello", true);
        assert_eq!(answer.status, 200, "{name}: {}", answer.text());
        let events = events(&answer.text());
        assert_eq!(events.last().map(|event| event["error"]["type"].clone()), Some(json!(kind)), "{name}: {}", answer.text());
        assert!(!answer.text().contains("message_stop"), "{name}: {}", answer.text());
    }
}

/// Refuses signatures that are not of its own time, which is an hour ahead.
fn an_hour_ahead(asked: &Asked) -> Reply {
    let now = OffsetDateTime::now_utc() + time::Duration::hours(1);
    let date = asked.header("x-amz-date").unwrap_or_default();
    let near = [-1, 0, 1].map(|minutes| {
        let moment = now + time::Duration::minutes(minutes);
        format!("{:04}{:02}{:02}T{:02}{:02}", moment.year(), u8::from(moment.month()), moment.day(), moment.hour(), moment.minute())
    });
    if near.iter().any(|minute| date.starts_with(minute.as_str())) {
        return Reply::json(
            200,
            json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "x", "content": [], "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}),
        );
    }
    Reply::json(403, json!({"message": "Signature expired"}))
        .with("x-amzn-errortype", "InvalidSignatureException")
        .with("date", now.format(&Rfc2822).expect("a date").replace("+0000", "GMT"))
}

#[test]
fn a_clock_that_is_wrong_is_put_right_by_the_services_own() {
    let stub = Stub::start(an_hour_ahead);
    let gateway = Gateway::start(signed(&stub.url()));
    let first = ask(&gateway, Shape::Messages, "claude", "Hello", false);
    assert_eq!((first.status, first.header("x-svc-attempts")), (200, Some("2")), "{}\n{}", first.head, first.text());
    let second = ask(&gateway, Shape::Messages, "claude", "Hello", false);
    assert_eq!((second.status, second.header("x-svc-attempts")), (200, Some("1")), "it stays right: {}", second.head);
    assert_eq!(stub.asked().len(), 3);
}
