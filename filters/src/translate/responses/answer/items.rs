//! Items of the output, once they are complete.

use super::{Decoder, Item, characters};
use crate::canonical::{Citation, Event, Raw, SearchHit, Signature, Sink, Text};
use crate::shape::Shape;
use crate::translate::map::ids;
use crate::wire::json::Value;

impl Decoder {
    /// An item is complete; gives what did not come in deltas, once. `output` is the whole output where it is known.
    pub(super) fn done(&mut self, place: u64, item: Value<'_>, output: Value<'_>, sink: Sink<'_>) {
        if std::mem::replace(&mut self.item(place).done, true) {
            return;
        }
        match &*item.get("type").str().unwrap_or_default() {
            "message" => self.message(place, item, !output.is_null(), sink),
            "reasoning" => self.reasoning(place, item, sink),
            "function_call" => self.called(place, item, ("arguments", false), !output.is_null(), sink),
            "custom_tool_call" => self.called(place, item, ("input", true), !output.is_null(), sink),
            "web_search_call" => search(item, output, sink),
            "image_generation_call" => {
                if let Some(data) = item.get("result").text().filter(|data| !data.is_empty()) {
                    sink(Event::Media { choice: 0, media_type: Text::from("image/png"), data });
                }
            }
            _ => sink(Event::Unknown { kind: item.get("type").text().unwrap_or_else(|| Text::from("item")) }),
        }
    }

    /// A message; `stale` where no event told that it was complete.
    fn message(&mut self, place: u64, item: Value<'_>, stale: bool, sink: Sink<'_>) {
        let &mut Item { given, cited, base, .. } = self.item(place);
        let mut told = if given > 0 && !stale { u64::MAX } else { given };
        for part in item.get("content").elements().map(|part| part.json()) {
            if let Some(text) = part.get("text").text().and_then(|text| rest(text, &mut told)) {
                self.characters += characters(&text);
                sink(Event::Text { choice: 0, text });
            }
            if let Some(text) = part.get("refusal").text().and_then(|text| rest(text, &mut told)) {
                sink(Event::Refusal { choice: 0, text });
            }
            if !cited {
                part.get("annotations").elements().for_each(|annotation| cite(annotation.json(), base, sink));
            }
            let logprobs = part.get("logprobs");
            if logprobs.elements().next().is_some() {
                let inner = logprobs.bytes().strip_prefix(b"[").and_then(|inner| inner.strip_suffix(b"]")).unwrap_or_default();
                sink(Event::Logprobs { choice: 0, elements: Raw::from(inner) });
            }
        }
    }

    fn reasoning(&mut self, place: u64, item: Value<'_>, sink: Sink<'_>) {
        if self.item(place).given == 0 {
            let parts = [item.get("summary"), item.get("content")].into_iter().flat_map(Value::elements);
            for (index, text) in parts.filter_map(|part| part.json().get("text").text()).filter(|text| !text.is_empty()).enumerate() {
                if index > 0 {
                    sink(Event::Reasoning { choice: 0, text: Text::from("\n\n") });
                }
                sink(Event::Reasoning { choice: 0, text });
            }
        }
        if let Some(value) = item.get("encrypted_content").text().filter(|value| !value.is_empty()) {
            sink(Event::ReasoningSigned { choice: 0, signature: Signature { shape: Shape::Responses, origin: None, value } });
        }
    }

    fn called(&mut self, place: u64, item: Value<'_>, (field, custom): (&str, bool), stale: bool, sink: Sink<'_>) {
        let call = self.call(place, item, custom, sink);
        let given = self.item(place).given;
        let mut told = if given > 0 && !stale { u64::MAX } else { given };
        if let Some(fragment) = item.get(field).text().and_then(|text| rest(text, &mut told)) {
            sink(Event::ToolArguments { choice: 0, call, fragment });
        }
        sink(Event::ToolEnd { choice: 0, call });
    }
}

/// What of a text was not told before, where `told` characters were.
fn rest<'a>(text: Text<'a>, told: &mut u64) -> Option<Text<'a>> {
    let (length, before) = (characters(&text), *told);
    *told = before.saturating_sub(length);
    match (before, length) {
        (0, 1..) => Some(text),
        (_, _) if before >= length => None,
        (_, _) => Some(Text::from(text.decode().chars().skip(usize::try_from(before).ok()?).collect::<String>())),
    }
}

pub(super) fn cite(annotation: Value<'_>, base: u64, sink: Sink<'_>) {
    let Some(url) = annotation.get("url").text().filter(|_| annotation.get("type").is_str("url_citation")) else { return };
    let place = |name: &str| annotation.get(name).u64().map(|at| at.saturating_add(base));
    let title = annotation.get("title").text().unwrap_or_else(|| Text::from(""));
    let span = place("start_index").zip(place("end_index"));
    sink(Event::Citation { choice: 0, citation: Citation { url, title, cited: Text::from(""), span } });
}

/// Sources have no titles of their own; where the whole answer is known, its citations tell them.
fn search(item: Value<'_>, output: Value<'_>, sink: Sink<'_>) {
    let action = item.get("action");
    if !action.get("type").is_null() && !action.get("type").is_str("search") {
        return sink(Event::Ping);
    }
    let hits = action.get("sources").elements().filter_map(|source| {
        let source = source.json();
        let url = source.get("url").text()?;
        let title = source.get("title").text().or_else(|| title_of(&url, output)).unwrap_or_else(|| Text::from(""));
        Some(SearchHit { url, title, sealed: Text::from("") })
    });
    let query = action.get("query").text().or_else(|| action.get("queries").elements().next()?.json().text());
    let id = item.get("id").text().unwrap_or_else(|| Text::from(ids::minted("ws_")));
    sink(Event::WebSearch { choice: 0, id, query: query.unwrap_or_else(|| Text::from("")), hits: hits.collect() });
}

/// The title under which the answer cites an address.
fn title_of<'a>(url: &Text<'_>, output: Value<'a>) -> Option<Text<'a>> {
    let parts = output.elements().flat_map(|item| item.json().get("content").elements());
    let mut annotations = parts.flat_map(|part| part.json().get("annotations").elements()).map(|annotation| annotation.json());
    annotations.find(|annotation| annotation.get("url").text().is_some_and(|cited| cited == *url))?.get("title").text()
}
