//! Results of the client's functions.

use super::{media, named};
use crate::canonical::{Block, Extra, Raw, Refusal, Text, ToolResult, Weight};
use crate::translate::generate_content::fields::{Path, camel, list, object, text};
use crate::wire::json::{Kind, Value};

/// Reads a `functionResponse`. Its object stays an object; pictures and documents beside it are the content.
pub(super) fn read<'a>(value: Value<'a>, path: &Path<'_>, extras: &mut Vec<Extra<'a>>) -> Result<ToolResult<'a>, Refusal> {
    let mut result = ToolResult { id: Text::from(""), name: None, failed: false, content: Vec::new(), object: None };
    for member in object(value, path)?.unwrap_or(Value::NULL).members().filter(|member| member.kind != Kind::Null) {
        let value = member.json();
        match &*camel(&member) {
            b"id" => result.id = text(value, &path.key("id"))?.unwrap_or(result.id),
            b"name" => result.name = text(value, &path.key("name"))?.filter(|name| !name.is_empty()),
            b"response" => {
                let response = object(value, &path.key("response"))?;
                result.failed = response.is_some_and(is_error);
                result.object = response.map(Value::raw);
            }
            b"parts" => result.content = parts(value, &path.key("parts"))?,
            // `willContinue` and `scheduling`, of live sessions.
            _ => extras.push(named(Some("contents.parts.functionResponse"), &member, Weight::Minor)),
        }
    }
    if result.id.is_empty() && result.name.is_none() {
        return Err(path.key("name").invalid("must not be empty"));
    }
    if result.object.is_none() && result.content.is_empty() {
        result.object = Some(Raw::from(&b"{}"[..]));
    }
    Ok(result)
}

/// Whether the object tells of a failure and nothing else.
fn is_error(response: Value<'_>) -> bool {
    let mut members = response.members();
    let first = members.next().is_some_and(|member| member.is("error") && member.kind != Kind::Null);
    first && members.next().is_none()
}

fn parts<'a>(value: Value<'a>, path: &Path<'_>) -> Result<Vec<Block<'a>>, Refusal> {
    let mut blocks = Vec::new();
    for (index, part) in list(value, Kind::Object, path)?.into_iter().enumerate() {
        let at = path.index(index);
        for member in part.members().filter(|member| member.kind != Kind::Null) {
            match &*camel(&member) {
                b"inlineData" => blocks.push(media::inline(member.json(), &at.key("inlineData"))?),
                b"fileData" => blocks.push(media::file(member.json(), &at.key("fileData"))?),
                b"text" => blocks.extend(text(member.json(), &at.key("text"))?.map(Block::Text)),
                _ => {}
            }
        }
    }
    Ok(blocks)
}
