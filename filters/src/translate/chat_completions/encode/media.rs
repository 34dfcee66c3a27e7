//! Parts of a user's message.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::conversation::misplaced;
use crate::canonical::{Block, Document, Media, Refusal, Source, Text};
use crate::shape::Shape;
use crate::translate::map::context::{Context, Names};
use crate::translate::map::media::sniff;
use crate::translate::map::search::summary;
use crate::wire::json::Writer;

const IMAGE: Names = ["messages.content.image_url", "messages.content.image", "contents.parts.inlineData", "input.content.input_image"];
const DOCUMENT: Names = ["messages.content.file", "messages.content.document", "contents.parts.inlineData", "input.content.input_file"];
const AUDIO: Names = ["messages.content.input_audio", "messages.content.audio", "contents.parts.inlineData", "input.content.input_audio"];
const VIDEO: Names = ["messages.content.video", "messages.content.video", "contents.parts.inlineData", "input.content.video"];

const PDF: &str = "application/pdf";

/// Writes one part.
pub(super) fn part(block: &Block<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    match block {
        Block::Text(said) | Block::Refusal(said) => text(said, w),
        Block::Image(media) => image(media, context, w)?,
        Block::Document(document) => self::document(document, context, w)?,
        Block::Audio(media) => audio(media, context, w)?,
        Block::Video(_) => return Err(context.unsupported(VIDEO, "the provider takes no video")),
        Block::WebSearch { query, hits, .. } => text(&summary(query, hits), w),
        Block::ToolCall(_) | Block::ToolResult(_) | Block::Reasoning { .. } | Block::Redacted(_) | Block::Unknown { .. } => {
            misplaced(block, context);
        }
    }
    Ok(())
}

/// Writes a part of text.
pub(super) fn text(text: &Text<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("type", "text");
    w.text_field("text", text);
    w.end_object();
}

fn image(media: &Media<'_>, context: &Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    if !context.target.capabilities.vision {
        return Err(context.unsupported(IMAGE, "the model takes no pictures"));
    }
    if !matches!(&media.source, Source::Base64 { .. } | Source::Url { .. }) {
        return Err(context.unsupported(IMAGE, "the picture is in a store the provider cannot reach"));
    }
    w.begin_object();
    w.str_field("type", "image_url");
    w.key("image_url");
    w.begin_object();
    w.key("url");
    match &media.source {
        Source::Base64 { media_type, data } => data_url(&picture_type(media_type, data, context)?, data, w),
        Source::Url { url, media_type } => {
            let other = media_type.as_ref().is_some_and(|kind| !kind.is_empty() && !kind.decode().starts_with("image/"));
            let secure = url.decode().get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
            if other || !secure || !context.target.capabilities.url_images {
                return Err(context.unsupported(IMAGE, "the provider does not fetch this address"));
            }
            w.text(url);
        }
        Source::File { .. } | Source::Text(_) | Source::Blocks(_) => {}
    }
    if let Some(detail) = &media.detail {
        w.text_field("detail", detail);
    }
    w.end_object();
    w.end_object();
    Ok(())
}

/// The type the bytes tell, else the one the client says.
pub(in crate::translate) fn picture_type<'t>(
    media_type: &'t Text<'_>,
    data: &Text<'_>,
    context: &Context<'_>,
) -> Result<Text<'t>, Refusal> {
    match sniff(data) {
        Some(found) if found.starts_with("image/") => Ok(Text::from(found)),
        None if media_type.decode().starts_with("image/") => Ok(media_type.as_ref()),
        _ => Err(context.unsupported(IMAGE, "the data is no picture")),
    }
}

pub(in crate::translate) fn data_url(media_type: &Text<'_>, data: &Text<'_>, w: &mut Writer<'_>) {
    w.texts([&Text::from("data:"), media_type, &Text::from(";base64,"), data]);
}

