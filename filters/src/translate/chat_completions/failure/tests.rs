//! Errors as services send them, and as clients get them.

use super::*;
use crate::canonical::{Failure, FailureClass, Text};

fn read(status: u16, body: &str) -> (FailureClass, u16, String, String) {
    let failure = decode_failure(status, body.as_bytes());
    (failure.class, failure.status, failure.message.decode().into_owned(), failure.code.decode().into_owned())
}

fn class(status: u16, body: &str) -> FailureClass {
    read(status, body).0
}

fn coded(code: &str) -> String {
    format!(r#"{{"error":{{"message":"m","type":"invalid_request_error","param":null,"code":"{code}"}}}}"#)
}

#[test]
fn statuses_have_their_classes() {
    let table = [
        (400, FailureClass::BadRequest),
        (401, FailureClass::Auth),
        (402, FailureClass::Billing),
        (403, FailureClass::Permission),
        (404, FailureClass::NotFound),
        (408, FailureClass::Timeout),
        (409, FailureClass::Conflict),
        (413, FailureClass::TooLarge),
        (422, FailureClass::BadRequest),
        (429, FailureClass::Rate),
        (500, FailureClass::Server),
        (502, FailureClass::Server),
        (503, FailureClass::Overloaded),
        (504, FailureClass::Timeout),
        (529, FailureClass::Overloaded),
    ];
    for (status, expected) in table {
        assert_eq!(class(status, r#"{"error":{"message":"m","type":"t","param":null,"code":null}}"#), expected, "{status}");
    }
}

#[test]
fn codes_and_words_say_more_than_the_status() {
    assert_eq!(class(400, &coded("context_length_exceeded")), FailureClass::ContextTooLong);
    assert_eq!(class(429, &coded("insufficient_quota")), FailureClass::Billing);
    assert_eq!(class(400, &coded("content_filter")), FailureClass::RefusedInput);
    assert_eq!(class(400, &coded("invalid_api_key")), FailureClass::Auth);
    assert_eq!(class(404, &coded("DeploymentNotFound")), FailureClass::NotFound);
    let long = r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}"#;
    assert_eq!(class(400, long), FailureClass::ContextTooLong);
    let azure =
        r#"{"error":{"message":"filtered","type":null,"param":"prompt","code":null,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#;
    assert_eq!(class(400, azure), FailureClass::RefusedInput);
}

#[test]
fn every_form_of_body_is_read() {
    let said = |status, body: &str| read(status, body).2;
    assert_eq!(said(400, r#"{"error":{"message":"a"}}"#), "a");
    assert_eq!(said(400, r#"{"error":"a"}"#), "a");
    assert_eq!(said(400, r#"[{"error":{"message":"a"}}]"#), "a");
    assert_eq!(said(422, r#"{"detail":[{"loc":["body"],"msg":"a"}]}"#), "a");
    assert_eq!(said(404, r#"{"detail":"a"}"#), "a");
    assert_eq!(said(400, r#"{"object":"error","message":"a","code":400}"#), "a");
    assert_eq!(said(429, "event: error\ndata: {\"error\":{\"message\":\"a\"}}\n\n"), "a");
    assert_eq!(
        said(502, "<html><head><title>502 Bad Gateway</title></head>\n<body> nginx </body></html>"),
        "upstream returned HTTP 502: 502 Bad Gateway nginx"
    );
    assert_eq!(said(503, ""), "upstream returned HTTP 503");
    assert_eq!(said(500, r#"{"error":{}}"#), "upstream returned HTTP 500");
    assert_eq!(said(500, r#"{"error":{"message":"cut"#), "upstream returned HTTP 500: {\"error\":{\"message\":\"cut");
}

#[test]
fn code_and_field_are_kept() {
    let failure = decode_failure(
        400,
        br#"{"error":{"message":"m","type":"invalid_request_error","param":"messages[1].content","code":"invalid_value"}}"#,
    );
    assert_eq!((failure.code, failure.param), (Text::from("invalid_value"), Some(Text::from("messages[1].content"))));
    assert_eq!(read(429, r#"{"error":{"message":"m","type":"tokens","code":null}}"#).3, "tokens");
    assert_eq!(read(429, r#"{"error":{"message":"m","code":"429"}}"#).3, "");
}

#[test]
fn keys_accounts_and_addresses_are_left_out() {
    let clean = |text: &str| read(400, &format!(r#"{{"error":{{"message":"{text}"}}}}"#)).2;
    assert_eq!(clean("Incorrect key: sk-proj-abc***xyz1."), "Incorrect key: [key]");
    assert_eq!(
        clean("Rate limit for gpt-4o in organization org-AbCdEf123456 on tokens"),
        "Rate limit for gpt-4o in organization [account] on tokens"
    );
    assert_eq!(clean("dial tcp 10.1.2.3:8080: refused by vllm-0.models.svc:8000"), "dial tcp [address]: refused by [address]");
    assert_eq!(clean("see https://host.example/path?x=1 now"), "see [address] now");
    assert_eq!(clean("Bearer abcdef123456 was refused"), "[key] was refused");
    assert_eq!(clean("max_tokens must be at least 1.0, task-list is fine"), "max_tokens must be at least 1.0, task-list is fine");
}

#[test]
fn the_time_to_wait_is_read_from_the_words() {
    let wait = |message: &str| decode_failure(429, format!(r#"{{"error":{{"message":"{message}"}}}}"#).as_bytes()).retry_after;
    assert_eq!(wait("Please try again in 1.5s."), Some(2));
    assert_eq!(wait("Please try again in 20ms."), Some(1));
    assert_eq!(wait("Please try again in 6m30s."), Some(390));
    assert_eq!(wait("Please retry after 6 seconds."), Some(6));
    assert_eq!(wait("no hint"), None);
}

fn failure(class: FailureClass, status: u16, code: &'static str) -> Failure<'static> {
    Failure { class, status, message: Text::from("m"), code: Text::from(code), param: None, retry_after: None }
}

#[test]
fn clients_get_every_class_in_their_words() {
    let table = [
        (FailureClass::BadRequest, 400, "invalid_request_error", None),
        (FailureClass::ContextTooLong, 400, "invalid_request_error", Some("context_length_exceeded")),
        (FailureClass::TooLarge, 413, "invalid_request_error", None),
        (FailureClass::Auth, 502, "server_error", Some("upstream_unavailable")),
        (FailureClass::Billing, 429, "insufficient_quota", Some("insufficient_quota")),
        (FailureClass::Permission, 403, "permission_error", None),
        (FailureClass::NotFound, 404, "invalid_request_error", Some("model_not_found")),
        (FailureClass::Conflict, 409, "invalid_request_error", None),
        (FailureClass::Rate, 429, "rate_limit_error", Some("rate_limit_exceeded")),
        (FailureClass::Overloaded, 503, "service_unavailable_error", Some("server_is_overloaded")),
        (FailureClass::Timeout, 504, "server_error", None),
        (FailureClass::Server, 500, "server_error", None),
        (FailureClass::RefusedInput, 400, "invalid_request_error", Some("content_filter")),
    ];
    for (class, status, kind, code) in table {
        let (written, body) = encode_failure(&failure(class, 500, ""), "r1");
        let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!((written, body["error"]["type"].as_str(), body["error"]["code"].as_str()), (status, Some(kind), code), "{class:?}");
        assert_eq!(body["error"].as_object().map(serde_json::Map::len), Some(4), "SDKs read all four members");
    }
}

#[test]
fn a_code_of_the_dialect_is_kept_and_other_vendors_types_are_not() {
    let code = |class, code| {
        let (_, body) = encode_failure(&failure(class, 400, code), "r1");
        serde_json::from_slice::<serde_json::Value>(&body).expect("JSON")["error"]["code"].as_str().map(str::to_owned)
    };
    assert_eq!(code(FailureClass::BadRequest, "unsupported_value").as_deref(), Some("unsupported_value"));
    assert_eq!(code(FailureClass::BadRequest, "INVALID_ARGUMENT"), None);
    assert_eq!(code(FailureClass::Server, "api_error"), None);
    assert_eq!(code(FailureClass::Timeout, "upstream_timeout").as_deref(), Some("upstream_timeout"));
    assert_eq!(code(FailureClass::Server, "upstream_error").as_deref(), Some("upstream_error"));
}

#[test]
fn the_gateways_own_credential_is_nobodys_business() {
    let refused = decode_failure(401, br#"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key","param":"key"}}"#);
    let (status, body) = encode_failure(&refused, "r1");
    let body = String::from_utf8(body).expect("UTF-8");
    assert!(status == 502 && !body.contains("Incorrect") && !body.contains("invalid_api_key"), "{body}");
}
