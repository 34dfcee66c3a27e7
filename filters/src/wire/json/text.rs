//! Strings: finding their end fast, decoding and writing them.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = ONES * 0x80;
const QUOTES: u64 = ONES * b'"' as u64;
const SLASHES: u64 = ONES * b'\\' as u64;
const SPACES: u64 = ONES * 0x20;
/// Words looked at one by one before a string counts as long.
const SHORT_WORDS: usize = 6;
/// Bytes of a long string searched for its end, then for control characters while they are still in the nearest cache.
const BLOCK: usize = 4096;

/// The text of a string given with its quotes. Lone surrogates become U+FFFD. Bytes that are no string are read as if quoted.
#[must_use]
pub fn decode_string(span: &[u8]) -> Cow<'_, str> {
    match string_bytes(span) {
        Cow::Borrowed(bytes) => lossy(bytes),
        Cow::Owned(bytes) => {
            Cow::Owned(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
        }
    }
}

/// Bytes as text, with U+FFFD for what is none. Text is what is expected, and checked as such first, many bytes at a time.
#[must_use]
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// As [`decode_string`], without checking that the bytes are UTF-8.
#[must_use]
pub fn string_bytes(span: &[u8]) -> Cow<'_, [u8]> {
    let inner = span.strip_prefix(b"\"").unwrap_or(span);
    let inner = inner.strip_suffix(b"\"").unwrap_or(inner);
    unescaped(inner, true)
}

/// Appends `text` as a JSON string, quotes included, escaping only what JSON demands.
pub fn encode_string(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut from = 0;
    loop {
        let stop = string_stop(bytes, from);
        out.extend_from_slice(bytes.get(from..stop).unwrap_or_default());
        let Some(byte) = bytes.get(stop) else { break };
        escape(*byte, out);
        from = stop + 1;
    }
    out.push(b'"');
}

fn escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 0xf)]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// The offset, at or after `from`, of the first quote, backslash or control character, or the length.
#[inline]
pub(crate) fn string_stop(bytes: &[u8], from: usize) -> usize {
    string_part(bytes, from).0
}

/// As [`string_stop`], and whether all before it is ASCII; `false` may also mean that what follows it is not.
#[inline]
pub(super) fn string_part(bytes: &[u8], from: usize) -> (usize, bool) {
    let mut at = from;
    let mut bits = 0;
    for _ in 0..SHORT_WORDS {
        let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            let stop = tail_stop(bytes, at);
            return (stop, bits & HIGH == 0 && bytes.get(at..stop).unwrap_or_default().is_ascii());
        };
        let word = u64::from_le_bytes(*word);
        bits |= word;
        let hits = word_hits(word);
        if hits != 0 {
            return (at + (hits.trailing_zeros() / 8) as usize, bits & HIGH == 0);
        }
        at += 8;
    }
    let (stop, ascii) = long_stop(bytes, at);
    (stop, ascii && bits & HIGH == 0)
}

/// The offset, at or after `from`, of the first quote or backslash, or the length: for strings that were checked before.
#[inline]
pub(crate) fn string_mark(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    for _ in 0..SHORT_WORDS {
        let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else { break };
        let hits = mark_hits(u64::from_le_bytes(*word));
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)).map_or(bytes.len(), |found| at + found)
}

#[inline(never)]
fn long_stop(bytes: &[u8], from: usize) -> (usize, bool) {
    let mut at = from;
    let mut bits = 0;
    for block in bytes.get(from..).unwrap_or_default().chunks(BLOCK) {
        let stop = memchr2(b'"', b'\\', block).unwrap_or(block.len());
        let text = block.get(..stop).unwrap_or_default();
        let least;
        (least, bits) = text.iter().fold((u8::MAX, bits), |(least, bits), byte| (least.min(*byte), bits | *byte));
        if least < b' ' {
            return (tail_stop(bytes, at), bits.is_ascii());
        }
        at += stop;
        if stop < block.len() {
            break;
        }
    }
    (at, bits.is_ascii())
}

fn tail_stop(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| *byte < 0x20 || *byte == b'"' || *byte == b'\\').unwrap_or(rest.len())
}

