//! Responses: answers and events.

use super::reading::{Page, leading_type};
use crate::usage::read_chat;
use crate::wire::json::{Kind, Member, members};

/// Reads one answer or event.
#[inline]
pub(super) fn read(page: &mut Page<'_>, data: &[u8]) {
    if leading_type(data).is_some_and(|kind| kind.ends_with(b".delta")) {
        page.facts.content_started = true;
        return;
    }
    walk(page, data);
}

fn walk(page: &mut Page<'_>, data: &[u8]) {
    let mut is_event = false;
    for member in members(data) {
        match &*member.name() {
            b"type" => {
                is_event = true;
                event_type(page, data, &member);
            }
            b"response" => response(page, member.value(), member.span.start),
            _ => {}
        }
    }
    if !is_event {
        response(page, data, 0);
    }
}

fn event_type(page: &mut Page<'_>, data: &[u8], member: &Member<'_>) {
    match member.value() {
        b"\"response.completed\"" | b"\"response.incomplete\"" | b"\"response.failed\"" => page.facts.terminal = true,
        b"\"error\"" => page.facts.fail(data, Kind::Object),
        value if value.ends_with(b".delta\"") => page.facts.content_started = true,
        _ => {}
    }
}

/// Reads a response object that starts `base` bytes into the data.
fn response(page: &mut Page<'_>, response: &[u8], base: usize) {
    let mut failed = false;
    let mut status = None;
    for member in members(response) {
        match &*member.name() {
            b"model" => page.model(&member, base),
            b"usage" => page.facts.usage = read_chat(member.value()).or(page.facts.usage),
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
