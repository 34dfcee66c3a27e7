//! An amount of money in a usage object, read digit by digit: a float could not hold it exactly.

use crate::wire::json::{Kind, Member, members};

/// Decimals of a dollar that are kept.
const DECIMALS: i32 = 9;
/// Digits that are looked at; what follows them is far below what is kept.
const DIGITS: u32 = 30;
/// The largest amount believed of one exchange: a million dollars.
const LARGEST: u128 = 1_000_000 * 1_000_000_000;

/// US dollars in billionths, rounded half up. A number, or a text that is one; where the amount is split up, its total. None for
/// everything else, negative and absurd amounts included.
pub(super) fn read(member: &Member<'_>) -> Option<u64> {
    match member.kind {
        Kind::Number => nano(member.value()),
        Kind::String => nano(member.value().strip_prefix(b"\"")?.strip_suffix(b"\"")?),
        Kind::Object => {
            members(member.value()).find(|part| part.is("total_cost") && part.kind == Kind::Number).and_then(|part| nano(part.value()))
        }
        _ => None,
    }
}

fn nano(number: &[u8]) -> Option<u64> {
    let (mantissa, exponent) = match number.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (number.get(..at)?, std::str::from_utf8(number.get(at + 1..)?).ok()?.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let (mut digits, mut seen, mut decimals, mut after_point) = (0_u128, 0, 0, false);
    for byte in mantissa {
        match byte {
            b'.' if !after_point => after_point = true,
            b'0'..=b'9' if seen < DIGITS => {
                digits = digits * 10 + u128::from(byte - b'0');
                seen += u32::from(digits > 0);
                decimals += i32::from(after_point);
            }
            b'0'..=b'9' if after_point => {}
            _ => return None,
        }
    }
    if mantissa.is_empty() || mantissa == b"." {
        return None;
    }
    let amount = shifted(digits, exponent.checked_sub(decimals)?.checked_add(DECIMALS)?)?;
    u64::try_from(amount).ok().filter(|_| amount <= LARGEST)
}

/// `digits` with the decimal point moved by `places` to the right.
fn shifted(digits: u128, places: i32) -> Option<u128> {
    let power = |places: u32| 10_u128.checked_pow(places);
    if digits == 0 {
        return Some(0);
    }
    if places >= 0 {
        return digits.checked_mul(power(places.unsigned_abs())?);
    }
    // A divisor beyond all digits leaves nothing.
    Some(power(places.unsigned_abs()).map_or(0, |divisor| (digits / divisor) + u128::from(digits % divisor >= divisor / 2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(value: &str) -> Option<u64> {
        read(&members(format!(r#"{{"cost":{value}}}"#).as_bytes()).next().unwrap())
    }

    #[test]
    fn amounts_are_read_to_the_billionth() {
        for (value, nano) in [
            ("0", 0),
            ("0.00014", 140_000),
            ("1.4e-04", 140_000),
            ("14E-5", 140_000),
            ("0.1", 100_000_000),
            ("12", 12_000_000_000),
            ("1.5e+1", 15_000_000_000),
            ("0.0000000004", 0),
            ("0.0000000005", 1),
            ("1e-400", 0),
            ("0.123456789999999999999999999999999999999", 123_456_790),
            ("1000000", 1_000_000_000_000_000),
            (r#""0.0045""#, 4_500_000),
            (r#"{"input_tokens_cost":0.1,"total_cost":0.25}"#, 250_000_000),
        ] {
            assert_eq!(cost(value), Some(nano), "{value}");
        }
    }

    #[test]
    fn what_is_no_amount_is_none() {
        for value in ["-1", "1000001", "1e400", "1e9999999999", "null", "true", "[1]", "{}", r#""""#, r#"".""#, r#""1.2.3""#, r#""free""#] {
            assert_eq!(cost(value), None, "{value}");
        }
    }
}
