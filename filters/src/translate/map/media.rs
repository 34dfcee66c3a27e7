//! Pictures and files: data URLs and what bytes really are.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::canonical::Text;

/// Characters of base64 that tell what a file is.
const SNIFFED: usize = 32;

/// Media type (perhaps empty) and standard base64 of a data URL; `None` where it is none. Parameters are dropped, the URL-safe
/// alphabet, white space and percent-encoding are normalised; a plain base64 payload is not copied.
#[must_use]
pub fn data_url<'a>(url: &Text<'a>) -> Option<(Text<'a>, Text<'a>)> {
    if let Text::Escaped(inner) = url
        && let Some(found) = plain_data_url(inner)
    {
        return Some(found);
    }
    let text = url.decode();
    let rest = text.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:")).and_then(|_| text.get(5..))?;
    let (head, payload) = rest.split_once(',')?;
    let mut parts = head.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default().to_ascii_lowercase();
    let base64 = parts.any(|part| part.eq_ignore_ascii_case("base64"));
    let payload = percent_decoded(payload);
    let data = if base64 { normalised(&payload)? } else { STANDARD.encode(&payload) };
    Some((Text::from(media_type), Text::from(data)))
}

/// The common form, whose payload can be taken as it lies: `data:image/png;base64,…`.
fn plain_data_url(inner: &[u8]) -> Option<(Text<'_>, Text<'_>)> {
    let rest = inner.strip_prefix(b"data:")?;
    let comma = rest.iter().take(100).position(|byte| *byte == b',')?;
    let (head, payload) = (rest.get(..comma)?, rest.get(comma + 1..)?);
    let media_type = head.strip_suffix(b";base64")?;
    let simple = media_type.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"/+.-".contains(byte));
    (simple && payload.len().is_multiple_of(4) && is_standard(payload)).then_some((Text::Escaped(media_type), Text::Escaped(payload)))
}

/// Whether the bytes are standard base64 as JSON writers leave it. Without branches, so that the loop can be vectorised.
fn is_standard(payload: &[u8]) -> bool {
    payload.iter().fold(true, |clean, byte| {
        let letter = (byte.wrapping_sub(b'A') < 26) | (byte.wrapping_sub(b'a') < 26) | (byte.wrapping_sub(b'0') < 10);
        clean & (letter | (*byte == b'+') | (*byte == b'/') | (*byte == b'='))
    })
}

fn percent_decoded(payload: &str) -> Cow<'_, [u8]> {
    if !payload.contains('%') {
        return Cow::Borrowed(payload.as_bytes());
    }
    let mut bytes = Vec::with_capacity(payload.len());
    let mut rest = payload.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok()).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, code) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    Cow::Owned(bytes)
}

/// Standard, padded base64 of a payload in either alphabet; `None` where it is no base64.
fn normalised(payload: &[u8]) -> Option<String> {
    let mut text = String::with_capacity(payload.len() + 2);
    for byte in payload.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        text.push(match byte {
            b'-' => '+',
            b'_' => '/',
            b'=' => continue,
            byte if byte.is_ascii_alphanumeric() || b"+/".contains(byte) => char::from(*byte),
            _ => return None,
        });
    }
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    Some(text)
}

/// What a file in base64 is, by its first bytes: the pictures and documents the vendors take.
#[must_use]
pub fn sniff(data: &Text<'_>) -> Option<&'static str> {
    let head: Vec<u8> = match data {
        Text::Escaped(inner) => inner.iter().copied().filter(|byte| *byte != b'\\').take(SNIFFED).collect(),
        Text::Plain(text) => text.bytes().take(SNIFFED).collect(),
    };
    let whole = head.get(..head.len() / 4 * 4)?;
    sniff_bytes(&STANDARD.decode(whole).or_else(|_| STANDARD.decode(whole.get(..8).unwrap_or_default())).ok()?)
}

/// What a file is, by its first bytes.
#[must_use]
pub fn sniff_bytes(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'%', b'P', b'D', b'F', ..] => Some("application/pdf"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Option<(String, String)> {
        let both = [Text::from(url), Text::Escaped(url.as_bytes())]
            .map(|url| data_url(&url).map(|(kind, data)| (kind.decode().into_owned(), data.decode().into_owned())));
        assert_eq!(both[0], both[1], "{url}");
        both.into_iter().next().flatten()
    }

    #[test]
    fn the_common_form_is_not_copied() {
        let url = Text::Escaped(b"data:image/png;base64,iVBORw0KGgo=");
        let Some((Text::Escaped(kind), Text::Escaped(data))) = data_url(&url) else { panic!("copied") };
        assert_eq!((kind, data), (&b"image/png"[..], &b"iVBORw0KGgo="[..]));
    }

    #[test]
    fn odd_forms_are_normalised() {
        let expect = |kind: &str, data: &str| Some((kind.to_owned(), data.to_owned()));
        assert_eq!(parsed("DATA:Image/PNG;charset=utf-8;BASE64,AB-_"), expect("image/png", "AB+/"));
        assert_eq!(parsed("data:;base64,AB"), expect("", "AB=="));
        assert_eq!(parsed("data:text/plain,a%20b"), expect("text/plain", "YSBi"));
        assert_eq!(parsed("https://x/y.png"), None);
        assert_eq!(parsed("data:image/png;base64,é"), None);
    }

    #[test]
    fn files_are_known_by_their_first_bytes() {
        assert_eq!(sniff(&Text::from("iVBORw0KGgoAAAANSUhEUg==")), Some("image/png"));
        assert_eq!(sniff(&Text::from("/9j/4AAQSkZJRgABAQ==")), Some("image/jpeg"));
        assert_eq!(sniff(&Text::from("JVBERi0xLjQK")), Some("application/pdf"));
        assert_eq!(sniff(&Text::Escaped(br"\/9j\/4AAQSkZJRg==")), Some("image/jpeg"));
        assert_eq!(sniff(&Text::from("AAAA")), None);
    }
}
