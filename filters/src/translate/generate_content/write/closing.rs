//! The end of an answer: why, what it cost, and what it rests on.

use super::choice::{Choice, Cited};
use crate::canonical::FinishReason;
use crate::usage::Usage;
use crate::wire::json::{Value, Writer, decode_string, elements};

/// Writes the members of a candidate that come at its end.
pub(super) fn candidate(choice: &Choice, w: &mut Writer<'_>) {
    let (reason, explanation) = choice.finish.as_ref().map_or((FinishReason::Other, None), |(reason, words)| (*reason, words.as_deref()));
    w.str_field("finishReason", word(reason, choice));
    if let Some(words) = explanation {
        w.str_field("finishMessage", words);
    }
    if !choice.sources.is_empty() || !choice.queries.is_empty() {
        w.object("groundingMetadata", |w| grounding(choice, w));
    }
    if !choice.logprobs.is_empty() {
        w.object("logprobsResult", |w| logprobs(&choice.logprobs, w));
    }
}

fn word(reason: FinishReason, choice: &Choice) -> &'static str {
    match reason {
        FinishReason::Length => "MAX_TOKENS",
        FinishReason::Refusal => "SAFETY",
        FinishReason::Stop if choice.refused => "SAFETY",
        FinishReason::Stop | FinishReason::StopSequence | FinishReason::ToolCalls | FinishReason::Pause => "STOP",
        FinishReason::Other if choice.called => "STOP",
        FinishReason::Other => "OTHER",
    }
}

/// Writes `usageMetadata`.
pub(super) fn usage(usage: &Usage, w: &mut Writer<'_>) {
    w.object("usageMetadata", |w| {
        let thoughts = usage.reasoning.unwrap_or(0).min(usage.output);
        w.whole_field("promptTokenCount", usage.input());
        if usage.cache_read > 0 {
            w.whole_field("cachedContentTokenCount", usage.cache_read);
        }
        w.whole_field("candidatesTokenCount", usage.output - thoughts);
        if thoughts > 0 {
            w.whole_field("thoughtsTokenCount", thoughts);
        }
        w.whole_field("totalTokenCount", usage.total());
    });
}

fn grounding(choice: &Choice, w: &mut Writer<'_>) {
    if !choice.queries.is_empty() {
        w.array("webSearchQueries", |w| choice.queries.iter().for_each(|query| w.str(query)));
    }
    let mut pages: Vec<&Cited> = Vec::new();
    for source in &choice.sources {
        match pages.iter_mut().find(|page| page.url == source.url) {
            Some(page) if page.title.is_empty() => *page = source,
            Some(_) => {}
            None => pages.push(source),
        }
    }
    w.array("groundingChunks", |w| {
        for page in &pages {
            w.begin_object();
            w.object("web", |w| {
                w.str_field("uri", &page.url);
                if !page.title.is_empty() {
                    w.str_field("title", &page.title);
                }
            });
            w.end_object();
        }
    });
    supports(choice, &pages, w);
}

/// Which words rest on which page. This vendor counts bytes.
fn supports(choice: &Choice, pages: &[&Cited], w: &mut Writer<'_>) {
    if !choice.sources.iter().any(|source| source.span.is_some()) {
        return;
    }
    let text = decode_string(&choice.text);
    let byte = |characters: u64| {
        let characters = usize::try_from(characters).unwrap_or(usize::MAX);
        text.char_indices().nth(characters).map_or(text.len(), |(byte, _)| byte)
    };
    w.array("groundingSupports", |w| {
        for source in &choice.sources {
            let (Some((start, end)), Some(page)) = (source.span, pages.iter().position(|page| page.url == source.url)) else { continue };
            let (start, end) = (byte(start), byte(end));
            w.begin_object();
            w.object("segment", |w| {
                w.whole_field("startIndex", i128::try_from(start).unwrap_or_default());
                w.whole_field("endIndex", i128::try_from(end).unwrap_or_default());
                w.str_field("text", text.get(start..end).unwrap_or_default());
            });
            w.array("groundingChunkIndices", |w| w.number(i128::try_from(page).unwrap_or_default()));
            w.end_object();
        }
    });
}

fn logprobs(content: &[u8], w: &mut Writer<'_>) {
    let list = [b"[", content, b"]"].concat();
    w.array("chosenCandidates", |w| elements(&list).for_each(|element| token(element.json(), w)));
    let any = elements(&list).any(|element| element.json().get("top_logprobs").elements().next().is_some());
    if !any {
        return;
    }
    w.array("topCandidates", |w| {
        for element in elements(&list) {
            w.begin_object();
            w.array("candidates", |w| element.json().get("top_logprobs").elements().for_each(|other| token(other.json(), w)));
            w.end_object();
        }
    });
}

fn token(told: Value<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    if let Some(text) = told.get("token").text() {
        w.text_field("token", &text);
    }
    if let Some(number) = told.get("logprob").number() {
        w.number_field("logProbability", number);
    }
    w.end_object();
}
