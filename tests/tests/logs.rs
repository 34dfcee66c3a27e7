//! The log as programs read it.

use std::time::Duration;

use serde_json::{Value, json};
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::Connection;
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;

const JSON_LOG: &str = "telemetry: {batch_timeout_ms: 20, log_format: json, traces: {endpoint: \"http://127.0.0.1:1\"}}\n";

/// Every line of the log.
fn lines(gateway: &Gateway) -> Vec<Value> {
    let log = gateway.log();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect();
    for line in &lines {
        let texts = ["timestamp", "level", "target", "message"].map(|name| line[name].as_str().unwrap_or_default());
        assert!(texts.iter().all(|text| !text.is_empty()), "{line}");
    }
    lines
}

/// The line that holds the words.
fn line<'a>(lines: &'a [Value], words: &str) -> &'a Value {
    lines.iter().find(|line| line["message"].as_str().is_some_and(|text| text.contains(words))).expect("it was told")
}

#[test]
fn a_log_for_programs_is_one_object_a_line() {
    let upstream = Upstream::start();
    let mut gateway = Gateway::start(Options::standard(&upstream.url()).with(JSON_LOG));
    let answer = Shape::Chat.ask(&mut Connection::open(gateway.address), "chat-model", "demo:reset", false);
    gateway.says("the provider failed");
    let told = upstream.newest().header("traceparent").expect("traces are on").to_owned();
    gateway.terminate();
    gateway.wait_ended(Duration::from_secs(20));
    let lines = lines(&gateway);
    assert!(lines.len() > 3, "{lines:?}");
    let failed = line(&lines, "the provider failed");
    assert_eq!((&failed["level"], &failed["request_id"]), (&json!("WARN"), &json!(answer.header("x-svc-request-id"))), "{failed}");
    assert_eq!(failed["trace_id"].as_str(), told.split('-').nth(1), "{failed}");
}

#[test]
fn a_panic_is_one_line_too() {
    let upstream = Upstream::start();
    let chain = "filters: [auth, tenant, limits, guardrails, routing, translation, cost]\n";
    let mut options = Options::standard(&upstream.url()).with(JSON_LOG).with(chain);
    options.program = "svc-gateway-with-tenant";
    options.env.push(("RUST_BACKTRACE".to_owned(), "1".to_owned()));
    let gateway = Gateway::start(options);
    let (name, value) = Shape::Chat.credential(KEY);
    let mut connection = Connection::open(gateway.address);
    let headers = [(name, value.as_str()), ("content-type", "application/json"), ("x-tenant", "panic")];
    connection.post("/v1/chat/completions", &headers, Shape::Chat.body("chat-model", "hi", false).to_string());
    assert_eq!(connection.answer().expect("an answer").status, 500);
    gateway.says("a filter may have a mistake");
    let lines = lines(&gateway);
    let told = line(&lines, "a filter may have a mistake");
    assert!(told["message"].as_str().is_some_and(|text| text.starts_with("panicked at ")), "{told}");
    assert!(told["backtrace"].as_str().is_some_and(|trace| trace.contains('\n')) && told["thread"].is_string(), "{told}");
}

#[test]
fn what_is_wrong_at_the_start_can_be_read() {
    let upstream = Upstream::start();
    let wrong = Gateway::refuse(&Options::standard(&upstream.url()).with("telemetry: {log_format: jason}\n"));
    assert!(wrong.starts_with("svc-gateway: ") && wrong.contains("telemetry.log_format"), "{wrong}");
    let options = Options::standard(&upstream.url()).with(&JSON_LOG.replace("traces: {", "traces: {ca: /nowhere/ca.pem, "));
    let refused = Gateway::refuse(&options);
    let last: Value = serde_json::from_str(refused.lines().last().expect("a line")).expect("an object");
    assert_eq!(last["level"], "ERROR", "{last}");
    assert!(last["message"].as_str().is_some_and(|text| text.contains("/nowhere/ca.pem")), "{last}");
}
