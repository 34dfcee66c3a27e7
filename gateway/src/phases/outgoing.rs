//! The body of a try on its way to the provider.

use bytes::Bytes;
use svc_filters::wire::pieces::Pieces;

/// The body made for a try, and how much of it Pingora was given.
#[derive(Debug)]
pub struct Outgoing {
    body: Pieces,
    given: Given,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    Nothing,
    First,
    All,
}

impl Outgoing {
    /// A body of which nothing was given yet.
    #[must_use]
    pub const fn new(body: Pieces) -> Self {
        Self { body, given: Given::Nothing }
    }

    /// The whole of it.
    #[must_use]
    pub const fn body(&self) -> &Pieces {
        &self.body
    }

    /// Whether Pingora has all of it.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.given == Given::All
    }

    /// What Pingora is to send next: all that is left at the `end`, the first piece before.
    pub fn give(&mut self, end: bool) -> Bytes {
        let [first, rest] = self.body.both();
        let (piece, given) = match (self.given, end) {
            (Given::First, true) => (rest.clone(), Given::All),
            (Given::First, false) => (Bytes::new(), Given::First),
            (_, true) => (self.body.whole(), Given::All),
            (_, false) => (first.clone(), Given::First),
        };
        self.given = given;
        piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use svc_filters::wire::json::{Edit, Span};

    #[test]
    fn the_whole_body_is_given_once_however_often_it_is_asked_for() {
        let body = Bytes::from(vec![b'a'; 100_000]);
        let edited = Pieces::spliced(&body, &mut [Edit::replace(Span { start: 10, end: 12 }, &b"new"[..])]);
        let expected = edited.whole();
        for asked in [&[true][..], &[false, true], &[false, false, true]] {
            for body in [edited.clone(), Pieces::from(expected.clone())] {
                let mut outgoing = Outgoing::new(body);
                let given: Vec<Bytes> = asked.iter().map(|end| outgoing.give(*end)).collect();
                assert_eq!(given.concat(), expected, "{asked:?}");
                assert!(outgoing.is_given());
            }
        }
    }
}
