//! Generate content: answers, event data and array elements.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::reading::Page;
use crate::wire::json::{Kind, Member, elements, members};

static FINISH_REASON: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"finishReason\""));

/// Reads the members of an answer or chunk. An error may come wrapped in an array.
#[inline]
pub(super) fn read<'a>(page: &mut Page<'_>, members: impl Iterator<Item = Member<'a>>) {
    for member in members {
        match &*member.name() {
            b"modelVersion" => page.model(&member, 0),
            b"candidates" => candidates(page, &member),
            b"usageMetadata" => page.facts.generate_usage(&member),
            b"promptFeedback" => feedback(page, &member),
            b"error" => page.facts.fail(member.value(), member.kind),
            _ => {}
        }
    }
}

fn candidates(page: &mut Page<'_>, candidates: &Member<'_>) {
    let value = candidates.value();
    if page.ear.as_mut().is_some_and(|ear| ear.follows(value).is_some()) {
        return;
    }
    let finishes = FINISH_REASON.find(value).is_some();
    if !page.facts.content_started || finishes {
        walk(page, value);
    }
    if let Some(ear) = &mut page.ear {
        ear.candidates(value, page.facts.content_started && !finishes);
    }
}

fn walk(page: &mut Page<'_>, candidates: &[u8]) {
    for candidate in elements(candidates) {
        for member in members(candidate.value) {
            match &*member.name() {
                b"finishReason" if member.kind == Kind::String && member.value() != b"\"FINISH_REASON_UNSPECIFIED\"" => {
                    finish(page, &member)
                }
                b"content" if !page.facts.content_started => {
                    page.facts.content_started = members(member.value()).any(|part| part.is("parts") && part.value() != b"[]");
                }
                _ => {}
            }
        }
    }
}

/// A blocked prompt has no candidates: its reason ends the answer.
fn feedback(page: &mut Page<'_>, feedback: &Member<'_>) {
    for member in members(feedback.value()) {
        if member.kind == Kind::String && member.is("blockReason") {
            finish(page, &member);
        }
    }
}

fn finish(page: &mut Page<'_>, reason: &Member<'_>) {
    page.facts.finish(reason.value());
    page.facts.terminal = true;
}
