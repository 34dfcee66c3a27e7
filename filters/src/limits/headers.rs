//! The headers by which clients of each shape learn of their limits.
//!
//! Resets are the time until all of a cap may be used again, as both vendors define them: a duration such as `59s` or `1m0s` for
//! chat completions, responses and generate content (whose vendor has no such headers), a moment of RFC 3339 for messages.

use std::time::Duration;

use http::HeaderName;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{Left, Standing};
use crate::shape::Shape;

/// Names for limit, remaining and reset.
type Names = [HeaderName; 3];

const REQUESTS: Names = names(["x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"]);
const TOKENS: Names = names(["x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"]);
const MESSAGES_REQUESTS: Names =
    names(["anthropic-ratelimit-requests-limit", "anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"]);
const MESSAGES_TOKENS: Names =
    names(["anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"]);

const fn names([limit, remaining, reset]: [&'static str; 3]) -> Names {
    [HeaderName::from_static(limit), HeaderName::from_static(remaining), HeaderName::from_static(reset)]
}

/// The headers that tell a client of `shape` how it stands at `now`, in Unix milliseconds.
#[must_use]
pub fn headers(shape: Shape, standing: &Standing, now: i64) -> Vec<(HeaderName, String)> {
    let messages = shape == Shape::Messages;
    let [requests, tokens] = if messages { [MESSAGES_REQUESTS, MESSAGES_TOKENS] } else { [REQUESTS, TOKENS] };
    let mut headers = Vec::with_capacity(6);
    for (names, left) in [(requests, standing.requests), (tokens, standing.tokens)] {
        let Some(Left { limit, remaining, reset }) = left else { continue };
        let reset = if messages { moment(now, reset) } else { duration(reset) };
        headers.extend(names.into_iter().zip([decimal(limit), decimal(remaining), reset]));
    }
    headers
}

fn decimal(number: u64) -> String {
    itoa::Buffer::new().format(number).to_owned()
}

/// Whole seconds, rounded up, as `6m0s`.
fn duration(length: Duration) -> String {
    let seconds = whole_seconds(length);
    let (mut text, mut digits) = (String::with_capacity(8), itoa::Buffer::new());
    if seconds >= 60 {
        text.push_str(digits.format(seconds / 60));
        text.push('m');
    }
    text.push_str(digits.format(seconds % 60));
    text.push('s');
    text
}

/// The end of `length` from `now`, in whole seconds, rounded up.
fn moment(now: i64, length: Duration) -> String {
    let millis = now.saturating_add(i64::try_from(length.as_millis()).unwrap_or(i64::MAX));
    let seconds = millis.saturating_add(999).div_euclid(1000);
    OffsetDateTime::from_unix_timestamp(seconds).ok().and_then(|at| at.format(&Rfc3339).ok()).unwrap_or_default()
}

fn whole_seconds(length: Duration) -> u64 {
    length.as_secs().saturating_add(u64::from(length.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_795_254_720_500;
    const BOTH: Standing = Standing {
        requests: Some(Left { limit: 60, remaining: 59, reset: Duration::from_millis(59_001) }),
        tokens: Some(Left { limit: 90_000, remaining: 0, reset: Duration::from_millis(1) }),
    };

    fn told(shape: Shape) -> Vec<(HeaderName, String)> {
        headers(shape, &BOTH, NOW)
    }

    #[test]
    fn chat_clients_are_told_durations() {
        let expected = [
            ("x-ratelimit-limit-requests", "60"),
            ("x-ratelimit-remaining-requests", "59"),
            ("x-ratelimit-reset-requests", "1m0s"),
            ("x-ratelimit-limit-tokens", "90000"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "1s"),
        ]
        .map(|(name, value)| (HeaderName::from_static(name), value.to_owned()));
        for shape in [Shape::ChatCompletions, Shape::Responses, Shape::GenerateContent] {
            assert_eq!(told(shape), expected, "{shape:?}");
        }
    }

    #[test]
    fn messages_clients_are_told_moments() {
        let expected = [
            ("anthropic-ratelimit-requests-limit", "60"),
            ("anthropic-ratelimit-requests-remaining", "59"),
            ("anthropic-ratelimit-requests-reset", "2026-11-21T09:53:00Z"),
            ("anthropic-ratelimit-tokens-limit", "90000"),
            ("anthropic-ratelimit-tokens-remaining", "0"),
            ("anthropic-ratelimit-tokens-reset", "2026-11-21T09:52:01Z"),
        ]
        .map(|(name, value)| (HeaderName::from_static(name), value.to_owned()));
        assert_eq!(told(Shape::Messages), expected);
    }

    #[test]
    fn what_is_not_capped_is_not_told() {
        assert!(headers(Shape::ChatCompletions, &Standing::default(), NOW).is_empty());
        let requests = Standing { tokens: None, ..BOTH };
        assert!(headers(Shape::Messages, &requests, NOW).iter().all(|(name, _)| name.as_str().contains("requests")));
    }

    #[test]
    fn durations_are_rounded_up_and_have_minutes() {
        for (millis, expected) in [(0, "0s"), (1, "1s"), (1_000, "1s"), (59_999, "1m0s"), (360_000, "6m0s"), (61_500, "1m2s")] {
            assert_eq!(duration(Duration::from_millis(millis)), expected);
        }
    }
}
