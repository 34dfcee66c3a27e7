//! `POST /v1/messages` and `/v1/messages/count_tokens`, versions 2023-06-01 and 2026-10-21.

mod answer;
mod threads;
mod turns;

use serde_json::{Map, Value, json};

pub(crate) use threads::Threads;

use crate::call::{Call, Shape};
use crate::chat_completions::is;
use crate::deliver::{Answer, Payload};
use crate::directive::Directives;
use crate::models;
use crate::prompt::{Choice, Prompt, Tool, text_bytes};
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::usage::tokens;
use crate::validate::{Fields, Kind};

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
const METADATA: Fields = Fields { known: &[("user_id", Kind::Text)], required: &[] };
const LEAST_BUDGET: u64 = 1024;

/// The vendor's API version a caller asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V20230601,
    V20261021,
}

pub(crate) fn handle(call: &Call, threads: &Threads) -> Result<Answer, Refusal> {
    let version = version(call)?;
    let (body, kept) = threads.resolve(call, call.json()?)?;
    let prompt = read(version, &body)?;
    if !body.contains_key("max_tokens") {
        return Err(Refusal::invalid("max_tokens: Field required"));
    }
    let directives = Directives::read(&prompt.model, &prompt.text);
    let reply = Reply::compose(&prompt, &directives);
    let head = answer::Head::new(call, &prompt.model);
    let whole = head.whole(&reply);
    let streamed = is(&body, "stream");
    if kept {
        threads.keep(call, body, &whole);
    }
    let payload = if streamed { Payload::Events(head.events(&reply)) } else { Payload::Json(whole) };
    Ok(Answer { payload, directives })
}

pub(crate) fn count_tokens(call: &Call) -> Result<Answer, Refusal> {
    let version = version(call)?;
    let body = call.json()?;
    let prompt = read(version, &body)?;
    if let Some(name) = ["max_tokens", "stream"].iter().find(|name| body.contains_key(**name)) {
        return Err(Refusal::invalid(format!("{name}: Extra inputs are not permitted")));
    }
    let directives = Directives::read(&prompt.model, &prompt.text);
    let counted = directives.number("in").unwrap_or_else(|| tokens(prompt.bytes));
    Ok(Answer { payload: Payload::Json(json!({"input_tokens": counted})), directives })
}

