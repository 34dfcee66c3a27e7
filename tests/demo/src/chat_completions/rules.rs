//! What the chat-completions vendor's models refuse of a request, by the model's name.

use serde_json::{Map, Value};

use crate::generation::gpt;
use crate::refusal::Refusal;

const COMPATIBLE: &str = "compatible";
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
/// Fields no reasoning model has.
const UNREASONED: [&str; 9] = [
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "modalities",
    "audio",
    "prediction",
    "web_search_options",
    "max_tokens",
];
/// Fields a reasoning model has only while it does not reason.
const SAMPLING: [&str; 4] = ["temperature", "top_p", "logprobs", "top_logprobs"];

/// Models that begin with `compatible` behave like services that copy the API: they show their reasoning and take it back.
pub(crate) fn compatible(model: &str) -> bool {
    model.starts_with(COMPATIBLE)
}

fn effort(body: &Map<String, Value>) -> Option<&str> {
    body.get("reasoning_effort").and_then(Value::as_str)
}

pub(super) fn thinks(body: &Map<String, Value>) -> bool {
    effort(body).is_some_and(|effort| effort != "none")
}

pub(super) fn check(body: &Map<String, Value>) -> Result<(), Refusal> {
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    let effort = effort(body);
    if let Some(effort) = effort.filter(|effort| !EFFORTS.contains(effort)) {
        return Err(unsupported_value("reasoning_effort", effort));
    }
    let Some(version) = gpt(model) else {
        return match effort {
            Some(_) if model.starts_with("gpt-") => Err(unsupported("reasoning_effort")),
            _ => Ok(()),
        };
    };
    if let Some(effort) = effort.filter(|effort| !accepts(version, model, effort)) {
        return Err(unsupported_value("reasoning_effort", effort));
    }
    if let Some(name) = UNREASONED.iter().find(|name| body.get(**name).is_some_and(|value| !value.is_null())) {
        return Err(unsupported(name));
    }
    let reasons = reasons(version, effort);
    let sampled = |name: &&str| body.get(*name).is_some_and(|value| !value.is_null() && value.as_f64() != Some(1.0));
    if let Some(name) = SAMPLING.into_iter().find(sampled).filter(|_| reasons) {
        return Err(unsupported(name));
    }
    tools(version, reasons, body)
}

/// Whether a model reasons with this effort; from 5.6 on it does unless told not to.
fn reasons(version: (u32, u32), effort: Option<&str>) -> bool {
    match effort {
        Some(effort) => effort != "none",
        None => !((5, 1)..(5, 6)).contains(&version),
    }
}

/// From 5.4 on, functions and reasoning go together only in the responses dialect.
fn tools(version: (u32, u32), reasons: bool, body: &Map<String, Value>) -> Result<(), Refusal> {
    let functions = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let functions = functions.filter(|tool| tool.get("type").and_then(Value::as_str) == Some("function")).count();
    if version < (5, 4) || !reasons || functions == 0 {
        return Ok(());
    }
    let message = "Function tools with reasoning_effort are not supported for this model in /v1/chat/completions. To use function tools, use \
                   /v1/responses or set reasoning_effort to 'none'.";
    Err(Refusal::invalid(message).param("reasoning_effort"))
}

pub(crate) fn accepts(version: (u32, u32), model: &str, effort: &str) -> bool {
    match effort {
        "none" => ((5, 1)..(6, 0)).contains(&version),
        "minimal" => version == (5, 0),
        "xhigh" => version >= (5, 2) || model.contains("5.1-codex-max"),
        "max" => false,
        _ => true,
    }
}

fn unsupported(name: &str) -> Refusal {
    let hint = if name == "max_tokens" { " Use 'max_completion_tokens' instead." } else { "" };
    let message = format!("Unsupported parameter: '{name}' is not supported with this model.{hint}");
    Refusal::invalid(message).param(name).code("unsupported_parameter")
}

pub(crate) fn unsupported_value(name: &str, value: &str) -> Refusal {
    let message = format!("Unsupported value: '{name}' does not support '{value}' with this model.");
    Refusal::invalid(message).param(name).code("unsupported_value")
}

/// The schema of a response format.
pub(super) fn schema(format: Option<&Value>) -> Result<Option<Value>, Refusal> {
    let Some(format) = format.filter(|format| !format.is_null()) else { return Ok(None) };
    match format.get("type").and_then(Value::as_str).unwrap_or_default() {
        "json_schema" => {
            let inner = format.get("json_schema").cloned().unwrap_or_default();
            named(&inner, "response_format.json_schema")?;
            strict(&inner, "response_format")
        }
        "json_object" => Ok(Some(serde_json::json!({"type": "object"}))),
        "text" => Ok(None),
        other => {
            Err(Refusal::invalid(format!("Invalid value: '{other}'. Supported values are: 'text', 'json_object', and 'json_schema'."))
                .param("response_format.type"))
        }
    }
}

/// Free JSON is answered only where the word is said.
pub(crate) fn mentions_json(format: Option<&Value>, said: &[&Value]) -> Result<(), Refusal> {
    let free = format.and_then(|format| format.get("type")?.as_str()) == Some("json_object");
    if !free || said.iter().any(|said| said.to_string().to_lowercase().contains("json")) {
        return Ok(());
    }
    let message = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
    Err(Refusal::invalid(message).param("messages"))
}

fn named(format: &Value, path: &str) -> Result<(), Refusal> {
    let name = format.get("name").and_then(Value::as_str).unwrap_or_default();
    if name.is_empty() {
        let path = format!("{path}.name");
        return Err(Refusal::invalid(format!("Missing required parameter: '{path}'.")).param(path).code("missing_required_parameter"));
    }
    super::tools::named(name, &format!("{path}.name"))
}

/// The schema of a format; a strict one has to be closed and to require everything.
pub(crate) fn strict(format: &Value, place: &str) -> Result<Option<Value>, Refusal> {
    let schema = format.get("schema").cloned().unwrap_or_default();
    if format.get("strict").and_then(Value::as_bool) == Some(true) {
        complies(&schema, place)?;
    }
    Ok(Some(schema))
}

/// What a strict schema has to be, everywhere in it.
pub(crate) fn complies(schema: &Value, place: &str) -> Result<(), Refusal> {
    let refused = |message: String| Err(Refusal::invalid(message).param(place).code("invalid_json_schema"));
    let Some(fields) = schema.as_object() else {
        return schema.as_array().into_iter().flatten().try_for_each(|schema| complies(schema, place));
    };
    let properties = fields.get("properties").and_then(Value::as_object);
    if fields.get("type").and_then(Value::as_str) == Some("object") || properties.is_some() {
        if fields.get("additionalProperties") != Some(&Value::Bool(false)) {
            return refused("Invalid schema: 'additionalProperties' is required to be supplied and to be false.".to_owned());
        }
        let required: Vec<&str> =
            fields.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        if let Some(name) = properties.into_iter().flat_map(Map::keys).find(|name| !required.contains(&name.as_str())) {
            return refused(format!(
                "Invalid schema: 'required' is required to be supplied and to be an array including every key in properties. Missing '{name}'."
            ));
        }
    }
    let inner = ["items", "anyOf"].iter().filter_map(|name| fields.get(*name));
    let named = ["$defs", "definitions"].iter().filter_map(|name| fields.get(*name)?.as_object()).flat_map(Map::values);
    properties.into_iter().flat_map(Map::values).chain(inner).chain(named).try_for_each(|schema| complies(schema, place))
}
