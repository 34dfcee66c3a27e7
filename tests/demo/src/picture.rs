//! A picture for tests to point at.

use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// One pixel, 68 bytes.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

pub(crate) async fn picture() -> Response {
    ([("content-type", "image/png")], STANDARD.decode(PNG).unwrap_or_default()).into_response()
}
