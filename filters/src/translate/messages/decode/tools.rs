//! Tools and the choice among them.

use std::collections::HashSet;

use super::object::{Extras, Object, Path, array};
use crate::canonical::{Choice, ComputerTool, FunctionTool, Refusal, Text, Tool, VendorTool, WebSearch, Weight};
use crate::wire::json::{Kind, Value};

pub(super) fn read<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<Vec<Tool<'a>>, Refusal> {
    let mut tools = Vec::new();
    let mut names = HashSet::new();
    for (index, element) in array(value, path)?.enumerate() {
        let path = path.index(index);
        let object = Object::read(element, path)?;
        let name = object.text("name")?.unwrap_or(Text::from(""));
        if !name.is_empty() && !names.insert(name.decode().into_owned()) {
            return Err(path.key("name").invalid("tool names must be unique"));
        }
        tools.extend(tool(&object, element, name, extras)?);
    }
    Ok(tools)
}

fn tool<'a>(object: &Object<'_, 'a>, value: Value<'a>, name: Text<'a>, extras: &mut Extras<'a>) -> Result<Option<Tool<'a>>, Refusal> {
    let kind = object.text("type")?.unwrap_or(Text::from("custom"));
    let decoded = kind.decode();
    let named = |default: &'static str| if name.is_empty() { Text::from(default) } else { name.clone() };
    let tool = match &*decoded {
        "custom" => return function(object, value, name, extras),
        web if web.starts_with("web_search_") => Tool::WebSearch(web_search(object, extras)?),
        computer if computer.starts_with("computer_20") => Tool::Computer(ComputerTool {
            name: named("computer"),
            width: object.number("display_width_px")?,
            height: object.number("display_height_px")?,
            display: object.number("display_number")?,
            zoom: object.boolean("enable_zoom")?.unwrap_or(false),
            kind: kind.clone(),
        }),
        shell if shell.starts_with("bash_") => Tool::Vendor(VendorTool { name: named("bash"), kind: kind.clone() }),
        editor if editor.starts_with("text_editor_") => {
            Tool::Vendor(VendorTool { name: named("str_replace_based_edit_tool"), kind: kind.clone() })
        }
        memory if memory.starts_with("memory_20") => Tool::Vendor(VendorTool { name: named("memory"), kind: kind.clone() }),
        _ => return Ok(Some(Tool::Unknown { kind: kind.clone(), raw: value.raw() })),
    };
    if matches!(tool, Tool::Computer(_) | Tool::Vendor(_)) {
        let known = ["type", "name", "display_width_px", "display_height_px", "display_number", "enable_zoom"];
        object.leave(&known, "tools", extras);
    }
    Ok(Some(tool))
}

fn function<'a>(object: &Object<'_, 'a>, value: Value<'a>, name: Text<'a>, extras: &mut Extras<'a>) -> Result<Option<Tool<'a>>, Refusal> {
    if name.is_empty() {
        extras.add("tools.name", value, Weight::Minor);
        return Ok(None);
    }
    let schema = object.get("input_schema");
    if let Some(schema) = schema.filter(|schema| schema.kind() != Kind::Object) {
        return Err(object.path.key("input_schema").expected("an object", schema.kind()));
    }
    object.leave(&["type", "name", "description", "input_schema", "strict"], "tools", extras);
    Ok(Some(Tool::Function(FunctionTool {
        name,
        description: object.text("description")?,
        parameters: schema.map(Value::raw),
        vendor_schema: false,
        strict: object.boolean("strict")?,
    })))
}

fn web_search<'a>(object: &Object<'_, 'a>, extras: &mut Extras<'a>) -> Result<WebSearch<'a>, Refusal> {
    let location = object.get("user_location");
    if let Some(location) = location.filter(|location| location.kind() != Kind::Object) {
        return Err(object.path.key("user_location").expected("an object", location.kind()));
    }
    let known = ["type", "name", "max_uses", "allowed_domains", "blocked_domains", "user_location"];
    object.leave(&known, "tools", extras);
    Ok(WebSearch {
        name: object.text("name")?,
        max_uses: object.count("max_uses")?,
        allowed_domains: object.texts("allowed_domains")?,
        blocked_domains: object.texts("blocked_domains")?,
        location: location.map(Value::raw),
        context_size: None,
    })
}

/// The choice, and whether calls may come several at once where the client says it.
pub(super) fn choice<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<(Option<Choice<'a>>, Option<bool>), Refusal> {
    let object = Object::read(value, path)?;
    let choice = match &*object.required_text("type")?.decode() {
        "auto" => Choice::Auto,
        "any" => Choice::Any,
        "tool" => Choice::Named(object.required_text("name")?),
        "none" => Choice::None,
        _ => return Err(path.key("type").invalid("must be `auto`, `any`, `tool` or `none`")),
    };
    object.leave(&["type", "name", "disable_parallel_tool_use"], "tool_choice", extras);
    Ok((Some(choice), object.boolean("disable_parallel_tool_use")?.map(|single| !single)))
}
