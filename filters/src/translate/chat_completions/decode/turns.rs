//! Messages.

use super::object::{Extras, Object, Path, array};
use super::{assistant, parts};
use crate::canonical::{Block, Refusal, Role, Text, ToolResult, Turn, Weight};
use crate::wire::json::Value;

pub(super) fn read<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<Vec<Turn<'a>>, Refusal> {
    let turns = array(value, path)?.enumerate().map(|(index, message)| turn(message, path.index(index), extras));
    let turns = turns.collect::<Result<Vec<_>, _>>()?;
    if turns.is_empty() {
        return Err(path.invalid("must hold at least one message"));
    }
    Ok(turns)
}

fn turn<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<Turn<'a>, Refusal> {
    let object = Object::read(value, path)?;
    let (role, blocks, known): (_, _, &[&str]) = match &*object.required_text("role")?.decode() {
        "system" | "developer" => (Role::System, content(&object, extras)?, &["role", "content"]),
        "user" => (Role::User, content(&object, extras)?, &["role", "content"]),
        "assistant" => (Role::Assistant, assistant::read(&object, extras)?, assistant::KNOWN),
        "tool" => (Role::User, result(&object, extras)?, &["role", "content", "tool_call_id", "name"]),
        "function" => (Role::User, function_result(&object, extras)?, &["role", "content", "name"]),
        _ => return Err(path.key("role").invalid("must be `system`, `developer`, `user`, `assistant`, `tool` or `function`")),
    };
    object.leave(known, "messages", extras);
    Ok(Turn { role, blocks })
}

fn content<'a>(object: &Object<'_, 'a>, extras: &mut Extras<'a>) -> Result<Vec<Block<'a>>, Refusal> {
    parts::read(object.required("content")?, object.path.key("content"), extras)
}

fn result<'a>(object: &Object<'_, 'a>, extras: &mut Extras<'a>) -> Result<Vec<Block<'a>>, Refusal> {
    let content = object.get("content").map_or(Ok(Vec::new()), |content| parts::read(content, object.path.key("content"), extras))?;
    let (id, name) = (object.required_text("tool_call_id")?, object.text("name")?);
    Ok(vec![Block::ToolResult(ToolResult { id, name, failed: false, content, object: None })])
}

/// The old form, which tells the function and no id: it answers the call before it.
fn function_result<'a>(object: &Object<'_, 'a>, extras: &mut Extras<'a>) -> Result<Vec<Block<'a>>, Refusal> {
    let content = object.get("content").map_or(Ok(Vec::new()), |content| parts::read(content, object.path.key("content"), extras))?;
    let name = Some(object.required_text("name")?);
    Ok(vec![Block::ToolResult(ToolResult { id: Text::from(""), name, failed: false, content, object: None })])
}

/// Puts a field among the extras that is part of an answer sent back, where it holds anything.
pub(super) fn echo<'a>(object: &Object<'_, 'a>, name: &'static str, field: &'static str, weight: Weight, extras: &mut Extras<'a>) {
    if let Some(value) = object.get(name) {
        extras.add(field, value, weight);
    }
}
