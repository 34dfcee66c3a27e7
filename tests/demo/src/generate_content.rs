//! `POST …/models/{model}:{verb}`: generateContent, streamGenerateContent, countTokens, embedContent, batchEmbedContents.

mod answer;
mod config;
mod embed;
mod schema;
mod signed;
mod tools;
mod turns;

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::call::{Call, Shape};
use crate::deliver::{Answer, Payload};
use crate::directive::Directives;
use crate::models;
use crate::prompt::{Prompt, text_bytes, texts};
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::sse;
use crate::usage::tokens;
use crate::validate::{Fields, Kind, field};
use crate::vendor::Vendor;

const SHAPE: Shape = Shape::GenerateContent;
const FIELDS: Fields = Fields {
    known: &[
        ("model", Kind::Text),
        ("contents", Kind::List),
        ("systemInstruction", Kind::Any),
        ("tools", Kind::List),
        ("toolConfig", Kind::Object),
        ("generationConfig", Kind::Object),
        ("safetySettings", Kind::List),
        ("cachedContent", Kind::Text),
        ("labels", Kind::Object),
        ("serviceTier", Kind::Text),
        ("store", Kind::Bool),
        ("modelArmorConfig", Kind::Object),
    ],
    required: &["contents"],
};
const COUNT: Fields = Fields { known: &[("contents", Kind::List), ("generateContentRequest", Kind::Object)], required: &[] };
static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// `target` is what follows `models/`: a model, a colon and a verb.
pub(crate) fn handle(call: &Call, target: &str) -> Result<Answer, Refusal> {
    let (model, verb) = target.rsplit_once(':').ok_or_else(|| Refusal::new(404, "Requested entity was not found."))?;
    let model = model.strip_prefix("models/").unwrap_or(model);
    models::exists(SHAPE, model)?;
    match verb {
        "generateContent" => generate(call, model, |reply, head| Payload::Json(head.whole(reply))),
        "streamGenerateContent" => {
            let sse = call.query("alt").as_deref() == Some("sse");
            generate(call, model, move |reply, head| stream(sse, head.chunks(reply)))
        }
        "countTokens" => count(call, model),
        "embedContent" => embed::one(call, model),
        "batchEmbedContents" => embed::many(call, model),
        _ => Err(Refusal::new(404, "Requested entity was not found.")),
    }
}

fn stream(sse: bool, chunks: Vec<Value>) -> Payload {
    if sse { Payload::Events(chunks.iter().map(sse::data).collect()) } else { Payload::Elements(chunks) }
}

/// Top-level fields only the one of the two services knows.
const VERTEX_ONLY: [&str; 2] = ["labels", "modelArmorConfig"];
const DEVELOPER_ONLY: [&str; 1] = ["store"];

fn generate(call: &Call, model: &str, put: impl FnOnce(&Reply, answer::Head<'_>) -> Payload) -> Result<Answer, Refusal> {
    let body = call.json()?;
    let prompt = prompt(call, &body, model)?;
    let directives = Directives::read(model, &prompt.conversation.text);
    let reply = Reply::compose(&prompt, &directives);
    let shown = config::shows(&body) || directives.has("think");
    let head = answer::Head::new(call, model, shown);
    if directives.has("block") {
        let blocked = head.blocked(&reply);
        let payload = match put(&reply, head) {
            Payload::Json(_) => Payload::Json(blocked),
            Payload::Elements(_) => Payload::Elements(vec![blocked]),
            _ => Payload::Events(vec![sse::data(&blocked)]),
        };
        return Ok(Answer { payload, directives });
    }
    Ok(Answer { payload: put(&reply, head), directives })
}

fn count(call: &Call, model: &str) -> Result<Answer, Refusal> {
    let body = call.json()?;
    let whole = if call.vendor == Vendor::Vertex {
        body
    } else {
        COUNT.check(SHAPE, "", &body)?;
        object(&body, "generateContentRequest").cloned().unwrap_or(body)
    };
    let prompt = prompt(call, &whole, model)?;
    let directives = Directives::read(model, &prompt.conversation.text);
    let total = directives.number("in").unwrap_or_else(|| tokens(prompt.bytes));
    let details = json!([{"modality": "TEXT", "tokenCount": total}]);
    Ok(Answer { payload: Payload::Json(json!({"totalTokens": total, "promptTokensDetails": details})), directives })
}

fn prompt(call: &Call, body: &Map<String, Value>, model: &str) -> Result<Prompt, Refusal> {
    FIELDS.check(SHAPE, "", body)?;
    let foreign = if call.vendor == Vendor::Vertex { DEVELOPER_ONLY.as_slice() } else { VERTEX_ONLY.as_slice() };
    if let Some(name) = foreign.iter().find(|name| field(SHAPE, body, name).is_some()) {
        return Err(crate::validate::unknown(SHAPE, "", name));
    }
    let settings = config::read(call, body, model)?;
    let contents = list(body, "contents");
    let mut conversation = turns::read(call, contents, model)?;
    conversation.system = system(body)?;
    let system = field(SHAPE, body, "systemInstruction");
    Ok(Prompt {
        model: model.to_owned(),
        conversation,
        tools: tools::read(body, model)?,
        choice: tools::choice(body)?,
        parallel: true,
        schema: settings.schema,
        thinking: settings.thinking,
        stops: texts(Some(&Value::Array(list(config::of(body), "stopSequences").to_vec()))),
        search: tools::search(body),
        bytes: contents.iter().filter_map(|content| content.get("parts")).map(text_bytes).sum::<usize>() + system.map_or(0, text_bytes),
        limit: field(SHAPE, config::of(body), "maxOutputTokens").and_then(Value::as_u64),
    })
}

/// The texts of the system instruction, which is a content; SDKs of an older generation send a text.
fn system(body: &Map<String, Value>) -> Result<Vec<String>, Refusal> {
    let Some(system) = field(SHAPE, body, "systemInstruction") else { return Ok(Vec::new()) };
    let Some(content) = system.as_object() else { return Ok(texts(Some(system))) };
    turns::CONTENT.check(SHAPE, "systemInstruction", content)?;
    let said = |part: &Value| {
        let text = part.as_object().and_then(|part| field(SHAPE, part, "text")?.as_str());
        text.map(str::to_owned).ok_or_else(|| Refusal::invalid("System instructions may hold text only."))
    };
    list(content, "parts").iter().map(said).collect()
}

fn object<'a>(body: &'a Map<String, Value>, name: &str) -> Option<&'a Map<String, Value>> {
    field(SHAPE, body, name)?.as_object()
}

fn list<'a>(body: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    field(SHAPE, body, name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
