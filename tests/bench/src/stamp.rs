//! The time of writing, inside the text of each delta, so that the reader knows how long that delta was on its way.
//!
//! The stamp is made of letters only: digits could look like a card number to a guardrail of the proxy under test, which
//! would then mask it.

use std::time::{SystemTime, UNIX_EPOCH};

use memchr::memmem;

const MARK: &[u8] = b"stamp:";
const LETTERS: usize = 16;

/// Nanoseconds since 1970, read from the clock that both programs share.
#[must_use]
pub fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Appends the stamp for `ns`: `stamp:` and sixteen letters `a` to `p`, four bits each.
pub fn write(ns: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(MARK);
    for byte in ns.to_be_bytes() {
        out.extend_from_slice(&[b'a' + (byte >> 4), b'a' + (byte & 15)]);
    }
}

/// The first stamp in `text`, in nanoseconds.
#[must_use]
pub fn read(text: &[u8]) -> Option<u64> {
    let from = memmem::find(text, MARK)? + MARK.len();
    let letters = text.get(from..from + LETTERS)?;
    letters.iter().try_fold(0_u64, |ns, letter| match letter {
        b'a'..=b'p' => Some((ns << 4) | u64::from(letter - b'a')),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_reads_back_and_holds_no_digit() {
        for ns in [0, 1, 1_763_683_200_123_456_789, u64::MAX] {
            let mut text = b"some ".to_vec();
            write(ns, &mut text);
            assert!(!text.iter().any(u8::is_ascii_digit));
            text.extend_from_slice(b" more");
            assert_eq!(read(&text), Some(ns));
        }
    }

    #[test]
    fn a_masked_or_cut_stamp_is_not_read() {
        assert_eq!(read(b"stamp:[masked]aaaaaaaaaaaa"), None);
        assert_eq!(read(b"stamp:aaaa"), None);
    }
}
