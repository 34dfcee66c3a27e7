//! What a provider's status means for the request: one table.

/// What follows from a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The client gets the answer.
    Deliver,
    /// The next candidate is tried; without one the client gets the answer.
    Next,
    /// The credential rests, then as `Next`.
    Limited,
    /// The provider refused our credential: it rests, the next candidate is tried, and the client never sees the answer, which
    /// speaks of a key that is not the client's.
    CredentialRefused,
}

/// Judges the status of an answer before any of it was sent on.
#[must_use]
pub const fn judge(status: u16) -> Judgement {
    match status {
        401..=403 => Judgement::CredentialRefused,
        429 => Judgement::Limited,
        408 | 424 | 500 | 502..=504 | 529 => Judgement::Next,
        _ => Judgement::Deliver,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_judged_as_documented() {
        for status in [200, 201, 400, 404, 409, 413, 422, 501] {
            assert_eq!(judge(status), Judgement::Deliver, "{status}");
        }
        for status in [408, 424, 500, 502, 503, 504, 529] {
            assert_eq!(judge(status), Judgement::Next, "{status}");
        }
        for status in [401, 402, 403] {
            assert_eq!(judge(status), Judgement::CredentialRefused, "{status}");
        }
        assert_eq!(judge(429), Judgement::Limited);
    }
}
