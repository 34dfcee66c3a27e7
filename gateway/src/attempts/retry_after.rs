//! When a provider says it is worth asking again.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use time::OffsetDateTime;
use time::format_description::well_known::{Rfc2822, Rfc3339};

const MILLISECONDS: HeaderName = HeaderName::from_static("retry-after-ms");
/// Vendors' own words, where `retry-after` says nothing: when the bound that was met is free again.
const RESETS: [(&str, &str); 6] = [
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
];

/// The pause a provider asks for: milliseconds, seconds, an HTTP date, or the latest of the vendor's resets whose bound is used up.
#[must_use]
pub fn retry_after(headers: &HeaderMap, now: OffsetDateTime) -> Option<Duration> {
    let milliseconds = text(headers.get(&MILLISECONDS)).and_then(|text| number(text, 1));
    let told = || text(headers.get(header::RETRY_AFTER)).and_then(|text| pause(text, now));
    milliseconds.or_else(told).or_else(|| reset_of(headers, now))
}

fn reset_of(headers: &HeaderMap, now: OffsetDateTime) -> Option<Duration> {
    let used_up = |remaining: &str| text(headers.get(remaining)).is_some_and(|left| left == "0");
    let met = RESETS.iter().filter(|(remaining, _)| used_up(remaining));
    met.filter_map(|(_, until)| pause(text(headers.get(*until))?, now)).max()
}

fn text(value: Option<&HeaderValue>) -> Option<&str> {
    value?.to_str().ok().map(str::trim)
}

/// A pause in any of the forms in use.
fn pause(text: &str, now: OffsetDateTime) -> Option<Duration> {
    let date = || OffsetDateTime::parse(text, &Rfc2822).or_else(|_| OffsetDateTime::parse(text, &Rfc3339)).ok();
    let until = || Some(Duration::try_from(date()? - now).unwrap_or(Duration::ZERO));
    number(text, 1_000).or_else(|| spans(text)).or_else(until)
}

/// A number, perhaps with decimals, of units of `ms` milliseconds.
fn number(text: &str, ms: u64) -> Option<Duration> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.len() <= 9 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) {
        return None;
    }
    let unit = Duration::from_millis(ms);
    let part = unit.checked_mul(decimals.parse().ok()?)? / 10_u32.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    unit.checked_mul(whole.parse().ok()?)?.checked_add(part)
}

/// Spans such as `1m30s`, `250ms` or `2h`.
fn spans(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut sum = Duration::ZERO;
    while !rest.is_empty() {
        let unit_at = rest.find(|sign: char| sign.is_ascii_alphabetic())?;
        let (amount, after) = rest.split_at(unit_at);
        let unit_end = after.find(|sign: char| !sign.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, next) = after.split_at(unit_end);
        let ms = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        sum = sum.checked_add(number(amount, ms)?)?;
        rest = next;
    }
    (!text.is_empty()).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-11-21 10:00:00 UTC);

    fn after(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let pairs = headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()));
        retry_after(&pairs.collect(), NOW)
    }

    #[test]
    fn every_form_in_use_is_understood() {
        for (value, ms) in [
            ("7", 7_000),
            ("0", 0),
            ("0.25", 250),
            ("Sat, 21 Nov 2026 10:00:30 GMT", 30_000),
            ("Sat, 21 Nov 2026 09:00:00 GMT", 0),
            ("2026-11-21T10:01:00Z", 60_000),
            ("1m30s", 90_000),
            ("6m0s", 360_000),
            ("1.5s", 1_500),
            ("20ms", 20),
            ("1h", 3_600_000),
        ] {
            assert_eq!(after(&[("retry-after", value)]), Some(Duration::from_millis(ms)), "{value}");
        }
        for value in ["", "soon", "-1", "1x", "m", "99999999999999999999", "1e3", "NaN"] {
            assert_eq!(after(&[("retry-after", value)]), None, "{value}");
        }
    }

    #[test]
    fn milliseconds_are_more_exact_than_seconds() {
        assert_eq!(after(&[("retry-after", "2"), ("retry-after-ms", "1250")]), Some(Duration::from_millis(1_250)));
    }

    #[test]
    fn without_a_word_the_bound_that_is_used_up_tells() {
        let headers = [
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "1m0s"),
            ("x-ratelimit-remaining-tokens", "5"),
            ("x-ratelimit-reset-tokens", "1h"),
        ];
        assert_eq!(after(&headers), Some(Duration::from_secs(60)));
        assert_eq!(after(&headers[2..]), None);
        let headers = [("anthropic-ratelimit-tokens-remaining", "0"), ("anthropic-ratelimit-tokens-reset", "2026-11-21T10:00:05Z")];
        assert_eq!(after(&headers), Some(Duration::from_secs(5)));
    }
}
