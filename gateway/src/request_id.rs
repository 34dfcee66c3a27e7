//! Ids of requests: UUID version 7, so that they sort by time.

use std::cell::RefCell;

use http::HeaderValue;
use rand::rngs::SmallRng;
use rand::{RngCore, SeedableRng};

/// The highest number within a millisecond; see [`RequestId::numbered`].
pub const MOST_NUMBERS: u16 = 0xfff;

thread_local! {
    static RANDOM: RefCell<SmallRng> = RefCell::new(SmallRng::from_os_rng());
}

/// 64 random bits that need not be secret.
#[must_use]
pub fn random_bits() -> u64 {
    RANDOM.with_borrow_mut(RngCore::next_u64)
}

/// A request's id as text of 36 characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId([u8; 36]);

impl RequestId {
    /// Makes an id for a request that starts at `unix_ms`.
    #[must_use]
    pub fn generate(unix_ms: i64) -> Self {
        Self::of(unix_ms, random_bits())
    }

    /// Makes an id that sorts by its number among those of the same millisecond; numbers go up to [`MOST_NUMBERS`].
    #[must_use]
    pub fn numbered(unix_ms: i64, number: u16) -> Self {
        Self::of(unix_ms, u64::from(number))
    }

    /// The lowest twelve bits of `second` follow the time.
    fn of(unix_ms: i64, second: u64) -> Self {
        let time = u128::from(u64::try_from(unix_ms).unwrap_or(0) & 0xffff_ffff_ffff);
        let value =
            time << 80 | 0x7 << 76 | u128::from(second & u64::from(MOST_NUMBERS)) << 64 | 0b10 << 62 | u128::from(random_bits() >> 2);
        Self(hyphenated(value))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The text as a header value.
    #[must_use]
    pub fn header_value(&self) -> HeaderValue {
        HeaderValue::from_bytes(&self.0).unwrap_or_else(|_| HeaderValue::from_static(""))
    }
}

fn hyphenated(value: u128) -> [u8; 36] {
    /// Where each byte's two digits lie.
    const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
    let mut text = [b'-'; 36];
    for (byte, place) in value.to_be_bytes().into_iter().zip(PLACES) {
        if let Some([high, low]) = text.get_mut(place..place + 2) {
            *high = digit(byte >> 4);
            *low = digit(byte & 0xf);
        }
    }
    text
}

/// The lower-case digit of a number below 16.
pub(crate) const fn digit(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_version_7_uuid_of_its_time() {
        let id = RequestId::generate(0x0123_4567_89ab);
        let text = id.as_str();
        assert!(text.starts_with("01234567-89ab-7"), "{text}");
        assert!(matches!(text.as_bytes()[19], b'8'..=b'b'), "{text}");
        assert_ne!(id, RequestId::generate(0x0123_4567_89ab));
    }

    #[test]
    fn numbered_ids_sort_by_their_numbers() {
        let ids: Vec<RequestId> = (0..=MOST_NUMBERS).map(|number| RequestId::numbered(7, number)).collect();
        assert!(ids.is_sorted_by(|one, next| one.as_str() < next.as_str()));
        assert!(ids[4095].as_str().starts_with("00000000-0007-7fff-"), "{}", ids[4095].as_str());
    }
}
