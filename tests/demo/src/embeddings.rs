//! `POST /v1/embeddings`, and the vectors that both embedding endpoints give out.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::call::{Call, Shape};
use crate::deliver::{Answer, Payload};
use crate::directive::Directives;
use crate::models;
use crate::prompt::text_bytes;
use crate::refusal::Refusal;
use crate::usage::tokens;
use crate::validate::{Fields, Kind};

const FIELDS: Fields = Fields {
    known: &[
        ("model", Kind::Text),
        ("input", Kind::TextOrList),
        ("dimensions", Kind::Integer),
        ("encoding_format", Kind::Text),
        ("user", Kind::Text),
    ],
    required: &["model", "input"],
};
const DIMENSIONS: usize = 16;
const MOST_DIMENSIONS: u64 = 4096;

pub(crate) fn handle(call: &Call) -> Result<Answer, Refusal> {
    let body = call.json()?;
    FIELDS.check(Shape::ChatCompletions, "", &body)?;
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    models::exists(Shape::ChatCompletions, text("model"))?;
    let input = body.get("input").cloned().unwrap_or_default();
    let inputs = inputs(&input);
    let dimensions = dimensions(body.get("dimensions").and_then(Value::as_u64));
    let encode: fn(&[f32]) -> Value = if text("encoding_format") == "base64" { base64 } else { |vector| json!(vector) };
    let entry = |(at, input): (usize, &String)| {
        let embedding = encode(&vector(input, dimensions));
        json!({"object": "embedding", "index": at, "embedding": embedding})
    };
    let data: Vec<Value> = inputs.iter().enumerate().map(entry).collect();
    let used = tokens(text_bytes(&input));
    let value = json!({"object": "list", "data": data, "model": text("model"), "usage": {"prompt_tokens": used, "total_tokens": used}});
    let directives = Directives::read(text("model"), inputs.last().map(String::as_str).unwrap_or_default());
    Ok(Answer { payload: Payload::Json(value), directives })
}

/// Texts, or lists of tokens as their JSON.
fn inputs(input: &Value) -> Vec<String> {
    match input {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) if items.iter().all(Value::is_number) => vec![input.to_string()],
        Value::Array(items) => items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect(),
        other => vec![other.to_string()],
    }
}

pub(crate) fn dimensions(asked: Option<u64>) -> usize {
    asked.and_then(|asked| usize::try_from(asked.min(MOST_DIMENSIONS)).ok()).unwrap_or(DIMENSIONS)
}

/// A vector of length one that depends on the text alone.
pub(crate) fn vector(text: &str, dimensions: usize) -> Vec<f32> {
    let digest = Sha256::digest(text.as_bytes());
    let raw: Vec<f32> = digest.iter().cycle().take(dimensions).map(|byte| f32::from(*byte) - 127.5).collect();
    let norm = raw.iter().map(|value| value * value).sum::<f32>().sqrt();
    raw.into_iter().map(|value| value / norm).collect()
}

fn base64(vector: &[f32]) -> Value {
    let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
    json!(STANDARD.encode(bytes))
}
