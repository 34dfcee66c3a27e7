//! The model's messages.

use super::object::{Extras, Object, Path, array, text};
use super::turns::echo;
use super::{parts, reasoning};
use crate::canonical::{Arguments, Block, Raw, Refusal, Signature, Text, ToolCall, Weight};
use crate::shape::Shape;
use crate::translate::map::signature::untag;
use crate::wire::json::{Kind, Value};

/// Fields that are read, and those that clients send back with an answer although they say nothing.
pub(super) const KNOWN: &[&str] = &[
    "role",
    "content",
    "refusal",
    "tool_calls",
    "function_call",
    "audio",
    "images",
    "annotations",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "thinking_blocks",
    "provider_specific_fields",
    "parsed",
];

pub(super) fn read<'a>(object: &Object<'_, 'a>, extras: &mut Extras<'a>) -> Result<Vec<Block<'a>>, Refusal> {
    let mut blocks = reasoning::read(object)?;
    if let Some(content) = object.get("content") {
        let said = parts::read(content, object.path.key("content"), extras)?;
        blocks.extend(said.into_iter().filter(|block| !matches!(block, Block::Text(text) if text.is_empty())));
    }
    if let Some(refusal) = object.text("refusal")?.filter(|refusal| !refusal.is_empty()) {
        blocks.push(Block::Refusal(refusal));
    }
    if let Some(list) = object.get("tool_calls") {
        let path = object.path.key("tool_calls");
        for (index, element) in array(list, path)?.enumerate() {
            blocks.push(Block::ToolCall(call(element, path.index(index))?));
        }
    }
    if let Some(old) = object.get("function_call") {
        let function = Object::read(old, object.path.key("function_call"))?;
        let (name, arguments) = (function.required_text("name")?, arguments(&function, "arguments")?);
        blocks.push(Block::ToolCall(ToolCall { id: Text::from(""), name, arguments, signature: None, custom: false }));
    }
    // A spoken answer that is only named would be missing from the conversation.
    echo(object, "audio", "messages.audio", Weight::Major, extras);
    if object.get("images").is_some_and(|images| images.elements().next().is_some()) {
        echo(object, "images", "messages.images", Weight::Minor, extras);
    }
    Ok(blocks)
}

fn call<'a>(value: Value<'a>, path: Path<'_>) -> Result<ToolCall<'a>, Refusal> {
    let object = Object::read(value, path)?;
    let id = object.text("id")?.unwrap_or(Text::from(""));
    let signature = object.get("extra_content").and_then(signature);
    if let Some(custom) = object.get("custom") {
        let custom = Object::read(custom, path.key("custom"))?;
        let input = custom.text("input")?.unwrap_or(Text::from(""));
        return Ok(ToolCall { id, name: custom.required_text("name")?, arguments: Arguments::Text(input), signature, custom: true });
    }
    let function = Object::read(object.required("function")?, path.key("function"))?;
    let (name, arguments) = (function.required_text("name")?, arguments(&function, "arguments")?);
    Ok(ToolCall { id, name, arguments, signature, custom: false })
}

fn arguments<'a>(function: &Object<'_, 'a>, name: &str) -> Result<Arguments<'a>, Refusal> {
    match function.get(name) {
        None => Ok(Arguments::Json(Raw::from(&b"{}"[..]))),
        Some(value) if value.kind() == Kind::Object => Ok(Arguments::Json(value.raw())),
        Some(value) => text(value, function.path.key(name)).map(Arguments::Text),
    }
}

/// The continuity token of a call: `extra_content.google.thought_signature`.
fn signature(value: Value<'_>) -> Option<Signature<'_>> {
    let token = value.get("google").get("thought_signature").text().filter(|token| !token.is_empty())?;
    Some(read_token(token))
}

/// Another provider's token that was tagged for this client, or one of this dialect.
pub(super) fn read_token(value: Text<'_>) -> Signature<'_> {
    let tagged = untag(&value.decode());
    tagged.unwrap_or(Signature { shape: Shape::ChatCompletions, origin: None, value })
}
