//! Which path is answered by which file.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::json;

use crate::auth::{Access, GoogleError};
use crate::call::{Call, Exchange};
use crate::deliver::answer;
use crate::messages::Threads;
use crate::options::Options;
use crate::picture::picture;
use crate::refusal::Refusal;
use crate::seen::{Entry, Followed, Seen};
use crate::vendor::Vendor;
use crate::vertex::Place;
use crate::{
    azure, bedrock, chat_completions, completions, embeddings, generate_content, images, messages, models, moderations, responses, speech,
    transcriptions,
};

/// What all handlers share.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) access: Access,
    threads: Threads,
    seen: Seen,
    numbers: Arc<AtomicU64>,
    repeats: Arc<Mutex<HashMap<Bytes, u64>>>,
}

impl Shared {
    /// How often a body has come, this time included.
    pub(crate) fn times(&self, body: &Bytes) -> u64 {
        let mut repeats = self.repeats.lock();
        let times = repeats.entry(body.clone()).or_default();
        *times += 1;
        *times
    }
}

pub(crate) fn router(options: &Options) -> Result<Router, GoogleError> {
    let shared = Shared {
        access: Access::new(options)?,
        threads: Threads::default(),
        seen: Seen::new(options.remembered),
        numbers: Arc::default(),
        repeats: Arc::default(),
    };
    let vendors = Router::new()
        .merge(chat_completions_paths())
        .merge(messages_paths())
        .merge(generate_content_paths())
        .merge(azure_paths())
        .merge(platform_paths())
        .fallback(unknown)
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(shared.clone(), observe));
    Ok(Router::new()
        .route("/__seen", get(seen).delete(forget))
        .route("/__tokens", get(tokens).delete(revoke))
        .route("/__picture.png", get(picture))
        .route("/__health", get(StatusCode::NO_CONTENT))
        .fallback_service(vendors.with_state(shared.clone()))
        .with_state(shared))
}

fn chat_completions_paths() -> Router<Shared> {
    Router::new()
        .route("/v1/chat/completions", chat(chat_completions::handle))
        .route("/v1/completions", chat(completions::handle))
        .route("/v1/responses", chat(responses::handle))
        .route("/v1/embeddings", chat(embeddings::handle))
        .route("/v1/images/generations", chat(images::generations))
        .route("/v1/images/edits", chat(images::edits))
        .route("/v1/audio/speech", chat(speech::handle))
        .route("/v1/audio/transcriptions", chat(transcriptions::handle))
        .route("/v1/moderations", chat(moderations::handle))
}

fn messages_paths() -> Router<Shared> {
    let count = async |State(shared): State<Shared>, call: Call| answer(&shared, Vendor::Anthropic, call, messages::count_tokens).await;
    let create = async |State(shared): State<Shared>, call: Call| {
        answer(&shared, Vendor::Anthropic, call, |call| messages::handle(call, &shared.threads)).await
    };
    Router::new().route("/v1/messages", post(create)).route("/v1/messages/count_tokens", post(count))
}

fn generate_content_paths() -> Router<Shared> {
    let list = async |State(shared): State<Shared>, call: Call| models::list(&shared, call).await;
    let one = async |State(shared): State<Shared>, Path(model): Path<String>, call: Call| models::get(&shared, call, &model).await;
    let verb = async |State(shared): State<Shared>, Path(target): Path<String>, call: Call| {
        answer(&shared, Vendor::Gemini, call, |call| generate_content::handle(call, &target)).await
    };
    ["/v1", "/v1beta", "/v1alpha"].into_iter().fold(Router::new(), |router, version| {
        let one = get(one).post(verb);
        router.route(&format!("{version}/models"), get(list)).route(&format!("{version}/models/{{*target}}"), one)
    })
}

