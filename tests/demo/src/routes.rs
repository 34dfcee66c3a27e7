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

use crate::auth::Keys;
use crate::call::{Call, Exchange, Shape};
use crate::deliver::answer;
use crate::messages::Threads;
use crate::options::Options;
use crate::refusal::Refusal;
use crate::seen::{Entry, Followed, Seen};
use crate::{
    chat_completions, completions, embeddings, generate_content, images, messages, models, moderations, responses, speech, transcriptions,
};

/// What all handlers share.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) keys: Keys,
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

pub(crate) fn router(options: &Options) -> Router {
    let shared = Shared {
        keys: Keys::new(options.keys.clone()),
        threads: Threads::default(),
        seen: Seen::new(options.remembered),
        numbers: Arc::default(),
        repeats: Arc::default(),
    };
    let vendors = Router::new()
        .merge(chat_completions_paths())
        .merge(messages_paths())
        .merge(generate_content_paths())
        .fallback(unknown)
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(shared.clone(), observe));
    Router::new()
        .route("/__seen", get(seen).delete(forget))
        .route("/__health", get(StatusCode::NO_CONTENT))
        .fallback_service(vendors.with_state(shared.clone()))
        .with_state(shared)
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
    let count = async |State(shared): State<Shared>, call: Call| answer(&shared, Shape::Messages, call, messages::count_tokens).await;
    let create = async |State(shared): State<Shared>, call: Call| {
        answer(&shared, Shape::Messages, call, |call| messages::handle(call, &shared.threads)).await
    };
    Router::new().route("/v1/messages", post(create)).route("/v1/messages/count_tokens", post(count))
}

fn generate_content_paths() -> Router<Shared> {
    let list = async |State(shared): State<Shared>, call: Call| models::list(&shared, call).await;
    let one = async |State(shared): State<Shared>, Path(model): Path<String>, call: Call| models::get(&shared, call, &model).await;
    let verb = async |State(shared): State<Shared>, Path(target): Path<String>, call: Call| {
        answer(&shared, Shape::GenerateContent, call, |call| generate_content::handle(call, &target)).await
    };
    ["/v1", "/v1beta", "/v1alpha"].into_iter().fold(Router::new(), |router, version| {
        let one = get(one).post(verb);
        router.route(&format!("{version}/models"), get(list)).route(&format!("{version}/models/{{*target}}"), one)
    })
}

type Handle = fn(&Call) -> Result<crate::deliver::Answer, Refusal>;

fn chat(handle: Handle) -> MethodRouter<Shared> {
    post(move |State(shared): State<Shared>, call: Call| async move { answer(&shared, Shape::ChatCompletions, call, handle).await })
}

async fn unknown(State(shared): State<Shared>, call: Call) -> Response {
    let shape = models::shape(&call);
    let path = call.uri.path().to_owned();
    answer(&shared, shape, call, |_| Err(Refusal::new(404, format!("Invalid URL ({path})")))).await
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
    Json(json!({"requests": shared.seen.last(count)})).into_response()
}

async fn forget(State(shared): State<Shared>) -> StatusCode {
    shared.seen.clear();
    StatusCode::NO_CONTENT
}
