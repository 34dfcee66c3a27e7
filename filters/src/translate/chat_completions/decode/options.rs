//! Options that are objects, or may be written in two ways.

use super::object::{Extras, Object, Path, boolean, text, texts};
use crate::canonical::{OutputFormat, Refusal, Text, Thinking, Weight};
use crate::translate::map::Effort;
use crate::wire::json::{Kind, Value};

/// A text or several.
pub(super) fn stop<'a>(value: Value<'a>, path: Path<'_>) -> Result<Vec<Text<'a>>, Refusal> {
    match value.kind() {
        Kind::String => Ok(vec![text(value, path)?]),
        Kind::Array => texts(value, path),
        kind => Err(path.expected("a string or an array of strings", kind)),
    }
}

/// Whether usage is asked for.
pub(super) fn stream_options<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<bool, Refusal> {
    let object = Object::read(value, path)?;
    if let Some(padding) = object.get("include_obfuscation") {
        boolean(padding, path.key("include_obfuscation"))?;
        extras.add("stream_options.include_obfuscation", padding, Weight::Silent);
    }
    object.leave(&["include_usage", "include_obfuscation"], "stream_options", extras);
    Ok(object.boolean("include_usage")?.unwrap_or(false))
}

pub(super) fn format<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<OutputFormat<'a>, Refusal> {
    let object = Object::read(value, path)?;
    let format = match &*object.required_text("type")?.decode() {
        "text" => OutputFormat::Text,
        "json_object" => OutputFormat::JsonObject,
        "json_schema" => schema(object.required("json_schema")?, path.key("json_schema"), extras)?,
        _ => return Err(path.key("type").invalid("must be `text`, `json_object` or `json_schema`")),
    };
    object.leave(&["type", "json_schema"], "response_format", extras);
    Ok(format)
}

fn schema<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<OutputFormat<'a>, Refusal> {
    let object = Object::read(value, path)?;
    object.leave(&["name", "description", "schema", "strict"], "response_format.json_schema", extras);
    let Some(schema) = object.get("schema") else { return Ok(OutputFormat::JsonObject) };
    if schema.kind() != Kind::Object {
        return Err(path.key("schema").expected("an object", schema.kind()));
    }
    Ok(OutputFormat::Schema {
        name: object.text("name")?,
        description: object.text("description")?,
        schema: schema.raw(),
        vendor_schema: false,
        strict: object.boolean("strict")?,
    })
}

/// `reasoning_effort`. A word no table knows is left to the providers that may.
pub(super) fn effort<'a>(value: Value<'a>, path: Path<'_>, thinking: &mut Thinking<'a>, extras: &mut Extras<'a>) -> Result<(), Refusal> {
    match Effort::parse(&text(value, path)?.decode()) {
        Some(effort) => thinking.effort = Some(Text::from(effort.as_str())),
        None => extras.add("reasoning_effort", value, Weight::Minor),
    }
    Ok(())
}

/// `reasoning`, which some services take in place of `reasoning_effort`.
pub(super) fn reasoning<'a>(value: Value<'a>, path: Path<'_>, thinking: &mut Thinking<'a>, extras: &mut Extras<'a>) -> Result<(), Refusal> {
    let object = Object::read(value, path)?;
    if let Some(word) = object.get("effort").filter(|_| thinking.effort.is_none()) {
        effort(word, path.key("effort"), thinking, extras)?;
    }
    if let Some(budget) = object.count("max_tokens")? {
        thinking.budget = Some(i64::try_from(budget).unwrap_or(i64::MAX));
    }
    if object.boolean("exclude")? == Some(true) {
        thinking.shown = Some(false);
    }
    match object.boolean("enabled")? {
        Some(false) => thinking.disabled = true,
        Some(true) if thinking.effort.is_none() && thinking.budget.is_none() => thinking.adaptive = true,
        _ => {}
    }
    object.leave(&["effort", "max_tokens", "exclude", "enabled"], "reasoning", extras);
    Ok(())
}

/// `thinking` in the messages vendor's words, which some services take.
pub(super) fn thinking<'a>(value: Value<'a>, path: Path<'_>, thinking: &mut Thinking<'a>, extras: &mut Extras<'a>) -> Result<(), Refusal> {
    let object = Object::read(value, path)?;
    match &*object.required_text("type")?.decode() {
        "disabled" => thinking.disabled = true,
        "enabled" => match object.count("budget_tokens")? {
            Some(budget) => thinking.budget = Some(i64::try_from(budget).unwrap_or(i64::MAX)),
            None => thinking.adaptive = true,
        },
        _ => thinking.adaptive = true,
    }
    object.leave(&["type", "budget_tokens"], "thinking", extras);
    Ok(())
}
