//! Responses: answers and events.

use super::reading::{Page, leading_type};
use crate::wire::json::{Kind, Member, members};

/// Reads one event.
#[inline]
pub(super) fn event(page: &mut Page<'_>, data: &[u8]) {
    match leading_type(data) {
        Some(kind) if kind.ends_with(b".delta") => delta(page, data, kind),
        _ => read(page, data, members(data)),
    }
}

#[inline]
fn delta(page: &mut Page<'_>, data: &[u8], kind: &[u8]) {
    page.facts.content_started = true;
    // Sound comes as deltas too.
    if let Some(ear) = &mut page.ear
        && !kind.ends_with(b"audio.delta")
    {
        ear.delta(data);
    }
}

/// Reads the members of an answer or event.
pub(super) fn read<'a>(page: &mut Page<'_>, data: &[u8], all: impl Iterator<Item = Member<'a>> + Clone) {
    let mut is_event = false;
    for member in all.clone() {
        match &*member.name() {
            b"type" => {
                is_event = true;
                event_type(page, data, &member);
            }
            b"response" => {
                response(page, members(member.value()), member.span.start);
                if let Some(ear) = &mut page.ear {
                    ear.outcome(member.value());
                }
            }
            b"item" if leading_type(data) == Some(b"response.output_item.added") => {
                if let Some(ear) = &mut page.ear {
                    ear.item(member.value());
                }
            }
            _ => {}
        }
    }
    if !is_event {
        response(page, all, 0);
    }
}

fn event_type(page: &mut Page<'_>, data: &[u8], member: &Member<'_>) {
    match member.value() {
        b"\"response.completed\"" | b"\"response.incomplete\"" | b"\"response.failed\"" => page.facts.terminal = true,
        b"\"error\"" => page.facts.fail(data, Kind::Object),
        value if value.ends_with(b".delta\"") => delta(page, data, value.strip_suffix(b"\"").unwrap_or(value)),
        _ => {}
    }
}

/// Reads the members of a response object that starts `base` bytes into the data.
fn response<'a>(page: &mut Page<'_>, response: impl Iterator<Item = Member<'a>>, base: usize) {
    let mut failed = false;
    let mut status = None;
    for member in response {
        match &*member.name() {
            b"model" => page.model(&member, base),
            b"usage" => page.facts.chat_usage(member.value()),
            b"error" => {
                failed = member.kind != Kind::Null;
                page.facts.fail(member.value(), member.kind);
            }
            b"incomplete_details" => incomplete(page, &member),
            b"status" => status = Some(member),
            b"output" => page.facts.content_started |= member.value() != b"[]",
            _ => {}
        }
    }
    if let Some(status) = status.filter(|status| is_final(status.value())) {
        page.facts.finish(status.value());
        if !failed && status.value() == b"\"failed\"" {
            page.facts.fail(br#"{"code":"server_error"}"#, Kind::Object);
        }
    }
}

fn is_final(status: &[u8]) -> bool {
    matches!(status, b"\"completed\"" | b"\"incomplete\"" | b"\"failed\"" | b"\"cancelled\"")
}

fn incomplete(page: &mut Page<'_>, details: &Member<'_>) {
    for member in members(details.value()) {
        if member.kind == Kind::String && member.is("reason") {
            page.facts.finish(member.value());
        }
    }
}