fn azure_paths() -> Router<Shared> {
    let classic = async |State(shared): State<Shared>, Path((deployment, operation)): Path<(String, String)>, call: Call| {
        let (call, handle) = azure::classic(call, &deployment, &operation);
        answer(&shared, Vendor::Azure, call, handle).await
    };
    let responses = async |State(shared): State<Shared>, call: Call| answer(&shared, Vendor::Azure, call, azure::classic_responses).await;
    Router::new()
        .route("/openai/deployments/{deployment}/{*operation}", post(classic))
        .route("/openai/responses", post(responses))
        .route("/openai/v1/chat/completions", unversioned(chat_completions::handle))
        .route("/openai/v1/responses", unversioned(responses::handle))
        .route("/openai/v1/embeddings", unversioned(embeddings::handle))
}

fn unversioned(handle: Handle) -> MethodRouter<Shared> {
    post(move |State(shared): State<Shared>, call: Call| async move {
        answer(&shared, Vendor::Azure, call, |call| azure::unversioned(call).and_then(|()| handle(call))).await
    })
}

/// Bedrock and Vertex, and the exchange of assertions for tokens.
fn platform_paths() -> Router<Shared> {
    let invoke = async |State(shared): State<Shared>, Path(target): Path<String>, call: Call| {
        answer(&shared, Vendor::Bedrock, call, |call| bedrock::handle(call, &target)).await
    };
    let predict = async |State(shared): State<Shared>, Path((_, _, rest)): Path<(String, String, String)>, call: Call| {
        let Some(place) = Place::read(&rest) else { return StatusCode::NOT_FOUND.into_response() };
        answer(&shared, place.vendor(), call, |call| place.handle(call)).await
    };
    let grant = async |State(shared): State<Shared>, call: Call| match &shared.access.google {
        Some(google) => google.grant(&call),
        None => StatusCode::NOT_FOUND.into_response(),
    };
    let router = Router::new().route("/model/{*target}", post(invoke)).route("/token", post(grant));
    ["/v1", "/v1beta1"].into_iter().fold(router, |router, version| {
        router.route(&format!("{version}/projects/{{project}}/locations/{{location}}/{{*rest}}"), post(predict))
    })
}

type Handle = fn(&Call) -> Result<crate::deliver::Answer, Refusal>;

fn chat(handle: Handle) -> MethodRouter<Shared> {
    post(move |State(shared): State<Shared>, call: Call| async move { answer(&shared, Vendor::OpenAi, call, handle).await })
}

async fn unknown(State(shared): State<Shared>, call: Call) -> Response {
    let shape = models::shape(&call);
    let path = call.uri.path().to_owned();
    answer(&shared, Vendor::of(shape), call, |_| Err(Refusal::new(404, format!("Invalid URL ({path})")))).await
}

async fn observe(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let number = shared.numbers.fetch_add(1, Ordering::Relaxed) + 1;
    let (mut parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, usize::MAX).await else { return StatusCode::BAD_REQUEST.into_response() };
    shared.seen.add(Entry::new(number, &parts, &body));
    let ending = shared.seen.follow(number);
    parts.extensions.insert(Exchange { number, request_id: format!("req_demo{number:08}") });
    let response = next.run(Request::from_parts(parts, body.into())).await;
    ending.status(response.status().as_u16());
    let (parts, body) = response.into_parts();
    let length = parts.headers.get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
    Response::from_parts(parts, axum::body::Body::new(Followed::new(body, length, ending)))
}

async fn seen(State(shared): State<Shared>, Query(query): Query<HashMap<String, String>>) -> Response {
    let count = query.get("last").and_then(|count| count.parse().ok()).unwrap_or(usize::MAX);
    let containing = query.get("containing").map(String::as_str).unwrap_or_default();
    Json(json!({"requests": shared.seen.last(count, containing)})).into_response()
}

async fn forget(State(shared): State<Shared>) -> StatusCode {
    shared.seen.clear();
    StatusCode::NO_CONTENT
}

async fn tokens(State(shared): State<Shared>) -> Response {
    Json(shared.access.google.as_ref().map(crate::auth::Google::counts)).into_response()
}

async fn revoke(State(shared): State<Shared>) -> StatusCode {
    if let Some(google) = &shared.access.google {
        google.revoke();
    }
    StatusCode::NO_CONTENT
}
