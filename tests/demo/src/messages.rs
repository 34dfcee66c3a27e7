//! The messages shape: `POST /v1/messages` and `/v1/messages/count_tokens`, versions 2023-06-01 and 2026-10-21, and the same
//! bodies as the platforms Bedrock and Vertex take them.

mod answer;
mod blocks;
mod rules;
mod signed;
mod source;
mod threads;
mod tools;
mod turns;

use serde_json::{Map, Value, json};

pub(crate) use threads::Threads;

use crate::call::{Call, Shape};
use crate::chat_completions::is;
use crate::deliver::{Answer, Payload};
use crate::directive::Directives;
use crate::models;
use crate::prompt::{Prompt, text_bytes, texts};
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::usage::tokens;
use crate::validate::{Fields, Kind};

const SHAPE: Shape = Shape::Messages;
const FIELDS: Fields = Fields {
    known: &[
        ("model", Kind::Text),
        ("messages", Kind::List),
        ("max_tokens", Kind::Integer),
        ("billing_policy", Kind::Any),
        ("cache_control", Kind::Object),
        ("compaction", Kind::Any),
        ("container", Kind::TextOrObject),
        ("context_management", Kind::Object),
        ("diagnostics", Kind::Any),
        ("fallback_credit_token", Kind::Any),
        ("fallbacks", Kind::Any),
        ("inference_geo", Kind::Text),
        ("mcp_servers", Kind::List),
        ("metadata", Kind::Object),
        ("output_config", Kind::Object),
        ("output_format", Kind::Object),
        ("service_tier", Kind::Text),
        ("speed", Kind::Text),
        ("stop_sequences", Kind::List),
        ("stream", Kind::Bool),
        ("system", Kind::TextOrList),
        ("temperature", Kind::Number),
        ("thinking", Kind::Object),
        ("tool_choice", Kind::Object),
        ("tools", Kind::List),
        ("top_k", Kind::Integer),
        ("top_p", Kind::Number),
        ("user_profile_id", Kind::Text),
        ("workspace_id", Kind::Text),
    ],
    required: &["model", "messages"],
};

/// The vendor's API version a caller asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V20230601,
    V20261021,
}

pub(crate) fn handle(call: &Call, threads: &Threads) -> Result<Answer, Refusal> {
    let version = version(call)?;
    let (body, kept) = threads.resolve(call, call.json()?)?;
    let (answer, whole) = respond(call, version, &body)?;
    if kept {
        threads.keep(call, body, &whole);
    }
    Ok(answer)
}

/// Answers a body that names its model, and gives the whole message too.
pub(crate) fn respond(call: &Call, version: Version, body: &Map<String, Value>) -> Result<(Answer, Value), Refusal> {
    let prompt = read(call, version, body)?;
    if !body.contains_key("max_tokens") {
        return Err(Refusal::invalid("max_tokens: Field required"));
    }
    let directives = Directives::read(&prompt.model, &prompt.conversation.text);
    let reply = Reply::compose(&prompt, &directives);
    let head = answer::Head::new(call, &prompt.model, answer::Shown::of(body, &prompt.model, &directives));
    let whole = head.whole(&reply);
    let payload = if is(body, "stream") { Payload::Messages(head.events(&reply)) } else { Payload::Json(whole.clone()) };
    Ok((Answer { payload, directives }, whole))
}

pub(crate) fn count_tokens(call: &Call) -> Result<Answer, Refusal> {
    let (counted, directives) = counted(call, version(call)?, &call.json()?)?;
    Ok(Answer { payload: Payload::Json(json!({"input_tokens": counted})), directives })
}

/// Input tokens of a body that names its model.
pub(crate) fn counted(call: &Call, version: Version, body: &Map<String, Value>) -> Result<(u64, Directives), Refusal> {
    let prompt = read(call, version, body)?;
    if let Some(name) = ["max_tokens", "stream"].iter().find(|name| body.contains_key(**name)) {
        return Err(Refusal::invalid(format!("{name}: Extra inputs are not permitted")));
    }
    let directives = Directives::read(&prompt.model, &prompt.conversation.text);
    Ok((directives.number("in").unwrap_or_else(|| tokens(prompt.bytes)), directives))
}

fn version(call: &Call) -> Result<Version, Refusal> {
    match call.header("anthropic-version") {
        Some("2023-06-01") => Ok(Version::V20230601),
        Some("2026-10-21") => Ok(Version::V20261021),
        Some(other) => {
            Err(Refusal::invalid(format!("anthropic-version: \"{other}\" is not a valid version for this API. Try \"2026-10-21\"")))
        }
        None => Err(Refusal::invalid("anthropic-version: header is required")),
    }
}

fn read(call: &Call, version: Version, body: &Map<String, Value>) -> Result<Prompt, Refusal> {
    FIELDS.check(SHAPE, "", body)?;
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    rules::check(version, model, body)?;
    models::exists(SHAPE, model)?;
    let messages = body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut conversation = turns::read(call, version, model, messages)?;
    conversation.system = blocks::system(body.get("system"))?;
    rules::history(call, body, messages)?;
    let contents: usize = messages.iter().filter_map(|message| message.get("content")).map(text_bytes).sum();
    let choice = body.get("tool_choice");
    let single = choice.and_then(|choice| choice.get("disable_parallel_tool_use")?.as_bool()).unwrap_or(false);
    let format = body.get("output_config").and_then(|config| config.get("format")).or_else(|| body.get("output_format"));
    let tools = tools::read(call, body)?;
    Ok(Prompt {
        model: model.to_owned(),
        conversation,
        choice: tools::choice(choice)?,
        search: tools.search,
        tools: tools.own,
        parallel: !single,
        schema: format.and_then(|format| format.get("schema")).cloned(),
        thinking: rules::thinks(body),
        stops: texts(body.get("stop_sequences")),
        bytes: contents + body.get("system").map_or(0, text_bytes),
        limit: body.get("max_tokens").and_then(Value::as_u64),
    })
}
