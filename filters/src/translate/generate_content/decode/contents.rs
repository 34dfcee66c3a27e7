//! Contents: who says what, in order.

use super::part;
use crate::canonical::{Block, Extra, Refusal, Role, Text, Turn};
use crate::translate::generate_content::fields::{Path, camel, list, object, text};
use crate::wire::json::{Kind, Value};

/// Reads `contents`. Contents of the model that follow each other are one turn: clients keep every chunk of a stream as a
/// content of its own.
pub(super) fn read<'a>(value: Value<'a>, path: &Path<'_>, extras: &mut Vec<Extra<'a>>) -> Result<Vec<Turn<'a>>, Refusal> {
    let contents = list(value, Kind::Object, path)?;
    let mut turns: Vec<Turn<'a>> = Vec::with_capacity(contents.len() + 1);
    for (index, content) in contents.into_iter().enumerate() {
        let at = path.index(index);
        let Some(content) = object(content, &at)? else { continue };
        let (role, parts) = fields(content, &at)?;
        let role = said_by(role, &at.key("role"))?;
        if turns.last().is_none_or(|turn| turn.role != role || role != Role::Assistant) {
            turns.push(Turn { role, blocks: Vec::with_capacity(parts.len()) });
        }
        let Some(turn) = turns.last_mut() else { continue };
        let at = at.key("parts");
        for (index, part) in parts.into_iter().enumerate() {
            part::read(part, &at.index(index), turn, extras)?;
        }
    }
    Ok(turns)
}

/// Role and parts of a content.
fn fields<'a>(content: Value<'a>, path: &Path<'_>) -> Result<(Option<Text<'a>>, Vec<Value<'a>>), Refusal> {
    let (mut role, mut parts) = (None, Vec::new());
    for member in content.members() {
        match &*camel(&member) {
            b"role" => role = text(member.json(), &path.key("role"))?,
            b"parts" => parts = list(member.json(), Kind::Object, &path.key("parts"))?,
            _ => {}
        }
    }
    Ok((role, parts))
}

fn said_by(role: Option<Text<'_>>, path: &Path<'_>) -> Result<Role, Refusal> {
    match role {
        Some(role) if role.is("model") => Ok(Role::Assistant),
        Some(role) if role.is("user") || role.is("function") || role.is_empty() => Ok(Role::User),
        None => Ok(Role::User),
        Some(_) => Err(path.invalid("expected `user` or `model`")),
    }
}

/// The blocks of a content that can hold text only.
pub(super) fn texts<'a>(value: Value<'a>, path: &Path<'_>) -> Result<Vec<Block<'a>>, Refusal> {
    let Some(content) = object(value, path)? else { return Ok(Vec::new()) };
    let (_, parts) = fields(content, path)?;
    let at = path.key("parts");
    let mut blocks = Vec::with_capacity(parts.len());
    for (index, part) in parts.into_iter().enumerate() {
        let at = at.index(index);
        for member in part.members().filter(|member| member.kind != Kind::Null) {
            match &*camel(&member) {
                b"text" => blocks.extend(text(member.json(), &at.key("text"))?.map(Block::Text)),
                b"thought" | b"thoughtSignature" => {}
                _ => return Err(at.invalid("instructions can hold text only")),
            }
        }
    }
    Ok(blocks)
}
