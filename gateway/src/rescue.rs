//! Errors made by the gateway: status, `x-svc-error-code` and a body in the client's shape. The only place that knows.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};
use pingora::Result;
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use serde_json::json;
use svc_filters::canonical::Failure;
use svc_filters::shape::Shape;
use svc_filters::verdict::{Code, Rejection};

use crate::edge::Connection;
use crate::exchange::Exchange;
use crate::phases::{body, logging, response};

/// Header that names the reason of an error.
pub const ERROR_CODE: HeaderName = HeaderName::from_static("x-svc-error-code");
/// Header that tells whose error it is: `gateway` or `upstream`.
pub const ERROR_ORIGIN: HeaderName = HeaderName::from_static("x-svc-error-origin");
/// Header that carries the request's id.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-svc-request-id");
/// Header that tells an SDK whether its own retry makes sense.
pub const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// How one code looks in each shape.
struct Row {
    status: u16,
    chat: &'static str,
    messages: &'static str,
    generate: &'static str,
    should_retry: Option<bool>,
}

/// The one table of the gateway's errors.
const fn row(code: Code) -> Row {
    let (status, chat, messages, generate, should_retry) = match code {
        Code::KeyNotFound => (401, "authentication_error", "authentication_error", "UNAUTHENTICATED", None),
        Code::KeyDisabled => (403, "permission_error", "permission_error", "PERMISSION_DENIED", None),
        Code::ModelNotAllowed => (403, "permission_error", "permission_error", "PERMISSION_DENIED", None),
        Code::ModelNotFound => (404, "invalid_request_error", "not_found_error", "NOT_FOUND", None),
        Code::RateLimited => (429, "rate_limit_error", "rate_limit_error", "RESOURCE_EXHAUSTED", None),
        Code::ContentGuardrailBlocked => (400, "invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT", Some(false)),
        Code::RoutingDenied => (403, "permission_error", "permission_error", "PERMISSION_DENIED", None),
        Code::BudgetExceeded => (402, "insufficient_quota", "billing_error", "RESOURCE_EXHAUSTED", Some(false)),
        Code::UpstreamUnavailable => (503, "server_error", "overloaded_error", "UNAVAILABLE", None),
        Code::InvalidRequest => (400, "invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT", None),
        Code::UnsupportedTranslation => (400, "invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT", None),
    };
    Row { status, chat, messages, generate, should_retry }
}

/// The row with what a status other than the code's usual one changes.
const fn adjusted(code: Code, status: Option<u16>) -> Row {
    let mut row = row(code);
    if let Some(status) = status {
        row.status = status;
    }
    match row.status {
        404 => {
            row.messages = "not_found_error";
            row.generate = "NOT_FOUND";
        }
        413 => row.messages = "request_too_large",
        500 => {
            row.chat = "server_error";
            row.messages = "api_error";
            row.generate = "INTERNAL";
        }
        502 => row.messages = "api_error",
        504 => {
            row.messages = "timeout_error";
            row.generate = "DEADLINE_EXCEEDED";
        }
        _ => {}
    }
    row
}

/// HTTP status of a rejection.
#[must_use]
pub fn status(rejection: &Rejection) -> u16 {
    adjusted(rejection.code, rejection.status).status
}

/// Body of a rejection in the shape of the client.
#[must_use]
pub fn body(shape: Shape, rejection: &Rejection, request_id: &str) -> Bytes {
    let row = adjusted(rejection.code, rejection.status);
    let message = &rejection.message;
    let value = match shape {
        Shape::ChatCompletions | Shape::Responses => json!({"error": {
            "message": message, "type": row.chat, "param": rejection.param, "code": rejection.code.as_str(),
        }}),
        Shape::Messages => json!({
            "type": "error", "error": messages_error(&row, rejection), "request_id": request_id,
        }),
        Shape::GenerateContent => json!({"error": {
            "code": row.status, "message": message, "status": row.generate, "details": details(rejection),
        }}),
    };
    Bytes::from(value.to_string())
}

/// The error of the messages shape. Its SDKs go on without a message thread where this code says that there are none.
fn messages_error(row: &Row, rejection: &Rejection) -> serde_json::Value {
    if rejection.param.as_deref() == Some("thread") {
        let details = json!({"error_code": "thread_unsupported_request", "unsupported": []});
        return json!({"type": row.messages, "message": rejection.message, "details": details});
    }
    json!({"type": row.messages, "message": rejection.message})
}

/// Details the generate-content SDKs read: the reason, and when to come again.
fn details(rejection: &Rejection) -> serde_json::Value {
    let reason = rejection.code.as_str().to_ascii_uppercase();
    let mut details = vec![json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "svc"})];
    if let Some(after) = rejection.retry_after {
        let delay = format!("{}s", seconds(after));
        details.push(json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}));
    }
    serde_json::Value::Array(details)
}

