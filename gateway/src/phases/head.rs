//! What the head of a provider's answer says of the body.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use pingora::http::ResponseHeader;

/// Where the vendors put their own request ids.
static VENDOR_IDS: [HeaderName; 5] = [
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("request-id"),
    HeaderName::from_static("apim-request-id"),
    HeaderName::from_static("x-goog-request-id"),
    HeaderName::from_static("x-amzn-requestid"),
];

/// Whether it is that of an error.
#[must_use]
pub fn fails(status: StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

/// Whether a body can follow at all.
#[must_use]
pub fn has_body(status: StatusCode) -> bool {
    !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// Whether a web page follows, such as that of a proxy between, where an answer should.
#[must_use]
pub fn is_page(upstream: &ResponseHeader) -> bool {
    content_type(upstream).get(..9).is_some_and(|start| start.eq_ignore_ascii_case("text/html"))
}

/// Whether the body says of itself that it is JSON.
#[must_use]
pub fn is_json(upstream: &ResponseHeader) -> bool {
    content_type(upstream).to_ascii_lowercase().contains("json")
}

/// Whether it tells that no body follows.
#[must_use]
pub fn is_empty(upstream: &ResponseHeader) -> bool {
    upstream.headers.get(header::CONTENT_LENGTH).is_some_and(|length| length.as_bytes() == b"0") || !has_body(upstream.status)
}

/// The vendor's own id of the request.
#[must_use]
pub fn vendor_id(headers: &HeaderMap) -> Option<HeaderValue> {
    VENDOR_IDS.iter().find_map(|name| headers.get(name)).cloned()
}

fn content_type(head: &ResponseHeader) -> &str {
    head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
