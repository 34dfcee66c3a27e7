//! Sources of an answer's text: text is cut where a cited span begins or ends, so that each cited span is a block of its own.

use crate::canonical::Citation;
use crate::wire::json::Writer;

/// One source.
pub(super) fn write(citation: &Citation<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("type", "web_search_result_location");
    w.text_field("url", &citation.url);
    w.text_field("title", &citation.title);
    w.str_field("encrypted_index", "");
    w.text_field("cited_text", &citation.cited);
    w.end_object();
}

/// A block of text and its sources.
pub(super) fn write_text(text: &str, citations: &[&Citation<'_>], w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("type", "text");
    w.str_field("text", text);
    if !citations.is_empty() {
        w.array("citations", |w| citations.iter().for_each(|citation| write(citation, w)));
    }
    w.end_object();
}

/// Cuts `text`, which starts at character `from` of the whole, at the ends of the cited spans within it. Citations without a
/// span belong to the end of the last text.
pub(super) fn cut<'t, 'c>(
    text: &'t str,
    from: u64,
    last: bool,
    citations: &'c [Citation<'static>],
) -> Vec<(&'t str, Vec<&'c Citation<'static>>)> {
    let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    let to = from.saturating_add(length);
    let within = |citation: &&Citation<'static>| citation.span.is_some_and(|(_, end)| end > from && (end <= to || last));
    let mut cuts: Vec<u64> = vec![from, to];
    for (start, end) in citations.iter().filter(within).filter_map(|citation| citation.span) {
        cuts.extend([start.clamp(from, to), end.clamp(from, to)]);
    }
    cuts.sort_unstable();
    cuts.dedup();
    let ends = |citation: &Citation<'static>, end: u64| match citation.span {
        Some((_, cited)) => within(&citation) && cited.clamp(from, to) == end,
        None => last && end == to,
    };
    let mut rest = text;
    let mut parts = Vec::with_capacity(cuts.len());
    for (start, end) in cuts.iter().zip(cuts.iter().skip(1)) {
        let characters = usize::try_from(end - start).unwrap_or(usize::MAX);
        let bytes = rest.char_indices().nth(characters).map_or(rest.len(), |(at, _)| at);
        let (part, after) = rest.split_at(bytes);
        rest = after;
        parts.push((part, citations.iter().filter(|citation| ends(citation, *end)).collect()));
    }
    parts
}
