//! `GET …/models` and `GET …/models/{model}` in all three shapes, told apart by headers and path.

use axum::response::Response;
use serde_json::{Value, json};

use crate::call::{Call, Shape};
use crate::chat_completions::CREATED;
use crate::deliver::{Answer, answer};
use crate::refusal::Refusal;
use crate::routes::Shared;
use crate::vendor::Vendor;

const NAMES: [&str; 4] = ["demo-chat", "demo-messages", "demo-gemini", "demo-embeddings"];
const MISSING: &str = "missing";

/// Every name is a model, except those that begin with `missing`.
pub(crate) fn exists(shape: Shape, model: &str) -> Result<(), Refusal> {
    if !model.starts_with(MISSING) {
        return Ok(());
    }
    Err(match shape {
        Shape::ChatCompletions => {
            Refusal::new(404, format!("The model `{model}` does not exist or you do not have access to it.")).code("model_not_found")
        }
        Shape::Messages => Refusal::new(404, format!("model: {model}")),
        Shape::GenerateContent => {
            let message = format!("models/{model} is not found for API version v1, or is not supported for generateContent.");
            Refusal::new(404, message)
        }
    })
}

/// Whose list a caller of a shared path means.
pub(crate) fn shape(call: &Call) -> Shape {
    if call.header("anthropic-version").is_some() || call.uri.path().starts_with("/v1/messages") {
        return Shape::Messages;
    }
    let google = call.header("x-goog-api-key").is_some() || call.query("key").is_some() || !call.uri.path().starts_with("/v1/");
    if google { Shape::GenerateContent } else { Shape::ChatCompletions }
}

pub(crate) async fn list(shared: &Shared, call: Call) -> Response {
    let shape = shape(&call);
    answer(shared, Vendor::of(shape), call, |_| Ok(Answer::plain(listed(shape)))).await
}

pub(crate) async fn get(shared: &Shared, call: Call, model: &str) -> Response {
    let shape = shape(&call);
    answer(shared, Vendor::of(shape), call, |_| {
        exists(shape, model)?;
        Ok(Answer::plain(entry(shape, model)))
    })
    .await
}

fn listed(shape: Shape) -> Value {
    let entries: Vec<Value> = NAMES.iter().map(|name| entry(shape, name)).collect();
    match shape {
        Shape::ChatCompletions => json!({"object": "list", "data": entries}),
        Shape::Messages => json!({"data": entries, "has_more": false, "first_id": NAMES.first(), "last_id": NAMES.last()}),
        Shape::GenerateContent => json!({"models": entries}),
    }
}

fn entry(shape: Shape, name: &str) -> Value {
    match shape {
        Shape::ChatCompletions => json!({"id": name, "object": "model", "created": CREATED, "owned_by": "svc-demo"}),
        Shape::Messages => json!({"type": "model", "id": name, "display_name": name, "created_at": "2026-11-21T00:00:00Z"}),
        Shape::GenerateContent => json!({"name": format!("models/{name}"), "version": "001", "displayName": name,
            "description": "A demonstration.", "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536,
            "supportedGenerationMethods": ["generateContent", "countTokens", "embedContent"]}),
    }
}
