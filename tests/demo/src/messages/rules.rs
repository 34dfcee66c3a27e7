//! What the messages vendor refuses of a request's settings, by API version and by model.

use serde_json::{Map, Value};

use crate::call::Call;
use crate::generation::{self, claude};
use crate::messages::Version;
use crate::refusal::Refusal;
use crate::validate::{Fields, Kind};
use crate::vendor::Vendor;

const METADATA: Fields = Fields { known: &[("user_id", Kind::Text)], required: &[] };
const OUTPUT: Fields = Fields { known: &[("effort", Kind::Text), ("format", Kind::Object), ("task_budget", Kind::Any)], required: &[] };
const FORMAT: Fields = Fields { known: &[("type", Kind::Text), ("schema", Kind::Object)], required: &["type", "schema"] };
const THINKING: Fields =
    Fields { known: &[("type", Kind::Text), ("budget_tokens", Kind::Integer), ("display", Kind::Text)], required: &["type"] };
const LEAST_BUDGET: u64 = 1024;
const LONGEST_USER: usize = 256;
const MOST_MARKS: usize = 4;

pub(super) fn check(version: Version, model: &str, body: &Map<String, Value>) -> Result<(), Refusal> {
    metadata(body)?;
    sampling(version, model, body)?;
    thinking(model, body)?;
    output(model, body)?;
    forced(model, body)?;
    let marks = marks(&Value::Object(body.clone()));
    if marks > MOST_MARKS {
        return Err(Refusal::invalid(format!("A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {marks}.")));
    }
    Ok(())
}

fn metadata(body: &Map<String, Value>) -> Result<(), Refusal> {
    let Some(metadata) = body.get("metadata").and_then(Value::as_object) else { return Ok(()) };
    METADATA.check(super::SHAPE, "metadata", metadata)?;
    let user = metadata.get("user_id").and_then(Value::as_str).unwrap_or_default();
    let email = user.split_once('@').is_some_and(|(_, host)| host.contains('.'));
    if email {
        return Err(Refusal::invalid("metadata.user_id: must not contain an email address or phone number"));
    }
    if user.len() > LONGEST_USER {
        return Err(Refusal::invalid(format!("metadata.user_id: String should have at most {LONGEST_USER} characters")));
    }
    Ok(())
}

fn sampling(version: Version, model: &str, body: &Map<String, Value>) -> Result<(), Refusal> {
    let given = ["temperature", "top_p", "top_k"].into_iter().find(|name| body.contains_key(*name));
    if let Some(name) = given {
        if version == Version::V20261021 {
            return Err(Refusal::invalid(format!("{name}: sampling parameters are not supported in API version 2026-10-21")));
        }
        if unsampled(model) {
            return Err(Refusal::invalid(format!("`{name}` is deprecated for this model.")));
        }
    }
    if body.get("temperature").and_then(Value::as_f64).is_some_and(|value| !(0.0..=1.0).contains(&value)) {
        return Err(Refusal::invalid("temperature: range: 0..1"));
    }
    let exclusive = matches!(claude(model), Some((4, 1..=5)));
    if exclusive && body.contains_key("temperature") && body.contains_key("top_p") {
        return Err(Refusal::invalid("`temperature` and `top_p` cannot both be specified for this model. Please use only one."));
    }
    let blank = |stop: &Value| stop.as_str().is_none_or(|text| text.trim().is_empty());
    if body.get("stop_sequences").and_then(Value::as_array).is_some_and(|stops| stops.iter().any(blank)) {
        return Err(Refusal::invalid("stop_sequences: each stop sequence must contain non-whitespace"));
    }
    Ok(())
}

fn newest(model: &str) -> bool {
    model.contains("fable") || model.contains("mythos")
}

fn unsampled(model: &str) -> bool {
    let Some(version) = claude(model) else { return newest(model) };
    let from = if model.contains("opus") {
        (4, 7)
    } else if model.contains("haiku") {
        (5, 5)
    } else {
        (5, 0)
    };
    newest(model) || version >= from
}

fn kind(body: &Map<String, Value>) -> Option<&str> {
    body.get("thinking")?.get("type")?.as_str()
}

