//! The other endpoints of the chat-completions vendor: embeddings, images, audio and moderations.

use super::reading::{Page, leading_type};
use crate::wire::json::{Kind, Member, members};

/// Reads one event.
#[inline]
pub(super) fn event(page: &mut Page<'_>, data: &[u8]) {
    page.facts.content_started = true;
    if !leading_type(data).is_some_and(|kind| kind.ends_with(b".delta")) {
        read(page, data, members(data));
    }
}

/// Reads the members of an answer or event.
pub(super) fn read<'a>(page: &mut Page<'_>, data: &[u8], members: impl Iterator<Item = Member<'a>>) {
    page.facts.content_started = true;
    for member in members {
        match &*member.name() {
            b"type" => {
                let value = member.value();
                page.facts.terminal |= value.ends_with(b".done\"") || value.ends_with(b".completed\"");
                if value == b"\"error\"" {
                    page.facts.fail(data, Kind::Object);
                }
            }
            b"model" => page.model(&member, 0),
            b"usage" => page.facts.chat_usage(member.value()),
            b"error" => page.facts.fail(member.value(), member.kind),
            _ => {}
        }
    }
}
