//! `POST /v1/moderations`: flags what contains `demo:flag`.

use serde_json::{Map, Value, json};

use crate::call::{Call, Shape};
use crate::deliver::{Answer, Payload};
use crate::directive::Directives;
use crate::models;
use crate::refusal::Refusal;
use crate::validate::{Fields, Kind};

const FIELDS: Fields = Fields { known: &[("model", Kind::Text), ("input", Kind::TextOrList)], required: &["input"] };
const DEFAULT_MODEL: &str = "omni-moderation-latest";
const CATEGORIES: [&str; 13] = [
    "harassment",
    "harassment/threatening",
    "hate",
    "hate/threatening",
    "illicit",
    "illicit/violent",
    "self-harm",
    "self-harm/instructions",
    "self-harm/intent",
    "sexual",
    "sexual/minors",
    "violence",
    "violence/graphic",
];

pub(crate) fn handle(call: &Call) -> Result<Answer, Refusal> {
    let body = call.json()?;
    FIELDS.check(Shape::ChatCompletions, "", &body)?;
    let model = body.get("model").and_then(Value::as_str).unwrap_or(DEFAULT_MODEL);
    models::exists(Shape::ChatCompletions, model)?;
    let texts = texts(body.get("input").unwrap_or(&Value::Null));
    let results: Vec<Value> = texts.iter().map(|text| verdict(text)).collect();
    let value = json!({"id": call.id("modr-"), "model": model, "results": results});
    Ok(Answer { payload: Payload::Json(value), directives: Directives::read(model, &texts.join(" ")) })
}

/// Each text is judged alone; a list of parts is one thing.
fn texts(input: &Value) -> Vec<String> {
    match input {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) if items.iter().all(Value::is_string) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::Array(parts) => vec![parts.iter().filter_map(|part| part.get("text")?.as_str()).collect::<Vec<_>>().join(" ")],
        _ => Vec::new(),
    }
}

fn verdict(text: &str) -> Value {
    let flagged = text.contains("demo:flag");
    let all = |value: &dyn Fn(bool) -> Value| -> Map<String, Value> {
        CATEGORIES.iter().map(|name| ((*name).to_owned(), value(flagged && *name == "violence"))).collect()
    };
    let applied = |_| json!(["text"]);
    json!({"flagged": flagged, "categories": all(&|hit| json!(hit)), "category_scores": all(&|hit| json!(if hit { 0.9 } else { 0.001 })),
        "category_applied_input_types": all(&applied)})
}