/// Whether the caller wants the model to reason.
pub(super) fn thinks(body: &Map<String, Value>) -> bool {
    kind(body).is_some_and(|kind| kind != "disabled")
}

fn thinking(model: &str, body: &Map<String, Value>) -> Result<(), Refusal> {
    let Some(thinking) = body.get("thinking").and_then(Value::as_object) else { return Ok(()) };
    THINKING.check(super::SHAPE, "thinking", thinking)?;
    let kind = kind(body).unwrap_or_default();
    if !matches!(kind, "enabled" | "adaptive" | "disabled" | "between_tools") {
        return Err(Refusal::invalid(format!("thinking: Input tag '{kind}' found using 'type' does not match any of the expected tags")));
    }
    styled(model, kind)?;
    if kind != "enabled" {
        return thinking
            .get("budget_tokens")
            .map_or(Ok(()), |_| Err(Refusal::invalid(format!("thinking.{kind}.budget_tokens: Extra inputs are not permitted"))));
    }
    let budget = thinking.get("budget_tokens").and_then(Value::as_u64);
    let most = body.get("max_tokens").and_then(Value::as_u64).unwrap_or(u64::MAX);
    match budget {
        None => Err(Refusal::invalid("thinking.enabled.budget_tokens: Field required")),
        Some(budget) if budget < LEAST_BUDGET => {
            Err(Refusal::invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"))
        }
        Some(budget) if budget >= most => Err(Refusal::invalid("`max_tokens` must be greater than `thinking.budget_tokens`")),
        Some(_) => sampled_thinking(body),
    }
}

fn styled(model: &str, kind: &str) -> Result<(), Refusal> {
    let Some(version) = claude(model) else { return Ok(()) };
    let always = newest(model) || (model.contains("opus") && version >= (5, 5));
    let refused = match kind {
        _ if version < (3, 7) && kind != "disabled" => Some("thinking: this model does not support thinking".to_owned()),
        "enabled" if version >= (4, 7) => Some(
            "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to \
             control thinking behavior."
                .to_owned(),
        ),
        "adaptive" if version < (4, 6) => Some("adaptive thinking is not supported on this model".to_owned()),
        "disabled" if always => Some("thinking: thinking cannot be disabled for this model".to_owned()),
        _ => None,
    };
    refused.map_or(Ok(()), |message| Err(Refusal::invalid(message)))
}

fn sampled_thinking(body: &Map<String, Value>) -> Result<(), Refusal> {
    let number = |name: &str| body.get(name).and_then(Value::as_f64);
    let wrong = if number("temperature").is_some_and(|value| value < 1.0) {
        "`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation"
    } else if number("top_k").is_some() {
        "`top_k` must be unset when thinking is enabled."
    } else if number("top_p").is_some_and(|value| value < 0.95) {
        "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled."
    } else {
        return Ok(());
    };
    Err(Refusal::invalid(wrong))
}

fn output(model: &str, body: &Map<String, Value>) -> Result<(), Refusal> {
    let Some(config) = body.get("output_config").and_then(Value::as_object) else { return Ok(()) };
    OUTPUT.check(super::SHAPE, "output_config", config)?;
    let version = claude(model);
    if let Some(effort) = config.get("effort").and_then(Value::as_str) {
        let known = version.is_none_or(|version| version >= (4, 6) || (version == (4, 5) && model.contains("opus")));
        let least = match effort {
            "low" | "medium" | "high" => (0, 0),
            "max" => (4, 6),
            "xhigh" => (4, 7),
            _ => return Err(Refusal::invalid("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")),
        };
        if !known {
            return Err(Refusal::invalid("This model does not support the effort parameter."));
        }
        if version.is_some_and(|version| version < least) {
            return Err(Refusal::invalid(format!("This model does not support effort level '{effort}'.")));
        }
    }
    let Some(format) = config.get("format").and_then(Value::as_object) else { return Ok(()) };
    FORMAT.check(super::SHAPE, "output_config.format", format)?;
    if version.is_some_and(|version| version < (4, 5)) {
        return Err(Refusal::invalid("output_config.format: this model does not support structured outputs"));
    }
    format.get("schema").map_or(Ok(()), |schema| closed(schema, "output_config.format.schema"))
}

/// Schemas of answers have to close every object.
fn closed(schema: &Value, path: &str) -> Result<(), Refusal> {
    const REFUSED: [&str; 7] = ["minimum", "maximum", "exclusiveMinimum", "multipleOf", "minLength", "maxLength", "oneOf"];
    if let Some(fields) = schema.as_object() {
        let object = fields.get("type").and_then(Value::as_str) == Some("object");
        if object && fields.get("additionalProperties") != Some(&Value::Bool(false)) {
            let message = format!("{path}: For 'object' type, 'additionalProperties' must be explicitly set to false");
            return Err(Refusal::invalid(message));
        }
        if let Some(name) = REFUSED.iter().find(|name| fields.contains_key(**name)) {
            return Err(Refusal::invalid(format!("{path}: property '{name}' is not supported")));
        }
        let properties = fields.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::values);
        let others = ["items", "anyOf", "allOf"].iter().filter_map(|name| fields.get(*name));
        return properties.chain(others).try_for_each(|schema| closed(schema, path));
    }
    schema.as_array().into_iter().flatten().try_for_each(|schema| closed(schema, path))
}