/// Whole seconds, rounded up.
fn seconds(after: Duration) -> u64 {
    after.as_secs() + u64::from(after.subsec_nanos() > 0)
}

/// Answers the request with a rejection and records it. The body of the request may still be unread.
///
/// # Errors
/// When the client is gone.
pub async fn answer(session: &mut Session, exchange: &mut Exchange, rejection: &Rejection) -> Result<()> {
    let bytes = body(exchange.shape, rejection, exchange.id.as_str());
    let status = status(rejection);
    exchange.refused(status, rejection.code, bytes.len());
    logging::settle(exchange, svc_outcome(rejection.code));
    let head = head(exchange, rejection, status, bytes.len())?;
    respond(session, head, bytes).await
}

fn svc_outcome(code: Code) -> crate::store::RequestOutcome {
    if code == Code::UpstreamUnavailable { crate::store::RequestOutcome::UpstreamError } else { crate::store::RequestOutcome::Refused }
}

fn head(exchange: &Exchange, rejection: &Rejection, status: u16, length: usize) -> Result<ResponseHeader> {
    let row = adjusted(rejection.code, rejection.status);
    let mut head = ResponseHeader::build(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), Some(10))?;
    head.insert_header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))?;
    head.insert_header(header::CONTENT_LENGTH, HeaderValue::from(length))?;
    head.insert_header(ERROR_CODE, HeaderValue::from_static(rejection.code.as_str()))?;
    head.insert_header(ERROR_ORIGIN, HeaderValue::from_static("gateway"))?;
    exchange.identify(&mut head)?;
    if let Some(after) = rejection.retry_after {
        head.insert_header(header::RETRY_AFTER, HeaderValue::from(seconds(after)))?;
    }
    if let Some(retry) = row.should_retry {
        head.insert_header(SHOULD_RETRY, HeaderValue::from_static(if retry { "true" } else { "false" }))?;
    }
    for (name, value) in &rejection.headers {
        head.insert_header(name, value.as_str())?;
    }
    Ok(head)
}

/// Puts a rejection in place of an answer that broke off while the connection still held it. `false` where a part had left.
#[must_use]
pub fn replace(session: &Session, exchange: &mut Exchange, rejection: &Rejection) -> bool {
    let bytes = body(exchange.shape, rejection, exchange.id.as_str());
    let status = status(rejection);
    let Ok(head) = head(exchange, rejection, status, bytes.len()) else { return false };
    if !put(session, &head, &bytes) {
        return false;
    }
    exchange.refused(status, rejection.code, bytes.len());
    true
}

/// Puts a provider's failure in place of an answer that the connection still holds. `false` where a part had left.
#[must_use]
pub fn replace_by_failure(session: &Session, exchange: &mut Exchange, failure: Failure<'static>) -> bool {
    let before = exchange.answer.status;
    let put = response::failed(exchange, failure).is_ok_and(|(mut head, body)| {
        exchange.answer.bytes = body.len() as u64;
        head.insert_header(header::CONTENT_LENGTH, HeaderValue::from(body.len())).is_ok() && put(session, &head, &body)
    });
    if !put {
        exchange.answer.status = before;
    }
    put
}

fn put(session: &Session, head: &ResponseHeader, body: &[u8]) -> bool {
    let Some(connection) = Connection::of(session) else { return false };
    let mut answer = wire(head);
    answer.extend_from_slice(b"connection: close\r\n\r\n");
    answer.extend_from_slice(body);
    connection.replace(answer)
}

/// Status line and headers, without the blank line.
fn wire(head: &ResponseHeader) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {} {}\r\n", head.status.as_u16(), head.status.canonical_reason().unwrap_or_default()).into_bytes();
    head.header_to_h1_wire(&mut bytes);
    bytes
}

/// Whether another answer can still take the place of the one that was begun.
#[must_use]
pub fn can_replace(session: &Session) -> bool {
    let begun = session.response_written().is_some_and(|head| !head.status.is_informational());
    !begun || Connection::of(session).is_some_and(Connection::is_held)
}

/// Puts another head in place of one the connection still holds; the body follows as before. `false` where it has left.
#[must_use]
pub fn replace_head(session: &Session, head: &ResponseHeader) -> bool {
    let Some(connection) = Connection::of(session) else { return false };
    connection.replace_head(wire(head))
}

/// Drops the head of an answer that another one will take the place of, where Pingora has not written it yet.
pub fn forget_head(session: &Session) {
    if let Some(connection) = Connection::of(session) {
        connection.forget_head();
    }
}

