//! The rules of a conversation that providers enforce and clients bend: every call answered, turns that alternate.

use std::borrow::Cow;
use std::collections::HashMap;

use super::ids;
use crate::canonical::{Block, Losses, Refusal, Role, Text, ToolCall, ToolResult, Turn, Weight};

/// Said by the user where the conversation starts with the model.
const OPENING: &str = "Please continue.";
/// Stands for a user turn without content.
const NOTHING: &str = "(empty)";
/// Stands for a result the client did not give.
const NO_RESULT: &str = "No result was provided by the client.";

/// A conversation whose turns alternate, the user first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation<'a> {
    /// The texts of all instructions, in order; none is blank.
    pub system: Vec<Text<'a>>,
    /// Turns of the user and the model in alternation. No turn and no text in them is blank; results of tools come first in
    /// their turn, in the order of the calls.
    pub turns: Vec<Turn<'a>>,
}

/// An open call: its place, and what answers it.
struct Open<'a> {
    id: Text<'a>,
    name: Text<'a>,
    answered: bool,
}

/// Gives every call and every result its id and name, and every call a result.
///
/// Calls without an id are numbered by their place; a result without an id answers the first open call of its name, or else the
/// first open call. Ids used twice in one turn are told apart. A call without a result gets one that says so, which is noted.
///
/// # Errors
/// When a result answers no call of the turn before it.
pub fn pair<'a>(turns: &mut Vec<Turn<'a>>, losses: &mut Losses) -> Result<(), Refusal> {
    let mut open: Vec<Open<'a>> = Vec::new();
    let mut paired: Vec<Turn<'a>> = Vec::with_capacity(turns.len());
    let mut assistant_turns = 0;
    for (index, mut turn) in std::mem::take(turns).into_iter().enumerate() {
        match turn.role {
            Role::Assistant => {
                close(&mut open, &mut paired, losses);
                number(&mut turn, assistant_turns, &mut open);
                assistant_turns += 1;
            }
            Role::User => {
                answer(&mut turn, index, &mut open)?;
                let waits = turn.blocks.iter().any(|block| !matches!(block, Block::ToolResult(_)));
                if waits {
                    close_into(&mut open, &mut turn, losses);
                }
            }
            Role::System => {}
        }
        paired.push(turn);
    }
    close(&mut open, &mut paired, losses);
    *turns = paired;
    Ok(())
}

fn number<'a>(turn: &mut Turn<'a>, ordinal: usize, open: &mut Vec<Open<'a>>) {
    let mut seen: HashMap<String, u32> = HashMap::new();
    let calls = turn.blocks.iter_mut().filter_map(|block| if let Block::ToolCall(call) = block { Some(call) } else { None });
    for (place, call) in calls.enumerate() {
        settle_id(call, ordinal, place, &mut seen);
        open.push(Open { id: call.id.clone(), name: call.name.clone(), answered: false });
    }
}

fn settle_id(call: &mut ToolCall<'_>, ordinal: usize, place: usize, seen: &mut HashMap<String, u32>) {
    if call.id.is_empty() {
        call.id = Text::from(ids::by_position(ordinal, place, &call.name.decode()));
    }
    let id = call.id.decode().into_owned();
    let uses = seen.entry(id.clone()).or_insert(0);
    *uses += 1;
    if *uses > 1 {
        call.id = Text::from(format!("{id}_{uses}"));
    }
}

/// Finds the call each result answers.
fn answer<'a>(turn: &mut Turn<'a>, index: usize, open: &mut [Open<'a>]) -> Result<(), Refusal> {
    for (place, block) in turn.blocks.iter_mut().enumerate() {
        let Block::ToolResult(result) = block else { continue };
        let Some(call) = find(result, open) else {
            let what = if result.id.is_empty() { result.name.as_ref().map(Text::decode) } else { Some(result.id.decode()) };
            let what = what.unwrap_or(Cow::Borrowed(""));
            let message = format!("the tool result `{what}` answers no open tool call of the turn before it");
            return Err(Refusal::invalid(format!("messages[{index}].content[{place}]"), message));
        };
        call.answered = true;
        result.id = call.id.clone();
        result.name = Some(call.name.clone());
    }
    Ok(())
}

