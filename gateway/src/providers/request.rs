//! The head of a request to a provider: path, host, credential, and the few client headers that may go through.

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use pingora::http::RequestHeader;
use pingora::{ErrorType, OrErr, Result};
use svc_filters::endpoint::Endpoint;

use super::{Kind, Provider, SelectedKey};

const USER_AGENT: HeaderValue = HeaderValue::from_static(concat!("svc/", env!("CARGO_PKG_VERSION")));
const MESSAGES_VERSION: HeaderName = HeaderName::from_static("anthropic-version");
const MESSAGES_BETA: HeaderName = HeaderName::from_static("anthropic-beta");
const DEFAULT_MESSAGES_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");
const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const X_GOOG_API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// Client headers a chat-completions provider may see.
const CHAT_PASSED: [HeaderName; 2] = [HeaderName::from_static("openai-beta"), HeaderName::from_static("idempotency-key")];

/// What a try sends.
#[derive(Debug)]
pub struct Dispatch<'a> {
    /// The endpoint the client asked for.
    pub endpoint: Endpoint,
    /// Model name at the provider.
    pub model: &'a str,
    /// Client headers.
    pub headers: &'a HeaderMap,
    /// Client query.
    pub query: Option<&'a str>,
    /// Bytes of the body that will follow.
    pub body_length: usize,
    /// The credential, where the provider has one.
    pub key: Option<&'a SelectedKey>,
}

/// The text of the credential header for a kind of provider.
pub(super) fn credential(kind: Kind, key: &str) -> String {
    match kind {
        Kind::Openai => format!("Bearer {key}"),
        Kind::Anthropic | Kind::Gemini => key.to_owned(),
    }
}

/// Builds the head from nothing: what is not named here does not go through.
///
/// # Errors
/// When the model name makes no valid path.
pub fn header(provider: &Provider, dispatch: &Dispatch<'_>) -> Result<RequestHeader> {
    let path = path(provider, dispatch);
    let mut head = RequestHeader::build_no_case(Method::POST, path.as_bytes(), Some(6 + provider.headers.len()))
        .or_err(ErrorType::InternalError, "upstream path")?;
    head.insert_header(header::HOST, provider.authority.clone())?;
    head.insert_header(header::USER_AGENT, USER_AGENT)?;
    let json = HeaderValue::from_static("application/json");
    head.insert_header(header::CONTENT_TYPE, dispatch.headers.get(header::CONTENT_TYPE).cloned().unwrap_or(json))?;
    head.insert_header(header::CONTENT_LENGTH, HeaderValue::from(dispatch.body_length))?;
    if let Some(accept) = dispatch.headers.get(header::ACCEPT) {
        head.insert_header(header::ACCEPT, accept.clone())?;
    }
    authorise(&mut head, provider, dispatch)?;
    for (name, value) in &provider.headers {
        head.insert_header(name.clone(), value.clone())?;
    }
    Ok(head)
}

fn authorise(head: &mut RequestHeader, provider: &Provider, dispatch: &Dispatch<'_>) -> Result<()> {
    let credential = match provider.kind {
        Kind::Openai => header::AUTHORIZATION,
        Kind::Anthropic => X_API_KEY,
        Kind::Gemini => X_GOOG_API_KEY,
    };
    if let Some(key) = dispatch.key {
        head.insert_header(credential, key.value.clone())?;
    }
    match provider.kind {
        Kind::Openai => pass(head, dispatch.headers, &CHAT_PASSED),
        Kind::Anthropic => {
            let version = dispatch.headers.get(&MESSAGES_VERSION).cloned().unwrap_or(DEFAULT_MESSAGES_VERSION);
            head.insert_header(MESSAGES_VERSION, version)?;
            pass(head, dispatch.headers, &[MESSAGES_BETA])
        }
        Kind::Gemini => Ok(()),
    }
}

fn pass(head: &mut RequestHeader, client: &HeaderMap, names: &[HeaderName]) -> Result<()> {
    for name in names {
        for value in client.get_all(name) {
            head.append_header(name.clone(), value.clone())?;
        }
    }
    Ok(())
}

fn path(provider: &Provider, dispatch: &Dispatch<'_>) -> String {
    let base = &provider.base_path;
    match provider.kind {
        Kind::Openai => format!("{base}{}", dispatch.endpoint.chat_path().unwrap_or_default()),
        Kind::Anthropic => {
            let version = if base.ends_with("/v1") { "" } else { "/v1" };
            let count = if dispatch.endpoint == Endpoint::MessagesCountTokens { "/count_tokens" } else { "" };
            let beta = if asks(dispatch.query, "beta", "true") { "?beta=true" } else { "" };
            format!("{base}{version}/messages{count}{beta}")
        }
        Kind::Gemini => {
            let version = if base.ends_with("/v1beta") || base.ends_with("/v1") || base.ends_with("/v1alpha") { "" } else { "/v1beta" };
            let verb = dispatch.endpoint.verb().unwrap_or_default();
            let sse = if asks(dispatch.query, "alt", "sse") { "?alt=sse" } else { "" };
            format!("{base}{version}/models/{}:{verb}{sse}", segment(dispatch.model))
        }
    }
}

/// Whether the query has a parameter with this value.
#[must_use]
pub(crate) fn asks(query: Option<&str>, name: &str, value: &str) -> bool {
    query.is_some_and(|query| form_urlencoded::parse(query.as_bytes()).any(|(key, given)| key == name && given == value))
}

/// Encodes a model name as one path segment; slashes stay, as tuned models have them.
fn segment(model: &str) -> String {
    use std::fmt::Write;
    let mut encoded = String::with_capacity(model.len());
    for byte in model.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/@".contains(&byte) {
            encoded.push(byte as char);
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
