//! Items of the input, as turns.

use super::content;
use crate::canonical::{Arguments, Block, Refusal, Role, SearchHit, Signature, Text, ToolCall, ToolResult, Turn};
use crate::shape::Shape;
use crate::translate::map::signature::untag;
use crate::translate::object::{Extras, Object, Path, array, text};
use crate::translate::responses::SEALED;
use crate::wire::json::{Kind, Value};

/// Reads the input: a string, or a list of items. What the model said in a row is one turn, and so are results in a row.
pub(super) fn read<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<Vec<Turn<'a>>, Refusal> {
    if value.kind() == Kind::String {
        return Ok(vec![Turn { role: Role::User, blocks: vec![Block::Text(text(value, path)?)] }]);
    }
    let mut turns = Vec::new();
    for (index, item) in array(value, path)?.enumerate() {
        let object = Object::read(item, path.index(index))?;
        let kind = object.text("type")?.unwrap_or_else(|| Text::from("message"));
        let kind = kind.decode();
        if kind == "message" {
            message(&object, &mut turns, extras)?;
        } else {
            let (role, block) = item_of(&kind, &object, item, extras)?;
            append(&mut turns, role, block);
        }
    }
    turns.iter_mut().filter(|turn| turn.role == Role::Assistant).for_each(hand_tokens_on);
    Ok(turns)
}

fn message<'a>(object: &Object<'_, 'a>, turns: &mut Vec<Turn<'a>>, extras: &mut Extras<'a>) -> Result<(), Refusal> {
    let role = match &*object.required_text("role")?.decode() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => return Err(object.path.key("role").invalid("must be `user`, `assistant`, `system` or `developer`")),
    };
    let blocks = content::read(object.required("content")?, object.path.key("content"), extras)?;
    object.leave(&["type", "role", "content", "id", "status", "phase"], "input", extras);
    if role == Role::Assistant {
        blocks.into_iter().for_each(|block| append(turns, role, block));
    } else {
        turns.push(Turn { role, blocks });
    }
    Ok(())
}

/// Puts a block into the last turn where it goes on with it, else into a new one.
fn append<'a>(turns: &mut Vec<Turn<'a>>, role: Role, block: Block<'a>) {
    let results = |turn: &Turn<'_>| turn.blocks.iter().all(|block| matches!(block, Block::ToolResult(_)));
    match turns.last_mut().filter(|turn| turn.role == role && (role == Role::Assistant || results(turn))) {
        Some(turn) => turn.blocks.push(block),
        None => turns.push(Turn { role, blocks: vec![block] }),
    }
}

fn item_of<'a>(kind: &str, object: &Object<'_, 'a>, item: Value<'a>, extras: &mut Extras<'a>) -> Result<(Role, Block<'a>), Refusal> {
    Ok(match kind {
        "function_call" => (Role::Assistant, call(object, "arguments", false)?),
        "custom_tool_call" => (Role::Assistant, call(object, "input", true)?),
        "function_call_output" | "custom_tool_call_output" => (Role::User, result(object, extras)?),
        "reasoning" => (Role::Assistant, reasoning(object)?),
        "web_search_call" => (Role::Assistant, search(object)?),
        "item_reference" => {
            let message = "the gateway keeps no items; send the item itself";
            return Err(Refusal::unsupported(object.path.to_string(), message));
        }
        _ => {
            let role = if kind.ends_with("_output") { Role::User } else { Role::Assistant };
            (role, Block::Unknown { shape: Shape::Responses, kind: Text::from(kind.to_owned()), raw: item.raw() })
        }
    })
}

fn call<'a>(object: &Object<'_, 'a>, field: &str, custom: bool) -> Result<Block<'a>, Refusal> {
    Ok(Block::ToolCall(ToolCall {
        id: object.required_text("call_id")?,
        name: object.required_text("name")?,
        arguments: Arguments::Text(object.required_text(field)?),
        signature: None,
        custom,
    }))
}

fn result<'a>(object: &Object<'_, 'a>, extras: &mut Extras<'a>) -> Result<Block<'a>, Refusal> {
    let content = content::read(object.required("output")?, object.path.key("output"), extras)?;
    Ok(Block::ToolResult(ToolResult { id: object.required_text("call_id")?, name: None, failed: false, content, object: None }))
}

/// Reasoning: its summary, and the token of the provider that made it, which may be of another shape.
fn reasoning<'a>(object: &Object<'_, 'a>) -> Result<Block<'a>, Refusal> {
    let parts = [object.get("summary"), object.get("content")].into_iter().flatten().flat_map(Value::elements);
    let mut texts: Vec<Text<'a>> = parts.filter_map(|part| part.json().get("text").text()).filter(|text| !text.is_empty()).collect();
    let text = match texts.len() {
        0 => Text::from(""),
        1 => texts.swap_remove(0),
        _ => Text::from(texts.iter().map(Text::decode).collect::<Vec<_>>().join("\n\n")),
    };
    let Some(token) = object.text("encrypted_content")? else { return Ok(Block::Reasoning { text, signature: None }) };
    let told = token.decode();
    match (told.strip_prefix(SEALED).and_then(untag), untag(&told)) {
        (Some(sealed), _) => Ok(Block::Redacted(sealed)),
        (None, Some(signature)) => Ok(Block::Reasoning { text, signature: Some(signature) }),
        (None, None) => {
            drop(told);
            Ok(Block::Reasoning { text, signature: Some(Signature { shape: Shape::Responses, origin: None, value: token }) })
        }
    }
}

/// A generate-content provider's token belongs to the call after it.
fn hand_tokens_on(turn: &mut Turn<'_>) {
    for at in (1..turn.blocks.len()).rev() {
        let (before, after) = turn.blocks.split_at_mut(at);
        let (Some(Block::Reasoning { text, signature }), Some(Block::ToolCall(call))) = (before.last_mut(), after.first_mut()) else {
            continue;
        };
        if signature.as_ref().is_some_and(|signature| signature.shape == Shape::GenerateContent) {
            call.signature = signature.take();
            if text.is_empty() {
                turn.blocks.remove(at - 1);
            }
        }
    }
}

fn search<'a>(object: &Object<'_, 'a>) -> Result<Block<'a>, Refusal> {
    let action = object.get("action").unwrap_or(Value::NULL);
    let first = || action.get("queries").elements().next()?.json().text();
    let query = action.get("query").text().or_else(first).unwrap_or_else(|| Text::from(""));
    let hits = action.get("sources").elements().filter_map(|source| {
        let url = source.json().get("url").text()?;
        Some(SearchHit { url, title: Text::from(""), sealed: Text::from("") })
    });
    Ok(Block::WebSearch { id: object.text("id")?.unwrap_or_else(|| Text::from("")), query, hits: hits.collect() })
}
