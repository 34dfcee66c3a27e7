//! Pictures, sounds, films and documents.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::canonical::{Block, Document, Media, Refusal, Source, Text};
use crate::shape::Shape;
use crate::translate::generate_content::base64_text;
use crate::translate::generate_content::fields::{Path, camel, object, text};
use crate::translate::map::media::sniff;
use crate::wire::json::Value;

/// Addresses in the vendor's own stores.
const STORES: [&str; 2] = ["gs://", "https://generativelanguage.googleapis.com/"];

#[derive(Default)]
struct Fields<'a> {
    media_type: Option<Text<'a>>,
    content: Option<Text<'a>>,
    title: Option<Text<'a>>,
}

fn fields<'a>(value: Value<'a>, content: &'static str, path: &Path<'_>) -> Result<Fields<'a>, Refusal> {
    let mut fields = Fields::default();
    for member in object(value, path)?.unwrap_or(Value::NULL).members() {
        let name = camel(&member);
        match &*name {
            b"mimeType" => fields.media_type = text(member.json(), &path.key("mimeType"))?.filter(|text| !text.is_empty()),
            b"displayName" => fields.title = text(member.json(), &path.key("displayName"))?.filter(|text| !text.is_empty()),
            name if name == content.as_bytes() => fields.content = text(member.json(), &path.key(content))?,
            _ => {}
        }
    }
    Ok(fields)
}

/// `inlineData`: bytes in base64.
pub(super) fn inline<'a>(value: Value<'a>, path: &Path<'_>) -> Result<Block<'a>, Refusal> {
    let Fields { media_type, content, title } = fields(value, "data", path)?;
    let data = content.filter(|data| !data.is_empty()).ok_or_else(|| path.key("data").invalid("must not be empty"))?;
    let data = base64_text::standard(&data);
    let media_type =
        media_type.or_else(|| sniff(&data).map(Text::from)).ok_or_else(|| path.key("mimeType").invalid("must not be empty"))?;
    let kind = media_type.decode().to_ascii_lowercase();
    if kind.starts_with("text/")
        && let Some(text) = STANDARD.decode(data.decode().as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok())
    {
        return Ok(Block::Document(Document { source: Source::Text(Text::from(text)), title, context: None }));
    }
    Ok(block(&kind, Source::Base64 { media_type, data }, title))
}

/// `fileData`: an address on the web or in the vendor's stores.
pub(super) fn file<'a>(value: Value<'a>, path: &Path<'_>) -> Result<Block<'a>, Refusal> {
    let Fields { media_type, content, title } = fields(value, "fileUri", path)?;
    let uri = content.filter(|uri| !uri.is_empty()).ok_or_else(|| path.key("fileUri").invalid("must not be empty"))?;
    let address = uri.decode().to_ascii_lowercase();
    let kind = match &media_type {
        Some(kind) => kind.decode().to_ascii_lowercase(),
        None => by_name(&address).to_owned(),
    };
    let web = (address.starts_with("https://") || address.starts_with("http://")) && !STORES.iter().any(|store| address.starts_with(store));
    let source =
        if web { Source::Url { url: uri, media_type } } else { Source::File { shape: Shape::GenerateContent, id: uri, media_type } };
    Ok(block(&kind, source, title))
}

/// What an address without a media type most likely is.
fn by_name(address: &str) -> &'static str {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let extension = path.rsplit('.').next().unwrap_or_default();
    match extension {
        "png" | "jpg" | "jpeg" | "webp" | "gif" | "heic" | "heif" => "image/",
        "mp3" | "wav" | "flac" | "ogg" | "aac" => "audio/",
        "mp4" | "mov" | "webm" | "mpeg" | "avi" => "video/",
        _ if address.contains("youtube.com/") || address.contains("youtu.be/") => "video/",
        _ => "",
    }
}

fn block<'a>(kind: &str, source: Source<'a>, title: Option<Text<'a>>) -> Block<'a> {
    let media = |source| Media { source, detail: None };
    match kind.split('/').next().unwrap_or_default() {
        "image" => Block::Image(media(source)),
        "audio" => Block::Audio(media(source)),
        "video" => Block::Video(media(source)),
        _ => Block::Document(Document { source, title, context: None }),
    }
}
