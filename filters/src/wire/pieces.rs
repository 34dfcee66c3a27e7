//! A body that was edited near one of its ends, without a copy of all the rest.

use bytes::Bytes;

use super::json::{Edit, Span, splice};

/// A body in two pieces, the first of which is nearly always empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    first: Bytes,
    rest: Bytes,
}

impl Pieces {
    /// Bodies up to here are one piece: to copy them costs little, and Pingora asks for them only once.
    const SMALL: usize = 64 * 1024;

    /// `body` with `edits` made as [`splice`] makes them. Of a large body only what comes before or after all of them is shared.
    #[must_use]
    pub fn spliced(body: &Bytes, edits: &mut [Edit<'_>]) -> Self {
        let (Some(start), Some(end)) = (edits.iter().map(|edit| edit.span.start).min(), edits.iter().map(|edit| edit.span.end).max())
        else {
            return Self::from(body.clone());
        };
        let sound = edits.iter().all(|edit| edit.span.start <= edit.span.end) && end <= body.len();
        if !sound || body.len() <= Self::SMALL {
            return Self::from(Bytes::from(splice(body, edits)));
        }
        if end <= body.len() - start {
            let first = splice(Span { start: 0, end }.of(body), edits);
            return Self { first: Bytes::from(first), rest: body.slice(end..) };
        }
        for Edit { span, .. } in edits.iter_mut() {
            *span = Span { start: span.start - start, end: span.end - start };
        }
        let rest = splice(Span { start, end: body.len() }.of(body), edits);
        Self { first: body.slice(..start), rest: Bytes::from(rest) }
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.first.len() + self.rest.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty() && self.rest.is_empty()
    }

    /// Both pieces, in order.
    #[must_use]
    pub const fn both(&self) -> [&Bytes; 2] {
        [&self.first, &self.rest]
    }

    /// The body in one piece: shared where it is one, else copied.
    #[must_use]
    pub fn whole(&self) -> Bytes {
        match (self.first.is_empty(), self.rest.is_empty()) {
            (true, _) => self.rest.clone(),
            (_, true) => self.first.clone(),
            _ => Bytes::from([&self.first[..], &self.rest].concat()),
        }
    }
}

impl From<Bytes> for Pieces {
    fn from(rest: Bytes) -> Self {
        Self { first: Bytes::new(), rest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn edits_come_out_as_in_one_piece(length in 65_000_usize..66_000, spans in proptest::collection::vec((0_usize..66_100, 0_usize..99), 0..4)) {
            let body = Bytes::from((0..length).map(|at| (at % 251) as u8).collect::<Vec<_>>());
            let edits: Vec<_> = spans.iter().map(|(start, long)| Edit::replace(Span { start: *start, end: start + long }, &b"new"[..])).collect();
            let expected = splice(&body, &mut edits.clone());
            let pieces = Pieces::spliced(&body, &mut edits.clone());
            proptest::prop_assert_eq!(&pieces.whole()[..], &expected[..]);
            proptest::prop_assert_eq!(pieces.len(), expected.len());
            proptest::prop_assert_eq!(pieces.both().map(|piece| &piece[..]).concat(), expected);
        }
    }

    #[test]
    fn the_larger_side_of_a_large_body_is_shared() {
        let body = Bytes::from(vec![b' '; 1 << 20]);
        let edit = |at: usize| Edit::replace(Span { start: at, end: at + 2 }, &b"new"[..]);
        let near_begin = Pieces::spliced(&body, &mut [edit(100), edit(10)]);
        assert_eq!((near_begin.first.len(), near_begin.rest.as_ptr()), (104, body[102..].as_ptr()));
        let near_end = Pieces::spliced(&body, &mut [edit(body.len() - 10)]);
        assert_eq!((near_end.first.as_ptr(), near_end.rest.len()), (body.as_ptr(), 11));
        assert_eq!(Pieces::spliced(&body.slice(..1000), &mut [edit(10)]).first, "", "a small one is copied");
        assert_eq!(Pieces::spliced(&body, &mut []).whole().as_ptr(), body.as_ptr());
    }
}
