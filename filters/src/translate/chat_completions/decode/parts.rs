//! Parts of content.

use super::object::{Extras, Object, Path, array, text};
use crate::canonical::{Block, Document, Media, Refusal, Source, Text};
use crate::shape::Shape;
use crate::translate::map::media::data_url;
use crate::wire::json::{Kind, Value};

/// Where fields of parts stand, as told in losses.
const PLACE: &str = "messages.content";

/// Reads content: a string, or an array of parts.
pub(super) fn read<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<Vec<Block<'a>>, Refusal> {
    match value.kind() {
        Kind::String => Ok(vec![Block::Text(text(value, path)?)]),
        Kind::Array => array(value, path)?.enumerate().map(|(index, part)| one(part, path.index(index), extras)).collect(),
        kind => Err(path.expected("a string or an array", kind)),
    }
}

fn one<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<Block<'a>, Refusal> {
    if value.kind() == Kind::String {
        return Ok(Block::Text(text(value, path)?));
    }
    let object = Object::read(value, path)?;
    let kind = object.required_text("type")?;
    let (block, known): (_, &[&str]) = match &*kind.decode() {
        // The responses dialect's names for text are taken too.
        "text" | "input_text" | "output_text" => (Block::Text(object.required_text("text")?), &["type", "text", "annotations"]),
        "refusal" => (Block::Refusal(object.required_text("refusal")?), &["type", "refusal"]),
        "thinking" => (thinking(&object)?, &["type", "thinking"]),
        "image_url" => (image(object.required("image_url")?, path.key("image_url"))?, &["type", "image_url"]),
        "input_audio" => (audio(object.required("input_audio")?, path.key("input_audio"))?, &["type", "input_audio"]),
        "file" => (file(object.required("file")?, path.key("file"), extras)?, &["type", "file"]),
        _ => return Ok(Block::Unknown { shape: Shape::ChatCompletions, kind: kind.clone(), raw: value.raw() }),
    };
    object.leave(known, PLACE, extras);
    Ok(block)
}

/// Reasoning as some services tell it among the parts: a text, or parts of text.
fn thinking<'a>(object: &Object<'_, 'a>) -> Result<Block<'a>, Refusal> {
    let told = object.required("thinking")?;
    let mut parts = told.elements().filter_map(|part| part.json().get("text").text());
    let text = match (told.text(), parts.next()) {
        (Some(text), _) => text,
        (None, Some(first)) => parts.fold(first, |all, part| Text::from(format!("{}{}", all.decode(), part.decode()))),
        (None, None) => Text::from(""),
    };
    Ok(Block::Reasoning { text, signature: None })
}

fn image<'a>(value: Value<'a>, path: Path<'_>) -> Result<Block<'a>, Refusal> {
    if value.kind() == Kind::String {
        return Ok(Block::Image(Media { source: source(text(value, path)?, path)?, detail: None }));
    }
    let object = Object::read(value, path)?;
    let url = object.required_text("url")?;
    let detail = object.text("detail")?.filter(|detail| !detail.is("auto"));
    Ok(Block::Image(Media { source: source(url, path.key("url"))?, detail }))
}

fn source<'a>(url: Text<'a>, path: Path<'_>) -> Result<Source<'a>, Refusal> {
    let is_data = match &url {
        Text::Escaped(inner) => inner.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"data:")),
        Text::Plain(text) => text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")),
    };
    match is_data.then(|| data_url(&url)) {
        None => Ok(Source::Url { url, media_type: None }),
        Some(Some((media_type, data))) => Ok(Source::Base64 { media_type, data }),
        Some(None) => Err(path.invalid("is a data URL that cannot be read")),
    }
}

fn audio<'a>(value: Value<'a>, path: Path<'_>) -> Result<Block<'a>, Refusal> {
    let object = Object::read(value, path)?;
    let format = object.required_text("format")?;
    let media_type = Text::from(format!("audio/{}", format.decode()));
    Ok(Block::Audio(Media { source: Source::Base64 { media_type, data: object.required_text("data")? }, detail: None }))
}

fn file<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<Block<'a>, Refusal> {
    let object = Object::read(value, path)?;
    let title = object.text("filename")?;
    let source = match (object.text("file_data")?, object.text("file_id")?) {
        (Some(data), _) => file_data(data, path.key("file_data"))?,
        (None, Some(id)) => Source::File { shape: Shape::ChatCompletions, id, media_type: None },
        (None, None) => return Err(path.invalid("needs `file_data` or `file_id`")),
    };
    object.leave(&["filename", "file_data", "file_id"], "messages.content.file", extras);
    Ok(Block::Document(Document { source, title, context: None }))
}

/// A data URL; bare base64 and addresses, which some services take, are told apart by their look.
fn file_data<'a>(data: Text<'a>, path: Path<'_>) -> Result<Source<'a>, Refusal> {
    let has_scheme = match &data {
        Text::Escaped(inner) => inner.iter().take(8).any(|byte| *byte == b':'),
        Text::Plain(text) => text.bytes().take(8).any(|byte| byte == b':'),
    };
    if has_scheme { source(data, path) } else { Ok(Source::Base64 { media_type: Text::from(""), data }) }
}