fn find<'o, 'a>(result: &ToolResult<'a>, open: &'o mut [Open<'a>]) -> Option<&'o mut Open<'a>> {
    let unanswered = |call: &Open<'a>| !call.answered;
    let place = if result.id.is_empty() {
        let named = |call: &Open<'a>| result.name.as_ref().is_some_and(|name| *name == call.name);
        open.iter().position(|call| unanswered(call) && named(call)).or_else(|| open.iter().position(unanswered))
    } else {
        // A second result for one id belongs to the call whose id was told apart by a suffix.
        let id = result.id.decode();
        let twin = |call: &Open<'a>| {
            let known = call.id.decode();
            known.strip_prefix(&*id).is_some_and(|rest| rest.strip_prefix('_').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit())))
        };
        open.iter()
            .position(|call| unanswered(call) && call.id == result.id)
            .or_else(|| open.iter().position(|call| unanswered(call) && twin(call)))
    };
    open.get_mut(place?)
}

fn missing<'a>(open: &mut Vec<Open<'a>>, losses: &mut Losses) -> Vec<Block<'a>> {
    let unanswered = open.drain(..).filter(|call| !call.answered);
    let results: Vec<Block<'a>> = unanswered
        .map(|call| {
            Block::ToolResult(ToolResult {
                id: call.id,
                name: Some(call.name),
                failed: true,
                content: vec![Block::Text(Text::from(NO_RESULT))],
                object: None,
            })
        })
        .collect();
    if !results.is_empty() {
        losses.note("messages.tool_result", Weight::Minor, "a tool call without a result was given one that says so");
    }
    results
}

/// Answers what is still open in a turn of its own, before what follows.
fn close<'a>(open: &mut Vec<Open<'a>>, turns: &mut Vec<Turn<'a>>, losses: &mut Losses) {
    let results = missing(open, losses);
    if results.is_empty() {
        return;
    }
    match turns.last_mut().filter(|turn| turn.role == Role::User) {
        Some(turn) => turn.blocks.extend(results),
        None => turns.push(Turn { role: Role::User, blocks: results }),
    }
}

/// Answers what is still open at the beginning of the user's turn.
fn close_into<'a>(open: &mut Vec<Open<'a>>, turn: &mut Turn<'a>, losses: &mut Losses) {
    let results = missing(open, losses);
    turn.blocks.splice(0..0, results);
}

/// Brings paired turns into the alternating form that messages and generate-content providers want.
///
/// # Errors
/// When instructions hold anything but text, or there is no turn at all.
pub fn alternate<'a>(turns: Vec<Turn<'a>>, losses: &mut Losses) -> Result<Conversation<'a>, Refusal> {
    let mut conversation = Conversation::default();
    let mut any = false;
    for turn in turns {
        any = true;
        match turn.role {
            Role::System => hoist(turn, &mut conversation.system)?,
            Role::User | Role::Assistant => append(turn, &mut conversation.turns, losses),
        }
    }
    if !any {
        return Err(Refusal::invalid("messages", "at least one message is required"));
    }
    for turn in conversation.turns.iter_mut().filter(|turn| turn.role == Role::User) {
        // Stable: results keep their order, and so does everything else.
        turn.blocks.sort_by_key(|block| !matches!(block, Block::ToolResult(_)));
    }
    if conversation.turns.first().is_none_or(|turn| turn.role == Role::Assistant) {
        let text = if conversation.turns.is_empty() { NOTHING } else { OPENING };
        conversation.turns.insert(0, said(text));
    }
    Ok(conversation)
}

fn said<'a>(text: &'static str) -> Turn<'a> {
    Turn { role: Role::User, blocks: vec![Block::Text(Text::from(text))] }
}

fn hoist<'a>(turn: Turn<'a>, system: &mut Vec<Text<'a>>) -> Result<(), Refusal> {
    for block in turn.blocks {
        match block {
            Block::Text(text) if text.is_blank() => {}
            Block::Text(text) => system.push(text),
            _ => return Err(Refusal::unsupported("system", "instructions can hold text only")),
        }
    }
    Ok(())
}

fn append<'a>(mut turn: Turn<'a>, turns: &mut Vec<Turn<'a>>, losses: &mut Losses) {
    turn.blocks.retain(|block| !matches!(block, Block::Text(text) if text.is_blank()));
    if turn.blocks.is_empty() {
        if turn.role == Role::Assistant {
            return;
        }
        losses.note("messages.content", Weight::Silent, "an empty message was given a placeholder");
        turn = said(NOTHING);
    }
    match turns.last_mut().filter(|last| last.role == turn.role) {
        Some(last) => last.blocks.append(&mut turn.blocks),
        None => turns.push(turn),
    }
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
