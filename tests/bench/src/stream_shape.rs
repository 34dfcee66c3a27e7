//! How long and how fast a streamed answer is: carried in the model's name, which every proxy forwards.

use std::fmt;
use std::time::Duration;

use memchr::memmem;

const PREFIX: &[u8] = b"mock-c";
const MOST_DELTAS: u64 = 100_000;
const LONGEST_PAUSE_US: u64 = 10_000_000;

/// Number of content deltas and the pause before each, written `mock-c200-d5000` (200 deltas, 5,000 µs apart).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamShape {
    /// Content deltas in the stream, at most 100,000.
    pub deltas: u64,
    /// Pause between two deltas, at most ten seconds.
    pub pause: Duration,
}

impl StreamShape {
    /// What a request gets that names no shape.
    pub const DEFAULT: Self = Self { deltas: 200, pause: Duration::ZERO };

    /// The first shape named anywhere in `bytes`, which may be a request body or a path.
    #[must_use]
    pub fn find(bytes: &[u8]) -> Option<Self> {
        let after = memmem::find(bytes, PREFIX)? + PREFIX.len();
        let (deltas, rest) = leading_number(bytes.get(after..)?)?;
        let (pause_us, _) = leading_number(rest.strip_prefix(b"-d")?)?;
        Some(Self { deltas: deltas.min(MOST_DELTAS), pause: Duration::from_micros(pause_us.min(LONGEST_PAUSE_US)) })
    }
}

impl fmt::Display for StreamShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mock-c{}-d{}", self.deltas, self.pause.as_micros())
    }
}

fn leading_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let (number, rest) = bytes.split_at_checked(digits)?;
    Some((std::str::from_utf8(number).ok()?.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_found_inside_a_request_body() {
        let shape = StreamShape::find(br#"{"model":"mock-c200-d5000","stream":true}"#).unwrap();
        assert_eq!(shape, StreamShape { deltas: 200, pause: Duration::from_millis(5) });
        assert_eq!(shape.to_string(), "mock-c200-d5000");
    }

    #[test]
    fn a_name_without_a_shape_gives_none() {
        assert_eq!(StreamShape::find(b"gpt-4o"), None);
        assert_eq!(StreamShape::find(b"mock-c-d"), None);
        assert_eq!(StreamShape::find(b"mock-c20"), None);
    }
}
