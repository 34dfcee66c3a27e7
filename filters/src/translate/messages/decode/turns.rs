//! Messages and instructions.

use super::blocks;
use super::object::{Extras, Object, Path, array, text};
use crate::canonical::{Block, Refusal, Role, Text, Turn};
use crate::shape::Shape;
use crate::wire::json::{Kind, Value};

/// How a coding agent's first block of instructions begins that differs with every request and means nothing to a model. It would
/// defeat the prefix caches of every other provider.
const BILLING_MARK: &str = "x-anthropic-billing-header:";

pub(super) fn read<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<Vec<Turn<'a>>, Refusal> {
    array(value, path)?.enumerate().map(|(index, message)| turn(message, path.index(index), extras)).collect()
}

fn turn<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<Turn<'a>, Refusal> {
    let object = Object::read(value, path)?;
    let role = match &*object.required_text("role")?.decode() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => return Err(path.key("role").invalid("must be `user`, `assistant` or `system`")),
    };
    let mut blocks = blocks::read(object.required("content")?, path.key("content"), extras)?;
    if role == Role::Assistant {
        rejoin_signatures(&mut blocks);
    }
    object.leave(&["role", "content"], "messages", extras);
    Ok(Turn { role, blocks })
}

/// Reads the instructions, a string or blocks of text.
pub(super) fn system<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<Vec<Block<'a>>, Refusal> {
    if value.kind() == Kind::String {
        let text = text(value, path)?;
        let marked = is_billing_mark(&text) && !text.decode().contains('\n');
        return Ok(if marked { Vec::new() } else { vec![Block::Text(text)] });
    }
    let mut blocks = blocks::read(value, path, extras)?;
    blocks.retain(|block| !matches!(block, Block::Text(text) if is_billing_mark(text)));
    Ok(blocks)
}

fn is_billing_mark(text: &Text<'_>) -> bool {
    match text {
        Text::Escaped(inner) => inner.starts_with(BILLING_MARK.as_bytes()),
        Text::Plain(text) => text.starts_with(BILLING_MARK),
    }
}

/// Gives each call the continuity token that was shown to the client in the block of reasoning before it, since this shape has no
/// place for it at the call itself.
fn rejoin_signatures(blocks: &mut Vec<Block<'_>>) {
    let mut at = 0;
    while at + 1 < blocks.len() {
        let (head, tail) = blocks.split_at_mut(at + 1);
        if let (Some(Block::Reasoning { text, signature }), Some(Block::ToolCall(call))) = (head.last_mut(), tail.first_mut())
            && signature.as_ref().is_some_and(|signature| signature.shape == Shape::GenerateContent)
        {
            call.signature = signature.take();
            if text.is_empty() {
                blocks.remove(at);
                continue;
            }
        }
        at += 1;
    }
}
