//! Replacing spans of a body and nothing else.

use std::borrow::Cow;

use super::Span;

/// One replacement.
#[derive(Clone, Debug)]
pub struct Edit<'a> {
    /// The bytes replaced; empty to insert before `span.start`.
    pub span: Span,
    /// What takes their place.
    pub with: Cow<'a, [u8]>,
}

impl<'a> Edit<'a> {
    /// Replaces `span` by `with`.
    pub fn replace(span: Span, with: impl Into<Cow<'a, [u8]>>) -> Self {
        Self { span, with: with.into() }
    }

    /// Inserts `with` before offset `at`.
    pub fn insert(at: usize, with: impl Into<Cow<'a, [u8]>>) -> Self {
        Self::replace(Span { start: at, end: at }, with)
    }
}

/// `body` with `edits` made, which are put in order; one that overlaps an earlier one or leaves the body is skipped.
#[must_use]
pub fn splice(body: &[u8], edits: &mut [Edit<'_>]) -> Vec<u8> {
    edits.sort_by_key(|edit| edit.span.start);
    let added: usize = edits.iter().map(|edit| edit.with.len()).sum();
    let mut out = Vec::with_capacity(body.len() + added);
    let mut at = 0;
    for Edit { span, with } in edits.iter() {
        if span.start < at || span.end < span.start || span.end > body.len() {
            continue;
        }
        out.extend_from_slice(Span { start: at, end: span.start }.of(body));
        out.extend_from_slice(with);
        at = span.end;
    }
    out.extend_from_slice(body.get(at..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_made_in_order_and_overlaps_are_skipped() {
        let mut edits = [
            Edit::insert(6, &b"!"[..]),
            Edit::replace(Span { start: 0, end: 2 }, &b"X"[..]),
            Edit::replace(Span { start: 1, end: 3 }, &b"never"[..]),
            Edit::replace(Span { start: 5, end: 99 }, &b"never"[..]),
        ];
        assert_eq!(splice(b"abcdef", &mut edits), b"Xcdef!");
    }
}