/// A forced choice needs tools, a model that can be forced, and no thinking.
fn forced(model: &str, body: &Map<String, Value>) -> Result<(), Refusal> {
    let Some(choice) = body.get("tool_choice") else { return Ok(()) };
    if body.get("tools").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        return Err(Refusal::invalid("tool_choice: tool_choice may only be specified while providing tools"));
    }
    if !matches!(choice.get("type").and_then(Value::as_str), Some("any" | "tool")) {
        return Ok(());
    }
    if newest(model) || claude(model).is_some_and(|version| version >= (5, 5)) {
        return Err(Refusal::invalid("tool_choice: forcing tool use is not supported for this model"));
    }
    if thinks(body) { Err(Refusal::invalid("Thinking may not be enabled when tool_choice forces tool use.")) } else { Ok(()) }
}

/// Rules that need the turns: prefill, thinking before tools, tools that are no longer declared.
pub(super) fn history(call: &Call, body: &Map<String, Value>, messages: &[Value]) -> Result<(), Refusal> {
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    let role = |message: &Value| message.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
    if messages.last().is_some_and(|last| role(last) == "assistant") && generation::claude(model).is_some_and(|version| version >= (4, 6)) {
        let message = "This model does not support assistant message prefill. The conversation must end with a user message.";
        return Err(Refusal::invalid(message));
    }
    let first = |message: &Value| message.pointer("/content/0/type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let holds = |message: &Value, kind: &str| {
        let blocks = message.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        blocks.iter().any(|block| block.get("type").and_then(Value::as_str) == Some(kind))
    };
    let tooled = messages.iter().any(|message| holds(message, "tool_use"));
    if call.vendor == Vendor::Bedrock && tooled && body.get("tools").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        return Err(Refusal::invalid("Requests which contain `tool_use` or `tool_result` blocks must define tools."));
    }
    let Some(at) = messages.iter().rposition(|message| role(message) == "assistant") else { return Ok(()) };
    let looping = messages.last().is_some_and(|last| holds(last, "tool_result"));
    let Some(last) = messages.get(at).filter(|last| kind(body) == Some("enabled") && looping && holds(last, "tool_use")) else {
        return Ok(());
    };
    let found = first(last);
    if matches!(found.as_str(), "thinking" | "redacted_thinking") {
        return Ok(());
    }
    Err(Refusal::invalid(format!(
        "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is enabled, a final \
         `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
    )))
}

fn marks(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(marks).sum(),
        Value::Object(fields) => {
            let own = usize::from(fields.get("cache_control").is_some_and(Value::is_object));
            // A tool may have a property of this name; its schema is no place for marks.
            own + fields
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "input_schema" | "input" | "schema"))
                .map(|(_, value)| marks(value))
                .sum::<usize>()
        }
        _ => 0,
    }
}
