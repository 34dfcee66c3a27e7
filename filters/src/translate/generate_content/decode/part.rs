//! Parts of a content.

use std::borrow::Cow;

use super::{extra, media, named, result};
use crate::canonical::{Arguments, Block, Extra, Raw, Refusal, Role, Signature, Text, ToolCall, Turn, Weight};
use crate::shape::Shape;
use crate::translate::generate_content::fields::{Path, boolean, camel, object, text};
use crate::translate::generate_content::{fence, token};
use crate::wire::json::{Kind, Member, Value};

/// A part's fields; exactly one of them holds its data.
#[derive(Default)]
struct Fields<'a> {
    text: Option<Text<'a>>,
    data: Option<Member<'a>>,
    thought: bool,
    signature: Option<Text<'a>>,
}

/// Reads one part into the turn.
pub(super) fn read<'a>(part: Value<'a>, path: &Path<'_>, turn: &mut Turn<'a>, extras: &mut Vec<Extra<'a>>) -> Result<(), Refusal> {
    let Some(part) = object(part, path)? else { return Ok(()) };
    let mut fields = Fields::default();
    for member in part.members().filter(|member| member.kind != Kind::Null) {
        field(&mut fields, member, path, extras)?;
    }
    let own = fields.signature.as_ref().is_some_and(|signature| token::read(signature).is_none());
    match (fields.data, fields.text) {
        (Some(data), text) if text.as_ref().is_none_or(Text::is_empty) => data_block(&data, fields.signature, path, turn, extras),
        (Some(_), Some(_)) => Err(path.invalid("a part can hold one kind of data only")),
        (_, text) if fields.thought && turn.role == Role::Assistant => {
            reasoning(turn, text, fields.signature);
            Ok(())
        }
        (_, text) => {
            match fields.signature {
                Some(signature) if own => extras.push(signature_extra(&signature)),
                Some(signature) => reasoning(turn, None, Some(signature)),
                None => {}
            }
            if let Some(text) = text {
                say(turn, text);
            }
            Ok(())
        }
    }
}

fn field<'a>(fields: &mut Fields<'a>, member: Member<'a>, path: &Path<'_>, extras: &mut Vec<Extra<'a>>) -> Result<(), Refusal> {
    let value = member.json();
    match &*camel(&member) {
        b"text" => fields.text = text(value, &path.key("text"))?,
        b"thought" => fields.thought = boolean(value, &path.key("thought"))?.unwrap_or_default(),
        b"thoughtSignature" => fields.signature = text(value, &path.key("thoughtSignature"))?.filter(|text| !text.is_empty()),
        b"inlineData"
        | b"fileData"
        | b"functionCall"
        | b"functionResponse"
        | b"executableCode"
        | b"codeExecutionResult"
        | b"toolCall"
        | b"toolResponse" => {
            if fields.data.replace(member).is_some() {
                return Err(path.invalid("a part can hold one kind of data only"));
            }
        }
        // `videoMetadata`, `mediaResolution`, `partMetadata` and whatever comes later.
        _ => extras.push(named(Some("contents.parts"), &member, Weight::Minor)),
    }
    Ok(())
}

/// The vendor's own token on a text; no other shape has a place for it.
fn signature_extra<'a>(signature: &Text<'a>) -> Extra<'a> {
    let mut value = vec![b'"'];
    signature.escape_into(&mut value);
    value.push(b'"');
    Extra { field: Text::from("contents.parts.thoughtSignature"), value: Raw::from(value), weight: Weight::Silent }
}

