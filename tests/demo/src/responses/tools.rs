//! The tools of a responses request, which are flat, and the choice between them.

use serde_json::{Map, Value};

use crate::call::Shape;
use crate::chat_completions::{rules, tools};
use crate::prompt::{Choice, Tool};
use crate::refusal::Refusal;
use crate::validate::{Fields, Kind};

const FUNCTION: Fields = Fields {
    known: &[
        ("type", Kind::Text),
        ("name", Kind::Text),
        ("description", Kind::Text),
        ("parameters", Kind::Object),
        ("strict", Kind::Bool),
        ("defer_loading", Kind::Bool),
        ("allowed_callers", Kind::List),
    ],
    required: &["name"],
};

fn kind(tool: &Value) -> &str {
    tool.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn offered(body: &Map<String, Value>) -> &[Value] {
    body.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Whether the vendor may search the web.
pub(super) fn search(body: &Map<String, Value>) -> bool {
    offered(body).iter().any(|tool| kind(tool).starts_with("web_search"))
}

pub(super) fn read(body: &Map<String, Value>) -> Result<Vec<Tool>, Refusal> {
    let functions = offered(body).iter().enumerate().filter(|(_, tool)| matches!(kind(tool), "function" | ""));
    functions.map(|(at, tool)| function(at, tool)).collect()
}

fn function(at: usize, tool: &Value) -> Result<Tool, Refusal> {
    let path = format!("tools[{at}]");
    let missing =
        |path: String| Refusal::invalid(format!("Missing required parameter: '{path}'.")).param(path).code("missing_required_parameter");
    let object = tool.as_object().filter(|_| kind(tool) == "function").ok_or_else(|| missing(format!("{path}.type")))?;
    FUNCTION.check(Shape::ChatCompletions, &path, object)?;
    let name = object.get("name").and_then(Value::as_str).unwrap_or_default();
    tools::named(name, &format!("{path}.name"))?;
    let schema = object.get("parameters").cloned().unwrap_or_default();
    tools::parameters(&schema, name, &format!("{path}.parameters"))?;
    // Strict unless the caller says otherwise.
    if object.get("strict").is_none_or(|strict| strict.as_bool() == Some(true)) && object.contains_key("parameters") {
        rules::complies(&schema, &format!("{path}.parameters"))?;
    }
    Ok(Tool::function(name, schema))
}

pub(super) fn choice(body: &Map<String, Value>) -> Result<Choice, Refusal> {
    let Some(choice) = body.get("tool_choice").filter(|choice| !choice.is_null()) else { return Ok(Choice::Auto) };
    tools::chosen(choice, &[])
}