fn document(document: &Document<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    if let Some(said) = document_text(document, context)? {
        text(&said, w);
        return Ok(());
    }
    if let Source::Blocks(blocks) = &document.source {
        document.title.iter().chain(&document.context).for_each(|said| text(said, w));
        return blocks.iter().try_for_each(|block| part(block, context, w));
    }
    if let Some(said) = &document.context {
        text(said, w);
    }
    match &document.source {
        Source::Base64 { media_type, data } => {
            let kind = sniff(data).map_or_else(|| media_type.as_ref(), Text::from);
            if kind.decode().starts_with("image/") {
                let source = Source::Base64 { media_type: kind, data: data.as_ref() };
                return image(&Media { source, detail: None }, context, w);
            }
            let kind = if kind.is_empty() { Text::from(PDF) } else { kind };
            file(w, |w| {
                w.text_field("filename", &file_name(document.title.as_ref(), &kind));
                w.key("file_data");
                data_url(&kind, data, w);
            });
            Ok(())
        }
        Source::File { shape: Shape::ChatCompletions | Shape::Responses, id, .. } if context.target.quirks.vendor => {
            file(w, |w| w.text_field("file_id", id));
            Ok(())
        }
        Source::File { .. } => Err(context.unsupported(DOCUMENT, "the document is in a store the provider cannot reach")),
        Source::Url { .. } | Source::Text(_) | Source::Blocks(_) => {
            Err(context.unsupported(DOCUMENT, "the provider does not fetch documents"))
        }
    }
}

/// The title as the name of a file: the vendor wants to see by its name that a document is a PDF.
pub(in crate::translate) fn file_name<'t>(title: Option<&'t Text<'_>>, kind: &Text<'_>) -> Text<'t> {
    match title.filter(|title| !title.is_blank()) {
        None => Text::from("document.pdf"),
        Some(title) if kind.is(PDF) && !title.decode().to_ascii_lowercase().ends_with(".pdf") => {
            Text::from(format!("{}.pdf", title.decode()))
        }
        Some(title) => title.as_ref(),
    }
}

fn file(w: &mut Writer<'_>, write: impl FnOnce(&mut Writer<'_>)) {
    w.begin_object();
    w.str_field("type", "file");
    w.object("file", write);
    w.end_object();
}

/// The document as text, title first, where it is one.
pub(in crate::translate) fn document_text<'a>(document: &Document<'a>, context: &Context<'_>) -> Result<Option<Text<'a>>, Refusal> {
    let body = match &document.source {
        Source::Text(text) => text.decode().into_owned(),
        Source::Base64 { media_type, data } if media_type.decode().starts_with("text/") => {
            let bytes = STANDARD.decode(data.decode().as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            bytes.ok_or_else(|| context.unsupported(DOCUMENT, "the document's text cannot be read"))?
        }
        Source::Blocks(blocks) if blocks.iter().all(|block| matches!(block, Block::Text(_))) => {
            let texts = blocks.iter().filter_map(|block| if let Block::Text(text) = block { Some(text.decode()) } else { None });
            texts.collect::<Vec<_>>().join("\n")
        }
        Source::Base64 { .. } | Source::Url { .. } | Source::File { .. } | Source::Blocks(_) => return Ok(None),
    };
    let head = document.title.iter().chain(&document.context).map(|text| format!("{}\n", text.decode()));
    Ok(Some(Text::from(head.collect::<String>() + &body)))
}

fn audio(media: &Media<'_>, context: &Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    let Source::Base64 { media_type, data } = &media.source else {
        return Err(context.unsupported(AUDIO, "sound must be part of the request"));
    };
    let format = match &*media_type.decode().to_ascii_lowercase() {
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "wav",
        "audio/mp3" | "audio/mpeg" => "mp3",
        _ => return Err(context.unsupported(AUDIO, "sound must be WAV or MP3")),
    };
    w.begin_object();
    w.str_field("type", "input_audio");
    w.object("input_audio", |w| {
        w.text_field("data", data);
        w.str_field("format", format);
    });
    w.end_object();
    Ok(())
}
