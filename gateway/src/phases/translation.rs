//! How a try asks: the client's own bytes where the provider speaks its dialect, else a translation.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use svc_filters::canonical::{Refusal, Weight};
use svc_filters::endpoint::Endpoint;
use svc_filters::passage::Facts;
use svc_filters::routing::Target;
use svc_filters::shape::Shape;
use svc_filters::translate::{self, Policy, Prepared, ProviderKind, Viewer};
use svc_filters::verdict::{Code, Rejection};
use svc_filters::wire::json::members;

use crate::exchange::Exchange;

/// Tells the client what was translated, and what was left out.
pub const TRANSLATION: HeaderName = HeaderName::from_static("x-svc-translation");
/// Longest value of that header.
const LONGEST: usize = 1024;

/// How the current try asks.
#[derive(Clone, Debug)]
pub struct Asking {
    /// The endpoint in the provider's dialect.
    pub endpoint: Endpoint,
    /// The dialect.
    pub dialect: Shape,
    /// What the answer's translation needs to know; `None` where bytes pass.
    pub prepared: Option<Arc<Prepared>>,
}

impl Asking {
    /// Query of the request in the dialect, where it is a translation.
    #[must_use]
    pub fn query(&self) -> Option<&'static str> {
        (self.endpoint == Endpoint::StreamGenerateContent).then_some("alt=sse")
    }

    /// The value of [`TRANSLATION`]: the pair and the fields left out. `None` where nothing was translated.
    #[must_use]
    pub fn told(&self, client: Shape) -> Option<String> {
        let prepared = self.prepared.as_ref()?;
        let mut told = format!("{client}>{}", self.dialect);
        let mut next = "; omitted=";
        for loss in prepared.losses.iter() {
            if told.len() + loss.field.len() > LONGEST {
                told.push_str(",...");
                break;
            }
            told.push_str(next);
            told.extend(loss.field.chars().map(|sign| if sign.is_ascii_graphic() && sign != ',' { sign } else { '_' }));
            next = ",";
        }
        Some(told)
    }
}

/// Whether the client's own bytes go to the target.
#[must_use]
pub fn passes(client: Shape, endpoint: Endpoint, facts: &Facts, body: &[u8], to: &Target) -> bool {
    !endpoint.translates() || translate::passes(client, &to.translated(), facts.has_tools, facts.has_images, body)
}

/// Refuses a conversation that the provider is to keep where it is a cloud's copy of the messages vendor.
///
/// # Errors
/// The refusal a client goes on without a thread after.
pub fn refuse_threads(body: &[u8], client: Shape, to: &Target) -> Result<(), Rejection> {
    let copy = client == Shape::Messages && to.shape == Shape::Messages && to.kind != ProviderKind::Anthropic;
    if copy && members(body).any(|member| member.is("thread") && !member.json().is_null()) {
        return Err(rejection(Refusal::unsupported("thread", "this provider keeps no conversations"), client, to.shape));
    }
    Ok(())
}

/// Translates the client's body for a target.
///
/// # Errors
/// A refusal for the client.
pub fn translated(exchange: &Exchange, to: &translate::Target<'_>) -> Result<Prepared, Rejection> {
    let policy = policy(exchange);
    let stream = exchange.endpoint == Some(Endpoint::StreamGenerateContent);
    translate::prepare(exchange.shape, &exchange.body, stream, to, policy, exchange.pictures.list())
        .map_err(|refusal| rejection(refusal, exchange.shape, to.shape))
}

/// The stricter of what the key and the model say.
fn policy(exchange: &Exchange) -> Policy {
    let of_key = exchange.key.as_ref().and_then(|key| key.translation);
    let of_model = exchange.resolved.as_ref().and_then(|model| model.translation);
    of_key.max(of_model).unwrap_or_default()
}

/// A refusal as the client gets it.
#[must_use]
pub fn rejection(refusal: Refusal, from: Shape, to: Shape) -> Rejection {
    match refusal {
        Refusal::Invalid { field, message } => Rejection::invalid(format!("`{field}`: {message}.")).with_param(field),
        Refusal::Unsupported { field, message } => {
            let pair = format!("({from}>{to})");
            let message = message.trim_end_matches(&pair).trim_end().to_owned();
            let message = format!("`{field}` cannot be translated {pair}: {message}.");
            Rejection::new(Code::UnsupportedTranslation, message).with_param(field)
        }
    }
}

/// What the answer to a translated request needs to know of the client.
#[must_use]
pub fn viewer(exchange: &Exchange, query: Option<&str>) -> Viewer {
    let events = query.is_some_and(|query| form_urlencoded::parse(query.as_bytes()).any(|(name, value)| name == "alt" && value == "sse"));
    Viewer {
        shape: exchange.shape,
        model: exchange.model_asked.clone().unwrap_or_else(|| "".into()),
        request_id: exchange.id.as_str().into(),
        created: exchange.started_at.div_euclid(1000),
        array: exchange.endpoint == Some(Endpoint::StreamGenerateContent) && !events,
    }
}

/// The content type of a translated answer.
#[must_use]
pub const fn content_type(stream: bool, array: bool) -> HeaderValue {
    if stream && !array {
        HeaderValue::from_static("text/event-stream; charset=utf-8")
    } else {
        HeaderValue::from_static("application/json")
    }
}

/// Notes for the record what a translation left out and why, once for each target.
pub fn note(exchange: &mut Exchange, provider: &str, prepared: &Prepared) {
    let losses: Vec<String> =
        prepared.losses.iter().map(|loss| format!("{} ({}: {})", loss.field, word(loss.weight), loss.reason)).collect();
    let mut told = format!("{provider}: {}>{}", exchange.shape, prepared.shape);
    if !losses.is_empty() {
        told.push_str("; omitted ");
        told.push_str(&losses.join(", "));
    }
    let note = ("translation".to_owned(), told);
    if !exchange.notes.contains(&note) {
        exchange.notes.push(note);
    }
}

const fn word(weight: Weight) -> &'static str {
    match weight {
        Weight::Silent => "silent",
        Weight::Minor => "minor",
        Weight::Major => "major",
    }
}
