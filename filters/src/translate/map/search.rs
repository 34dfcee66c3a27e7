//! Searches of the web where a shape has no place for them.

use crate::canonical::{SearchHit, Text};

/// An earlier search as the model may read it.
pub(in crate::translate) fn summary<'a>(query: &Text<'_>, hits: &[SearchHit<'_>]) -> Text<'a> {
    let pages = hits.iter().map(|hit| format!("\n- {} {}", hit.title.decode(), hit.url.decode()));
    Text::from(format!("[web search: {}]", query.decode()) + &pages.collect::<String>())
}
