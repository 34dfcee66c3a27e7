//! One request as the handlers see it.

use axum::extract::FromRequestParts;
use axum::extract::{FromRequest, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Map, Value};

use crate::refusal::Refusal;
use crate::seal;
use crate::serve::Fuse;
use crate::vendor::Vendor;

/// The form of requests, answers and errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    ChatCompletions,
    Messages,
    GenerateContent,
}

/// Number and id of a request, set before routing.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) number: u64,
    pub(crate) request_id: String,
}

/// A request whose body has been read.
#[derive(Debug)]
pub(crate) struct Call {
    /// The service asked; set by the route.
    pub(crate) vendor: Vendor,
    pub(crate) exchange: Exchange,
    pub(crate) fuse: Fuse,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl<S: Send + Sync> FromRequest<S> for Call {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let (exchange, fuse) = extensions(&mut parts, state).await;
        let body = axum::body::to_bytes(body, usize::MAX).await;
        let unread = |_| Refusal::invalid("The body ended early.").response(Vendor::OpenAi, &exchange.request_id);
        let body = body.map_err(unread)?;
        Ok(Self { vendor: Vendor::OpenAi, exchange, fuse, uri: parts.uri, headers: parts.headers, body })
    }
}

async fn extensions<S: Send + Sync>(parts: &mut Parts, state: &S) -> (Exchange, Fuse) {
    let exchange = axum::Extension::<Exchange>::from_request_parts(parts, state).await;
    let fuse = axum::Extension::<Fuse>::from_request_parts(parts, state).await;
    let exchange = exchange.map_or_else(|_| Exchange { number: 0, request_id: "req_0".to_owned() }, |found| found.0);
    (exchange, fuse.map(|found| found.0).unwrap_or_default())
}

impl Call {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The first value of a query parameter.
    pub(crate) fn query(&self, name: &str) -> Option<String> {
        let query = self.uri.query()?.as_bytes();
        form_urlencoded::parse(query).find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
    }

    /// An id for something this request creates: the same in every test run that sends the same requests.
    pub(crate) fn id(&self, prefix: &str) -> String {
        format!("{prefix}demo{:08}", self.exchange.number)
    }

    /// A continuity token bound to the vendor's realm, a model and a text.
    pub(crate) fn seal(&self, model: &str, content: &str) -> String {
        seal::mint(&format!("{}/{model}", self.vendor.realm()), content, &self.exchange.request_id)
    }

    /// Whether a token was minted by this vendor for this model and text.
    pub(crate) fn sealed(&self, model: &str, content: &str, token: &str) -> bool {
        seal::holds(&format!("{}/{model}", self.vendor.realm()), content, token)
    }

    /// The body as a JSON object.
    pub(crate) fn json(&self) -> Result<Map<String, Value>, Refusal> {
        let kind = self.header("content-type").unwrap_or_default();
        if !kind.to_lowercase().contains("json") {
            return Err(Refusal::new(415, format!("Unsupported content type: '{kind}'. Send 'application/json'.")));
        }
        match serde_json::from_slice(&self.body) {
            Ok(Value::Object(fields)) => Ok(fields),
            Ok(_) => Err(Refusal::invalid("We could not parse the JSON body of your request: an object is expected.")),
            Err(error) => Err(Refusal::invalid(format!("We could not parse the JSON body of your request: {error}."))),
        }
    }
}
