//! Results of tools. The dialect takes text only; whatever else they hold follows in a message of the user.

use std::borrow::Cow;

use super::conversation::{Attachments, misplaced};
use super::media::document_text;
use crate::canonical::{Block, Refusal, Text, ToolResult};
use crate::translate::map::context::Context;
use crate::translate::map::search::summary;
use crate::wire::json::{Kind, Value, compact};

const FAILED: &str = "Error: ";

/// The texts that make up the content, to be put together as they are.
pub(super) fn texts<'a>(
    answer: ToolResult<'a>,
    id: &Text<'a>,
    shown: &mut Attachments<'a>,
    context: &mut Context<'_>,
) -> Result<Vec<Text<'a>>, Refusal> {
    let mut lines: Vec<Text<'a>> = Vec::new();
    let mut failed = answer.failed;
    if let Some(object) = &answer.object {
        let (text, told) = object_text(object.value());
        lines.push(text.into_owned());
        failed |= told;
    }
    for block in answer.content {
        line(block, id, &mut lines, shown, context)?;
    }
    if failed && !lines.first().is_some_and(|line| line.decode().starts_with(FAILED.trim_end())) {
        lines.insert(0, Text::from(FAILED));
        return Ok(separated(lines, 1));
    }
    Ok(separated(lines, 0))
}

/// Line ends between the texts, from the second after `first` on.
fn separated(lines: Vec<Text<'_>>, first: usize) -> Vec<Text<'_>> {
    let ended = lines.into_iter().enumerate().flat_map(|(at, line)| [(at > first).then(|| Text::from("\n")), Some(line)]);
    ended.flatten().collect()
}

fn line<'a>(
    block: Block<'a>,
    id: &Text<'a>,
    lines: &mut Vec<Text<'a>>,
    shown: &mut Attachments<'a>,
    context: &mut Context<'_>,
) -> Result<(), Refusal> {
    match block {
        Block::Text(text) | Block::Refusal(text) => lines.push(text),
        Block::Document(document) => match document_text(&document, context)? {
            Some(text) => lines.push(text),
            None => attach("file", Block::Document(document), id, lines, shown),
        },
        Block::Image(_) => attach("image", block, id, lines, shown),
        Block::Audio(_) | Block::Video(_) => attach("file", block, id, lines, shown),
        Block::WebSearch { query, hits, .. } => lines.push(summary(&query, &hits)),
        Block::Unknown { raw, .. } => lines.push(Text::from(String::from_utf8_lossy(&compact(&raw.0)).into_owned())),
        Block::ToolCall(_) | Block::ToolResult(_) | Block::Reasoning { .. } | Block::Redacted(_) => misplaced(&block, context),
    }
    Ok(())
}

fn attach<'a>(what: &str, block: Block<'a>, id: &Text<'a>, lines: &mut Vec<Text<'a>>, shown: &mut Attachments<'a>) {
    lines.push(Text::from(format!("[{what} returned by tool call {}, shown below]", id.decode())));
    shown.push((id.clone(), block));
}

/// What a generate-content client's object says, and whether it tells of a failure: the text of `{output}` or `{result}`, that of
/// `{error}`, or the object itself.
pub(in crate::translate) fn object_text(object: Value<'_>) -> (Text<'_>, bool) {
    let json = || Text::Plain(Cow::Owned(String::from_utf8_lossy(&compact(object.bytes())).into_owned()));
    let mut members = object.members();
    let (Some(only), None) = (members.next(), members.next()) else { return (json(), false) };
    let value = only.json();
    match (&*only.key(), value.kind()) {
        ("output" | "result", Kind::String) => (value.text().unwrap_or_else(json), false),
        ("error", Kind::String) => (value.text().unwrap_or_else(json), true),
        ("error", _) => (Text::from(String::from_utf8_lossy(&compact(value.bytes())).into_owned()), true),
        _ => (json(), false),
    }
}
