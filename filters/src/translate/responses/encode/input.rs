//! The conversation as items.

use super::media;
use super::tools::Plan;
use crate::canonical::{Arguments, Block, Refusal, Role, Signature, Text, ToolCall, ToolResult, Turn, Weight};
use crate::shape::Shape;
use crate::translate::chat_completions::kin::{compact, object_text, search_summary};
use crate::translate::map::context::{Context, Names};
use crate::translate::map::ids::for_chat;
use crate::wire::json::Writer;

const CONTENT: Names = ["messages.content", "messages.content", "contents.parts", "input.content"];
const REASONING: Names = ["messages.reasoning_content", "messages.content.thinking", "contents.parts.thought", "input.reasoning"];

pub(super) fn write(turns: Vec<Turn<'_>>, tools: &Plan<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    w.begin_array();
    for turn in turns {
        match turn.role {
            Role::System => message("developer", turn.blocks, context, w)?,
            Role::User => user(turn.blocks, tools, context, w)?,
            Role::Assistant => assistant(turn.blocks, tools, context, w)?,
        }
    }
    w.end_array();
    Ok(())
}

/// Results first, then what the user says.
fn user(blocks: Vec<Block<'_>>, tools: &Plan<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    let (results, said): (Vec<_>, Vec<_>) = blocks.into_iter().partition(|block| matches!(block, Block::ToolResult(_)));
    for block in results {
        if let Block::ToolResult(answer) = block {
            result(answer, tools, context, w)?;
        }
    }
    if said.is_empty() { Ok(()) } else { message("user", said, context, w) }
}

/// Empty texts are left out, and so are instructions without anything else.
fn message(role: &str, mut blocks: Vec<Block<'_>>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    blocks.retain(|block| !matches!(block, Block::Text(text) if text.is_empty()));
    if blocks.is_empty() && role != "user" {
        return Ok(());
    }
    w.begin_object();
    w.str_field("role", role);
    w.key("content");
    content(&blocks, context, w)?;
    w.end_object();
    Ok(())
}

/// What a message or a result holds: a string where that says it.
fn content(blocks: &[Block<'_>], context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    match blocks {
        [] => w.str(""),
        [Block::Text(text)] => w.text(text),
        _ => {
            w.begin_array();
            for block in blocks {
                media::part(block, context, w)?;
            }
            w.end_array();
        }
    }
    Ok(())
}

fn assistant(blocks: Vec<Block<'_>>, tools: &Plan<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    let mut said: Vec<Said<'_>> = Vec::new();
    for block in blocks {
        match block {
            Block::Text(text) if text.is_empty() => {}
            Block::Text(text) => said.push(Said::Text(text)),
            Block::Refusal(text) => said.push(Said::Refusal(text)),
            Block::WebSearch { query, hits, .. } => said.push(Said::Text(search_summary(&query, &hits))),
            Block::ToolCall(one) => {
                speak(&mut said, w);
                call(&one, tools, context, w)?;
            }
            Block::Reasoning { text, signature } => {
                speak(&mut said, w);
                reasoning(&text, signature.as_ref(), context, w);
            }
            Block::Redacted(signature) => {
                speak(&mut said, w);
                reasoning(&Text::from(""), Some(&signature), context, w);
            }
            Block::Image(_) | Block::Document(_) | Block::Audio(_) | Block::Video(_) => {
                context.lose(CONTENT, Weight::Minor, "what the model showed cannot be sent back");
            }
            Block::Unknown { raw, .. } if context.from == Shape::Responses => {
                speak(&mut said, w);
                w.raw(&raw.0);
            }
            Block::Unknown { .. } | Block::ToolResult(_) => context.lose(CONTENT, Weight::Major, "the provider has no such content"),
        }
    }
    speak(&mut said, w);
    Ok(())
}

enum Said<'a> {
    Text(Text<'a>),
    Refusal(Text<'a>),
}

/// Writes what was said so far as one message.
fn speak(said: &mut Vec<Said<'_>>, w: &mut Writer<'_>) {
    if said.is_empty() {
        return;
    }
    w.begin_object();
    w.str_field("role", "assistant");
    w.array("content", |w| {
        for one in said.drain(..) {
            let (kind, field, text) = match &one {
                Said::Text(text) => ("output_text", "text", text),
                Said::Refusal(text) => ("refusal", "refusal", text),
            };
            w.begin_object();
            w.str_field("type", kind);
            w.text_field(field, text);
            w.end_object();
        }
    });
    w.end_object();
}

fn call(call: &ToolCall<'_>, tools: &Plan<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    let name = context.name(&call.name);
    let custom = call.custom && tools.is_custom(&name);
    w.begin_object();
    w.str_field("type", if custom { "custom_tool_call" } else { "function_call" });
    w.text_field("call_id", &for_chat(call.id.clone()));
    w.text_field("name", &name);
    w.key(if custom { "input" } else { "arguments" });
    match &call.arguments {
        Arguments::Text(text) if custom => w.text(text),
        _ if call.custom => {
            let mut object = Vec::new();
            let mut inner = Writer::new(&mut object);
            inner.begin_object();
            if let Arguments::Text(text) = &call.arguments {
                inner.text_field("input", text);
            }
            inner.end_object();
            w.str(&String::from_utf8_lossy(&object));
        }
        arguments => {
            let object = arguments.object().map_err(|error| Refusal::invalid("messages.tool_calls", error.to_string()))?;
            w.str(&String::from_utf8_lossy(&compact(&object)));
        }
    }
    w.end_object();
    Ok(())
}

/// Reasoning goes back to the provider and model that sealed it, and nowhere else.
fn reasoning(text: &Text<'_>, signature: Option<&Signature<'_>>, context: &mut Context<'_>, w: &mut Writer<'_>) {
    let Some(token) = context.own(signature) else {
        return context.lose(REASONING, Weight::Silent, "reasoning goes back only to the provider and model that made it");
    };
    w.begin_object();
    w.str_field("type", "reasoning");
    w.array("summary", |w| {
        if !text.is_empty() {
            w.begin_object();
            w.str_field("type", "summary_text");
            w.text_field("text", text);
            w.end_object();
        }
    });
    w.text_field("encrypted_content", token);
    w.end_object();
}

fn result(result: ToolResult<'_>, tools: &Plan<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    let custom = result.name.as_ref().is_some_and(|name| tools.is_custom(&context.name(name)));
    w.begin_object();
    w.str_field("type", if custom { "custom_tool_call_output" } else { "function_call_output" });
    w.text_field("call_id", &for_chat(result.id.clone()));
    w.key("output");
    let told = result.object.as_ref().map(|object| object_text(object.value()));
    let failed = result.failed || told.as_ref().is_some_and(|(_, failed)| *failed);
    let mut blocks: Vec<Block<'_>> = told.map(|(text, _)| Block::Text(text.into_owned())).into_iter().collect();
    blocks.extend(result.content);
    if failed {
        mark(&mut blocks);
    }
    content(&blocks, context, w)?;
    w.end_object();
    Ok(())
}

/// Says that the tool failed, unless it says so itself.
fn mark(blocks: &mut Vec<Block<'_>>) {
    const FAILED: &str = "Error:";
    match blocks.first_mut() {
        Some(Block::Text(text)) if text.decode().starts_with(FAILED) => {}
        Some(Block::Text(text)) => *text = Text::from(format!("{FAILED} {}", text.decode())),
        _ => blocks.insert(0, Block::Text(Text::from(FAILED))),
    }
}
