//! Messages, and the counting of their tokens.

use super::item::{Field, Item};
use super::walk::{Dialect, Reading, Voice, Walk};

const DIALECT: Dialect = Dialect { block, member };

pub(super) fn request(walk: &mut Walk<'_>, document: Item<'_>) {
    for (member, value) in document.members() {
        match &*member.name() {
            b"system" => walk.texts(&DIALECT, Voice::System, value),
            b"messages" => value.elements().for_each(|message| walk.texts(&DIALECT, voice(message), message)),
            _ => {}
        }
    }
}

pub(super) fn answer(walk: &mut Walk<'_>, document: Item<'_>) {
    for (_, value) in document.members().filter(|(member, _)| member.is("content") || member.is("stop_details")) {
        walk.texts(&DIALECT, Voice::Said, value);
    }
}

fn voice(message: Item<'_>) -> Voice {
    if message.get("role").is_str("system") { Voice::System } else { Voice::Said }
}

fn block(_: &[Field<'_>], kind: &str) -> Option<Voice> {
    match kind {
        "document" | "search_result" => Some(Voice::Document),
        _ if kind.ends_with("tool_result") => Some(Voice::Result),
        _ => None,
    }
}

fn member(key: &[u8], _: &str) -> Option<Reading> {
    match key {
        b"thinking" => Some(Reading::Blocks(Voice::Thought)),
        b"input" => Some(Reading::Own(Voice::Call)),
        _ => None,
    }
}
