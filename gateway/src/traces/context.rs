//! `traceparent` and `tracestate`: the W3C Trace Context recommendation.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::request_id::digit;

/// The trace, the span and the flags.
pub(super) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// What the systems of a trace tell each other.
pub(super) const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
/// The flag of a trace that is recorded.
pub(super) const SAMPLED: u8 = 1;
/// The flag of a trace whose id was made by chance.
const RANDOM: u8 = 2;
/// Bytes of a `traceparent` of the version that is written.
const LENGTH: usize = 55;
/// The longest `tracestate` that is carried: what every system has to carry.
const LONGEST_STATE: usize = 512;

/// The span a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parent {
    pub(super) trace: u128,
    pub(super) span: u64,
    pub(super) flags: u8,
}

impl Parent {
    /// The one the headers name. One that is malformed, or given twice, is none.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(&TRACEPARENT).iter();
        let parent = Self::parse(values.next()?.as_bytes())?;
        values.next().is_none().then_some(parent)
    }

    /// Reads § 3.2.2: of a version that is not known, what is known of it.
    fn parse(text: &[u8]) -> Option<Self> {
        let mut fields = text.splitn(5, |byte| *byte == b'-');
        let mut field = |digits| hex(fields.next()?, digits);
        let (version, trace, span, flags) = (field(2)?, field(32)?, field(16)?, field(2)?);
        let longer = fields.next().is_some();
        let sound = version != 0xff && !(version == 0 && longer) && trace != 0 && span != 0;
        let known = if version == 0 { SAMPLED | RANDOM } else { SAMPLED };
        let flags = u8::try_from(flags).ok()? & known;
        if sound { Some(Self { trace, span: u64::try_from(span).ok()?, flags }) } else { None }
    }

    /// The header's value.
    pub(super) fn header_value(&self) -> Option<HeaderValue> {
        let mut text = Vec::with_capacity(LENGTH);
        for field in [&[0][..], &self.trace.to_be_bytes(), &self.span.to_be_bytes(), &[self.flags]] {
            if !text.is_empty() {
                text.push(b'-');
            }
            text.extend(field.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]));
        }
        HeaderValue::from_maybe_shared(Bytes::from(text)).ok()
    }

    /// The flags of a trace that begins here, its id made by chance.
    pub(super) const fn fresh_flags(sampled: bool) -> u8 {
        if sampled { RANDOM | SAMPLED } else { RANDOM }
    }
}

/// The lines of `tracestate` as one, where there are any and they are not too long.
pub(super) fn state(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut lines = headers.get_all(&TRACESTATE).iter();
    let first = lines.next()?;
    let joined = match lines.next() {
        None => first.clone(),
        Some(second) => {
            let all: Vec<&[u8]> = [first, second].into_iter().chain(lines).map(HeaderValue::as_bytes).collect();
            HeaderValue::from_bytes(&all.join(&b',')).ok()?
        }
    };
    let sound = !joined.is_empty() && joined.len() <= LONGEST_STATE && joined.to_str().is_ok();
    sound.then_some(joined)
}

/// Passes on what the client sent, unchanged, where it is well-formed.
pub fn pass_on(client: &HeaderMap, head: &mut pingora::http::RequestHeader) -> pingora::Result<()> {
    let Some(parent) = client.get(&TRACEPARENT).filter(|_| Parent::of(client).is_some()) else { return Ok(()) };
    head.insert_header(TRACEPARENT, parent.clone())?;
    state(client).map_or(Ok(()), |state| head.insert_header(TRACESTATE, state))
}

/// So many lower-case digits and nothing else.
fn hex(text: &[u8], digits: usize) -> Option<u128> {
    let value = |digit| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let all = || text.iter().try_fold(0, |all, digit| Some(all << 4 | u128::from(value(*digit)?)));
    if text.len() == digits { all() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    fn headers(name: &HeaderName, values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), HeaderValue::from_bytes(value.as_bytes()).unwrap())).collect()
    }

    fn parsed(text: &str) -> Option<(u128, u64, u8)> {
        Parent::of(&headers(&TRACEPARENT, &[text])).map(|parent| (parent.trace, parent.span, parent.flags))
    }

    #[test]
    fn a_well_formed_parent_is_read_and_written_alike() {
        let (trace, span) = (0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736, 0x00f0_67aa_0ba9_02b7);
        for (flags, read) in [("00", 0), ("01", 1), ("02", 2), ("03", 3), ("fd", 1), ("fc", 0)] {
            let text = format!("00-{TRACE}-{SPAN}-{flags}");
            assert_eq!(parsed(&text), Some((trace, span, read)), "{text}");
        }
        let parent = Parent { trace, span, flags: 1 };
        assert_eq!(parent.header_value().unwrap(), format!("00-{TRACE}-{SPAN}-01"));
        let small = Parent { trace: 1, span: 2, flags: 0 };
        assert_eq!(small.header_value().unwrap(), "00-00000000000000000000000000000001-0000000000000002-00");
    }

    #[test]
    fn later_versions_are_read_as_far_as_they_are_known() {
        for text in [format!("01-{TRACE}-{SPAN}-01"), format!("cc-{TRACE}-{SPAN}-03-what-ever"), format!("01-{TRACE}-{SPAN}-01-")] {
            assert_eq!(parsed(&text).map(|(.., flags)| flags), Some(1), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_parent() {
        let zeros = "0".repeat(32);
        for text in [
            String::new(),
            "00".to_owned(),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("00-{TRACE}-{SPAN}-01-"),
            format!("00-{zeros}-{SPAN}-01"),
            format!("00-{TRACE}-0000000000000000-01"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-{SPAN}-0"),
            format!("00-{TRACE}-{SPAN}-001"),
            format!("00-{TRACE}-{SPAN}-0G"),
            format!("00-{TRACE}-{SPAN}"),
            format!("0-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}0-{SPAN}-01"),
            format!("00-{}-{SPAN}-01", &TRACE[1..]),
            format!("00-+{}-{SPAN}-01", &TRACE[1..]),
            format!("00-{TRACE}-{SPAN}-01 "),
            format!("00_{TRACE}_{SPAN}_01"),
            format!("01-{TRACE}-{SPAN}-01x"),
        ] {
            assert_eq!(parsed(&text), None, "{text:?}");
        }
        let twice = format!("00-{TRACE}-{SPAN}-01");
        assert_eq!(Parent::of(&headers(&TRACEPARENT, &[&twice, &twice])), None, "one of two cannot be chosen");
        assert_eq!(Parent::of(&HeaderMap::new()), None);
    }

    #[test]
    fn the_state_is_one_line_of_bounded_length() {
        let joined = |values: &[&str]| state(&headers(&TRACESTATE, values));
        assert_eq!(joined(&["a=1"]).unwrap(), "a=1");
        assert_eq!(joined(&["a=1", "b=2,c=3", "d=4"]).unwrap(), "a=1,b=2,c=3,d=4");
        assert_eq!(joined(&[]), None);
        assert_eq!(joined(&[""]), None);
        assert_eq!(joined(&["a=ä"]), None);
        assert!(joined(&[&"a".repeat(512)]).is_some());
        assert_eq!(joined(&[&"a".repeat(512), "b"]), None);
    }
}
