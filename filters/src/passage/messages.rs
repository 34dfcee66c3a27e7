//! Messages: answers and events.

use super::reading::{Page, leading_type};
use crate::wire::json::{Kind, Member, members};

/// Reads one event.
#[inline]
pub(super) fn event(page: &mut Page<'_>, data: &[u8]) {
    match leading_type(data) {
        Some(b"content_block_start" | b"content_block_delta") => block(page, data),
        Some(b"content_block_stop" | b"ping") => {}
        _ => read(page, data, members(data)),
    }
}

#[inline]
fn block(page: &mut Page<'_>, data: &[u8]) {
    page.facts.content_started = true;
    if let Some(ear) = &mut page.ear
        && ear.follows(data).is_none()
    {
        ear.block(data);
    }
}

/// Reads the members of an answer or event.
pub(super) fn read<'a>(page: &mut Page<'_>, data: &[u8], all: impl Iterator<Item = Member<'a>>) {
    let mut error = None;
    for member in all {
        match &*member.name() {
            b"type" => event_type(page, data, member.value()),
            b"message" if member.kind == Kind::Object => message(page, &member),
            b"model" => page.model(&member, 0),
            b"usage" => page.facts.messages_usage(member.value()),
            b"delta" => members(member.value()).for_each(|member| stop_reason(page, &member)),
            b"stop_reason" => stop_reason(page, &member),
            b"content" => page.facts.content_started |= member.value() != b"[]",
            b"error" => error = Some(member),
            _ => {}
        }
    }
    if let Some(error) = error {
        page.facts.fail(error.value(), error.kind);
    }
}

fn event_type(page: &mut Page<'_>, data: &[u8], value: &[u8]) {
    match value {
        b"\"message_stop\"" => page.facts.terminal = true,
        b"\"content_block_start\"" | b"\"content_block_delta\"" => block(page, data),
        _ => {}
    }
}

/// Reads the message a stream starts with.
fn message(page: &mut Page<'_>, message: &Member<'_>) {
    for member in members(message.value()) {
        match &*member.name() {
            b"model" => page.model(&member, message.span.start),
            b"usage" => page.facts.messages_usage(member.value()),
            _ => {}
        }
    }
}

fn stop_reason(page: &mut Page<'_>, member: &Member<'_>) {
    if member.kind == Kind::String && member.is("stop_reason") {
        page.facts.finish(member.value());
    }
}
