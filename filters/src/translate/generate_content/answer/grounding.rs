//! Sources of an answer that searched the web.

use crate::canonical::{Citation, Event, SearchHit, Sink, Text};
use crate::translate::map::ids;
use crate::wire::json::Value;

/// What was told of searches and sources; later chunks win.
#[derive(Debug, Default)]
pub(super) struct Grounding {
    queries: Vec<u8>,
    chunks: Vec<u8>,
    supports: Vec<u8>,
}

/// A page.
struct Source<'a> {
    url: Text<'a>,
    title: Text<'a>,
}

impl Grounding {
    /// Takes over what a chunk tells.
    pub(super) fn merge(&mut self, metadata: Value<'_>) {
        for member in metadata.members() {
            let place = match &*member.name() {
                b"webSearchQueries" => &mut self.queries,
                b"groundingChunks" => &mut self.chunks,
                b"groundingSupports" => &mut self.supports,
                _ => continue,
            };
            if member.json().elements().next().is_some() {
                place.clear();
                place.extend_from_slice(member.value());
            }
        }
    }

    fn sources(&self) -> Vec<Source<'_>> {
        Value::of(&self.chunks).elements().map(|chunk| source(chunk.json())).collect()
    }

    /// Tells the searches.
    pub(super) fn searches(&self, choice: u32, sink: Sink<'_>) {
        let queries = Value::of(&self.queries);
        let mut hits: Vec<SearchHit<'_>> = self.sources().iter().filter(|source| !source.url.is_empty()).map(hit).collect();
        if queries.is_null() && !hits.is_empty() {
            let (id, hits) = (Text::from(ids::minted("srvtoolu_gw_")), std::mem::take(&mut hits));
            sink(Event::WebSearch { choice, id, query: Text::from(""), hits });
        }
        for query in queries.elements().filter_map(|query| query.json().text()) {
            // Which query found what is not told: the first one gets all.
            let hits = std::mem::take(&mut hits);
            sink(Event::WebSearch { choice, id: Text::from(ids::minted("srvtoolu_gw_")), query, hits });
        }
    }

    /// Tells what supports which part of the text. `starts` are the places where the parts of the first chunk begin in the text.
    pub(super) fn citations(&self, choice: u32, text: &str, starts: &[usize], sink: Sink<'_>) {
        let sources = self.sources();
        for support in Value::of(&self.supports).elements() {
            let span = span(support.json().get("segment"), text, starts);
            for index in support.json().get("groundingChunkIndices").elements() {
                let index = index.json().u64().and_then(|index| usize::try_from(index).ok());
                let Some(source) = index.and_then(|index| sources.get(index)) else { continue };
                let citation = Citation { url: source.url.clone(), title: source.title.clone(), cited: Text::from(""), span };
                sink(Event::Citation { choice, citation });
            }
        }
    }
}

fn source(chunk: Value<'_>) -> Source<'_> {
    let place = ["web", "retrievedContext", "maps", "image"].iter().map(|kind| chunk.get(kind)).find(|place| !place.is_null());
    let place = place.unwrap_or(Value::NULL);
    let text = |name: &str| place.get(name).text().unwrap_or_else(|| Text::from(""));
    let url = if place.get("uri").is_null() { text("sourceUri") } else { text("uri") };
    Source { url, title: text("title") }
}

fn hit<'a>(source: &Source<'a>) -> SearchHit<'a> {
    SearchHit { url: source.url.clone(), title: source.title.clone(), sealed: Text::from("") }
}

/// The supported words, counted in characters. The vendor counts bytes, within the part; where that does not lead to the words
/// it names, they are looked for.
fn span(segment: Value<'_>, text: &str, starts: &[usize]) -> Option<(u64, u64)> {
    let number = |name: &str| segment.get(name).u64().and_then(|number| usize::try_from(number).ok());
    let words = segment.get("text").str();
    let base = number("partIndex").and_then(|index| starts.get(index)).copied().unwrap_or(0);
    let (start, end) = (base + number("startIndex").unwrap_or(0), base + number("endIndex").unwrap_or(0));
    let told = text.get(start..end).filter(|found| !found.is_empty() && words.as_ref().is_none_or(|words| words == found));
    let (start, end) = match (told, words) {
        (Some(_), _) => (start, end),
        (None, Some(words)) if !words.is_empty() => {
            let start = text.find(&*words)?;
            (start, start + words.len())
        }
        (None, _) => return None,
    };
    let characters = |end: usize| text.get(..end).and_then(|text| u64::try_from(text.chars().count()).ok());
    Some((characters(start)?, characters(end)?))
}
