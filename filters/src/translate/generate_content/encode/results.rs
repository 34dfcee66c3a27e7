//! Results of functions.

use std::borrow::Cow;

use super::{Context, parts};
use crate::canonical::{Block, Refusal, Source, Text, ToolResult};
use crate::shape::Shape;
use crate::translate::ProviderKind;
use crate::translate::map::names;
use crate::wire::json::{Kind, Value, Writer, outline};

/// Deepest nesting of a result that is passed as an object.
const DEPTH: usize = 64;

/// Media of a result that must be shown in a content after it, and the words that say whose they are.
pub(super) type Shown<'r, 'a> = (String, Vec<&'r Block<'a>>);

/// Writes a `functionResponse` part. Media the part cannot hold are returned.
pub(super) fn write<'r, 'a>(
    result: &'r ToolResult<'a>,
    w: &mut Writer<'_>,
    context: &mut Context<'_>,
) -> Result<Option<Shown<'r, 'a>>, Refusal> {
    let name = result.name.clone().unwrap_or_else(|| Text::from("unknown"));
    let sent = names::sent(Shape::GenerateContent, &name, context.adaptations);
    let media: Vec<&Block<'_>> = result.content.iter().filter(|block| !is_text(block)).collect();
    let capabilities = &context.target.capabilities;
    let inside = capabilities.call_ids && context.target.kind == ProviderKind::Gemini && media.iter().all(|block| is_inline(block));

    w.begin_object();
    w.key("functionResponse");
    w.begin_object();
    if capabilities.call_ids {
        w.text_field("id", &result.id);
    }
    w.text_field("name", &sent);
    w.key("response");
    response(result, !media.is_empty(), w);
    if inside && !media.is_empty() {
        w.key("parts");
        w.begin_array();
        for block in &media {
            parts::write(block, w, context)?;
        }
        w.end_array();
    }
    w.end_object();
    w.end_object();
    let outside = !inside && !media.is_empty();
    Ok(outside.then(|| (format!("[returned by the call of {} ({})]", name.decode(), result.id.decode()), media)))
}

fn is_text(block: &Block<'_>) -> bool {
    match block {
        Block::Text(_) | Block::Refusal(_) => true,
        Block::Document(document) => matches!(document.source, Source::Text(_)),
        _ => false,
    }
}

fn is_inline(block: &Block<'_>) -> bool {
    let source = match block {
        Block::Image(media) | Block::Audio(media) | Block::Video(media) => &media.source,
        Block::Document(document) => &document.source,
        _ => return false,
    };
    matches!(source, Source::Base64 { .. })
}

/// The object the vendor wants: the client's own, the one its text spells out, or one that wraps the text.
fn response(result: &ToolResult<'_>, media: bool, w: &mut Writer<'_>) {
    if let Some(object) = &result.object {
        return w.raw(&object.0);
    }
    let words: Vec<Text<'_>> = result.content.iter().filter_map(words).collect();
    if let ([only], false) = (words.as_slice(), result.failed)
        && let Some(object) = spelled_out(only)
    {
        return w.raw(&object);
    }
    w.begin_object();
    w.key(if result.failed { "error" } else { "output" });
    if words.is_empty() && media {
        w.str("[returned as a file, shown beside this result]");
    } else {
        let line = Text::from("\n");
        let mut joined: Vec<&Text<'_>> = Vec::with_capacity(words.len() * 2);
        for word in &words {
            if !joined.is_empty() {
                joined.push(&line);
            }
            joined.push(word);
        }
        w.texts(joined);
    }
    w.end_object();
}

fn words<'a>(block: &Block<'a>) -> Option<Text<'a>> {
    match block {
        Block::Text(text) | Block::Refusal(text) => Some(text.clone()),
        Block::Document(document) => match &document.source {
            Source::Text(text) => Some(match document.title.as_ref().filter(|title| !title.is_empty()) {
                Some(title) => Text::from(format!("{}\n{}", title.decode(), text.decode())),
                None => text.clone(),
            }),
            _ => None,
        },
        _ => None,
    }
}

/// The JSON object a text is. One with a member `$ref` stays text: the vendor would read it as a pointer.
fn spelled_out(text: &Text<'_>) -> Option<Vec<u8>> {
    let first = match text {
        Text::Escaped(inner) => inner.iter().find(|byte| **byte != b' ').copied()?,
        Text::Plain(text) => text.trim_start().bytes().next()?,
    };
    // An escaped text may begin with an escaped line break.
    if first != b'{' && first != b'\\' {
        return None;
    }
    let decoded: Cow<'_, str> = text.decode();
    let bytes = decoded.trim().as_bytes();
    let object = bytes.first() == Some(&b'{') && outline(bytes, DEPTH).is_ok() && !has_pointer(Value::of(bytes));
    object.then(|| bytes.to_vec())
}

fn has_pointer(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Object => value.members().any(|member| member.is("$ref") || has_pointer(member.json())),
        Kind::Array => value.elements().any(|element| has_pointer(element.json())),
        Kind::String | Kind::Number | Kind::Bool | Kind::Null => false,
    }
}
