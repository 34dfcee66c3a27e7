//! Parts of content.

use crate::canonical::{Block, Document, Media, Refusal, Source, Text, Weight};
use crate::shape::Shape;
use crate::translate::chat_completions::kin::{data_url, document_text, file_name, picture_type, search_summary};
use crate::translate::map::context::{Context, Names};
use crate::translate::map::media::sniff;
use crate::wire::json::Writer;

const IMAGE: Names = ["messages.content.image_url", "messages.content.image", "contents.parts.inlineData", "input.content.input_image"];
const FILE: Names = ["messages.content.file", "messages.content.document", "contents.parts.fileData", "input.content.input_file"];
const SOUND: Names = ["messages.content.input_audio", "messages.content", "contents.parts.inlineData", "input.content.input_audio"];
const OTHER: Names = ["messages.content", "messages.content", "contents.parts", "input.content"];

/// Writes one part of what the user or a tool says.
pub(super) fn part(block: &Block<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    match block {
        Block::Text(text) | Block::Refusal(text) => words(text, w),
        Block::Image(media) => image(media, context, w)?,
        Block::Document(file) => document(file, context, w)?,
        Block::WebSearch { query, hits, .. } => words(&search_summary(query, hits), w),
        Block::Audio(_) | Block::Video(_) => context.lose(SOUND, Weight::Major, "the provider takes no sound or film here"),
        Block::Unknown { shape: Shape::Responses, raw, .. } => w.raw(&raw.0),
        Block::Unknown { .. } | Block::ToolCall(_) | Block::ToolResult(_) | Block::Reasoning { .. } | Block::Redacted(_) => {
            context.lose(OTHER, Weight::Major, "the provider has no such content");
        }
    }
    Ok(())
}

fn words(text: &Text<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("type", "input_text");
    w.text_field("text", text);
    w.end_object();
}

fn image(media: &Media<'_>, context: &Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    let store = "the picture is in a store the provider cannot reach";
    match &media.source {
        Source::Base64 { .. } | Source::Url { .. } | Source::File { shape: Shape::ChatCompletions | Shape::Responses, .. } => {}
        Source::File { .. } | Source::Text(_) | Source::Blocks(_) => return Err(context.unsupported(IMAGE, store)),
    }
    let kind = match &media.source {
        Source::Base64 { media_type, data } => Some(picture_type(media_type, data, context)?),
        Source::Url { .. } | Source::File { .. } | Source::Text(_) | Source::Blocks(_) => None,
    };
    w.begin_object();
    w.str_field("type", "input_image");
    match (&media.source, kind) {
        (Source::Base64 { data, .. }, Some(kind)) => {
            w.key("image_url");
            data_url(&kind, data, w);
        }
        (Source::Url { url, .. }, _) => w.text_field("image_url", url),
        (Source::File { id, .. }, _) => w.text_field("file_id", id),
        _ => {}
    }
    w.text_field("detail", media.detail.as_ref().unwrap_or(&Text::from("auto")));
    w.end_object();
    Ok(())
}

fn document(file: &Document<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    if let Some(text) = document_text(file, context)? {
        words(&text, w);
        return Ok(());
    }
    if let Some(text) = &file.context {
        words(text, w);
    }
    match &file.source {
        Source::Blocks(blocks) => return blocks.iter().try_for_each(|block| part(block, context, w)),
        Source::Base64 { media_type, data } => {
            let kind = sniff(data).map_or_else(|| media_type.as_ref(), Text::from);
            if kind.decode().starts_with("image/") {
                let source = Source::Base64 { media_type: kind, data: data.as_ref() };
                return image(&Media { source, detail: None }, context, w);
            }
            let kind = if kind.is_empty() { Text::from("application/pdf") } else { kind };
            w.begin_object();
            w.str_field("type", "input_file");
            w.text_field("filename", &file_name(file.title.as_ref(), &kind));
            w.key("file_data");
            data_url(&kind, data, w);
        }
        Source::Url { url, .. } => {
            w.begin_object();
            w.str_field("type", "input_file");
            w.text_field("file_url", url);
        }
        Source::File { shape: Shape::ChatCompletions | Shape::Responses, id, .. } => {
            w.begin_object();
            w.str_field("type", "input_file");
            w.text_field("file_id", id);
        }
        Source::File { .. } | Source::Text(_) => {
            return Err(context.unsupported(FILE, "the document is in a store the provider cannot reach"));
        }
    }
    w.end_object();
    Ok(())
}
