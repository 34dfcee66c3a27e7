//! The conversation as messages.

use super::tools::Plan;
use super::{assistant, media, results};
use crate::canonical::{Block, Refusal, Role, Text, ToolResult, Turn, Weight};
use crate::translate::map::context::Context;
use crate::translate::map::ids;
use crate::wire::json::Writer;

/// Things that results of tools hold beside text, which this dialect can show in a message of the user only.
pub(super) type Attachments<'a> = Vec<(Text<'a>, Block<'a>)>;

/// Moves instructions that stand between calls and their results behind the results: providers allow nothing in between.
pub(super) fn settle_order(turns: &mut [Turn<'_>]) {
    let answers = |turn: &Turn<'_>| turn.role == Role::User && turn.blocks.iter().any(|block| matches!(block, Block::ToolResult(_)));
    for at in 1..turns.len() {
        let mut to = at;
        while turns.get(to).is_some_and(answers) && to > 0 && turns.get(to - 1).is_some_and(|turn| turn.role == Role::System) {
            turns.swap(to, to - 1);
            to -= 1;
        }
    }
}

pub(super) fn write(turns: Vec<Turn<'_>>, tools: &Plan<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    let mut shown: Attachments<'_> = Vec::new();
    let mut turns = turns.into_iter().peekable();
    w.begin_array();
    while let Some(turn) = turns.next() {
        match turn.role {
            Role::System => {
                let mut blocks = turn.blocks;
                while let Some(next) = turns.next_if(|next| next.role == Role::System) {
                    blocks.extend(next.blocks);
                }
                user(&mut shown, Vec::new(), context, w)?;
                system(blocks, context, w)?;
            }
            Role::User => {
                let (answers, rest): (Vec<_>, Vec<_>) = turn.blocks.into_iter().partition(|block| matches!(block, Block::ToolResult(_)));
                let only_answers = !answers.is_empty() && rest.is_empty();
                for block in answers {
                    if let Block::ToolResult(answer) = block {
                        tool(answer, &mut shown, context, w)?;
                    }
                }
                if !only_answers {
                    user_turn(&mut shown, rest, context, w)?;
                }
            }
            Role::Assistant => {
                user(&mut shown, Vec::new(), context, w)?;
                assistant::write(turn.blocks, tools, context, w);
            }
        }
    }
    user(&mut shown, Vec::new(), context, w)?;
    w.end_array();
    Ok(())
}

fn system(blocks: Vec<Block<'_>>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    let mut texts = Vec::with_capacity(blocks.len());
    for block in blocks {
        match block {
            Block::Text(text) if text.is_empty() => {}
            Block::Text(text) => texts.push(text),
            _ => {
                return Err(
                    context.unsupported(["messages", "system", "systemInstruction", "instructions"], "instructions can hold text only")
                );
            }
        }
    }
    if texts.is_empty() {
        return Ok(());
    }
    let developer = context.target.quirks.developer_role && context.target.capabilities.reasoning_model;
    w.begin_object();
    w.str_field("role", if developer { "developer" } else { "system" });
    w.key("content");
    // Copies of the vendor's API often take one text only.
    if context.target.quirks.vendor && texts.len() > 1 {
        w.begin_array();
        texts.iter().for_each(|text| media::text(text, w));
        w.end_array();
    } else {
        joined(&texts, "\n\n", w);
    }
    w.end_object();
    Ok(())
}

/// Writes texts as one string.
pub(super) fn joined(texts: &[Text<'_>], between: &'static str, w: &mut Writer<'_>) {
    let between = Text::from(between);
    let parts = texts.iter().enumerate().flat_map(|(at, text)| [(at > 0).then_some(&between), Some(text)]);
    w.texts(parts.flatten());
}

fn tool<'a>(answer: ToolResult<'a>, shown: &mut Attachments<'a>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    let id = ids::for_chat(answer.id.clone());
    let texts = results::texts(answer, &id, shown, context)?;
    w.begin_object();
    w.str_field("role", "tool");
    w.text_field("tool_call_id", &id);
    w.key("content");
    joined(&texts, "", w);
    w.end_object();
    Ok(())
}

fn user_turn<'a>(
    shown: &mut Attachments<'a>,
    blocks: Vec<Block<'a>>,
    context: &mut Context<'_>,
    w: &mut Writer<'_>,
) -> Result<(), Refusal> {
    let empty = shown.is_empty() && blocks.iter().all(|block| matches!(block, Block::Text(text) if text.is_empty()));
    if empty {
        w.begin_object();
        w.str_field("role", "user");
        w.str_field("content", "");
        w.end_object();
        return Ok(());
    }
    user(shown, blocks, context, w)
}

/// Writes a message of the user: first what results of tools showed, each with a label, then the rest. Nothing where there is nothing.
fn user<'a>(shown: &mut Attachments<'a>, blocks: Vec<Block<'a>>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    let mut parts: Vec<Block<'a>> = Vec::with_capacity(shown.len() * 2 + blocks.len());
    for (id, block) in shown.drain(..) {
        let what = if matches!(block, Block::Image(_)) { "image" } else { "file" };
        parts.push(Block::Text(Text::from(format!("[{what} returned by tool call {}]", id.decode()))));
        parts.push(block);
    }
    parts.extend(blocks.into_iter().filter(|block| !matches!(block, Block::Text(text) if text.is_empty())));
    if parts.is_empty() {
        return Ok(());
    }
    w.begin_object();
    w.str_field("role", "user");
    w.key("content");
    if let [Block::Text(text)] = parts.as_slice() {
        w.text(text);
    } else {
        w.begin_array();
        for part in &parts {
            media::part(part, context, w)?;
        }
        w.end_array();
    }
    w.end_object();
    Ok(())
}

/// Notes a block that has no place where it stands.
pub(super) fn misplaced(block: &Block<'_>, context: &mut Context<'_>) {
    let (kind, weight) = match block {
        Block::Unknown { kind, .. } => (kind.decode().into_owned(), Weight::Major),
        Block::Image(_) => ("image".to_owned(), Weight::Minor),
        Block::Document(_) => ("document".to_owned(), Weight::Minor),
        Block::Audio(_) => ("audio".to_owned(), Weight::Minor),
        Block::Video(_) => ("video".to_owned(), Weight::Minor),
        Block::Reasoning { .. } | Block::Redacted(_) => ("reasoning".to_owned(), Weight::Silent),
        Block::Text(_) | Block::ToolCall(_) | Block::ToolResult(_) | Block::Refusal(_) | Block::WebSearch { .. } => {
            ("tool".to_owned(), Weight::Minor)
        }
    };
    let place = context.term(["messages.content", "messages.content", "contents.parts", "input"]);
    context.losses.note(format!("{place}.{kind}"), weight, "chat completions has no place for it in this message");
}
