//! Reasoning, which services tell in four fields.

use super::chunk::Part;
use crate::canonical::{Event, Signature, Sink, Text};
use crate::shape::Shape;
use crate::wire::json::Value;

/// Gives the reasoning of a part: the lists where they hold text, since only they tell block from block, else the plain fields,
/// of which some services send both.
pub(super) fn give(choice: u32, part: &Part<'_>, sink: Sink<'_>) {
    let full = |value: Value<'_>| value.text().is_some_and(|text| !text.is_empty());
    let telling = |list: Value<'_>| list.elements().any(|block| full(words(block.json())));
    let lists = [part.thinking_blocks, part.reasoning_details];
    let list = lists.into_iter().find(|list| telling(*list));
    if list.is_none() {
        let plain = [part.reasoning_content, part.reasoning].into_iter().filter_map(Value::text).find(|text| !text.is_empty());
        if let Some(text) = plain {
            sink(Event::Reasoning { choice, text });
        }
    }
    let list = list.or_else(|| lists.into_iter().find(|list| !list.is_null())).unwrap_or(Value::NULL);
    for block in list.elements() {
        one(choice, block.json(), sink);
    }
}

fn words(block: Value<'_>) -> Value<'_> {
    ["thinking", "text", "summary"].into_iter().map(|name| block.get(name)).find(|value| !value.is_null()).unwrap_or(Value::NULL)
}

fn one(choice: u32, block: Value<'_>, sink: Sink<'_>) {
    if let Some(text) = words(block).text().filter(|text| !text.is_empty()) {
        sink(Event::Reasoning { choice, text });
    }
    // The whole block is kept: its provider wants all of it back.
    let told = |name: &str| block.get(name).text().is_some_and(|text| !text.is_empty());
    let value = || Text::from(String::from_utf8_lossy(block.bytes()));
    if told("data") {
        sink(Event::Redacted { choice, signature: Signature { shape: Shape::ChatCompletions, origin: None, value: value() } });
    } else if told("signature") {
        sink(Event::ReasoningSigned { choice, signature: Signature { shape: Shape::ChatCompletions, origin: None, value: value() } });
    }
}
