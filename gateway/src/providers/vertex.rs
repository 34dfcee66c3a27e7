//! Models on Google Cloud: the generate-content vendor's own, and the messages vendor's.

mod metadata;
mod service_account;

pub(super) use metadata::Metadata;
pub(super) use service_account::ServiceAccount;

use http::{HeaderMap, HeaderName, HeaderValue};
use pingora::{ErrorType, OrErr, Result};
use svc_filters::endpoint::Endpoint;
use svc_filters::shape::Shape;
use svc_filters::verdict::{Code, Rejection};
use svc_filters::wire::json::{Member, encode_string};

use super::Place;
use super::anthropic::BETA;
use super::betas::{Betas, Cloud};
use super::edit::{Editing, Fate, whole};
use super::gemini::{DEVELOPER_ONLY, X_GOOG_API_KEY, sse, without};
use super::request::Dispatch;
use super::transport::{Draft, Prepared, Transport, encoded, no_such_endpoint};

const VERSION: &str = "vertex-2023-10-16";
const USER_PROJECT: HeaderName = HeaderName::from_static("x-goog-user-project");
/// Versions a base path may end in.
const VERSIONS: [&str; 3] = ["/v1", "/v1beta1", "/v1alpha1"];
/// Fields of messages that only the vendor itself takes.
const REFUSED: [&str; 5] = ["container", "inference_geo", "mcp_servers", "service_tier", "speed"];

#[derive(Debug)]
pub(super) struct Vertex {
    place: Option<Place>,
}

impl Vertex {
    /// Without a place, requests are authorised by an API key that knows its project.
    pub(super) const fn new(place: Option<Place>) -> Self {
        Self { place }
    }

    /// Where models lie: the place comes from the configuration only, else a client could bill another project.
    fn place(&self) -> String {
        self.place.as_ref().map_or_else(String::new, |place| {
            format!("/projects/{}/locations/{}", encoded(&place.project, b":"), encoded(&place.location, b""))
        })
    }
}

impl Transport for Vertex {
    fn shape(&self, model: &str) -> Shape {
        if is_of_messages(model) { Shape::Messages } else { Shape::GenerateContent }
    }

    fn path(&self, base: &str, dispatch: &Dispatch<'_>) -> String {
        let version = if VERSIONS.iter().any(|version| base.ends_with(version)) { "" } else { "/v1" };
        let place = self.place();
        let model = dispatch.model;
        if is_of_messages(model) {
            let (model, verb) = match (dispatch.endpoint, dispatch.stream) {
                (Endpoint::MessagesCountTokens, _) => ("count-tokens", "rawPredict"),
                (_, true) => (own_name(model), "streamRawPredict"),
                (_, false) => (own_name(model), "rawPredict"),
            };
            return format!("{base}{version}{place}/publishers/anthropic/models/{}:{verb}", encoded(model, b"@"));
        }
        let verb = dispatch.endpoint.verb().unwrap_or_default();
        let tuned = model.strip_prefix("endpoints/").unwrap_or(model);
        let model = if tuned.bytes().all(|byte| byte.is_ascii_digit()) {
            format!("endpoints/{tuned}")
        } else {
            let name = model.strip_prefix("publishers/google/models/").or_else(|| model.strip_prefix("google/")).unwrap_or(model);
            format!("publishers/google/models/{}", encoded(name, b"@"))
        };
        format!("{base}{version}{place}/{model}:{verb}{}", sse(dispatch))
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        (X_GOOG_API_KEY, key.to_owned())
    }

    fn headers(&self, headers: &mut HeaderMap, dispatch: &Dispatch<'_>) -> Result<()> {
        if let Some(project) = self.place.as_ref().and_then(|place| place.user_project.as_ref()) {
            headers.insert(USER_PROJECT, HeaderValue::from_str(project).or_err(ErrorType::InternalError, "user project")?);
        }
        let betas = if is_of_messages(dispatch.model) { Betas::of(dispatch.headers, Cloud::Vertex).taken } else { Vec::new() };
        if !betas.is_empty() {
            let value = HeaderValue::from_str(&betas.join(",")).or_err(ErrorType::InternalError, "betas")?;
            headers.insert(BETA, value);
        }
        Ok(())
    }

    fn prepare(&self, draft: &Draft<'_>) -> std::result::Result<Prepared, Rejection> {
        match (is_of_messages(draft.model), draft.endpoint) {
            (true, Endpoint::Messages | Endpoint::MessagesCountTokens) if self.place.is_none() => {
                let message = "The messages vendor's models on Google Cloud need a project; this provider has none.";
                Err(Rejection::new(Code::UnsupportedTranslation, message).with_param("model"))
            }
            (true, Endpoint::Messages | Endpoint::MessagesCountTokens) => Ok(messages(draft)),
            (
                false,
                Endpoint::GenerateContent | Endpoint::StreamGenerateContent | Endpoint::GenerateCountTokens | Endpoint::EmbedContent,
            ) => Ok(without(draft, &DEVELOPER_ONLY)),
            (_, other) => Err(no_such_endpoint("vertex", other)),
        }
    }
}

/// Whether a model is one of the messages vendor's, as its name tells.
fn is_of_messages(model: &str) -> bool {
    own_name(model).starts_with("claude-")
}

/// The name without its publisher.
fn own_name(model: &str) -> &str {
    model.strip_prefix("publishers/anthropic/models/").or_else(|| model.strip_prefix("anthropic/")).unwrap_or(model)
}

/// The body for the messages vendor's models: the version enters it, and the model leaves it unless tokens are counted.
fn messages(draft: &Draft<'_>) -> Prepared {
    let counts = draft.endpoint == Endpoint::MessagesCountTokens;
    let body = draft.body.whole();
    let mut editing = Editing::new(&body);
    for name in Betas::of(draft.headers, Cloud::Vertex).refused {
        editing.omit(format!("anthropic-beta {name}"));
    }
    editing.add("anthropic_version", |out| encode_string(VERSION, out));
    if counts {
        editing.add("model", |out| encode_string(own_name(draft.model), out));
    }
    editing.sift(whole(&body), "", fate);
    editing.sift_nested(|_| Fate::Keep);
    let (body, omitted) = editing.finish();
    Prepared { body, omitted }
}

fn fate(member: &Member<'_>) -> Fate {
    match &*member.name() {
        b"model" | b"anthropic_version" => Fate::Drop,
        name if REFUSED.iter().any(|field| field.as_bytes() == name) => Fate::Omit,
        _ => Fate::Keep,
    }
}

#[cfg(test)]
mod tests;
