//! From a handler's answer to a response: credentials, markers, vendor headers.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::Value;

use crate::behaviour::{Playing, Script};
use crate::call::{Call, Shape};
use crate::directive::Directives;
use crate::refusal::{self, Refusal};
use crate::routes::Shared;
use crate::sse;

/// What a handler answers with.
#[derive(Debug)]
pub(crate) enum Payload {
    Json(Value),
    Bytes(&'static str, Bytes),
    /// Server-sent events.
    Events(Vec<Bytes>),
    /// Elements of a JSON array, sent one by one.
    Elements(Vec<Value>),
}

/// A payload and the markers that decide how it travels.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) payload: Payload,
    pub(crate) directives: Directives,
}

impl Answer {
    /// An answer to a request that cannot carry markers.
    pub(crate) fn plain(value: Value) -> Self {
        Self { payload: Payload::Json(value), directives: Directives::default() }
    }
}

/// Checks the credential, runs the handler and sends what it says.
pub(crate) async fn answer(shared: &Shared, shape: Shape, call: Call, handle: impl FnOnce(&Call) -> Result<Answer, Refusal>) -> Response {
    let id = call.exchange.request_id.clone();
    let handled = shared.keys.check(shape, &call).and_then(|key| Ok((key, handle(&call)?)));
    let mut response = match handled {
        Ok((key, answer)) => deliver(shared, shape, &call, &key, answer).await,
        Err(refusal) => refusal.response(shape, &id),
    };
    vendor_headers(shape, &id, response.headers_mut());
    response
}

async fn deliver(shared: &Shared, shape: Shape, call: &Call, key: &str, answer: Answer) -> Response {
    let Answer { payload, mut directives } = answer;
    if !applies(shared, call, key, &directives) {
        directives = Directives::default();
    }
    if let Some(wait) = directives.duration("wait") {
        tokio::time::sleep(wait).await;
    }
    if directives.has("hang") {
        std::future::pending::<()>().await;
    }
    if directives.has("reset") {
        call.fuse.blow();
    }
    match failure(shape, call, &directives) {
        Some(response) => response,
        None => send(shape, call, payload, &directives),
    }
}

/// `demo:for-key=…` limits the markers to one credential, `demo:first=N` to the first N requests like this one.
fn applies(shared: &Shared, call: &Call, key: &str, directives: &Directives) -> bool {
    let this_key = directives.value("for-key").is_none_or(|wanted| wanted == key);
    let in_time = || directives.number("first").is_none_or(|most| shared.times(&call.body) <= most);
    this_key && in_time()
}

fn failure(shape: Shape, call: &Call, directives: &Directives) -> Option<Response> {
    if let Some(status) = directives.status("error") {
        let mut refusal = refusal::demanded(shape, status);
        refusal.retry_after = directives.number("retry-after");
        refusal.code = directives.value("code").map(Box::from).or(refusal.code);
        refusal.kind = directives.value("type").map(Box::from);
        return Some(refusal.response(shape, &call.exchange.request_id));
    }
    let status = StatusCode::from_u16(directives.status("status")?).unwrap_or_default();
    let page = format!("<html><body><h1>{}</h1></body></html>", status.as_u16());
    let mut response = (status, axum::response::Html(page)).into_response();
    if let Some(seconds) = directives.number("retry-after") {
        response.headers_mut().insert("retry-after", seconds.into());
    }
    Some(response)
}

fn send(shape: Shape, call: &Call, payload: Payload, directives: &Directives) -> Response {
    if directives.has("empty") {
        return StatusCode::OK.into_response();
    }
    let error = refusal::demanded(shape, directives.status("inband-status").unwrap_or(if shape == Shape::Messages { 529 } else { 503 }));
    let error = error.body(shape, &call.exchange.request_id);
    match payload {
        Payload::Json(value) => whole("application/json", value.to_string().into(), directives),
        Payload::Bytes(kind, bytes) => whole(kind, bytes, directives),
        Payload::Events(events) => {
            let error = if shape == Shape::Messages { sse::named(&error) } else { sse::data(&error) };
            typed("text/event-stream; charset=utf-8", Script::events(events, error, directives))
        }
        Payload::Elements(elements) => {
            let error = format!(",\r\n{error}]").into();
            typed("application/json; charset=UTF-8", Script::events(array(&elements), error, directives))
        }
    }
}

fn whole(kind: &'static str, body: Bytes, directives: &Directives) -> Response {
    let length = body.len();
    let mut response = typed(kind, Script::whole(body, directives));
    response.headers_mut().insert("content-length", length.into());
    response
}

fn typed(kind: &'static str, script: Script) -> Response {
    ([("content-type", kind)], Body::new(Playing::new(script))).into_response()
}

fn array(elements: &[Value]) -> Vec<Bytes> {
    let last = elements.len().saturating_sub(1);
    let element = |(at, value): (usize, &Value)| {
        let before = if at == 0 { "[" } else { ",\r\n" };
        let after = if at == last { "]" } else { "" };
        Bytes::from(format!("{before}{value}{after}"))
    };
    elements.iter().enumerate().map(element).collect()
}

fn vendor_headers(shape: Shape, request_id: &str, headers: &mut HeaderMap) {
    let fixed: &[(&'static str, &'static str)] = match shape {
        Shape::ChatCompletions => &[
            ("openai-version", "2020-10-01"),
            ("openai-organization", "demo-organisation"),
            ("openai-processing-ms", "1"),
            ("x-ratelimit-limit-requests", "10000"),
            ("x-ratelimit-remaining-requests", "9999"),
            ("x-ratelimit-reset-requests", "6ms"),
        ],
        Shape::Messages => &[
            ("anthropic-organization-id", "demo-organisation"),
            ("anthropic-ratelimit-requests-limit", "10000"),
            ("anthropic-ratelimit-requests-remaining", "9999"),
            ("anthropic-ratelimit-requests-reset", "2026-11-21T00:00:00Z"),
        ],
        Shape::GenerateContent => &[("x-content-type-options", "nosniff"), ("vary", "Origin, X-Origin, Referer")],
    };
    for (name, value) in fixed {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    let id_header = match shape {
        Shape::ChatCompletions => "x-request-id",
        Shape::Messages => "request-id",
        Shape::GenerateContent => "x-goog-request-id",
    };
    if let Ok(id) = HeaderValue::from_str(request_id) {
        headers.insert(HeaderName::from_static(id_header), id);
    }
}
