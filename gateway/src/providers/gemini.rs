//! The generate-content vendor's developer API.

use http::HeaderName;
use svc_filters::shape::Shape;

use super::request::{Dispatch, asks};
use super::transport::{Transport, encoded};

pub(super) const X_GOOG_API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

#[derive(Debug)]
pub(super) struct Gemini;

impl Transport for Gemini {
    fn shape(&self, _: &str) -> Shape {
        Shape::GenerateContent
    }

    fn path(&self, base: &str, dispatch: &Dispatch<'_>) -> String {
        let version = if base.ends_with("/v1beta") || base.ends_with("/v1") || base.ends_with("/v1alpha") { "" } else { "/v1beta" };
        let verb = dispatch.endpoint.verb().unwrap_or_default();
        format!("{base}{version}/models/{}:{verb}{}", encoded(dispatch.model, b"/@"), sse(dispatch))
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        (X_GOOG_API_KEY, key.to_owned())
    }
}

/// The query that asks for server-sent events, where the client asked for them.
pub(super) fn sse(dispatch: &Dispatch<'_>) -> &'static str {
    if asks(dispatch.query, "alt", "sse") { "?alt=sse" } else { "" }
}
