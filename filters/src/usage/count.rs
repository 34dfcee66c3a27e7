//! One token count, believed only as far as it makes sense.

use super::LARGEST;
use crate::wire::json::{Kind, Member};

/// Digits of the longest number read without help.
const PLAIN_DIGITS: usize = 16;

/// A count and whether anything about it was absurd.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) suspicious: bool,
}

impl Counts {
    /// The count in `member`: none for null and for what is no count. Fractions are cut off, negative numbers count as zero and
    /// large ones as [`LARGEST`]; all of these are suspicious, a whole number written as a float is not.
    pub(super) fn read(&mut self, member: &Member<'_>) -> Option<u64> {
        match member.kind {
            Kind::Number => Some(self.number(member.value())),
            Kind::Null => None,
            _ => {
                self.suspicious = true;
                None
            }
        }
    }

    fn number(&mut self, digits: &[u8]) -> u64 {
        let plain = (digits.len() <= PLAIN_DIGITS)
            .then(|| digits.iter().try_fold(0_u64, |value, byte| byte.is_ascii_digit().then(|| value * 10 + u64::from(byte - b'0'))))
            .flatten();
        match plain {
            Some(value) if value <= LARGEST => value,
            Some(_) => {
                self.suspicious = true;
                LARGEST
            }
            None => self.odd_number(digits),
        }
    }

    fn odd_number(&mut self, digits: &[u8]) -> u64 {
        let value = std::str::from_utf8(digits).ok().and_then(|text| text.parse::<f64>().ok()).unwrap_or(-1.0);
        let clamped = value.clamp(0.0, 9_007_199_254_740_992.0).trunc();
        self.suspicious |= clamped != value;
        // The clamp keeps the value inside the range in which the conversion is exact.
        clamped as u64
    }
}