/// Lets what the connection holds leave.
pub fn release(session: &Session) {
    if let Some(connection) = Connection::of(session) {
        connection.release();
    }
}

/// Answers the request with a provider's failure, nothing of which was sent yet.
///
/// # Errors
/// When the client is gone.
pub async fn answer_failure(session: &mut Session, exchange: &mut Exchange, failure: Failure<'static>) -> Result<()> {
    let (mut head, body) = response::failed(exchange, failure)?;
    exchange.answer.bytes = body.len() as u64;
    logging::settle(exchange, crate::store::RequestOutcome::UpstreamError);
    head.insert_header(header::CONTENT_LENGTH, HeaderValue::from(body.len()))?;
    respond(session, head, body).await
}

/// Sends a whole answer, then takes what the client still has to say so that closing does not cut the answer off.
///
/// # Errors
/// When the client is gone.
pub async fn respond(session: &mut Session, head: ResponseHeader, body: Bytes) -> Result<()> {
    forget_head(session);
    release(session);
    let unread = !body::finish(session).await;
    if unread {
        session.set_keepalive(None);
    }
    let head_only = session.req_header().method == http::Method::HEAD;
    session.write_response_header(Box::new(head), head_only || body.is_empty()).await?;
    if !head_only && !body.is_empty() {
        session.write_response_body(Some(body), true).await?;
    }
    if unread {
        linger(session).await;
    }
    Ok(())
}

/// Reads and forgets a bounded amount of an unread body for a bounded time.
async fn linger(session: &mut Session) {
    const TIME: Duration = Duration::from_secs(2);
    const BYTES: usize = 64 * 1024 * 1024;
    if session.as_mut().finish_body().await.is_err() {
        return;
    }
    let drain = async {
        let mut left = BYTES;
        while let Ok(Some(piece)) = session.as_mut().read_request_body().await {
            left = left.saturating_sub(piece.len());
            if left == 0 {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(TIME, drain).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_the_status_and_types_of_the_contract() {
        let expected = [
            (Code::KeyNotFound, 401, "authentication_error", "authentication_error", "UNAUTHENTICATED"),
            (Code::KeyDisabled, 403, "permission_error", "permission_error", "PERMISSION_DENIED"),
            (Code::ModelNotAllowed, 403, "permission_error", "permission_error", "PERMISSION_DENIED"),
            (Code::ModelNotFound, 404, "invalid_request_error", "not_found_error", "NOT_FOUND"),
            (Code::RateLimited, 429, "rate_limit_error", "rate_limit_error", "RESOURCE_EXHAUSTED"),
            (Code::ContentGuardrailBlocked, 400, "invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"),
            (Code::RoutingDenied, 403, "permission_error", "permission_error", "PERMISSION_DENIED"),
            (Code::BudgetExceeded, 402, "insufficient_quota", "billing_error", "RESOURCE_EXHAUSTED"),
            (Code::UpstreamUnavailable, 503, "server_error", "overloaded_error", "UNAVAILABLE"),
            (Code::InvalidRequest, 400, "invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"),
            (Code::UnsupportedTranslation, 400, "invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"),
        ];
        assert_eq!(expected.map(|row| row.0), Code::ALL, "no code may be missing here");
        for (code, status, chat, messages, generate) in expected {
            let row = row(code);
            assert_eq!((row.status, row.chat, row.messages, row.generate), (status, chat, messages, generate), "{code:?}");
        }
    }

    #[test]
    fn the_body_is_the_envelope_of_the_clients_shape() {
        let rejection = Rejection::new(Code::RateLimited, "Slow down.").with_retry_after(Duration::from_millis(1_500));
        let parse = |shape| serde_json::from_slice::<serde_json::Value>(&body(shape, &rejection, "id-1")).expect("JSON");
        assert_eq!(
            parse(Shape::ChatCompletions),
            json!({"error": {"message": "Slow down.", "type": "rate_limit_error", "param": null, "code": "rate_limited"}})
        );
        assert_eq!(
            parse(Shape::Messages),
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down."}, "request_id": "id-1"})
        );
        let generate = parse(Shape::GenerateContent);
        assert_eq!(generate["error"]["code"], 429);
        assert_eq!(generate["error"]["details"][1]["retryDelay"], "2s", "rounded up");
    }

    #[test]
    fn a_body_too_large_is_named_so_in_the_messages_shape() {
        let rejection = Rejection::invalid("Too large.").with_status(413);
        let value: serde_json::Value = serde_json::from_slice(&body(Shape::Messages, &rejection, "x")).expect("JSON");
        assert_eq!(value["error"]["type"], "request_too_large");
        assert_eq!(status(&rejection), 413);
    }
}