fn data_block<'a>(
    data: &Member<'a>,
    signature: Option<Text<'a>>,
    path: &Path<'_>,
    turn: &mut Turn<'a>,
    extras: &mut Vec<Extra<'a>>,
) -> Result<(), Refusal> {
    let value = data.json();
    match &*camel(data) {
        b"inlineData" => turn.blocks.push(media::inline(value, &path.key("inlineData"))?),
        b"fileData" => turn.blocks.push(media::file(value, &path.key("fileData"))?),
        b"functionCall" => turn.blocks.push(Block::ToolCall(call(value, signature, &path.key("functionCall"))?)),
        b"functionResponse" => {
            let result = result::read(value, &path.key("functionResponse"), extras)?;
            turn.blocks.push(Block::ToolResult(result));
        }
        b"executableCode" => {
            extras.push(extra("contents.parts.executableCode", value, Weight::Minor));
            say(turn, Text::from(fence::code(value)));
        }
        b"codeExecutionResult" => {
            extras.push(extra("contents.parts.codeExecutionResult", value, Weight::Minor));
            say(turn, Text::from(fence::outcome(value)));
        }
        kind => {
            let kind = Text::from(String::from_utf8_lossy(kind).into_owned());
            turn.blocks.push(Block::Unknown { shape: Shape::GenerateContent, kind, raw: value.raw() });
        }
    }
    Ok(())
}

/// Adds text. The model's text comes in many parts that are one text; empty ones are the ends and life signs of streams.
fn say<'a>(turn: &mut Turn<'a>, text: Text<'a>) {
    match turn.blocks.last_mut() {
        _ if turn.role == Role::Assistant && text.is_empty() => {}
        Some(Block::Text(last)) if turn.role == Role::Assistant => append(last, text),
        _ => turn.blocks.push(Block::Text(text)),
    }
}

/// Adds reasoning. It comes in many parts as well, of which the last may carry the signature.
fn reasoning<'a>(turn: &mut Turn<'a>, text: Option<Text<'a>>, signature: Option<Text<'a>>) {
    let text = text.unwrap_or_else(|| Text::from(""));
    if text.is_empty() && signature.is_none() {
        return;
    }
    let signature = match signature {
        None => None,
        Some(value) => match token::read(&value) {
            Some(token::Token::Redacted(signature)) => return turn.blocks.push(Block::Redacted(signature)),
            Some(token::Token::Signed(signature)) => Some(signature),
            None => Some(Signature { shape: Shape::GenerateContent, origin: None, value }),
        },
    };
    match turn.blocks.last_mut() {
        Some(Block::Reasoning { text: last, signature: unsigned @ None }) => {
            append(last, text);
            *unsigned = signature;
        }
        _ => turn.blocks.push(Block::Reasoning { text, signature }),
    }
}

fn append<'a>(last: &mut Text<'a>, more: Text<'a>) {
    if last.is_empty() {
        *last = more;
    } else if let Text::Plain(text) = last {
        text.to_mut().push_str(&more.decode());
    } else if !more.is_empty() {
        let mut text = last.decode().into_owned();
        text.push_str(&more.decode());
        *last = Text::from(text);
    }
}

fn call<'a>(value: Value<'a>, signature: Option<Text<'a>>, path: &Path<'_>) -> Result<ToolCall<'a>, Refusal> {
    let value = object(value, path)?.unwrap_or(Value::NULL);
    let (mut id, mut name) = (Text::from(""), None);
    let mut arguments = Raw(Cow::Borrowed(&b"{}"[..]));
    for member in value.members().filter(|member| member.kind != Kind::Null) {
        match &*camel(&member) {
            b"id" => id = text(member.json(), &path.key("id"))?.unwrap_or(id),
            b"name" => name = text(member.json(), &path.key("name"))?,
            b"args" => arguments = object(member.json(), &path.key("args"))?.map_or(arguments, Value::raw),
            _ => {}
        }
    }
    let name = name.filter(|name| !name.is_empty()).ok_or_else(|| path.key("name").invalid("must not be empty"))?;
    let signature = signature.map(|value| match token::read(&value) {
        Some(token::Token::Signed(signature) | token::Token::Redacted(signature)) => signature,
        None => Signature { shape: Shape::GenerateContent, origin: None, value },
    });
    Ok(ToolCall { id, name, arguments: Arguments::Json(arguments), signature, custom: false })
}
