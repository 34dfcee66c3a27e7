//! The messages vendor.

use http::{HeaderMap, HeaderName, HeaderValue};
use pingora::Result;
use svc_filters::endpoint::Endpoint;
use svc_filters::shape::Shape;

use super::request::{Dispatch, asks};
use super::transport::{Transport, pass};

/// The vendor's header for versions.
pub(super) const VERSION: HeaderName = HeaderName::from_static("anthropic-version");
/// The vendor's header for betas.
pub(super) const BETA: HeaderName = HeaderName::from_static("anthropic-beta");
const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const DEFAULT_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

#[derive(Debug)]
pub(super) struct Anthropic;

impl Transport for Anthropic {
    fn shape(&self, _: &str) -> Shape {
        Shape::Messages
    }

    fn path(&self, base: &str, dispatch: &Dispatch<'_>) -> String {
        let version = if base.ends_with("/v1") { "" } else { "/v1" };
        let count = if dispatch.endpoint == Endpoint::MessagesCountTokens { "/count_tokens" } else { "" };
        let beta = if asks(dispatch.query, "beta", "true") { "?beta=true" } else { "" };
        format!("{base}{version}/messages{count}{beta}")
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        (X_API_KEY, key.to_owned())
    }

    fn headers(&self, headers: &mut HeaderMap, dispatch: &Dispatch<'_>) -> Result<()> {
        headers.insert(VERSION, dispatch.headers.get(&VERSION).cloned().unwrap_or(DEFAULT_VERSION));
        pass(headers, dispatch.headers, &[BETA]);
        Ok(())
    }
}
