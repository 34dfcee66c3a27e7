//! The tools of a generate-content request and the choice between them.

use serde_json::{Map, Value};

use crate::generate_content::{NONE, SHAPE, list, object, schema};
use crate::generation::gemini;
use crate::prompt::{Choice, Tool};
use crate::refusal::Refusal;
use crate::validate::{Fields, Kind, field};

const GROUP: Fields = Fields {
    known: &[
        ("functionDeclarations", Kind::List),
        ("codeExecution", Kind::Object),
        ("computerUse", Kind::Object),
        ("fileSearch", Kind::Object),
        ("googleMaps", Kind::Object),
        ("googleSearch", Kind::Object),
        ("googleSearchRetrieval", Kind::Object),
        ("urlContext", Kind::Object),
    ],
    required: &[],
};
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
const CONFIG: Fields = Fields {
    known: &[("functionCallingConfig", Kind::Object), ("retrievalConfig", Kind::Object), ("includeServerSideToolInvocations", Kind::Bool)],
    required: &[],
};
const CALLING: Fields = Fields {
    known: &[("mode", Kind::Text), ("allowedFunctionNames", Kind::List), ("streamFunctionCallArguments", Kind::Bool)],
    required: &[],
};
const LONGEST_NAME: usize = 128;

fn groups(body: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    list(body, "tools").iter().filter_map(Value::as_object)
}

/// Whether functions are declared.
pub(super) fn any(body: &Map<String, Value>) -> bool {
    groups(body).any(|group| !list(group, "functionDeclarations").is_empty())
}

/// Whether the vendor may search the web.
pub(super) fn search(body: &Map<String, Value>) -> bool {
    groups(body).any(|group| object(group, "googleSearch").is_some())
}

pub(super) fn read(body: &Map<String, Value>, model: &str) -> Result<Vec<Tool>, Refusal> {
    let mut tools: Vec<Tool> = Vec::new();
    for (nth, group) in groups(body).enumerate() {
        let path = format!("tools[{nth}]");
        GROUP.check(SHAPE, &path, group)?;
        if group.len() != 1 {
            return Err(Refusal::invalid(format!("* GenerateContentRequest.{path}.tool_type: exactly one tool type is required\n")));
        }
        for (at, declaration) in list(group, "functionDeclarations").iter().enumerate() {
            let tool = self::tool(declaration, &format!("{path}.functionDeclarations[{at}]"))?;
            if tools.iter().any(|known| known.name == tool.name) {
                return Err(Refusal::invalid(format!("Duplicate function declaration found: {}", tool.name)));
            }
            tools.push(tool);
        }
    }
    let hosted = groups(body).any(|group| field(SHAPE, group, "functionDeclarations").is_none());
    if hosted && !tools.is_empty() {
        mixed(body, model)?;
    }
    Ok(tools)
}

/// Functions beside the vendor's own tools: not before the third generation, and only if asked for from there on.
fn mixed(body: &Map<String, Value>, model: &str) -> Result<(), Refusal> {
    let Some(version) = gemini(model) else { return Ok(()) };
    let asked = object(body, "toolConfig").and_then(|config| field(SHAPE, config, "includeServerSideToolInvocations")?.as_bool());
    match version >= (3, 0) {
        false => Err(Refusal::invalid("Tool use with function calling is unsupported")),
        true if asked == Some(true) => Ok(()),
        true => Err(Refusal::invalid(
            "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.",
        )),
    }
}

fn tool(tool: &Value, path: &str) -> Result<Tool, Refusal> {
    let declaration = tool.as_object().unwrap_or(&NONE);
    DECLARATION.check(SHAPE, path, declaration)?;
    let name = field(SHAPE, declaration, "name").and_then(Value::as_str).unwrap_or_default();
    let begins = name.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.:-".contains(letter));
    if !begins || !plain || name.len() > LONGEST_NAME {
        let rule = "Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or \
                    dashes (-), with a maximum length of 128";
        return Err(Refusal::invalid(format!("* GenerateContentRequest.{path}.name: Invalid function name. {rule}.\n")));
    }
    let (own, json) = (field(SHAPE, declaration, "parameters"), field(SHAPE, declaration, "parametersJsonSchema"));
    if own.is_some() && json.is_some() {
        return Err(Refusal::invalid(format!(
            "* GenerateContentRequest.{path}: only one of parameters and parameters_json_schema may be set\n"
        )));
    }
    if let Some(own) = own {
        schema::proto(own, &format!("{path}.parameters"))?;
    }
    Ok(Tool::function(name, own.or(json).cloned().unwrap_or_default()))
}

pub(super) fn choice(body: &Map<String, Value>) -> Result<Choice, Refusal> {
    let Some(config) = object(body, "toolConfig") else { return Ok(Choice::Auto) };
    CONFIG.check(SHAPE, "toolConfig", config)?;
    let Some(calling) = object(config, "functionCallingConfig") else { return Ok(Choice::Auto) };
    CALLING.check(SHAPE, "toolConfig.functionCallingConfig", calling)?;
    let mode = field(SHAPE, calling, "mode").and_then(Value::as_str).unwrap_or("AUTO");
    let names: Vec<String> = list(calling, "allowedFunctionNames").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    if !matches!(mode, "ANY" | "VALIDATED") && !names.is_empty() {
        return Err(Refusal::invalid("Allowed function names should be set only when calling mode is ANY or VALIDATED."));
    }
    if mode != "NONE" && mode != "AUTO" && !any(body) {
        return Err(Refusal::invalid("Function calling config is set without function_declarations."));
    }
    match mode {
        "NONE" => Ok(Choice::Never),
        "ANY" if names.is_empty() => Ok(Choice::Must),
        "ANY" => Ok(Choice::Among { names, must: true }),
        "VALIDATED" if !names.is_empty() => Ok(Choice::Among { names, must: false }),
        "AUTO" | "VALIDATED" | "MODE_UNSPECIFIED" => Ok(Choice::Auto),
        other => {
            let path = "tool_config.function_calling_config.mode";
            Err(Refusal::invalid(format!("Invalid value at '{path}' (type.googleapis.com/Mode), \"{other}\"")))
        }
    }
}
