//! Tools and the choice among them.

use super::object::{Extras, Object, Path, array, text};
use crate::canonical::{Choice, FunctionTool, Refusal, Text, Tool, WebSearch, Weight};
use crate::wire::json::{Kind, Value};

pub(super) fn read<'a>(value: Value<'a>, path: Path<'_>, tools: &mut Vec<Tool<'a>>, extras: &mut Extras<'a>) -> Result<(), Refusal> {
    for (index, element) in array(value, path)?.enumerate() {
        let path = path.index(index);
        let object = Object::read(element, path)?;
        let kind = object.required_text("type")?;
        match &*kind.decode() {
            "function" => {
                let function = Object::read(object.required("function")?, path.key("function"))?;
                push_function(&function, "tools.function", tools, extras)?;
                object.leave(&["type", "function"], "tools", extras);
            }
            "custom" => {
                let custom = Object::read(object.required("custom")?, path.key("custom"))?;
                let name = custom.required_text("name")?;
                once(&name, tools, custom.path)?;
                let (description, format) = (custom.text("description")?, custom.get("format").map(Value::raw));
                tools.push(Tool::Custom { name, description, format });
                custom.leave(&["name", "description", "format"], "tools.custom", extras);
                object.leave(&["type", "custom"], "tools", extras);
            }
            _ => tools.push(Tool::Unknown { kind: kind.clone(), raw: element.raw() }),
        }
    }
    Ok(())
}

/// The old form of declaring functions.
pub(super) fn functions<'a>(value: Value<'a>, path: Path<'_>, tools: &mut Vec<Tool<'a>>, extras: &mut Extras<'a>) -> Result<(), Refusal> {
    for (index, element) in array(value, path)?.enumerate() {
        push_function(&Object::read(element, path.index(index))?, "functions", tools, extras)?;
    }
    Ok(())
}

fn push_function<'a>(
    object: &Object<'_, 'a>,
    place: &'static str,
    tools: &mut Vec<Tool<'a>>,
    extras: &mut Extras<'a>,
) -> Result<(), Refusal> {
    let Some(name) = object.text("name")?.filter(|name| !name.is_empty()) else {
        // Nobody could call it.
        extras.add(format!("{place}.name"), Value::NULL, Weight::Minor);
        return Ok(());
    };
    once(&name, tools, object.path)?;
    let parameters = match object.get("parameters") {
        Some(schema) if schema.kind() != Kind::Object => return Err(object.path.key("parameters").expected("an object", schema.kind())),
        schema => schema.map(Value::raw),
    };
    let (description, strict) = (object.text("description")?, object.boolean("strict")?);
    tools.push(Tool::Function(FunctionTool { name, description, parameters, vendor_schema: false, strict }));
    object.leave(&["name", "description", "parameters", "strict"], place, extras);
    Ok(())
}

fn once(name: &Text<'_>, tools: &[Tool<'_>], path: Path<'_>) -> Result<(), Refusal> {
    let taken = tools.iter().any(|tool| match tool {
        Tool::Function(function) => function.name == *name,
        Tool::Custom { name: known, .. } => known == name,
        Tool::WebSearch(_) | Tool::Computer(_) | Tool::Vendor(_) | Tool::Unknown { .. } => false,
    });
    if taken { Err(path.key("name").invalid(format!("`{}` is declared twice", name.decode()))) } else { Ok(()) }
}

/// `web_search_options`.
pub(super) fn web_search<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<Tool<'a>, Refusal> {
    let object = Object::read(value, path)?;
    let location = object.get("user_location").map(|location| location.get("approximate")).filter(|place| place.kind() == Kind::Object);
    let search =
        WebSearch { context_size: object.text("search_context_size")?, location: location.map(Value::raw), ..WebSearch::default() };
    object.leave(&["search_context_size", "user_location"], "web_search_options", extras);
    Ok(Tool::WebSearch(search))
}

pub(super) fn choice<'a>(value: Value<'a>, path: Path<'_>) -> Result<Option<Choice<'a>>, Refusal> {
    if value.kind() == Kind::String {
        return mode(&text(value, path)?, path).map(Some);
    }
    let object = Object::read(value, path)?;
    let kind = object.required_text("type")?;
    let choice = match &*kind.decode() {
        word @ ("function" | "custom") => Choice::Named(named(&object, word)?),
        "allowed_tools" => {
            let inner = object.get("allowed_tools").unwrap_or(value);
            among(&Object::read(inner, path.key("allowed_tools"))?)?
        }
        _ => mode(&kind, path.key("type"))?,
    };
    Ok(Some(choice))
}

fn mode<'a>(word: &Text<'_>, path: Path<'_>) -> Result<Choice<'a>, Refusal> {
    match &*word.decode() {
        "auto" => Ok(Choice::Auto),
        "required" | "any" => Ok(Choice::Any),
        "none" => Ok(Choice::None),
        _ => Err(path.invalid("must be `none`, `auto`, `required` or an object that names a tool")),
    }
}

/// The name in `{type: T, T: {name}}`; the flat form `{type, name}` of the responses dialect is taken too.
fn named<'a>(object: &Object<'_, 'a>, kind: &str) -> Result<Text<'a>, Refusal> {
    match object.get(kind) {
        Some(inner) => Object::read(inner, object.path.key(kind))?.required_text("name"),
        None => object.required_text("name"),
    }
}

fn among<'a>(object: &Object<'_, 'a>) -> Result<Choice<'a>, Refusal> {
    let required = object.text("mode")?.is_some_and(|mode| mode.is("required"));
    let path = object.path.key("tools");
    let mut names = Vec::new();
    for (index, tool) in array(object.required("tools")?, path)?.enumerate() {
        let tool = Object::read(tool, path.index(index))?;
        let kind = tool.text("type")?.map_or_else(|| "function".to_owned(), |kind| kind.decode().into_owned());
        names.push(named(&tool, &kind)?);
    }
    Ok(Choice::Among { names, required })
}

/// The old form of `tool_choice`.
pub(super) fn function_call<'a>(value: Value<'a>, path: Path<'_>) -> Result<Option<Choice<'a>>, Refusal> {
    if value.kind() == Kind::String {
        return mode(&text(value, path)?, path).map(Some);
    }
    Object::read(value, path)?.required_text("name").map(|name| Some(Choice::Named(name)))
}
