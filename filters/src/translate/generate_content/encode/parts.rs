//! Parts: texts, pictures, sounds, films and documents.

use crate::canonical::{Block, Document, Media, Refusal, Source, Text, Weight};
use crate::shape::Shape;
use crate::translate::ProviderKind;
use crate::translate::map::context::Context;
use crate::translate::map::media::sniff;
use crate::translate::map::search::summary;
use crate::wire::json::Writer;

/// A part of text.
pub(super) fn text(text: &Text<'_>, w: &mut Writer<'_>) {
    signed_text(text, None, w);
}

/// A part of text with its token.
pub(super) fn signed_text(text: &Text<'_>, signature: Option<&str>, w: &mut Writer<'_>) {
    w.begin_object();
    w.text_field("text", text);
    if let Some(signature) = signature {
        w.str_field("thoughtSignature", signature);
    }
    w.end_object();
}

/// Writes a block as a part, or as several.
pub(super) fn write(block: &Block<'_>, w: &mut Writer<'_>, context: &mut Context<'_>) -> Result<(), Refusal> {
    match block {
        Block::Text(words) | Block::Refusal(words) => text(words, w),
        Block::Image(image) => {
            detail(image, context);
            medium(&image.source, "image", w, context)?;
        }
        Block::Audio(audio) => medium(&audio.source, "audio", w, context)?,
        Block::Video(video) => medium(&video.source, "video", w, context)?,
        Block::Document(document) => self::document(document, w, context)?,
        Block::WebSearch { query, hits, .. } => text(&summary(query, hits), w),
        Block::Unknown { kind, raw, .. } => {
            w.begin_object();
            w.raw_field(&kind.decode(), raw);
            w.end_object();
        }
        // Calls and results have writers of their own; reasoning has been sorted out.
        Block::ToolCall(_) | Block::ToolResult(_) | Block::Reasoning { .. } | Block::Redacted(_) => {}
    }
    Ok(())
}

/// How closely to look cannot be said for one picture.
fn detail(image: &Media<'_>, context: &mut Context<'_>) {
    if image.detail.as_ref().is_some_and(|detail| !detail.is("auto")) {
        let names =
            ["messages.content.image_url.detail", "messages.content.detail", "contents.parts.mediaResolution", "input.content.detail"];
        context.lose(names, Weight::Minor, "a generate-content provider looks at all pictures of a request alike");
    }
}

fn document(document: &Document<'_>, w: &mut Writer<'_>, context: &mut Context<'_>) -> Result<(), Refusal> {
    if let Some(words) = document.context.as_ref().filter(|words| !words.is_blank()) {
        text(words, w);
    }
    match &document.source {
        Source::Text(words) => {
            w.begin_object();
            w.key("text");
            match document.title.as_ref().filter(|title| !title.is_empty()) {
                Some(title) => w.texts([title, &Text::from("\n"), words]),
                None => w.text(words),
            }
            w.end_object();
            Ok(())
        }
        Source::Blocks(blocks) => {
            if let Some(title) = document.title.as_ref().filter(|title| !title.is_blank()) {
                text(title, w);
            }
            blocks.iter().try_for_each(|block| write(block, w, context))
        }
        source @ (Source::Base64 { .. } | Source::Url { .. } | Source::File { .. }) => medium(source, "application", w, context),
    }
}

/// Bytes or an address.
pub(super) fn medium(source: &Source<'_>, kind: &str, w: &mut Writer<'_>, context: &Context<'_>) -> Result<(), Refusal> {
    match source {
        Source::Base64 { media_type, data } => {
            let media_type = sniffed(media_type, data).ok_or_else(|| unknown_type(context))?;
            w.begin_object();
            w.object("inlineData", |w| {
                w.text_field("mimeType", &media_type);
                w.text_field("data", data);
            });
            w.end_object();
            Ok(())
        }
        Source::Url { url, media_type } => by_url(url, media_type.as_ref(), kind, w, context),
        Source::File { shape: Shape::GenerateContent, id, media_type } => {
            let bucket = id.decode().starts_with("gs://");
            if bucket && context.target.kind != ProviderKind::Vertex {
                return Err(unsupported(context, "only a provider on Google Cloud reads its storage"));
            }
            at(id, media_type.as_ref(), w);
            Ok(())
        }
        Source::File { shape, .. } => Err(unsupported(context, format!("the file is in the store of a {shape} vendor"))),
        // Documents only; they are written as text.
        Source::Text(words) => {
            text(words, w);
            Ok(())
        }
        Source::Blocks(_) => Ok(()),
    }
}

fn by_url(url: &Text<'_>, media_type: Option<&Text<'_>>, kind: &str, w: &mut Writer<'_>, context: &Context<'_>) -> Result<(), Refusal> {
    let address = url.decode();
    let told = media_type.is_some_and(|told| !told.decode().ends_with("/*"));
    // Films are read from the vendor's own platform by their address.
    let film = kind == "video" && (address.contains("youtube.com/") || address.contains("youtu.be/"));
    if film || (context.target.capabilities.url_images && told && address.starts_with("https://")) {
        at(url, media_type, w);
        return Ok(());
    }
    Err(unsupported(context, "this provider fetches no addresses"))
}

fn at(uri: &Text<'_>, media_type: Option<&Text<'_>>, w: &mut Writer<'_>) {
    w.begin_object();
    w.object("fileData", |w| {
        if let Some(media_type) = media_type {
            w.text_field("mimeType", media_type);
        }
        w.text_field("fileUri", uri);
    });
    w.end_object();
}

/// What the bytes are: by their beginning, else as told.
fn sniffed<'a>(told: &Text<'a>, data: &Text<'a>) -> Option<Text<'a>> {
    match sniff(data) {
        Some(kind) if told.is(kind) => Some(told.clone()),
        Some(kind) => Some(Text::from(kind)),
        None => (!told.is_blank() && !told.decode().ends_with("/*")).then(|| told.clone()),
    }
}

fn field(context: &Context<'_>) -> &'static str {
    context.term(["messages.content", "messages.content.source", "contents.parts", "input.content"])
}

fn unsupported(context: &Context<'_>, message: impl Into<std::borrow::Cow<'static, str>>) -> Refusal {
    Refusal::unsupported(field(context), message)
}

fn unknown_type(context: &Context<'_>) -> Refusal {
    unsupported(context, "the media type of a file is not told and cannot be seen from its bytes")
}
