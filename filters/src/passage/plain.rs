//! The other endpoints of the chat-completions vendor: embeddings, images, audio and moderations.

use super::reading::{Page, leading_type};
use crate::wire::json::{Kind, members};

/// Reads one answer or event.
#[inline]
pub(super) fn read(page: &mut Page<'_>, data: &[u8]) {
    page.facts.content_started = true;
    if leading_type(data).is_some_and(|kind| kind.ends_with(b".delta")) {
        return;
    }
    for member in members(data) {
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
