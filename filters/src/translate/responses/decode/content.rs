//! Parts of content.

use crate::canonical::{Block, Document, Media, Refusal, Source, Text};
use crate::shape::Shape;
use crate::translate::map::media::data_url;
use crate::translate::object::{Extras, Object, Path, array, text};
use crate::wire::json::{Kind, Value};

/// Reads content: a string, or an array of parts.
pub(super) fn read<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<Vec<Block<'a>>, Refusal> {
    match value.kind() {
        Kind::String => Ok(vec![Block::Text(text(value, path)?)]),
        Kind::Array => array(value, path)?.enumerate().map(|(index, part)| one(part, path.index(index), extras)).collect(),
        kind => Err(path.expected("a string or an array", kind)),
    }
}

fn one<'a>(value: Value<'a>, path: Path<'_>, extras: &mut Extras<'a>) -> Result<Block<'a>, Refusal> {
    let object = Object::read(value, path)?;
    let kind = object.required_text("type")?;
    let (block, known): (_, &[&str]) = match &*kind.decode() {
        "input_text" | "output_text" | "text" => (Block::Text(object.required_text("text")?), &["type", "text", "annotations", "logprobs"]),
        "refusal" => (Block::Refusal(object.required_text("refusal")?), &["type", "refusal"]),
        "input_image" => (image(&object)?, &["type", "image_url", "file_id", "detail"]),
        "input_file" => (file(&object)?, &["type", "file_data", "file_url", "file_id", "filename"]),
        "input_audio" => (audio(&object)?, &["type", "input_audio"]),
        _ => return Ok(Block::Unknown { shape: Shape::Responses, kind: kind.clone(), raw: value.raw() }),
    };
    object.leave(known, "input.content", extras);
    Ok(block)
}

fn image<'a>(object: &Object<'_, 'a>) -> Result<Block<'a>, Refusal> {
    let source = match (object.text("image_url")?, object.text("file_id")?) {
        (Some(url), _) => address(url, object.path.key("image_url"))?,
        (None, Some(id)) => Source::File { shape: Shape::Responses, id, media_type: None },
        (None, None) => return Err(object.path.invalid("needs `image_url` or `file_id`")),
    };
    Ok(Block::Image(Media { source, detail: object.text("detail")?.filter(|detail| !detail.is("auto")) }))
}

fn file<'a>(object: &Object<'_, 'a>) -> Result<Block<'a>, Refusal> {
    let source = match (object.text("file_data")?, object.text("file_url")?, object.text("file_id")?) {
        (Some(data), ..) => match split(&data) {
            Some((media_type, data)) => Source::Base64 { media_type, data },
            None => Source::Base64 { media_type: Text::from(""), data },
        },
        (None, Some(url), _) => Source::Url { url, media_type: None },
        (None, None, Some(id)) => Source::File { shape: Shape::Responses, id, media_type: None },
        (None, None, None) => return Err(object.path.invalid("needs `file_data`, `file_url` or `file_id`")),
    };
    Ok(Block::Document(Document { source, title: object.text("filename")?, context: None }))
}

fn audio<'a>(object: &Object<'_, 'a>) -> Result<Block<'a>, Refusal> {
    let inner = Object::read(object.required("input_audio")?, object.path.key("input_audio"))?;
    let media_type = Text::from(format!("audio/{}", inner.required_text("format")?.decode()));
    Ok(Block::Audio(Media { source: Source::Base64 { media_type, data: inner.required_text("data")? }, detail: None }))
}

fn address<'a>(url: Text<'a>, path: Path<'_>) -> Result<Source<'a>, Refusal> {
    let is_data = url.decode().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
    if !is_data {
        return Ok(Source::Url { url, media_type: None });
    }
    match split(&url) {
        Some((media_type, data)) => Ok(Source::Base64 { media_type, data }),
        None => Err(path.invalid("is a data URL that cannot be read")),
    }
}

/// A data URL's type and payload, where they lie in the body.
fn split<'a>(url: &Text<'a>) -> Option<(Text<'a>, Text<'a>)> {
    match url {
        Text::Escaped(inner) => data_url(&Text::Escaped(inner)),
        Text::Plain(_) => None,
    }
}