/// The high bit of every byte that stops a string; only the lowest set bit is exact, which is the one used.
#[inline]
const fn word_hits(word: u64) -> u64 {
    (word.wrapping_sub(SPACES) & !word & HIGH) | mark_hits(word)
}

/// As [`word_hits`], for quotes and backslashes alone.
#[inline]
const fn mark_hits(word: u64) -> u64 {
    let quote = word ^ QUOTES;
    let slash = word ^ SLASHES;
    ((quote.wrapping_sub(ONES) & !quote) | (slash.wrapping_sub(ONES) & !slash)) & HIGH
}

/// The bytes between a string's quotes with escapes replaced; borrowed when there are none.
pub(super) fn unescaped(inner: &[u8], maybe_escaped: bool) -> Cow<'_, [u8]> {
    if !maybe_escaped {
        return Cow::Borrowed(inner);
    }
    match memchr(b'\\', inner) {
        None => Cow::Borrowed(inner),
        Some(first) => Cow::Owned(unescape(inner, first)),
    }
}

fn unescape(inner: &[u8], first: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(inner.len());
    let mut at = 0;
    let mut slash = Some(first);
    while let Some(stop) = slash {
        out.extend_from_slice(inner.get(at..stop).unwrap_or_default());
        at = escape_end(inner, stop, &mut out);
        slash = inner.get(at..).and_then(|rest| memchr(b'\\', rest)).map(|found| at + found);
    }
    out.extend_from_slice(inner.get(at..).unwrap_or_default());
    out
}

/// Decodes the escape whose backslash is at `slash` and returns the offset after it.
fn escape_end(inner: &[u8], slash: usize, out: &mut Vec<u8>) -> usize {
    let plain = match inner.get(slash + 1) {
        Some(b'b') => 0x08,
        Some(b'f') => 0x0c,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'u') => return unicode_end(inner, slash, out),
        Some(byte) => *byte,
        None => b'\\',
    };
    out.push(plain);
    (slash + 2).min(inner.len())
}

fn unicode_end(inner: &[u8], slash: usize, out: &mut Vec<u8>) -> usize {
    let Some(unit) = hex4(inner, slash + 2) else {
        push_char(char::REPLACEMENT_CHARACTER, out);
        return (slash + 2).min(inner.len());
    };
    let low = (inner.get(slash + 6..slash + 8) == Some(b"\\u")).then(|| hex4(inner, slash + 8)).flatten();
    if (0xd800..0xdc00).contains(&unit)
        && let Some(low) = low.filter(|low| (0xdc00..0xe000).contains(low))
    {
        let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        push_char(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), out);
        return slash + 12;
    }
    push_char(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), out);
    slash + 6
}

fn push_char(character: char, out: &mut Vec<u8>) {
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

/// The value of four hexadecimal digits at `at`.
pub(super) fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..)?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |code, digit| Some((code << 4) | char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_decode_and_lone_surrogates_become_replacement_characters() {
        assert_eq!(decode_string(br#""a\n\"\\\/\u00e9\ud83d\ude00\ud800x""#), "a\n\"\\/\u{e9}\u{1f600}\u{fffd}x");
        assert!(matches!(decode_string(b"\"plain\""), Cow::Borrowed("plain")));
    }

    #[test]
    fn the_stop_is_found_at_every_offset_and_length() {
        for length in 0..200 {
            for stop in 0..length {
                for byte in [b'"', b'\\', 0x1f, 0] {
                    let mut bytes = vec![0xc3; length];
                    bytes[stop] = byte;
                    assert_eq!(string_stop(&bytes, 0), stop, "byte {byte} at {stop} of {length}");
                    let mark = if byte < b' ' { length } else { stop };
                    assert_eq!(string_mark(&bytes, 0), mark, "byte {byte} at {stop} of {length}");
                }
            }
            assert_eq!(string_stop(&vec![b'!'; length], 0), length);
        }
    }

    proptest::proptest! {
        #[test]
        fn encoding_agrees_with_serde_json_and_decodes_back(text in ".*") {
            let mut out = Vec::new();
            encode_string(&text, &mut out);
            proptest::prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text.clone());
            proptest::prop_assert_eq!(decode_string(&out), text);
        }
    }
}
