//! The tools of a chat-completions request and the choice between them.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::call::Shape;
use crate::chat_completions::{rules, turns};
use crate::prompt::{Choice, Tool};
use crate::refusal::Refusal;
use crate::validate::{Fields, Kind};

const SHAPE: Shape = Shape::ChatCompletions;
const TOOL: Fields = Fields { known: &[("type", Kind::Text), ("function", Kind::Object), ("custom", Kind::Object)], required: &["type"] };
const FUNCTION: Fields = Fields {
    known: &[("name", Kind::Text), ("description", Kind::Text), ("parameters", Kind::Object), ("strict", Kind::Bool)],
    required: &["name"],
};
const CUSTOM: Fields =
    Fields { known: &[("name", Kind::Text), ("description", Kind::Text), ("format", Kind::Object)], required: &["name"] };
const LONGEST_NAME: usize = 64;

pub(super) fn read(body: &Map<String, Value>) -> Result<Vec<Tool>, Refusal> {
    let Some(offered) = body.get("tools").and_then(Value::as_array) else { return Ok(Vec::new()) };
    if offered.is_empty() {
        let message = "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.";
        return Err(Refusal::invalid(message).param("tools").code("empty_array"));
    }
    let tools = offered.iter().enumerate().map(|(at, tool)| self::tool(at, tool)).collect::<Result<Vec<_>, _>>()?;
    let mut names = HashSet::new();
    match tools.iter().find(|tool| !names.insert(tool.name.clone())) {
        Some(twice) => Err(Refusal::invalid(format!("Duplicate tool name: '{}'.", twice.name)).param("tools")),
        None => Ok(tools),
    }
}

fn tool(at: usize, tool: &Value) -> Result<Tool, Refusal> {
    let path = format!("tools[{at}]");
    let object = turns::object(tool, &path)?;
    TOOL.check(SHAPE, &path, object)?;
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
    let (name, fields) = match kind {
        "function" => ("function", FUNCTION),
        "custom" => ("custom", CUSTOM),
        _ => {
            let message = format!("Invalid value: '{kind}'. Supported values are: 'function' and 'custom'.");
            return Err(Refusal::invalid(message).param(format!("{path}.type")).code("invalid_value"));
        }
    };
    let path = format!("{path}.{name}");
    let Some(definition) = object.get(name).and_then(Value::as_object) else {
        return Err(Refusal::invalid(format!("Missing required parameter: '{path}'.")).param(path).code("missing_required_parameter"));
    };
    fields.check(SHAPE, &path, definition)?;
    let name = definition.get("name").and_then(Value::as_str).unwrap_or_default();
    named(name, &format!("{path}.name"))?;
    if kind == "custom" {
        return Ok(Tool::custom(name));
    }
    let schema = definition.get("parameters").cloned().unwrap_or_default();
    parameters(&schema, name, &format!("{path}.parameters"))?;
    if definition.get("strict").and_then(Value::as_bool) == Some(true) {
        rules::complies(&schema, &format!("{path}.parameters"))?;
    }
    Ok(Tool::function(name, schema))
}

/// The parameters of a function are an object's schema, without a union at its root.
pub(crate) fn parameters(schema: &Value, name: &str, path: &str) -> Result<(), Refusal> {
    let Some(fields) = schema.as_object().filter(|fields| !fields.is_empty()) else { return Ok(()) };
    let kind = fields.get("type").and_then(Value::as_str);
    let union = ["oneOf", "anyOf", "allOf", "enum", "not"].iter().any(|name| fields.contains_key(*name));
    if kind == Some("object") && !union {
        return Ok(());
    }
    let message = format!(
        "Invalid schema for function '{name}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
    );
    Err(Refusal::invalid(message).param(path).code("invalid_function_parameters"))
}

pub(crate) fn named(name: &str, path: &str) -> Result<(), Refusal> {
    let plain = name.chars().all(|character| character.is_ascii_alphanumeric() || matches!(character, '_' | '-'));
    if name.len() > LONGEST_NAME {
        let message = format!("Invalid '{path}': string too long. Expected a string with maximum length {LONGEST_NAME}.");
        return Err(Refusal::invalid(message).param(path).code("string_above_max_length"));
    }
    if plain && !name.is_empty() {
        return Ok(());
    }
    let message =
        format!("Invalid '{path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.");
    Err(Refusal::invalid(message).param(path).code("invalid_value"))
}

pub(super) fn choice(body: &Map<String, Value>) -> Result<Choice, Refusal> {
    let Some(choice) = body.get("tool_choice").filter(|choice| !choice.is_null()) else { return Ok(Choice::Auto) };
    if !body.contains_key("tools") {
        let message = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.";
        return Err(Refusal::invalid(message).param("tool_choice"));
    }
    chosen(choice, &["function", "custom"])
}

/// A choice, which names a tool inside one of the `nested` objects or, in the responses dialect, flat.
pub(crate) fn chosen(choice: &Value, nested: &[&str]) -> Result<Choice, Refusal> {
    let name = |tool: &Value| {
        let inner = nested.iter().find_map(|key| tool.get(*key)).unwrap_or(tool);
        inner.get("name").and_then(Value::as_str).map(str::to_owned)
    };
    let kind = choice.as_str().or_else(|| choice.get("type")?.as_str()).unwrap_or_default();
    match kind {
        "auto" => Ok(Choice::Auto),
        "none" => Ok(Choice::Never),
        "required" => Ok(Choice::Must),
        "allowed_tools" => {
            let allowed = choice.get("allowed_tools").unwrap_or(choice);
            let names = allowed.get("tools").and_then(Value::as_array).into_iter().flatten().filter_map(name).collect();
            Ok(Choice::Among { names, must: allowed.get("mode").and_then(Value::as_str) == Some("required") })
        }
        "function" | "custom" => {
            let missing = || Refusal::invalid("Missing required parameter: 'tool_choice.function.name'.").param("tool_choice");
            name(choice).map(|name| Choice::named(&name)).ok_or_else(missing)
        }
        "web_search" | "web_search_preview" => Ok(Choice::Auto),
        other => {
            let message = format!("Invalid value: '{other}'. Supported values are: 'none', 'auto', and 'required'.");
            Err(Refusal::invalid(message).param("tool_choice").code("invalid_value"))
        }
    }
}
