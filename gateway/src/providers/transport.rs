//! The one interface behind which the kinds of provider differ: a row of the support matrix each.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use pingora::Result;
use pingora::http::ResponseHeader;
use svc_filters::endpoint::Endpoint;
use svc_filters::shape::Shape;
use svc_filters::verdict::{Code, Rejection};
use svc_filters::wire::pieces::Pieces;

use super::answer::Unwrapping;
use super::request::Dispatch;

/// What a kind of provider does its own way.
pub(super) trait Transport: fmt::Debug + Send + Sync {
    /// Shape that requests for a model have there.
    fn shape(&self, model: &str) -> Shape;

    /// Path and query of a request below the base path, which has no slash at its end.
    fn path(&self, base: &str, dispatch: &Dispatch<'_>) -> String;

    /// The header that carries a plain key.
    fn key_header(&self, key: &str) -> (HeaderName, String);

    /// Adds headers the API wants, and those of the client that may go through.
    fn headers(&self, headers: &mut HeaderMap, dispatch: &Dispatch<'_>) -> Result<()> {
        let _ = (headers, dispatch);
        Ok(())
    }

    /// Makes a body in the dialect into what the API takes.
    fn prepare(&self, draft: &Draft<'_>) -> Result<Prepared, Rejection> {
        Ok(Prepared::unchanged(draft))
    }

    /// What makes the answer's bytes those of the dialect, where they are not. It may change the head.
    fn unwrapping(&self, endpoint: Endpoint, head: &mut ResponseHeader) -> Result<Option<Unwrapping>> {
        let _ = (endpoint, head);
        Ok(None)
    }

    /// Whether streams may be asked for usage by `stream_options`.
    fn takes_stream_options(&self) -> bool {
        true
    }
}

/// A body in the provider's dialect, the model's name there already in it.
#[derive(Debug)]
pub struct Draft<'a> {
    /// The endpoint, in the provider's dialect: after a translation that of the dialect it was translated to.
    pub endpoint: Endpoint,
    /// Model name at the provider.
    pub model: &'a str,
    /// Whether a stream is asked for.
    pub stream: bool,
    /// Client headers; after a translation those that would come from a client of the dialect, perhaps none.
    pub headers: &'a HeaderMap,
    /// The body.
    pub body: &'a Pieces,
}

/// A body ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The body.
    pub body: Pieces,
    /// Fields and betas of the request that the provider does not take and that were left out, for the record.
    pub omitted: Vec<String>,
}

impl Prepared {
    /// The body as it is.
    pub(super) fn unchanged(draft: &Draft<'_>) -> Self {
        Self { body: draft.body.clone(), omitted: Vec::new() }
    }
}

/// A rejection of an endpoint that a kind of provider has not.
pub(super) fn no_such_endpoint(kind: &str, endpoint: Endpoint) -> Rejection {
    let message = format!("Providers of the kind {kind} have no counterpart of the endpoint {}.", endpoint.as_str());
    Rejection::new(Code::UnsupportedTranslation, message)
}

/// Copies headers of the client.
pub(super) fn pass(headers: &mut HeaderMap, client: &HeaderMap, names: &[HeaderName]) {
    for name in names {
        for value in client.get_all(name) {
            headers.append(name.clone(), value.clone());
        }
    }
}

/// A header value that is not shown.
pub(super) fn secret_value(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Encodes a text as part of a path: everything but unreserved characters and those in `kept`.
pub(super) fn encoded(text: &str, kept: &[u8]) -> String {
    use std::fmt::Write;
    let mut encoded = String::with_capacity(text.len() + 8);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.contains(&byte) {
            encoded.push(byte as char);
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
