//! `POST /v1/images/generations` and `/v1/images/edits`: one grey pixel, as often as asked.

use serde_json::{Value, json};

use crate::call::{Call, Shape};
use crate::chat_completions::CREATED;
use crate::deliver::{Answer, Payload};
use crate::directive::Directives;
use crate::models;
use crate::multipart::Form;
use crate::refusal::Refusal;
use crate::usage::tokens;
use crate::validate::{Fields, Kind};

const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";
const FIELDS: Fields = Fields {
    known: &[
        ("model", Kind::Text),
        ("prompt", Kind::Text),
        ("background", Kind::Text),
        ("complexity", Kind::Any),
        ("frame_count", Kind::Any),
        ("frame_duration_ms", Kind::Any),
        ("moderation", Kind::Text),
        ("n", Kind::Integer),
        ("output_compression", Kind::Integer),
        ("output_format", Kind::Text),
        ("partial_images", Kind::Integer),
        ("quality", Kind::Text),
        ("response_format", Kind::Text),
        ("safety_identifier", Kind::Text),
        ("size", Kind::Text),
        ("stream", Kind::Bool),
        ("style", Kind::Text),
        ("svg", Kind::Any),
        ("user", Kind::Text),
    ],
    required: &["prompt"],
};

pub(crate) fn generations(call: &Call) -> Result<Answer, Refusal> {
    let body = call.json()?;
    FIELDS.check(Shape::ChatCompletions, "", &body)?;
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    let count = body.get("n").and_then(Value::as_u64).unwrap_or(1);
    images(text("model"), text("prompt"), count, text("response_format") == "url", 0)
}

pub(crate) fn edits(call: &Call) -> Result<Answer, Refusal> {
    let form = Form::read(call)?;
    let image = form.file("image")?;
    let count = form.text("n").and_then(|count| count.parse().ok()).unwrap_or(1);
    let by_url = form.text("response_format") == Some("url");
    images(form.text("model").unwrap_or_default(), form.need("prompt")?, count, by_url, image.data.len())
}

fn images(model: &str, prompt: &str, count: u64, by_url: bool, sent: usize) -> Result<Answer, Refusal> {
    models::exists(Shape::ChatCompletions, model)?;
    if !(1..=10).contains(&count) {
        return Err(Refusal::invalid("Invalid 'n': expected an integer between 1 and 10.").param("n").code("invalid_value"));
    }
    let image = if by_url { json!({"url": "https://example.com/demo.png"}) } else { json!({"b64_json": PIXEL}) };
    let image = with_prompt(image, prompt);
    let data: Vec<Value> = (0..count).map(|_| image.clone()).collect();
    let (text, picture) = (tokens(prompt.len()), if sent == 0 { 0 } else { tokens(sent) });
    let usage = json!({"input_tokens": text + picture, "output_tokens": count, "total_tokens": text + picture + count,
        "input_tokens_details": {"text_tokens": text, "image_tokens": picture}});
    let value = json!({"created": CREATED, "data": data, "usage": usage});
    Ok(Answer { payload: Payload::Json(value), directives: Directives::read(model, prompt) })
}

fn with_prompt(mut image: Value, prompt: &str) -> Value {
    if let Some(fields) = image.as_object_mut() {
        fields.insert("revised_prompt".to_owned(), json!(prompt));
    }
    image
}
