//! Searches of the web where a shape has no place for them.

use crate::canonical::{SearchHit, Text};

/// An earlier search as the model may read it.
pub(in crate::translate) fn summary<'a>(query: &Text<'_>, hits: &[SearchHit<'_>]) -> Text<'a> {
    let page = |hit: &SearchHit<'_>| match &*hit.title.decode() {
        "" => format!("\n- {}", hit.url.decode()),
        title => format!("\n- {title} {}", hit.url.decode()),
    };
    let pages = hits.iter().map(page);
    Text::from(format!("[web search: {}]", query.decode()) + &pages.collect::<String>())
}
