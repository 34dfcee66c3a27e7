//! From a handler's answer to a response: credentials, markers, framing, vendor headers.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::behaviour::{Playing, Script, Trouble};
use crate::call::Call;
use crate::directive::Directives;
use crate::frames;
use crate::refusal::{self, Refusal};
use crate::routes::Shared;
use crate::sse;
use crate::vendor::Vendor;

/// What a handler answers with.
#[derive(Debug)]
pub(crate) enum Payload {
    Json(Value),
    Bytes(&'static str, Bytes),
    /// Server-sent events.
    Events(Vec<Bytes>),
    /// Events of the messages shape, framed as the vendor does.
    Messages(Vec<Value>),
    /// Events of the responses dialect.
    Responses(Vec<Value>),
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
pub(crate) async fn answer(
    shared: &Shared,
    vendor: Vendor,
    mut call: Call,
    handle: impl FnOnce(&Call) -> Result<Answer, Refusal>,
) -> Response {
    call.vendor = vendor;
    let id = call.exchange.request_id.clone();
    let handled = shared.access.check(&call).and_then(|key| Ok((key, handle(&call)?)));
    let mut response = match handled {
        Ok((key, answer)) => deliver(shared, &call, &key, answer).await,
        Err(refusal) => refusal.response(vendor, &id),
    };
    vendor_headers(vendor, &id, response.headers_mut());
    response
}

async fn deliver(shared: &Shared, call: &Call, key: &str, answer: Answer) -> Response {
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
    match failure(call, &directives) {
        Some(response) => response,
        None => send(call, payload, &directives),
    }
}

/// `demo:for-key=…` limits the markers to one credential, `demo:first=N` to the first N requests like this one.
fn applies(shared: &Shared, call: &Call, key: &str, directives: &Directives) -> bool {
    let this_key = directives.value("for-key").is_none_or(|wanted| wanted == key);
    let in_time = || directives.number("first").is_none_or(|most| shared.times(&call.body) <= most);
    this_key && in_time()
}

fn failure(call: &Call, directives: &Directives) -> Option<Response> {
    if let Some(status) = directives.status("error") {
        let mut refusal = refusal::demanded(call.vendor, status);
        refusal.retry_after = directives.number("retry-after");
        refusal.code = directives.value("code").map(Box::from).or(refusal.code);
        refusal.kind = directives.value("type").map(Box::from);
        return Some(refusal.response(call.vendor, &call.exchange.request_id));
    }
    let status = StatusCode::from_u16(directives.status("status")?).unwrap_or_default();
    let page = format!("<html><body><h1>{}</h1></body></html>", status.as_u16());
    let mut response = (status, axum::response::Html(page)).into_response();
    if let Some(seconds) = directives.number("retry-after") {
        response.headers_mut().insert("retry-after", seconds.into());
    }
    Some(response)
}

fn send(call: &Call, payload: Payload, directives: &Directives) -> Response {
    if directives.has("empty") {
        return StatusCode::OK.into_response();
    }
    let status = directives.status("inband-status").unwrap_or(if call.vendor == Vendor::Anthropic { 529 } else { 503 });
    let refusal = refusal::demanded(call.vendor, status);
    let error = refusal.body(call.vendor, &call.exchange.request_id);
    let events = |events, error| typed("text/event-stream; charset=utf-8", Script::events(events, Trouble::data(error), directives));
    match payload {
        Payload::Json(value) => whole("application/json", value.to_string().into(), directives),
        Payload::Bytes(kind, bytes) => whole(kind, bytes, directives),
        Payload::Events(list) => events(list, sse::data(&error)),
        Payload::Messages(list) if call.vendor == Vendor::Bedrock => {
            let frames = list.iter().enumerate().map(|(number, event)| frames::chunk(event, number)).collect();
            let trouble = Trouble { error: frames::exception(refusal.exception(), &refusal.message), garbage: frames::broken() };
            typed("application/vnd.amazon.eventstream", Script::events(frames, trouble, directives))
        }
        Payload::Messages(list) => {
            // A stream that has begun is the model's own, so its errors are too.
            let error = refusal.body(Vendor::Anthropic, &call.exchange.request_id);
            events(list.iter().map(sse::named).collect(), sse::named(&error))
        }
        Payload::Responses(list) => {
            let error = json!({"type": "error", "sequence_number": list.len(), "error": error.get("error")});
            events(list.iter().map(sse::named).collect(), sse::named(&error))
        }
        Payload::Elements(elements) => {
            let error = format!(",\r\n{error}]").into();
            typed("application/json; charset=UTF-8", Script::events(array(&elements), Trouble::data(error), directives))
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

fn vendor_headers(vendor: Vendor, request_id: &str, headers: &mut HeaderMap) {
    let fixed: &[(&'static str, &'static str)] = match vendor {
        Vendor::OpenAi => &[
            ("openai-version", "2020-10-01"),
            ("openai-organization", "demo-organisation"),
            ("openai-processing-ms", "1"),
            ("x-ratelimit-limit-requests", "10000"),
            ("x-ratelimit-remaining-requests", "9999"),
            ("x-ratelimit-reset-requests", "6ms"),
        ],
        Vendor::Azure => &[("x-ms-region", "Demo"), ("x-ms-deployment-name", "demo"), ("x-ratelimit-remaining-requests", "9999")],
        Vendor::Anthropic => &[
            ("anthropic-organization-id", "demo-organisation"),
            ("anthropic-ratelimit-requests-limit", "10000"),
            ("anthropic-ratelimit-requests-remaining", "9999"),
            ("anthropic-ratelimit-requests-reset", "2026-11-21T00:00:00Z"),
        ],
        Vendor::Bedrock => &[],
        Vendor::Gemini | Vendor::Vertex | Vendor::VertexClaude => {
            &[("x-content-type-options", "nosniff"), ("vary", "Origin, X-Origin, Referer")]
        }
    };
    for (name, value) in fixed {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    let id_header = match vendor {
        Vendor::OpenAi => "x-request-id",
        Vendor::Azure => "apim-request-id",
        Vendor::Anthropic => "request-id",
        Vendor::Bedrock => "x-amzn-requestid",
        Vendor::Gemini | Vendor::Vertex | Vendor::VertexClaude => "x-goog-request-id",
    };
    if let Ok(id) = HeaderValue::from_str(request_id) {
        headers.insert(HeaderName::from_static(id_header), id);
    }
}
