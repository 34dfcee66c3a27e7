//! Endpoints whose bodies have no dialogue: legacy completions, embeddings, moderations, pictures and sound.

use super::item::Item;
use super::walk::{Dialect, Voice, Walk};

const DIALECT: Dialect = Dialect { block: |_, _| None, member: |_, _| None };

/// The texts that something is made of: strings or lists of them. Lists of tokens hold none.
pub(super) fn request(walk: &mut Walk<'_>, document: Item<'_>) {
    for (member, value) in document.members() {
        if matches!(&*member.name(), b"input" | b"prompt" | b"suffix" | b"instructions") {
            walk.texts(&DIALECT, Voice::Said, value);
        }
    }
}

/// What was made of the prompts of pictures.
pub(super) fn pictures(walk: &mut Walk<'_>, document: Item<'_>) {
    members(walk, document, &["data"]);
}

/// What was heard.
pub(super) fn transcription(walk: &mut Walk<'_>, document: Item<'_>) {
    members(walk, document, &["text", "segments", "words"]);
}

fn members(walk: &mut Walk<'_>, document: Item<'_>, names: &[&str]) {
    for (_, value) in document.members().filter(|(member, _)| names.iter().any(|name| member.is(name))) {
        walk.texts(&DIALECT, Voice::Said, value);
    }
}
