use serde_json::{Value, json};

use super::{decode_failure, encode_failure};
use crate::canonical::{Failure, FailureClass, Text};

fn class(status: u16, body: &str) -> FailureClass {
    decode_failure(status, body.as_bytes()).class
}

fn google(code: u16, status: &str, message: &str) -> String {
    json!({"error":{"code":code,"message":message,"status":status}}).to_string()
}

#[test]
fn every_row_of_the_vendors_table_has_its_class() {
    let rows = [
        (400, "INVALID_ARGUMENT", "Unknown name", FailureClass::BadRequest),
        (400, "FAILED_PRECONDITION", "User location is not supported", FailureClass::BadRequest),
        (400, "OUT_OF_RANGE", "x", FailureClass::BadRequest),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            FailureClass::ContextTooLong,
        ),
        (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", FailureClass::Auth),
        (400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.", FailureClass::TooLarge),
        (401, "UNAUTHENTICATED", "x", FailureClass::Auth),
        (402, "", "x", FailureClass::Billing),
        (403, "PERMISSION_DENIED", "x", FailureClass::Permission),
        (404, "NOT_FOUND", "x", FailureClass::NotFound),
        (408, "", "x", FailureClass::Timeout),
        (409, "ABORTED", "x", FailureClass::Conflict),
        (409, "ALREADY_EXISTS", "x", FailureClass::Conflict),
        (413, "", "x", FailureClass::TooLarge),
        (422, "", "x", FailureClass::BadRequest),
        (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.", FailureClass::Rate),
        (429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.", FailureClass::Billing),
        (499, "CANCELLED", "x", FailureClass::Server),
        (500, "INTERNAL", "x", FailureClass::Server),
        (500, "UNKNOWN", "x", FailureClass::Server),
        (500, "DATA_LOSS", "x", FailureClass::Server),
        (501, "UNIMPLEMENTED", "x", FailureClass::Server),
        (503, "UNAVAILABLE", "x", FailureClass::Overloaded),
        (504, "DEADLINE_EXCEEDED", "x", FailureClass::Timeout),
    ];
    for (code, status, message, expected) in rows {
        let body = google(code, status, message);
        assert_eq!(class(code, &body), expected, "{body}");
        assert_eq!(class(code, &format!("[{body}]")), expected, "wrapped in an array");
    }
}

#[test]
fn details_tell_the_reason_the_field_and_when_to_come_again() {
    let details = json!([
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17.2s"},
        {"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"contents[0].parts","description":"d"}]},
        {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"},
    ]);
    let body = json!({"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT","details":details}}).to_string();
    let failure = decode_failure(400, body.as_bytes());
    assert_eq!((failure.class, failure.retry_after, failure.status), (FailureClass::Auth, Some(18), 400));
    assert!(failure.param.unwrap().is("contents[0].parts") && failure.code.is("API_KEY_INVALID"));
}

#[test]
fn bodies_that_are_none_of_the_vendors_are_told_by_their_status() {
    let told = |status, body: &str| decode_failure(status, body.as_bytes()).message.decode().into_owned();
    assert_eq!(told(502, ""), "upstream returned HTTP 502");
    assert_eq!(told(502, "<html>\n <b>Bad Gateway</b></html>"), "upstream returned HTTP 502: <html> <b>Bad Gateway</b></html>");
    assert!(told(502, &"é".repeat(5000)).chars().count() <= 240);
    assert_eq!(told(503, "[]"), "upstream returned HTTP 503: []");
    assert_eq!(class(503, "{\"x\":1}"), FailureClass::Overloaded);
    assert_eq!(told(500, "{\"error\":\"plain words\"}"), "plain words");
}

#[test]
fn keys_and_accounts_are_hidden() {
    let body = google(
        403,
        "PERMISSION_DENIED",
        "Consumer 'project_number:123456789' (projects/my-project-1) with key AIzaSyA1234567890abcdef and ya29.a0Ab_c may not",
    );
    let message = decode_failure(403, body.as_bytes()).message.decode().into_owned();
    for secret in ["123456789", "my-project-1", "AIza", "ya29"] {
        assert!(!message.contains(secret), "{message}");
    }
}

#[test]
fn every_class_has_a_status_and_a_word() {
    let rows = [
        (FailureClass::BadRequest, 400, "INVALID_ARGUMENT"),
        (FailureClass::ContextTooLong, 400, "INVALID_ARGUMENT"),
        (FailureClass::TooLarge, 413, "INVALID_ARGUMENT"),
        (FailureClass::Auth, 502, "UNAVAILABLE"),
        (FailureClass::Billing, 429, "RESOURCE_EXHAUSTED"),
        (FailureClass::Permission, 403, "PERMISSION_DENIED"),
        (FailureClass::NotFound, 404, "NOT_FOUND"),
        (FailureClass::Conflict, 409, "ABORTED"),
        (FailureClass::Rate, 429, "RESOURCE_EXHAUSTED"),
        (FailureClass::Overloaded, 503, "UNAVAILABLE"),
        (FailureClass::Timeout, 504, "DEADLINE_EXCEEDED"),
        (FailureClass::Server, 500, "INTERNAL"),
        (FailureClass::RefusedInput, 400, "INVALID_ARGUMENT"),
    ];
    for (class, status, word) in rows {
        let failure =
            Failure { class, status: 418, message: Text::from("m \"q\""), code: Text::from(""), param: None, retry_after: Some(17) };
        let (sent, body) = encode_failure(&failure, "req-1");
        let body: Value = serde_json::from_slice(&body).unwrap();
        let details = json!([{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"},{"@type":"type.googleapis.com/google.rpc.RequestInfo","requestId":"req-1"}]);
        assert_eq!((sent, body), (status, json!({"error":{"code":status,"message":"m \"q\"","status":word,"details":details}})));
    }
}

#[test]
fn what_is_written_is_read_back() {
    for class in [FailureClass::Rate, FailureClass::Overloaded, FailureClass::Timeout, FailureClass::NotFound, FailureClass::Conflict] {
        let failure = Failure { class, status: 0, message: Text::from("m"), code: Text::from(""), param: None, retry_after: Some(3) };
        let (status, body) = encode_failure(&failure, "r");
        let read = decode_failure(status, &body);
        assert_eq!((read.class, read.retry_after, read.message.is("m")), (class, Some(3), true));
    }
}

proptest::proptest! {
    #[test]
    fn foreign_bodies_never_panic(status in 0_u16..700, body in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let _ = decode_failure(status, &body);
    }
}
