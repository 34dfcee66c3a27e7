//! `:embedContent` and `:batchEmbedContents`.

use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::deliver::{Answer, Payload};
use crate::directive::Directives;
use crate::embeddings::{dimensions, vector};
use crate::generate_content::{NONE, SHAPE, list};
use crate::refusal::Refusal;
use crate::validate::{Fields, Kind, field};

const FIELDS: Fields = Fields {
    known: &[
        ("model", Kind::Text),
        ("content", Kind::Object),
        ("embedContentConfig", Kind::Object),
        ("outputDimensionality", Kind::Integer),
        ("taskType", Kind::Text),
        ("title", Kind::Text),
    ],
    required: &["content"],
};
const BATCH: Fields = Fields { known: &[("requests", Kind::List)], required: &["requests"] };

pub(super) fn one(call: &Call, model: &str) -> Result<Answer, Refusal> {
    let (text, embedding) = embedded(&call.json()?)?;
    Ok(Answer { payload: Payload::Json(json!({"embedding": embedding})), directives: Directives::read(model, &text) })
}

pub(super) fn many(call: &Call, model: &str) -> Result<Answer, Refusal> {
    let body = call.json()?;
    BATCH.check(SHAPE, "", &body)?;
    let requests = list(&body, "requests").iter().map(|request| embedded(request.as_object().unwrap_or(&NONE)));
    let requests = requests.collect::<Result<Vec<_>, _>>()?;
    let last = requests.last().map(|(text, _)| text.clone()).unwrap_or_default();
    let embeddings: Vec<Value> = requests.into_iter().map(|(_, embedding)| embedding).collect();
    Ok(Answer { payload: Payload::Json(json!({"embeddings": embeddings})), directives: Directives::read(model, &last) })
}

fn embedded(request: &Map<String, Value>) -> Result<(String, Value), Refusal> {
    FIELDS.check(SHAPE, "", request)?;
    let parts = field(SHAPE, request, "content").and_then(Value::as_object).map(|content| list(content, "parts")).unwrap_or_default();
    let text: String = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    let asked = field(SHAPE, request, "outputDimensionality").and_then(Value::as_u64);
    let values = vector(&text, dimensions(asked));
    Ok((text, json!({"values": values})))
}
