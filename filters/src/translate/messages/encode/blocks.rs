//! Turns and their blocks.

use crate::canonical::{Arguments, Block, Document, Media, Role, Source, Text, ToolCall, ToolResult, Turn};
use crate::shape::Shape;
use crate::translate::Adaptations;
use crate::translate::map::{ids, names};
use crate::wire::json::Writer;

pub(super) fn turns(turns: &[Turn<'_>], w: &mut Writer<'_>, adaptations: &mut Adaptations) {
    w.array("messages", |w| {
        for turn in turns {
            w.begin_object();
            w.str_field("role", if turn.role == Role::Assistant { "assistant" } else { "user" });
            w.array("content", |w| turn.blocks.iter().for_each(|one| block(one, w, adaptations)));
            w.end_object();
        }
    });
}

pub(super) fn text(text: &Text<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("type", "text");
    w.text_field("text", text);
    w.end_object();
}

fn block(block: &Block<'_>, w: &mut Writer<'_>, adaptations: &mut Adaptations) {
    match block {
        Block::Text(words) | Block::Refusal(words) => text(words, w),
        Block::Image(picture) => image(picture, w),
        Block::Document(file) => document(file, w, adaptations),
        Block::ToolCall(one) => call(one, w, adaptations),
        Block::ToolResult(one) => result(one, w, adaptations),
        Block::Reasoning { text, signature } => {
            w.begin_object();
            w.str_field("type", "thinking");
            w.text_field("thinking", text);
            if let Some(signature) = signature {
                w.text_field("signature", &signature.value);
            }
            w.end_object();
        }
        Block::Redacted(signature) => {
            w.begin_object();
            w.str_field("type", "redacted_thinking");
            w.text_field("data", &signature.value);
            w.end_object();
        }
        Block::Unknown { raw, .. } => w.raw(&raw.0),
        // Left out or said in words before.
        Block::Audio(_) | Block::Video(_) | Block::WebSearch { .. } => {}
    }
}

fn image(picture: &Media<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("type", "image");
    source(&picture.source, w);
    w.end_object();
}

fn document(file: &Document<'_>, w: &mut Writer<'_>, adaptations: &mut Adaptations) {
    w.begin_object();
    w.str_field("type", "document");
    match &file.source {
        Source::Blocks(blocks) => w.object("source", |w| {
            w.str_field("type", "content");
            w.array("content", |w| blocks.iter().for_each(|one| block(one, w, adaptations)));
        }),
        Source::Base64 { .. } | Source::Url { .. } | Source::File { .. } | Source::Text(_) => source(&file.source, w),
    }
    for (name, value) in [("title", &file.title), ("context", &file.context)] {
        if let Some(value) = value.as_ref().filter(|value| !value.is_blank()) {
            w.text_field(name, value);
        }
    }
    w.end_object();
}

fn source(source: &Source<'_>, w: &mut Writer<'_>) {
    w.object("source", |w| match source {
        Source::Base64 { media_type, data } => {
            w.str_field("type", "base64");
            w.text_field("media_type", media_type);
            w.text_field("data", data);
        }
        Source::Url { url, .. } => {
            w.str_field("type", "url");
            w.text_field("url", url);
        }
        Source::File { id, .. } => {
            w.str_field("type", "file");
            w.text_field("file_id", id);
        }
        Source::Text(text) => {
            w.str_field("type", "text");
            w.str_field("media_type", "text/plain");
            w.text_field("data", text);
        }
        Source::Blocks(_) => {}
    });
}

fn call(call: &ToolCall<'_>, w: &mut Writer<'_>, adaptations: &mut Adaptations) {
    w.begin_object();
    w.str_field("type", "tool_use");
    w.text_field("id", &ids::for_messages(call.id.as_ref()));
    w.text_field("name", &names::sent(Shape::Messages, &call.name, adaptations));
    w.key("input");
    match &call.arguments {
        Arguments::Json(raw) => w.raw(&raw.0),
        Arguments::Text(_) => w.raw(b"{}"),
    }
    w.end_object();
}

fn result(result: &ToolResult<'_>, w: &mut Writer<'_>, adaptations: &mut Adaptations) {
    w.begin_object();
    w.str_field("type", "tool_result");
    w.text_field("tool_use_id", &ids::for_messages(result.id.as_ref()));
    match result.content.as_slice() {
        [] => {}
        [Block::Text(text)] => w.text_field("content", text),
        blocks => w.array("content", |w| blocks.iter().for_each(|one| block(one, w, adaptations))),
    }
    if result.failed {
        w.bool_field("is_error", true);
    }
    w.end_object();
}
