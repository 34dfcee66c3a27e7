use super::*;
use crate::canonical::{Failure, FailureClass, Text};

fn read(status: u16, body: &str) -> (FailureClass, String) {
    let failure = decode_failure(status, body.as_bytes());
    assert_eq!(failure.status, status);
    (failure.class, failure.message.decode().into_owned())
}

fn vendor(kind: &str, message: &str) -> String {
    format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}},"request_id":"req_1"}}"#)
}

#[test]
fn every_row_of_the_vendors_table_has_its_class() {
    let table = [
        (400, "invalid_request_error", FailureClass::BadRequest),
        (401, "authentication_error", FailureClass::Auth),
        (402, "billing_error", FailureClass::Billing),
        (403, "permission_error", FailureClass::Permission),
        (404, "not_found_error", FailureClass::NotFound),
        (408, "timeout_error", FailureClass::Timeout),
        (504, "timeout_error", FailureClass::Timeout),
        (409, "conflict_error", FailureClass::Conflict),
        (412, "invalid_request_error", FailureClass::BadRequest),
        (413, "request_too_large", FailureClass::TooLarge),
        (429, "rate_limit_error", FailureClass::Rate),
        (500, "api_error", FailureClass::Server),
        (529, "overloaded_error", FailureClass::Overloaded),
    ];
    for (status, kind, class) in table {
        assert_eq!(read(status, &vendor(kind, "words")), (class, "words".to_owned()), "{status} {kind}");
        assert_eq!(read(status, "").0, class, "{status} without a body");
    }
}

#[test]
fn long_prompts_and_empty_accounts_are_known_by_their_words() {
    let long = ["prompt is too long: 250000 tokens > 200000 maximum", "input length and `max_tokens` exceed context limit"];
    for message in long {
        assert_eq!(read(400, &vendor("invalid_request_error", message)).0, FailureClass::ContextTooLong);
    }
    let empty = vendor("invalid_request_error", "Your credit balance is too low");
    assert_eq!(read(400, &empty).0, FailureClass::Billing);
    assert_eq!(read(400, r#"{"message":"Input is too long for requested model."}"#).0, FailureClass::ContextTooLong);
}

#[test]
fn errors_of_the_clouds_are_read_too() {
    let table = [
        (400, r#"{"message":"The model returned the following errors: bad"}"#, FailureClass::BadRequest),
        (400, r#"{"__type":"com.amazon.coral#ServiceQuotaExceededException","Message":"quota"}"#, FailureClass::Billing),
        (403, r#"{"__type":"ExpiredTokenException","message":"expired"}"#, FailureClass::Auth),
        (424, r#"{"originalStatusCode":500,"message":"model"}"#, FailureClass::Server),
        (429, r#"{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}"#, FailureClass::Rate),
        (503, r#"[{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]"#, FailureClass::Overloaded),
        (400, r#"{"error":"plain words"}"#, FailureClass::BadRequest),
    ];
    for (status, body, class) in table {
        let (found, message) = read(status, body);
        assert_eq!(found, class, "{body}");
        assert!(!message.is_empty() && !message.starts_with("upstream returned"), "{body}");
    }
}

#[test]
fn bodies_that_are_no_json_are_shown_in_part() {
    assert_eq!(read(502, ""), (FailureClass::Server, "upstream returned HTTP 502".to_owned()));
    let (class, message) = read(503, "<html><body><h1>503</h1>\n<p>Try   later</p></body></html>");
    assert_eq!((class, message.as_str()), (FailureClass::Overloaded, "upstream returned HTTP 503: 503 Try later"));
    assert!(read(500, &"é".repeat(10_000)).1.chars().count() < 240);
}

#[test]
fn keys_never_pass() {
    let (_, message) = read(401, &vendor("authentication_error", "invalid x-api-key sk-ant-api03-abcdefghijkl, task-force sk-1"));
    assert_eq!(message, "invalid x-api-key [key], task-force sk-1");
}

#[test]
fn clients_get_the_vendors_words_and_status_for_every_class() {
    let table = [
        (FailureClass::BadRequest, 400, "invalid_request_error"),
        (FailureClass::ContextTooLong, 400, "invalid_request_error"),
        (FailureClass::TooLarge, 413, "request_too_large"),
        (FailureClass::Auth, 502, "api_error"),
        (FailureClass::Billing, 402, "billing_error"),
        (FailureClass::Permission, 403, "permission_error"),
        (FailureClass::NotFound, 404, "not_found_error"),
        (FailureClass::Conflict, 409, "conflict_error"),
        (FailureClass::Rate, 429, "rate_limit_error"),
        (FailureClass::Overloaded, 529, "overloaded_error"),
        (FailureClass::Timeout, 504, "timeout_error"),
        (FailureClass::Server, 500, "api_error"),
        (FailureClass::RefusedInput, 400, "invalid_request_error"),
    ];
    for (class, status, kind) in table {
        let failure = Failure { class, status: 418, message: Text::from("a \"b\""), code: Text::from(""), param: None, retry_after: None };
        let (found, body) = encode_failure(&failure, "r-1");
        let body: serde_json::Value = serde_json::from_slice(&body).expect("valid JSON");
        let message = if class == FailureClass::ContextTooLong { "prompt is too long: a \"b\"" } else { "a \"b\"" };
        let expected = serde_json::json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "r-1"});
        assert_eq!((found, body), (status, expected), "{class:?}");
    }
}
