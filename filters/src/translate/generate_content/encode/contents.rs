//! `contents`: turns of the user and the model.

use std::borrow::Cow;

use super::{Context, parts, results};
use crate::canonical::{Arguments, Block, Refusal, Role, Text, ToolCall, ToolResult, Turn};
use crate::shape::Shape;
use crate::translate::map::names;
use crate::wire::json::Writer;

/// Stands, in the vendor's own words, for a token that is not to be had.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Writes the turns. Results of functions stand alone in their content; what else the user says follows in one of its own.
pub(super) fn write(turns: &[Turn<'_>], w: &mut Writer<'_>, context: &mut Context<'_>) -> Result<(), Refusal> {
    w.key("contents");
    w.begin_array();
    let mut calls: Vec<Text<'_>> = Vec::new();
    for turn in turns {
        if turn.role == Role::Assistant {
            calls = turn.blocks.iter().filter_map(call_id).collect();
            model(&turn.blocks, w, context)?;
        } else {
            user(&turn.blocks, &calls, w, context)?;
        }
    }
    w.end_array();
    Ok(())
}

fn call_id<'a>(block: &Block<'a>) -> Option<Text<'a>> {
    if let Block::ToolCall(call) = block { Some(call.id.clone()) } else { None }
}

fn open(role: &str, w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("role", role);
    w.key("parts");
    w.begin_array();
}

fn close(w: &mut Writer<'_>) {
    w.end_array();
    w.end_object();
}

fn user(blocks: &[Block<'_>], calls: &[Text<'_>], w: &mut Writer<'_>, context: &mut Context<'_>) -> Result<(), Refusal> {
    let mut answers: Vec<&ToolResult<'_>> =
        blocks.iter().filter_map(|block| if let Block::ToolResult(result) = block { Some(result) } else { None }).collect();
    // The vendor wants results in the order of their calls.
    answers.sort_by_key(|result| calls.iter().position(|id| *id == result.id).unwrap_or(usize::MAX));
    let mut shown = Vec::new();
    if !answers.is_empty() {
        open("user", w);
        for answer in &answers {
            if let Some(media) = results::write(answer, w, context)? {
                shown.push(media);
            }
        }
        close(w);
    }
    let said = || blocks.iter().filter(|block| !matches!(block, Block::ToolResult(_)));
    if shown.is_empty() && said().next().is_none() {
        return Ok(());
    }
    open("user", w);
    for (label, media) in shown {
        parts::text(&Text::from(label), w);
        for block in media {
            parts::write(block, w, context)?;
        }
    }
    for block in said() {
        parts::write(block, w, context)?;
    }
    close(w);
    Ok(())
}

/// A part of the model's turn and the token that belongs to it.
struct Part<'p, 'a> {
    block: &'p Block<'a>,
    signature: Option<&'p Text<'a>>,
}

fn model(blocks: &[Block<'_>], w: &mut Writer<'_>, context: &mut Context<'_>) -> Result<(), Refusal> {
    let parts = signed(blocks, context);
    let mut first_call = context.target.capabilities.signatures;
    open("model", w);
    for part in parts {
        let signature = part.signature.map(Text::decode);
        let signature = match part.block {
            Block::ToolCall(_) if std::mem::take(&mut first_call) => Some(signature.unwrap_or(Cow::Borrowed(NO_SIGNATURE))),
            _ => signature,
        };
        match part.block {
            Block::ToolCall(call) => self::call(call, signature.as_deref(), w, context)?,
            Block::Text(text) | Block::Reasoning { text, .. } => {
                // Reasoning is here for its token only.
                let nothing = Text::from("");
                let text = if matches!(part.block, Block::Text(_)) { text } else { &nothing };
                parts::signed_text(text, signature.as_deref(), w);
            }
            block => parts::write(block, w, context)?,
        }
    }
    close(w);
    Ok(())
}

/// Finds the part each token belongs to. Clients of other shapes keep tokens in blocks of reasoning: that of a call before it,
/// that of a text after it.
fn signed<'p, 'a>(blocks: &'p [Block<'a>], context: &Context<'_>) -> Vec<Part<'p, 'a>> {
    let mut parts: Vec<Part<'p, 'a>> = Vec::with_capacity(blocks.len());
    let mut waiting: Option<&'p Block<'a>> = None;
    for (index, block) in blocks.iter().enumerate() {
        match block {
            Block::Reasoning { signature: Some(signature), .. } => {
                let unsigned = |block: &Block<'_>| matches!(block, Block::ToolCall(call) if call.signature.is_none());
                let for_call = blocks.get(index + 1).is_some_and(unsigned);
                match parts.last_mut() {
                    Some(last) if !for_call && last.signature.is_none() && matches!(last.block, Block::Text(_)) => {
                        last.signature = Some(&signature.value);
                    }
                    _ => {
                        flush(&mut waiting, &mut parts);
                        waiting = Some(block);
                    }
                }
            }
            Block::ToolCall(ToolCall { signature: Some(signature), .. }) if context.minted(signature) => {
                flush(&mut waiting, &mut parts);
                parts.push(Part { block, signature: Some(&signature.value) });
            }
            Block::ToolCall(_) | Block::Text(_) => {
                let signature = waiting.take().and_then(token);
                parts.push(Part { block, signature });
            }
            _ => parts.push(Part { block, signature: None }),
        }
    }
    flush(&mut waiting, &mut parts);
    parts
}

fn token<'p, 'a>(block: &'p Block<'a>) -> Option<&'p Text<'a>> {
    if let Block::Reasoning { signature: Some(signature), .. } = block { Some(&signature.value) } else { None }
}

/// A token without a part to belong to gets an empty text.
fn flush<'p, 'a>(waiting: &mut Option<&'p Block<'a>>, parts: &mut Vec<Part<'p, 'a>>) {
    if let Some(block) = waiting.take() {
        parts.push(Part { block, signature: token(block) });
    }
}

fn call(call: &ToolCall<'_>, signature: Option<&str>, w: &mut Writer<'_>, context: &mut Context<'_>) -> Result<(), Refusal> {
    let name = names::sent(Shape::GenerateContent, &call.name, context.adaptations);
    w.begin_object();
    w.key("functionCall");
    w.begin_object();
    if context.target.capabilities.call_ids {
        w.text_field("id", &call.id);
    }
    w.text_field("name", &name);
    arguments(call, w, context)?;
    w.end_object();
    if let Some(signature) = signature {
        w.str_field("thoughtSignature", signature);
    }
    w.end_object();
    Ok(())
}

fn arguments(call: &ToolCall<'_>, w: &mut Writer<'_>, context: &Context<'_>) -> Result<(), Refusal> {
    w.key("args");
    if call.custom {
        let text = match &call.arguments {
            Arguments::Text(text) => text.clone(),
            Arguments::Json(raw) => raw.value().text().map_or_else(|| Text::from(raw.as_text().into_owned()), Text::into_owned),
        };
        w.begin_object();
        w.text_field("input", &text);
        w.end_object();
        return Ok(());
    }
    match call.arguments.object() {
        Ok(object) => {
            w.raw(&object);
            Ok(())
        }
        Err(_) => {
            let field = context.term([
                "messages.tool_calls.function.arguments",
                "messages.content.input",
                "contents.parts.functionCall.args",
                "input.arguments",
            ]);
            let message = format!("the arguments of the call of `{}` are no JSON object", call.name.decode());
            Err(Refusal::invalid(field, message))
        }
    }
}
