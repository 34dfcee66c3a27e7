//! Searches of the web that ran within an earlier answer: a call and, later, its result, read into one block.

use super::object::Object;
use crate::canonical::{Block, Refusal, SearchHit, Text};
use crate::wire::json::Value;

pub(super) fn call<'a>(object: &Object<'_, 'a>) -> Result<Block<'a>, Refusal> {
    let query = object.get("input").and_then(|input| input.get("query").text());
    Ok(Block::WebSearch { id: object.required_text("id")?, query: query.unwrap_or(Text::from("")), hits: Vec::new() })
}

/// Adds what was found to the search it belongs to.
pub(super) fn result<'a>(object: &Object<'_, 'a>, blocks: &mut Vec<Block<'a>>) -> Result<(), Refusal> {
    let called = object.required_text("tool_use_id")?;
    let found = object.get("content").map(hits).unwrap_or_default();
    let search = blocks.iter_mut().find_map(|block| match block {
        Block::WebSearch { id, hits, .. } if *id == called => Some(hits),
        _ => None,
    });
    match search {
        Some(hits) => hits.extend(found),
        None => blocks.push(Block::WebSearch { id: called, query: Text::from(""), hits: found }),
    }
    Ok(())
}

/// The pages of a result; none where the search failed.
pub(in crate::translate::messages) fn hits(content: Value<'_>) -> Vec<SearchHit<'_>> {
    let pages = content.elements().map(|page| page.json()).filter(|page| page.get("type").is_str("web_search_result"));
    pages
        .map(|page| {
            let text = |name: &str| page.get(name).text().unwrap_or(Text::from(""));
            SearchHit { url: text("url"), title: text("title"), sealed: text("encrypted_content") }
        })
        .collect()
}
