//! Pictures, documents and results of the client's own searches.

use super::blocks;
use super::object::{Extras, Object};
use crate::canonical::{Block, Document, Media, Refusal, Source, Text, Weight};
use crate::shape::Shape;

pub(super) fn image<'a>(object: &Object<'_, 'a>) -> Result<Media<'a>, Refusal> {
    let path = object.path.key("source");
    let source = Object::read(object.required("source")?, path)?;
    let kind = source.required_text("type")?;
    match shared_source(&kind, &source)? {
        Some(source) => Ok(Media { source, detail: None }),
        None => Err(path.key("type").invalid("must be `base64`, `url` or `file`")),
    }
}

pub(super) fn document<'a>(object: &Object<'_, 'a>, extras: &mut Extras<'a>) -> Result<Document<'a>, Refusal> {
    let path = object.path.key("source");
    let source = Object::read(object.required("source")?, path)?;
    let kind = source.required_text("type")?;
    let content = match shared_source(&kind, &source)? {
        Some(source) => source,
        None if kind.is("text") => Source::Text(source.required_text("data")?),
        None if kind.is("content") => Source::Blocks(blocks::read(source.required("content")?, path.key("content"), extras)?),
        None => return Err(path.key("type").invalid("must be `base64`, `text`, `url`, `content` or `file`")),
    };
    if let Some(citations) = object.get("citations")
        && citations.get("enabled").bool() == Some(true)
    {
        extras.add("messages.content.citations", citations, Weight::Minor);
    }
    Ok(Document { source: content, title: object.text("title")?, context: object.text("context")? })
}

/// The kinds of source that pictures and documents have in common.
fn shared_source<'a>(kind: &Text<'_>, source: &Object<'_, 'a>) -> Result<Option<Source<'a>>, Refusal> {
    Ok(Some(match &*kind.decode() {
        "base64" => {
            Source::Base64 { media_type: source.text("media_type")?.unwrap_or(Text::from("")), data: source.required_text("data")? }
        }
        "url" => Source::Url { url: source.required_text("url")?, media_type: None },
        "file" => Source::File { shape: Shape::Messages, id: source.required_text("file_id")?, media_type: None },
        _ => return Ok(None),
    }))
}

/// A passage the client's own search found, as text: its title, its source and what it says.
pub(super) fn search_result<'a>(object: &Object<'_, 'a>, extras: &mut Extras<'a>) -> Result<Text<'a>, Refusal> {
    let mut lines: Vec<String> = Vec::new();
    for name in ["title", "source"] {
        lines.extend(object.text(name)?.map(|text| text.decode().into_owned()));
    }
    if let Some(content) = object.get("content") {
        let blocks = blocks::read(content, object.path.key("content"), extras)?;
        lines.extend(blocks.iter().filter_map(|block| if let Block::Text(text) = block { Some(text.decode().into_owned()) } else { None }));
    }
    lines.retain(|line| !line.is_empty());
    Ok(Text::from(lines.join("\n")))
}
