//! `POST …/models/{model}:{verb}`: generateContent, streamGenerateContent, countTokens, embedContent, batchEmbedContents.

mod answer;
mod embed;
mod turns;

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::call::{Call, Shape};
use crate::deliver::{Answer, Payload};
use crate::directive::Directives;
use crate::models;
use crate::prompt::{Choice, Prompt, Tool, text_bytes};
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::sse;
use crate::usage::tokens;
use crate::validate::{Fields, Kind, field};

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
    ],
    required: &["contents"],
};
const CONFIG: Fields = Fields {
    known: &[
        ("audioTimestamp", Kind::Bool),
        ("candidateCount", Kind::Integer),
        ("enableEnhancedCivicAnswers", Kind::Bool),
        ("frequencyPenalty", Kind::Number),
        ("imageConfig", Kind::Object),
        ("logprobs", Kind::Integer),
        ("maxOutputTokens", Kind::Integer),
        ("mediaResolution", Kind::Text),
        ("presencePenalty", Kind::Number),
        ("responseFormat", Kind::Any),
        ("responseJsonSchema", Kind::Any),
        ("responseLogprobs", Kind::Bool),
        ("responseMimeType", Kind::Text),
        ("responseModalities", Kind::List),
        ("responseSchema", Kind::Object),
        ("seed", Kind::Integer),
        ("speechConfig", Kind::Object),
        ("stopSequences", Kind::List),
        ("temperature", Kind::Number),
        ("thinkingConfig", Kind::Object),
        ("topK", Kind::Number),
        ("topP", Kind::Number),
    ],
    required: &[],
};
const COUNT: Fields = Fields { known: &[("contents", Kind::List), ("generateContentRequest", Kind::Object)], required: &[] };
static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// `target` is what follows `models/`: a model, a colon and a verb.
pub(crate) fn handle(call: &Call, target: &str) -> Result<Answer, Refusal> {
    let (model, verb) = target.rsplit_once(':').ok_or_else(|| Refusal::new(404, "Requested entity was not found."))?;
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

fn generate(call: &Call, model: &str, put: impl FnOnce(&Reply, answer::Head) -> Payload) -> Result<Answer, Refusal> {
    let prompt = prompt(&call.json()?, model)?;
    let directives = Directives::read(model, &prompt.text);
    let reply = Reply::compose(&prompt, &directives);
    Ok(Answer { payload: put(&reply, answer::Head::new(call, model)), directives })
}

fn count(call: &Call, model: &str) -> Result<Answer, Refusal> {
    let body = call.json()?;
    COUNT.check(SHAPE, "", &body)?;
    let whole = object(&body, "generateContentRequest").cloned().unwrap_or(body);
    let prompt = prompt(&whole, model)?;
    let directives = Directives::read(model, &prompt.text);
    let total = directives.number("in").unwrap_or_else(|| tokens(prompt.bytes));
    let details = json!([{"modality": "TEXT", "tokenCount": total}]);
    Ok(Answer { payload: Payload::Json(json!({"totalTokens": total, "promptTokensDetails": details})), directives })
}

fn prompt(body: &Map<String, Value>, model: &str) -> Result<Prompt, Refusal> {
    FIELDS.check(SHAPE, "", body)?;
    let config = object(body, "generationConfig").unwrap_or(&NONE);
    CONFIG.check(SHAPE, "generationConfig", config)?;
    thinking(config)?;
    let contents = list(body, "contents");
    let turns = turns::read(contents, model)?;
    let calling = object(body, "toolConfig").and_then(|config| object(config, "functionCallingConfig")).unwrap_or(&NONE);
    let system = field(SHAPE, body, "systemInstruction");
    Ok(Prompt {
        model: model.to_owned(),
        text: turns.text,
        results: turns.results,
        media: turns.media,
        tools: tools(body)?,
        choice: choice(calling)?,
        parallel: true,
        schema: schema(config)?,
        thinking: object(config, "thinkingConfig").and_then(|config| field(SHAPE, config, "includeThoughts")?.as_bool()).unwrap_or(false),
        bytes: contents.iter().filter_map(|content| content.get("parts")).map(text_bytes).sum::<usize>() + system.map_or(0, text_bytes),
        limit: field(SHAPE, config, "maxOutputTokens").and_then(Value::as_u64),
    })
}

fn thinking(config: &Map<String, Value>) -> Result<(), Refusal> {
    let Some(thinking) = object(config, "thinkingConfig") else { return Ok(()) };
    let both = field(SHAPE, thinking, "thinkingBudget").is_some() && field(SHAPE, thinking, "thinkingLevel").is_some();
    if both { Err(Refusal::invalid("You can only set one of thinking budget and thinking level.")) } else { Ok(()) }
}

fn schema(config: &Map<String, Value>) -> Result<Option<Value>, Refusal> {
    let (own, json) = (field(SHAPE, config, "responseSchema"), field(SHAPE, config, "responseJsonSchema"));
    if own.is_some() && json.is_some() {
        return Err(Refusal::invalid("Only one of response_schema and response_json_schema may be set."));
    }
    let mime = field(SHAPE, config, "responseMimeType").and_then(Value::as_str);
    let any = (mime == Some("application/json")).then(|| json!({"type": "object"}));
    Ok(own.or(json).cloned().or(any))
}

fn tools(body: &Map<String, Value>) -> Result<Vec<Tool>, Refusal> {
    let groups = list(body, "tools").iter().filter_map(Value::as_object);
    groups.flat_map(|group| list(group, "functionDeclarations")).enumerate().map(|(at, tool)| self::tool(at, tool)).collect()
}

fn tool(at: usize, tool: &Value) -> Result<Tool, Refusal> {
    const DECLARATION: Fields = Fields {
        known: &[
            ("name", Kind::Text),
            ("behavior", Kind::Text),
            ("description", Kind::Text),
            ("parameters", Kind::Object),
            ("parametersJsonSchema", Kind::Any),
            ("response", Kind::Object),
            ("responseJsonSchema", Kind::Any),
        ],
        required: &["name"],
    };
    let path = format!("tools[0].functionDeclarations[{at}]");
    let declaration = tool.as_object().unwrap_or(&NONE);
    DECLARATION.check(SHAPE, &path, declaration)?;
    let name = field(SHAPE, declaration, "name").and_then(Value::as_str).unwrap_or_default();
    let begins = name.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if !begins {
        let rule = "Must start with a letter or an underscore";
        return Err(Refusal::invalid(format!("* GenerateContentRequest.{path}.name: Invalid function name. {rule}.\n")));
    }
    let schema = field(SHAPE, declaration, "parameters").or_else(|| field(SHAPE, declaration, "parametersJsonSchema"));
    Ok(Tool { name: name.to_owned(), schema: schema.cloned().unwrap_or_default() })
}

fn choice(calling: &Map<String, Value>) -> Result<Choice, Refusal> {
    let mode = field(SHAPE, calling, "mode").and_then(Value::as_str).unwrap_or("AUTO");
    let names = list(calling, "allowedFunctionNames");
    match (mode, names.first().and_then(Value::as_str)) {
        ("NONE", _) => Ok(Choice::Never),
        ("ANY" | "VALIDATED", Some(name)) => Ok(Choice::Named(name.to_owned())),
        (_, Some(_)) => Err(Refusal::invalid("Allowed function names should be set only when calling mode is ANY or VALIDATED.")),
        _ => Ok(Choice::Auto),
    }
}

fn object<'a>(body: &'a Map<String, Value>, name: &str) -> Option<&'a Map<String, Value>> {
    field(SHAPE, body, name)?.as_object()
}

fn list<'a>(body: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    field(SHAPE, body, name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
