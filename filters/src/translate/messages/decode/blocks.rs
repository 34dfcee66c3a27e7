//! Blocks of content.

use super::media;
use super::object::{Extras, Object, Path, array, boolean, text};
use super::search;
use crate::canonical::{Arguments, Block, Raw, Refusal, Signature, Text, ToolCall, ToolResult, Weight};
use crate::shape::Shape;
use crate::translate::map::signature::untag;
use crate::wire::json::{Kind, Value};

/// Where fields of blocks stand, as told in losses.
const PLACE: &str = "messages.content";

/// Reads content: a string, or an array of blocks.
pub(super) fn read<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<Vec<Block<'a>>, Refusal> {
    if value.kind() == Kind::String {
        return Ok(vec![Block::Text(text(value, path)?)]);
    }
    if value.kind() != Kind::Array {
        return Err(path.expected("a string or an array", value.kind()));
    }
    let mut blocks = Vec::new();
    for (index, element) in array(value, path)?.enumerate() {
        one(element, path.index(index), &mut blocks, extras)?;
    }
    Ok(blocks)
}

fn one<'a>(value: Value<'a>, path: Path<'_>, blocks: &mut Vec<Block<'a>>, extras: &mut Extras<'a>) -> Result<(), Refusal> {
    let object = Object::read(value, path)?;
    let kind = object.required_text("type")?;
    let name = kind.decode();
    let known = match said(&name, &object, blocks, extras)? {
        Some(known) => Some(known),
        None => made(&name, &object, blocks)?,
    };
    match known {
        Some(known) => object.leave(known, PLACE, extras),
        None => blocks.push(Block::Unknown { shape: Shape::Messages, kind: kind.clone(), raw: value.raw() }),
    }
    Ok(())
}

/// The members of a block that are read.
type Known = Option<&'static [&'static str]>;

/// Reads what users and results of tools say; `None` for other blocks.
fn said<'a>(kind: &str, object: &Object<'_, 'a>, blocks: &mut Vec<Block<'a>>, extras: &mut Extras<'a>) -> Result<Known, Refusal> {
    Ok(Some(match kind {
        "text" => {
            blocks.push(Block::Text(object.required_text("text")?));
            citations(object, extras);
            &["type", "text", "citations"]
        }
        "image" => {
            blocks.push(Block::Image(media::image(object)?));
            &["type", "source"]
        }
        "document" => {
            blocks.push(Block::Document(media::document(object, extras)?));
            &["type", "source", "title", "context", "citations"]
        }
        "search_result" => {
            blocks.push(Block::Text(media::search_result(object, extras)?));
            &["type", "source", "title", "content", "citations"]
        }
        "tool_result" => {
            blocks.push(Block::ToolResult(result(object, extras)?));
            &["type", "tool_use_id", "content", "is_error"]
        }
        _ => return Ok(None),
    }))
}

/// Reads what only models say; `None` for other blocks.
fn made<'a>(kind: &str, object: &Object<'_, 'a>, blocks: &mut Vec<Block<'a>>) -> Result<Known, Refusal> {
    Ok(Some(match kind {
        "tool_use" => {
            blocks.push(Block::ToolCall(call(object)?));
            &["type", "id", "name", "input", "caller"]
        }
        "thinking" => {
            let text = object.text("thinking")?.unwrap_or(Text::from(""));
            blocks.push(Block::Reasoning { text, signature: object.text("signature")?.and_then(signature) });
            &["type", "thinking", "signature"]
        }
        "redacted_thinking" => {
            blocks.extend(signature(object.required_text("data")?).map(Block::Redacted));
            &["type", "data"]
        }
        "server_tool_use" if object.text("name")?.is_some_and(|name| name.is("web_search")) => {
            blocks.push(search::call(object)?);
            &["type", "id", "name", "input", "caller"]
        }
        "web_search_tool_result" => {
            search::result(object, blocks)?;
            &["type", "tool_use_id", "content", "caller"]
        }
        _ => return Ok(None),
    }))
}

/// Citations of an earlier answer do not change what is said.
fn citations<'a>(object: &Object<'_, 'a>, extras: &mut Extras<'a>) {
    if let Some(citations) = object.get("citations").filter(|citations| citations.elements().next().is_some()) {
        extras.add("messages.content.citations", citations, Weight::Silent);
    }
}

fn call<'a>(object: &Object<'_, 'a>) -> Result<ToolCall<'a>, Refusal> {
    let arguments = match object.get("input") {
        None => Raw::from(&b"{}"[..]),
        Some(input) if input.kind() == Kind::Object => input.raw(),
        Some(input) => return Err(object.path.key("input").expected("an object", input.kind())),
    };
    let (id, name) = (object.required_text("id")?, object.required_text("name")?);
    Ok(ToolCall { id, name, arguments: Arguments::Json(arguments), signature: None, custom: false })
}

fn result<'a>(object: &Object<'_, 'a>, extras: &mut Extras<'a>) -> Result<ToolResult<'a>, Refusal> {
    let content = object.get("content").map_or(Ok(Vec::new()), |content| read(content, object.path.key("content"), extras))?;
    let failed = object.get("is_error").map_or(Ok(false), |failed| boolean(failed, object.path.key("is_error")))?;
    Ok(ToolResult { id: object.required_text("tool_use_id")?, name: None, failed, content, object: None })
}

/// The token of a block of reasoning: another provider's that was tagged for this client, or this vendor's own.
fn signature(value: Text<'_>) -> Option<Signature<'_>> {
    if value.is_empty() {
        return None;
    }
    let tagged = untag(&value.decode());
    Some(tagged.unwrap_or(Signature { shape: Shape::Messages, origin: None, value }))
}
