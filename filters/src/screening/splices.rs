//! Edits of a text as edits of the body it stands in.

use super::escapes;
use super::texts::{Form, Found};
use crate::guardrails::{Edit, edited};
use crate::wire::json::{Edit as Splice, Span};

/// What is to be replaced in the body so that the text of `found` is edited. Whatever is edited, JSON stays valid: a number of which
/// a part goes becomes a string.
pub(super) fn splices(body: &[u8], found: &Found<'_>, edits: Vec<Edit>) -> Vec<Splice<'static>> {
    let escaped = found.span.of(body);
    let whole = |replacement| vec![Edit { start: 0, end: escaped.len(), replacement }];
    let edits = match found.form {
        _ if edits.is_empty() => return Vec::new(),
        Form::Plain => edits,
        Form::Text => escapes::lift(escaped, edits),
        Form::InnerText => escapes::lift(escaped, escapes::lift(escapes::decode(escaped).as_bytes(), edits)),
        Form::Number => whole(quoted(&edited(&found.text, &edits))),
        Form::InnerNumber => whole(escapes::escape(&quoted(&edited(&found.text, &edits)))),
    };
    let moved = edits.into_iter().map(|edit| {
        let span = Span { start: edit.start, end: edit.end }.shifted(found.span.start);
        Splice::replace(span, edit.replacement.into_bytes())
    });
    moved.collect()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escapes::escape(text))
}
