//! Chat completions and legacy completions: answers and chunks.

use super::reading::{Fate, Page};
use crate::usage::read_chat;
use crate::wire::json::{Kind, Member, elements, members};

/// Reads one answer or chunk.
#[inline]
pub(super) fn read(page: &mut Page<'_>, data: &[u8]) -> Fate {
    let mut before = None;
    let mut empty_choices = false;
    let mut told_usage = false;
    for member in members(data) {
        match &*member.name() {
            b"model" => page.model(&member, 0),
            b"choices" => empty_choices = !choices(page, &member),
            b"usage" => {
                told_usage = member.kind == Kind::Object;
                usage(page, data, &member, before);
            }
            b"error" => page.facts.fail(member.value(), member.kind),
            _ => {}
        }
        before = Some(member.span.end);
    }
    if page.rules.hide_usage && empty_choices && told_usage { Fate::Drop } else { Fate::Keep }
}

fn usage(page: &mut Page<'_>, data: &[u8], member: &Member<'_>, before: Option<usize>) {
    match member.kind {
        Kind::Object => page.facts.usage = read_chat(member.value()).or(page.facts.usage),
        Kind::Null if page.rules.hide_usage => page.remove(data, member, before),
        _ => {}
    }
}

/// Reads the choices; false when there are none.
#[inline]
fn choices(page: &mut Page<'_>, choices: &Member<'_>) -> bool {
    let mut any = false;
    for choice in elements(choices.value()) {
        any = true;
        for member in members(choice.value) {
            match &*member.name() {
                b"finish_reason" if member.kind == Kind::String => page.facts.finish(member.value()),
                b"delta" | b"message" if !page.facts.content_started => page.facts.content_started = has_content(member.value()),
                b"text" => page.facts.content_started |= is_content(&member),
                _ => {}
            }
        }
    }
    any
}

fn has_content(delta: &[u8]) -> bool {
    members(delta).any(|member| !member.is("role") && is_content(&member))
}

fn is_content(member: &Member<'_>) -> bool {
    !matches!(member.value(), b"null" | b"\"\"" | b"[]" | b"{}")
}
