//! Chat completions, and answers of legacy completions.

use super::item::Item;
use super::walk::{Dialect, Reading, Voice, Walk};

const DIALECT: Dialect = Dialect { block: |_, _| None, member };

pub(super) fn request(walk: &mut Walk<'_>, document: Item<'_>) {
    for (member, value) in document.members() {
        match &*member.name() {
            b"messages" => value.elements().for_each(|message| walk.texts(&DIALECT, voice(message), message)),
            b"prediction" => walk.texts(&DIALECT, Voice::Said, value),
            _ => {}
        }
    }
}

pub(super) fn answer(walk: &mut Walk<'_>, document: Item<'_>) {
    for (_, choices) in document.members().filter(|(member, _)| member.is("choices")) {
        walk.texts(&DIALECT, Voice::Said, choices);
    }
}

fn voice(message: Item<'_>) -> Voice {
    match message.get("role").str().as_deref() {
        Some("system" | "developer") => Voice::System,
        Some("tool" | "function") => Voice::Result,
        _ => Voice::Said,
    }
}

fn member(key: &[u8], _: &str) -> Option<Reading> {
    Some(match key {
        b"arguments" => Reading::OwnInString(Voice::Call),
        b"input" => Reading::Own(Voice::Call),
        b"reasoning_content" | b"reasoning" | b"reasoning_details" | b"thinking" | b"thinking_blocks" => Reading::Blocks(Voice::Thought),
        b"file" => Reading::Blocks(Voice::Document),
        _ => return None,
    })
}
