//! The tools of a messages request and the choice between them.

use serde_json::{Map, Value};

use crate::call::Call;
use crate::messages::SHAPE;
use crate::prompt::{Choice, Tool};
use crate::refusal::Refusal;
use crate::validate::{Fields, Kind};
use crate::vendor::Vendor;

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
const CHOICE: Fields =
    Fields { known: &[("type", Kind::Text), ("name", Kind::Text), ("disable_parallel_tool_use", Kind::Bool)], required: &["type"] };
const LONGEST_NAME: usize = 128;
const SERVED: [&str; 10] = [
    "web_search_",
    "web_fetch_",
    "code_execution_",
    "bash_",
    "text_editor_",
    "memory_",
    "tool_search_",
    "computer_",
    "browser_toolset_",
    "mcp_toolset",
];
const SEARCH: &str = "web_search_";

/// What is offered.
#[derive(Debug, Default)]
pub(super) struct Offered {
    /// The caller's own tools and those the model knows the schema of.
    pub(super) own: Vec<Tool>,
    /// Whether the vendor may search the web.
    pub(super) search: bool,
}

pub(super) fn read(call: &Call, body: &Map<String, Value>) -> Result<Offered, Refusal> {
    let mut offered = Offered::default();
    for (at, tool) in body.get("tools").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let kind = tool.get("type").and_then(Value::as_str).filter(|kind| *kind != "custom");
        match kind {
            None => offered.own.push(own(call, at, tool)?),
            Some(kind) if SERVED.iter().any(|served| kind.starts_with(served)) => {
                served(call, at, kind)?;
                offered.search |= kind.starts_with(SEARCH);
            }
            Some(kind) => return Err(bad_tag(at, kind)),
        }
    }
    let mut names: Vec<&str> = offered.own.iter().map(|tool| tool.name.as_str()).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair.first() == pair.last()) {
        return Err(Refusal::invalid("tools: Tool names must be unique."));
    }
    Ok(offered)
}

/// Bedrock runs no tools of the vendor's own, only those the caller runs.
fn served(call: &Call, at: usize, kind: &str) -> Result<(), Refusal> {
    let hosted = ["web_search_", "web_fetch_", "code_execution_", "mcp_toolset"].iter().any(|hosted| kind.starts_with(hosted));
    if call.vendor == Vendor::Bedrock && hosted { Err(bad_tag(at, kind)) } else { Ok(()) }
}

fn own(call: &Call, at: usize, tool: &Value) -> Result<Tool, Refusal> {
    let path = format!("tools.{at}.custom");
    let object = tool.as_object().ok_or_else(|| Refusal::invalid(format!("{path}: Input should be a valid dictionary")))?;
    TOOL.check(SHAPE, &path, object)?;
    if call.vendor == Vendor::Bedrock && object.contains_key("eager_input_streaming") {
        return Err(Refusal::invalid(format!("{path}.eager_input_streaming: Extra inputs are not permitted")));
    }
    let name = object.get("name").and_then(Value::as_str).unwrap_or_default();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(plain) {
        return Err(Refusal::invalid(format!("{path}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,{LONGEST_NAME}}}$'")));
    }
    let schema = object.get("input_schema").cloned().unwrap_or_default();
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(Refusal::invalid(format!("{path}.input_schema.type: Input should be 'object'")));
    }
    if let Some(union) = ["oneOf", "allOf", "anyOf"].iter().find(|union| schema.get(**union).is_some()) {
        return Err(Refusal::invalid(format!("{path}.input_schema: input_schema does not support {union} at the top level")));
    }
    Ok(Tool::function(name, schema))
}

fn bad_tag(at: usize, kind: &str) -> Refusal {
    Refusal::invalid(format!("tools.{at}: Input tag '{kind}' found using 'type' does not match any of the expected tags"))
}

pub(super) fn choice(choice: Option<&Value>) -> Result<Choice, Refusal> {
    let Some(choice) = choice.and_then(Value::as_object) else { return Ok(Choice::Auto) };
    CHOICE.check(SHAPE, "tool_choice", choice)?;
    let text = |name: &str| choice.get(name).and_then(Value::as_str);
    match text("type").unwrap_or_default() {
        "auto" => Ok(Choice::Auto),
        "any" => Ok(Choice::Must),
        "none" if choice.contains_key("disable_parallel_tool_use") => {
            Err(Refusal::invalid("tool_choice.none.disable_parallel_tool_use: Extra inputs are not permitted"))
        }
        "none" => Ok(Choice::Never),
        "tool" => text("name").map(Choice::named).ok_or_else(|| Refusal::invalid("tool_choice.tool.name: Field required")),
        other => {
            Err(Refusal::invalid(format!("tool_choice: Input tag '{other}' found using 'type' does not match any of the expected tags")))
        }
    }
}
