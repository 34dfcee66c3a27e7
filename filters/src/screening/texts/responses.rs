//! Responses.

use super::item::{Field, Item};
use super::walk::{Dialect, Reading, Voice, Walk};
use crate::wire::json::Kind;

const DIALECT: Dialect = Dialect { block, member };

pub(super) fn request(walk: &mut Walk<'_>, document: Item<'_>) {
    for (member, value) in document.members() {
        match &*member.name() {
            b"instructions" => walk.texts(&DIALECT, Voice::System, value),
            b"input" if value.kind == Kind::Array => value.elements().for_each(|item| walk.texts(&DIALECT, voice(item), item)),
            b"input" => walk.texts(&DIALECT, Voice::Said, value),
            b"prompt" => variables(walk, value),
            _ => {}
        }
    }
}

/// What is filled into a prompt that is kept with the provider; the keys are the client's own.
fn variables(walk: &mut Walk<'_>, prompt: Item<'_>) {
    for (_, variables) in prompt.members().filter(|(member, _)| member.is("variables")) {
        variables.members().for_each(|(_, value)| walk.texts(&DIALECT, Voice::Said, value));
    }
}

pub(super) fn answer(walk: &mut Walk<'_>, document: Item<'_>) {
    for (_, output) in document.members().filter(|(member, _)| member.is("output")) {
        walk.texts(&DIALECT, Voice::Said, output);
    }
}

/// The voice of an item that is a message; others tell by their type.
fn voice(item: Item<'_>) -> Voice {
    match (item.get("role").str().as_deref(), item.get("type").str().as_deref()) {
        (Some("system" | "developer"), None | Some("message")) => Voice::System,
        _ => Voice::Said,
    }
}

fn block(_: &[Field<'_>], kind: &str) -> Option<Voice> {
    match kind {
        "reasoning" => Some(Voice::Thought),
        "input_file" => Some(Voice::Document),
        _ if kind.ends_with("_call") => Some(Voice::Call),
        _ if kind.ends_with("_call_output") => Some(Voice::Result),
        _ => None,
    }
}

fn member(key: &[u8], kind: &str) -> Option<Reading> {
    Some(match key {
        b"arguments" => Reading::OwnInString(Voice::Call),
        b"input" => Reading::Own(Voice::Call),
        // A picture.
        b"result" if kind == "image_generation_call" => Reading::Skip,
        b"output" | b"outputs" | b"results" | b"error" => Reading::Blocks(Voice::Result),
        _ => return None,
    })
}
