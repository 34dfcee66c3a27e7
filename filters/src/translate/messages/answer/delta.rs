//! The three events that make up nearly all of a stream, read in one walk where they are written as the vendor writes them.

use crate::canonical::Text;
use crate::wire::json::{skip_space, string_stop};

/// How the vendor's deltas begin.
const HEAD: &[u8] = br#"{"type":"content_block_delta","index":"#;
const MIDDLE: &[u8] = br#","delta":{"type":""#;

/// More of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Delta<'a> {
    /// `text_delta`
    Text(Text<'a>),
    /// `thinking_delta`
    Thinking(Text<'a>),
    /// `input_json_delta`
    Input(Text<'a>),
}

impl<'a> Delta<'a> {
    /// Reads an event; `None` for every other one, and for every other way of writing these.
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let rest = data.strip_prefix(HEAD)?;
        let digits = rest.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
        let rest = rest.get(digits..)?.strip_prefix(MIDDLE)?;
        if digits == 0 {
            return None;
        }
        if let Some(rest) = rest.strip_prefix(br#"text_delta","text":""#) {
            return whole(rest).map(Self::Text);
        }
        if let Some(rest) = rest.strip_prefix(br#"input_json_delta","partial_json":""#) {
            return whole(rest).map(Self::Input);
        }
        whole(rest.strip_prefix(br#"thinking_delta","thinking":""#)?).map(Self::Thinking)
    }
}

/// The text up to its quote, when nothing but the ends of both objects follows and the text is sound.
fn whole(rest: &[u8]) -> Option<Text<'_>> {
    let mut at = string_stop(rest, 0);
    while rest.get(at) == Some(&b'\\') {
        at = string_stop(rest, escape_end(rest, at)?);
    }
    let (text, tail) = rest.split_at_checked(at)?;
    let tail = tail.strip_prefix(b"\"")?;
    let tail = tail.get(skip_space(tail, 0)..)?.strip_prefix(b"}")?;
    let tail = tail.get(skip_space(tail, 0)..)?.strip_prefix(b"}")?;
    let sound = skip_space(tail, 0) == tail.len() && std::str::from_utf8(text).is_ok();
    sound.then_some(Text::Escaped(text))
}

/// The offset after the escape whose backslash is at `slash`.
fn escape_end(bytes: &[u8], slash: usize) -> Option<usize> {
    match bytes.get(slash + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(slash + 2),
        b'u' => {
            let digits = bytes.get(slash + 2..slash + 6)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(slash + 6)
        }
        _ => None,
    }
}
