//! Chat completions and legacy completions: answers and chunks.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::reading::{Fate, Page};
use crate::wire::json::{Kind, Member, elements, members, members_after, members_at, skip_space};

/// The key of the choices as vendors write it.
const CHOICES: &[u8] = b"\"choices\":";

static FINISH_REASON: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"finish_reason\""));

/// Reads one chunk.
#[inline]
pub(super) fn chunk(page: &mut Page<'_>, data: &[u8]) -> Fate {
    match page.skip_prefix(data) {
        None => read(page, data, members(data), None, true),
        Some((at, before)) => match repeated(page, data, at) {
            Some(end) => read(page, data, members_after(data, end), Some(end), false),
            None => read(page, data, members_at(data, at), before, false),
        },
    }
}

/// Reads an answer.
pub(super) fn answer<'a>(page: &mut Page<'_>, data: &[u8], members: impl Iterator<Item = Member<'a>>) {
    read(page, data, members, None, false);
}

/// Reads members of `data`; the one before them ends at `before`. What every chunk begins with is learnt where that is asked for.
#[inline]
fn read<'a>(
    page: &mut Page<'_>,
    data: &[u8],
    members: impl Iterator<Item = Member<'a>>,
    mut before: Option<usize>,
    mut learning: bool,
) -> Fate {
    let mut empty_choices = false;
    let mut told_usage = false;
    for member in members {
        let name = member.name();
        if learning && matches!(&*name, b"choices" | b"usage" | b"error") {
            page.learn_prefix(data.get(..member.key_span.start).unwrap_or_default(), before);
            learning = false;
        }
        match &*name {
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
        Kind::Object => page.facts.chat_usage(member.value()),
        Kind::Null if page.rules.hide_usage => page.remove(data, member, before),
        _ => {}
    }
}

/// Takes the text of choices that start at `at`, key and all, if everything but the text is as in the last chunk; returns their
/// end.
#[inline]
fn repeated(page: &mut Page<'_>, data: &[u8], at: usize) -> Option<usize> {
    let choices = data.get(at..)?.strip_prefix(CHOICES)?;
    let length = page.ear.as_mut()?.follows(choices)?;
    Some(at + CHOICES.len() + length)
}

/// Reads the choices; false when there are none.
#[inline]
fn choices(page: &mut Page<'_>, choices: &Member<'_>) -> bool {
    let value = choices.value();
    if page.ear.as_mut().is_some_and(|ear| ear.follows(value).is_some()) {
        return true;
    }
    if !page.facts.content_started || may_finish(value) {
        elements(value).for_each(|choice| walk_choice(page, choice.value));
    }
    if let Some(ear) = &mut page.ear {
        ear.choices(value, page.facts.content_started && page.facts.finish_reason.is_none());
    }
    choices.kind == Kind::Array && value.get(skip_space(value, 1)) != Some(&b']')
}

/// Whether a finish reason other than null may be told. Quotes inside strings are escaped, so that only keys match.
#[inline]
fn may_finish(choices: &[u8]) -> bool {
    let mut rest = choices;
    while let Some(at) = FINISH_REASON.find(rest) {
        rest = rest.get(at + FINISH_REASON.needle().len()..).unwrap_or_default();
        if !rest.trim_ascii_start().strip_prefix(b":").is_some_and(|value| value.trim_ascii_start().starts_with(b"null")) {
            return true;
        }
    }
    false
}

fn walk_choice(page: &mut Page<'_>, choice: &[u8]) {
    for member in members(choice) {
        match &*member.name() {
            b"finish_reason" if member.kind == Kind::String => page.facts.finish(member.value()),
            b"delta" | b"message" if !page.facts.content_started => page.facts.content_started = has_content(member.value()),
            b"text" => page.facts.content_started |= is_content(&member),
            _ => {}
        }
    }
}

fn has_content(delta: &[u8]) -> bool {
    members(delta).any(|member| !member.is("role") && is_content(&member))
}

fn is_content(member: &Member<'_>) -> bool {
    !matches!(member.value(), b"null" | b"\"\"" | b"[]" | b"{}")
}
