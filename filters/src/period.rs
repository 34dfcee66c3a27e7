//! Lengths of time: `100ms`, `5s`, `30m`, `1h`, `7d`, `1h30m`; a number without a unit is refused unless it is 0.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const EXPECTED: &str = "a duration with its unit, such as 100ms, 5s, 30m, 1h or 7d";
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// A length of time in whole milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period(pub Duration);

/// Why a text is not a length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {EXPECTED}")]
pub struct NotAPeriod;

impl Period {
    /// So many milliseconds.
    #[must_use]
    pub const fn millis(count: u64) -> Self {
        Self(Duration::from_millis(count))
    }

    /// So many seconds.
    #[must_use]
    pub const fn secs(count: u64) -> Self {
        Self(Duration::from_secs(count))
    }

    /// The length of time.
    #[must_use]
    pub const fn get(self) -> Duration {
        self.0
    }

    /// `None` where 0 means "off", else the length of time.
    #[must_use]
    pub fn unless_zero(self) -> Option<Duration> {
        (!self.0.is_zero()).then_some(self.0)
    }
}

impl Deref for Period {
    type Target = Duration;

    fn deref(&self) -> &Duration {
        &self.0
    }
}

impl From<Period> for Duration {
    fn from(period: Period) -> Self {
        period.0
    }
}

impl FromStr for Period {
    type Err = NotAPeriod;

    fn from_str(text: &str) -> Result<Self, NotAPeriod> {
        if text == "0" {
            return Ok(Self::default());
        }
        let mut rest = text;
        let mut total: u64 = 0;
        let mut largest_allowed = u64::MAX;
        while !rest.is_empty() {
            let (millis, unit, after) = part(rest).ok_or(NotAPeriod)?;
            if unit >= largest_allowed {
                return Err(NotAPeriod);
            }
            total = total.checked_add(millis).ok_or(NotAPeriod)?;
            largest_allowed = unit;
            rest = after;
        }
        if text.is_empty() { Err(NotAPeriod) } else { Ok(Self::millis(total)) }
    }
}

/// The first `<digits><unit>`: its milliseconds, those of its unit, and what follows.
fn part(text: &str) -> Option<(u64, u64, &str)> {
    let (digits, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let (name, after) = rest.split_at(rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len()));
    let (_, unit) = UNITS.iter().find(|(known, _)| *known == name)?;
    Some((digits.parse::<u64>().ok()?.checked_mul(*unit)?, *unit, after))
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        match UNITS.iter().find(|(_, unit)| millis > 0 && millis.is_multiple_of(u128::from(*unit))) {
            Some((name, unit)) => write!(f, "{}{name}", millis / u128::from(*unit)),
            None => f.write_str("0"),
        }
    }
}

impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PeriodVisitor)
    }
}

struct PeriodVisitor;

impl Visitor<'_> for PeriodVisitor {
    type Value = Period;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Period, E> {
        if number == 0 {
            Ok(Period::default())
        } else {
            Err(E::custom(format_args!("the number {number} has no unit: expected {EXPECTED}")))
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Period, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Period {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A length of time with its unit (ms, s, m, h, d), or 0.",
            "anyOf": [{"const": 0}, {"type": "string", "pattern": r"^(0|([0-9]+(ms|s|m|h|d))+)$"}]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_every_unit() {
        for (text, millis) in [
            ("0", 0),
            ("0s", 0),
            ("100ms", 100),
            ("5s", 5_000),
            ("30m", 1_800_000),
            ("1h", 3_600_000),
            ("7d", 604_800_000),
            ("1h30m", 5_400_000),
            ("1m500ms", 60_500),
        ] {
            assert_eq!(text.parse(), Ok(Period::millis(millis)), "{text}");
        }
    }

    #[test]
    fn numbers_without_a_unit_and_odd_texts_are_refused() {
        for text in ["", "5", "s", "-5s", "5 s", "1.5s", "5S", "5sec", "30m1h", "1s1s", "99999999999999999999s", "999999999999999999d"] {
            assert_eq!(text.parse::<Period>(), Err(NotAPeriod), "{text}");
        }
    }

    #[test]
    fn a_duration_is_written_as_it_is_read() {
        for millis in [0, 1, 999, 1_000, 90_000, 3_600_000, 86_400_001] {
            assert_eq!(Period::millis(millis).to_string().parse(), Ok(Period::millis(millis)));
        }
    }
}
