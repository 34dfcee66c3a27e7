//! Times of day and offsets from UTC, as texts.

use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A time of day, `HH:MM`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay {
    /// Minutes since midnight.
    pub minutes: u16,
}

/// How far a clock is ahead of UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset {
    /// Minutes ahead; negative behind.
    pub minutes: i16,
}

/// Why a text is not a time of day or an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct NotATime(&'static str);

impl FromStr for TimeOfDay {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        clock(text).map(|minutes| Self { minutes }).ok_or(NotATime("a time of day such as \"08:30\""))
    }
}

impl FromStr for Offset {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        let error = NotATime("an offset from UTC such as \"+01:00\"");
        let (sign, rest) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
            (Some(rest), _) => (1, rest),
            (_, Some(rest)) => (-1, rest),
            _ => return Err(error),
        };
        let minutes = clock(rest).and_then(|minutes| i16::try_from(minutes).ok()).filter(|minutes| *minutes <= 14 * 60).ok_or(error)?;
        Ok(Self { minutes: sign * minutes })
    }
}

/// Minutes since midnight of `HH:MM`.
fn clock(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let two = |part: &str| (part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit())).then(|| part.parse::<u16>().ok()).flatten();
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.minutes / 60, self.minutes % 60)
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.minutes.unsigned_abs();
        write!(f, "{}{:02}:{:02}", if self.minutes < 0 { '-' } else { '+' }, minutes / 60, minutes % 60)
    }
}

macro_rules! as_text {
    ($type:ty, $name:literal, $description:literal, $pattern:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"description": $description, "type": "string", "pattern": $pattern})
            }
        }
    };
}

as_text!(TimeOfDay, "TimeOfDay", "A time of day, HH:MM.", "^([01][0-9]|2[0-3]):[0-5][0-9]$");
as_text!(Offset, "Offset", "Hours and minutes ahead of UTC, such as +01:00.", "^[+-](0[0-9]|1[0-4]):[0-5][0-9]$");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_offsets_are_read_and_written_alike() {
        for text in ["00:00", "08:30", "23:59"] {
            assert_eq!(text.parse::<TimeOfDay>().unwrap().to_string(), text);
        }
        for text in ["+00:00", "+05:30", "-08:00", "+14:00"] {
            assert_eq!(text.parse::<Offset>().unwrap().to_string(), text);
        }
        for text in ["24:00", "8:30", "08:60", "0830", "+1:00"] {
            assert!(text.parse::<TimeOfDay>().is_err(), "{text}");
        }
        for text in ["01:00", "+15:00", "+1", "Z"] {
            assert!(text.parse::<Offset>().is_err(), "{text}");
        }
    }
}
