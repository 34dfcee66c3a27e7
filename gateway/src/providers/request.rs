//! The head of a request to a provider: path, host, credential, and the few client headers that may go through.

use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, Request, header};
use pingora::http::RequestHeader;
use pingora::{ErrorType, OrErr, Result};
use svc_filters::endpoint::Endpoint;
use svc_filters::wire::pieces::Pieces;

use super::{Authorisation, Provider};

const USER_AGENT: HeaderValue = HeaderValue::from_static(concat!("svc/", env!("CARGO_PKG_VERSION")));

/// What a try sends.
#[derive(Debug)]
pub struct Dispatch<'a> {
    /// The endpoint, in the provider's dialect: after a translation that of the dialect it was translated to.
    pub endpoint: Endpoint,
    /// Model name at the provider.
    pub model: &'a str,
    /// Whether a stream is asked for.
    pub stream: bool,
    /// Client headers; after a translation those that would come from a client of the dialect, perhaps none.
    pub headers: &'a HeaderMap,
    /// Client query; after a translation to generate content `alt=sse` for streams.
    pub query: Option<&'a str>,
    /// The body that will follow, as [`Provider::prepare`] made it.
    pub body: &'a Pieces,
    /// What [`Provider::authorise`] gave for this try.
    pub authorisation: Option<&'a Authorisation>,
}

/// Builds the head from nothing: what is not named here does not go through. Pingora would make and allocate each name anew, so the
/// headers are put together without it.
///
/// # Errors
/// When the model name makes no valid path.
pub fn header(provider: &Provider, dispatch: &Dispatch<'_>) -> Result<RequestHeader> {
    let path = provider.transport.path(&provider.base_path, dispatch);
    let path = PathAndQuery::try_from(path).or_err(ErrorType::InternalError, "upstream path")?;
    let mut headers = HeaderMap::with_capacity(6 + provider.headers.len());
    headers.insert(header::HOST, provider.authority.clone());
    headers.insert(header::USER_AGENT, USER_AGENT);
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, dispatch.headers.get(header::CONTENT_TYPE).cloned().unwrap_or(json));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(dispatch.body.len()));
    if let Some(accept) = dispatch.headers.get(header::ACCEPT) {
        headers.insert(header::ACCEPT, accept.clone());
    }
    provider.transport.headers(&mut headers, dispatch)?;
    for (name, value) in &provider.headers {
        headers.insert(name.clone(), value.clone());
    }
    if let Some(authorisation) = dispatch.authorisation {
        authorisation.apply(&mut headers, path.as_str(), dispatch.body)?;
    }
    let mut parts = Request::new(()).into_parts().0;
    (parts.method, parts.uri, parts.headers) = (Method::POST, path.into(), headers);
    Ok(parts.into())
}

/// Whether the query has a parameter with this value.
#[must_use]
pub(crate) fn asks(query: Option<&str>, name: &str, value: &str) -> bool {
    query.is_some_and(|query| form_urlencoded::parse(query.as_bytes()).any(|(key, given)| key == name && given == value))
}
