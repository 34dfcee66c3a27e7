//! What every writer of answers asks of events.

use crate::canonical::{Citation, Event, SearchHit, Text};

/// Which answer an event belongs to.
pub(super) const fn choice(event: &Event<'_>) -> Option<u32> {
    match event {
        Event::Text { choice, .. }
        | Event::Refusal { choice, .. }
        | Event::Reasoning { choice, .. }
        | Event::ReasoningSigned { choice, .. }
        | Event::Redacted { choice, .. }
        | Event::ToolStart { choice, .. }
        | Event::ToolArguments { choice, .. }
        | Event::ToolEnd { choice, .. }
        | Event::Citation { choice, .. }
        | Event::WebSearch { choice, .. }
        | Event::Media { choice, .. }
        | Event::Logprobs { choice, .. }
        | Event::Finish { choice, .. } => Some(*choice),
        Event::Start { .. } | Event::Unknown { .. } | Event::Ping | Event::Usage(_) | Event::Failed(_) | Event::End => None,
    }
}

pub(super) fn owned_citation(citation: &Citation<'_>) -> Citation<'static> {
    let text = |text: &Text<'_>| text.clone().into_owned();
    Citation { url: text(&citation.url), title: text(&citation.title), cited: text(&citation.cited), span: citation.span }
}

pub(super) fn owned_hit(hit: &SearchHit<'_>) -> SearchHit<'static> {
    let text = |text: &Text<'_>| text.clone().into_owned();
    SearchHit { url: text(&hit.url), title: text(&hit.title), sealed: text(&hit.sealed) }
}
