//! Amounts of money without rounding.

use std::fmt;
use std::str::FromStr;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An amount in US dollars, kept in whole billionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usd {
    /// Billionths of a dollar.
    pub nano: i64,
}

/// Why a text is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an amount such as 50 or \"12.50\", with at most nine decimals")]
pub struct NotAnAmount;

impl FromStr for Usd {
    type Err = NotAnAmount;

    fn from_str(text: &str) -> Result<Self, NotAnAmount> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || fraction.len() > 9 {
            return Err(NotAnAmount);
        }
        let whole: i64 = whole.parse().map_err(|_| NotAnAmount)?;
        let fraction: i64 = format!("{fraction:0<9}").parse().map_err(|_| NotAnAmount)?;
        whole.checked_mul(1_000_000_000).and_then(|nano| nano.checked_add(fraction)).map(|nano| Self { nano }).ok_or(NotAnAmount)
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}", self.nano / 1_000_000_000, self.nano % 1_000_000_000)
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UsdVisitor)
    }
}

struct UsdVisitor;

impl Visitor<'_> for UsdVisitor {
    type Value = Usd;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount such as 50 or \"12.50\"")
    }

    fn visit_u64<E: Error>(self, dollars: u64) -> Result<Usd, E> {
        dollars.to_string().parse().map_err(E::custom)
    }

    /// The shortest decimal that reads back as the same number is the one that was written.
    fn visit_f64<E: Error>(self, dollars: f64) -> Result<Usd, E> {
        dollars.to_string().parse().map_err(E::custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Usd, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Usd {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Usd".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "US dollars, with at most nine decimals.",
            "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": r"^[0-9]+(\.[0-9]{1,9})?$"}]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact() {
        for (text, nano) in [("0", 0), ("50", 50_000_000_000), ("12.50", 12_500_000_000), ("0.000000001", 1)] {
            assert_eq!(text.parse(), Ok(Usd { nano }), "{text}");
        }
        for text in ["", ".5", "5.", "-1", "1e3", "0.0000000001", "99999999999"] {
            assert_eq!(text.parse::<Usd>(), Err(NotAnAmount), "{text}");
        }
    }
}
