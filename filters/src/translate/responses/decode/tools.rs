//! Tools and the choice among them.

use crate::canonical::{Choice, FunctionTool, Refusal, Text, Tool, WebSearch, Weight};
use crate::translate::object::{Extras, Object, Path, array, text, texts};
use crate::wire::json::{Kind, Value};

pub(super) fn read<'a>(value: Value<'a>, path: Path<'_>, tools: &mut Vec<Tool<'a>>, extras: &mut Extras<'a>) -> Result<(), Refusal> {
    for (index, element) in array(value, path)?.enumerate() {
        let path = path.index(index);
        let object = Object::read(element, path)?;
        let kind = object.required_text("type")?;
        let tool = match &*kind.decode() {
            "function" => function(&object, extras)?,
            "custom" => {
                object.leave(&["type", "name", "description", "format"], "tools", extras);
                let (name, description) = (object.required_text("name")?, object.text("description")?);
                Tool::Custom { name, description, format: object.get("format").map(Value::raw) }
            }
            word if word.starts_with("web_search") => search(&object, extras)?,
            _ => Tool::Unknown { kind: kind.clone(), raw: element.raw() },
        };
        tools.push(tool);
    }
    Ok(())
}

fn function<'a>(object: &Object<'_, 'a>, extras: &mut Extras<'a>) -> Result<Tool<'a>, Refusal> {
    let parameters = match object.get("parameters") {
        Some(schema) if schema.kind() != Kind::Object => return Err(object.path.key("parameters").expected("an object", schema.kind())),
        schema => schema.map(Value::raw),
    };
    object.leave(&["type", "name", "description", "parameters", "strict"], "tools", extras);
    Ok(Tool::Function(FunctionTool {
        name: object.required_text("name")?,
        description: object.text("description")?,
        parameters,
        vendor_schema: false,
        strict: object.boolean("strict")?,
    }))
}

fn search<'a>(object: &Object<'_, 'a>, extras: &mut Extras<'a>) -> Result<Tool<'a>, Refusal> {
    let allowed_domains = match object.get("filters") {
        None => Vec::new(),
        Some(filters) => {
            let path = object.path.key("filters");
            let filters = Object::read(filters, path)?;
            filters.leave(&["allowed_domains"], "tools.filters", extras);
            filters.get("allowed_domains").map(|domains| texts(domains, path.key("allowed_domains"))).transpose()?.unwrap_or_default()
        }
    };
    object.leave(&["type", "filters", "user_location", "search_context_size"], "tools", extras);
    Ok(Tool::WebSearch(WebSearch {
        allowed_domains,
        location: object.get("user_location").filter(|place| place.kind() == Kind::Object).map(Value::raw),
        context_size: object.text("search_context_size")?,
        ..WebSearch::default()
    }))
}

/// `max_tool_calls`, which bounds searches.
pub(super) fn bound<'a>(tools: &mut [Tool<'a>], most: u64, extras: &mut Extras<'a>) {
    let mut bounded = false;
    for tool in tools {
        if let Tool::WebSearch(search) = tool {
            search.max_uses = Some(most);
            bounded = true;
        }
    }
    if !bounded {
        extras.add("max_tool_calls", Value::NULL, Weight::Silent);
    }
}

pub(super) fn choice<'a>(value: Value<'a>, path: Path<'_>) -> Result<Choice<'a>, Refusal> {
    if value.kind() == Kind::String {
        return mode(&text(value, path)?, path);
    }
    let object = Object::read(value, path)?;
    let kind = object.required_text("type")?;
    match &*kind.decode() {
        "function" | "custom" => Ok(Choice::Named(object.required_text("name")?)),
        "allowed_tools" => {
            let tools = array(object.required("tools")?, path.key("tools"))?;
            let names = tools.map(|tool| tool.get("name").text().or_else(|| tool.get("type").text().map(hosted)));
            let required = object.text("mode")?.is_some_and(|mode| mode.is("required"));
            Ok(Choice::Among { names: names.flatten().collect(), required })
        }
        "auto" | "required" | "none" => mode(&kind, path.key("type")),
        _ => Ok(Choice::Named(hosted(kind.clone()))),
    }
}

/// The name of a tool the vendor runs: its type, under which searches have several.
fn hosted(kind: Text<'_>) -> Text<'_> {
    if kind.decode().starts_with("web_search") { Text::from("web_search") } else { kind }
}

fn mode<'a>(word: &Text<'_>, path: Path<'_>) -> Result<Choice<'a>, Refusal> {
    match &*word.decode() {
        "auto" => Ok(Choice::Auto),
        "required" => Ok(Choice::Any),
        "none" => Ok(Choice::None),
        _ => Err(path.invalid("must be `none`, `auto`, `required` or an object that names a tool")),
    }
}