fn read(version: Version, body: &Map<String, Value>) -> Result<Prompt, Refusal> {
    FIELDS.check(Shape::Messages, "", body)?;
    if let Some(metadata) = body.get("metadata").and_then(Value::as_object) {
        METADATA.check(Shape::Messages, "metadata", metadata)?;
    }
    sampling(version, body)?;
    thinking(body)?;
    let prompt = prompt(version, body)?;
    models::exists(Shape::Messages, &prompt.model)?;
    Ok(prompt)
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

fn sampling(version: Version, body: &Map<String, Value>) -> Result<(), Refusal> {
    let given = ["temperature", "top_p", "top_k"].into_iter().find(|name| body.contains_key(*name));
    if let (Version::V20261021, Some(name)) = (version, given) {
        return Err(Refusal::invalid(format!("{name}: sampling parameters are not supported in API version 2026-10-21")));
    }
    let temperature = body.get("temperature").and_then(Value::as_f64).unwrap_or(1.0);
    if temperature > 1.0 {
        return Err(Refusal::invalid("temperature: range: -1..1"));
    }
    let blank = |stop: &Value| stop.as_str().is_none_or(|text| text.trim().is_empty());
    if body.get("stop_sequences").and_then(Value::as_array).is_some_and(|stops| stops.iter().any(blank)) {
        return Err(Refusal::invalid("stop_sequences: each stop sequence must contain non-whitespace"));
    }
    Ok(())
}

fn thinking(body: &Map<String, Value>) -> Result<(), Refusal> {
    let Some(thinking) = body.get("thinking") else { return Ok(()) };
    let kind = thinking.get("type").and_then(Value::as_str).unwrap_or_default();
    if !matches!(kind, "enabled" | "adaptive" | "disabled" | "between_tools") {
        return Err(Refusal::invalid(format!("thinking: Input tag '{kind}' found using 'type' does not match any of the expected tags")));
    }
    if kind != "enabled" {
        return Ok(());
    }
    let budget = thinking.get("budget_tokens").and_then(Value::as_u64);
    let most = body.get("max_tokens").and_then(Value::as_u64).unwrap_or(u64::MAX);
    match budget {
        None => Err(Refusal::invalid("thinking.enabled.budget_tokens: Field required")),
        Some(budget) if budget < LEAST_BUDGET => {
            Err(Refusal::invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"))
        }
        Some(budget) if budget >= most => Err(Refusal::invalid("`max_tokens` must be greater than `thinking.budget_tokens`")),
        Some(_) => Ok(()),
    }
}

fn prompt(version: Version, body: &Map<String, Value>) -> Result<Prompt, Refusal> {
    let messages = body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let turns = turns::read(messages, version == Version::V20261021)?;
    let contents: usize = messages.iter().filter_map(|message| message.get("content")).map(text_bytes).sum();
    let choice = body.get("tool_choice");
    let single = choice.and_then(|choice| choice.get("disable_parallel_tool_use")?.as_bool()).unwrap_or(false);
    let shown = body.get("thinking").and_then(|thinking| thinking.get("type")?.as_str()).is_some_and(|kind| kind != "disabled");
    let format = body.get("output_config").and_then(|config| config.get("format")).or_else(|| body.get("output_format"));
    Ok(Prompt {
        model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
        text: turns.text,
        results: turns.results,
        media: turns.media,
        tools: tools(body)?,
        choice: self::choice(choice)?,
        parallel: !single,
        schema: format.and_then(|format| format.get("schema")).cloned(),
        thinking: shown,
        bytes: contents + body.get("system").map_or(0, text_bytes),
        limit: body.get("max_tokens").and_then(Value::as_u64),
    })
}

/// The caller's own tools; the vendor's are known by their `type` and never called here.
fn tools(body: &Map<String, Value>) -> Result<Vec<Tool>, Refusal> {
    let offered = body.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let own = |tool: &&Value| tool.get("type").and_then(Value::as_str).is_none_or(|kind| kind == "custom");
    offered.iter().enumerate().filter(|(_, tool)| own(tool)).map(|(at, tool)| self::tool(at, tool)).collect()
}

fn tool(at: usize, tool: &Value) -> Result<Tool, Refusal> {
    const TOOL: Fields = Fields {
        known: &[
            ("name", Kind::Text),
            ("input_schema", Kind::Object),
            ("allowed_callers", Kind::List),
            ("cache_control", Kind::Any),
            ("defer_loading", Kind::Bool),
            ("description", Kind::Text),
            ("eager_input_streaming", Kind::Any),
            ("input_examples", Kind::List),
            ("strict", Kind::Any),
            ("type", Kind::Any),
        ],
        required: &["name", "input_schema"],
    };
    let path = format!("tools.{at}.custom");
    let object = tool.as_object().ok_or_else(|| Refusal::invalid(format!("{path}: Input should be a valid dictionary")))?;
    TOOL.check(Shape::Messages, &path, object)?;
    let name = object.get("name").and_then(Value::as_str).unwrap_or_default();
    let schema = object.get("input_schema").cloned().unwrap_or_default();
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(Refusal::invalid(format!("{path}.input_schema.type: Field required")));
    }
    Ok(Tool { name: name.to_owned(), schema })
}

fn choice(choice: Option<&Value>) -> Result<Choice, Refusal> {
    let Some(choice) = choice else { return Ok(Choice::Auto) };
    match choice.get("type").and_then(Value::as_str).unwrap_or_default() {
        "auto" | "any" => Ok(Choice::Auto),
        "none" => Ok(Choice::Never),
        "tool" => {
            let name = choice.get("name").and_then(Value::as_str);
            name.map(|name| Choice::Named(name.to_owned())).ok_or_else(|| Refusal::invalid("tool_choice.tool.name: Field required"))
        }
        other => {
            Err(Refusal::invalid(format!("tool_choice: Input tag '{other}' found using 'type' does not match any of the expected tags")))
        }
    }
}
