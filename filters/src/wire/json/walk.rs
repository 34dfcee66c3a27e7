//! One level of an object or an array, without checking what is skipped.

use super::{Element, Kind, Member, Span, is_space, skip_space, string_mark};

/// The members of the object `value`, in order; spans count from the start of `value`. The walk ends at the first byte that
/// cannot belong to an object.
#[must_use]
pub fn members(value: &[u8]) -> Members<'_> {
    let at = skip_space(value, 0);
    let at = if value.get(at) == Some(&b'{') { at + 1 } else { value.len() };
    Members { bytes: value, at }
}

/// Goes on with the members of `value` at `at`, where a key is expected.
pub(crate) const fn members_at(value: &[u8], at: usize) -> Members<'_> {
    Members { bytes: value, at }
}

/// Goes on with the members of `value` after one whose value ends at `at`.
pub(crate) fn members_after(value: &[u8], at: usize) -> Members<'_> {
    Members { bytes: value, at: after_comma(value, at) }
}

/// The elements of the array `value`, as [`members`] does for objects.
#[must_use]
pub fn elements(value: &[u8]) -> Elements<'_> {
    let at = skip_space(value, 0);
    let at = if value.get(at) == Some(&b'[') { at + 1 } else { value.len() };
    Elements { bytes: value, at }
}

/// See [`members`].
#[derive(Clone, Debug)]
pub struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Members<'a> {
    #[inline]
    fn step(&mut self) -> Option<Member<'a>> {
        let key_start = skip_space(self.bytes, self.at);
        if self.bytes.get(key_start) != Some(&b'"') {
            return None;
        }
        let (key_end, escaped) = string_end(self.bytes, key_start + 1)?;
        let colon = skip_space(self.bytes, key_end);
        if self.bytes.get(colon) != Some(&b':') {
            return None;
        }
        let start = skip_space(self.bytes, colon + 1);
        let kind = Kind::of(*self.bytes.get(start)?)?;
        let end = value_end(self.bytes, start, kind)?;
        self.at = after_comma(self.bytes, end);
        Some(Member {
            raw_key: self.bytes.get(key_start + 1..key_end - 1)?,
            value: self.bytes.get(start..end)?,
            escaped,
            key_span: Span { start: key_start, end: key_end },
            span: Span { start, end },
            kind,
        })
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let member = self.step();
        if member.is_none() {
            self.at = self.bytes.len();
        }
        member
    }
}

/// See [`elements`].
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Elements<'a> {
    #[inline]
    fn step(&mut self) -> Option<Element<'a>> {
        let start = skip_space(self.bytes, self.at);
        let kind = Kind::of(*self.bytes.get(start)?)?;
        let end = value_end(self.bytes, start, kind)?;
        self.at = after_comma(self.bytes, end);
        Some(Element { value: self.bytes.get(start..end)?, span: Span { start, end }, kind })
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let element = self.step();
        if element.is_none() {
            self.at = self.bytes.len();
        }
        element
    }
}

/// Where the next key or element may start after a value that ends at `at`: the end where there is no comma.
#[inline]
fn after_comma(bytes: &[u8], at: usize) -> usize {
    let at = skip_space(bytes, at);
    if bytes.get(at) == Some(&b',') { at + 1 } else { bytes.len() }
}

/// The offset after the closing quote of the string whose first byte inside is at `from`, and whether it holds escapes.
#[inline]
pub(crate) fn string_end(bytes: &[u8], from: usize) -> Option<(usize, bool)> {
    let mut at = from;
    let mut escaped = false;
    loop {
        at = string_mark(bytes, at);
        if *bytes.get(at)? == b'"' {
            return Some((at + 1, escaped));
        }
        escaped = true;
        at += 2;
    }
}

#[inline]
fn value_end(bytes: &[u8], start: usize, kind: Kind) -> Option<usize> {
    match kind {
        Kind::String => string_end(bytes, start + 1).map(|(end, _)| end),
        Kind::Object | Kind::Array => container_end(bytes, start),
        Kind::Number | Kind::Bool | Kind::Null => {
            let rest = bytes.get(start..)?;
            Some(start + rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']') || is_space(*byte)).unwrap_or(rest.len()))
        }
    }
}

fn container_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at + 1)?.0;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_level_is_walked_and_nested_values_are_skipped_whole() {
        let body = br#" { "a" : {"x":"}\"]"} , "b\u0065":[1,{"c":"["}],"n":-1.5e3 ,"t":true}"#;
        let seen: Vec<(String, String)> =
            members(body).map(|m| (m.key().into_owned(), String::from_utf8_lossy(m.value()).into_owned())).collect();
        let expected = [("a", r#"{"x":"}\"]"}"#), ("be", r#"[1,{"c":"["}]"#), ("n", "-1.5e3"), ("t", "true")];
        assert_eq!(seen, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
    }

    #[test]
    fn elements_are_walked_and_an_unfinished_value_ends_the_walk() {
        assert_eq!(elements(b"[1, \"a\",{},[[]] ]").map(|e| e.span.len()).collect::<Vec<_>>(), [1, 3, 2, 4]);
        assert_eq!(elements(b"[1,[2").count(), 1);
        assert_eq!(members(b"{\"a\":1,\"b\":\"x").count(), 1);
        assert_eq!(elements(b"{}").count() + members(b"[]").count() + members(b"").count(), 0);
    }

    proptest::proptest! {
        #[test]
        fn walking_random_bytes_never_panics(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let _ = members(&bytes).chain(members(&bytes)).count();
            let _ = elements(&bytes).count();
        }

        #[test]
        fn walking_json_like_bytes_never_panics(text in r#"[\[\]{}:,"\\ a1tn-]{0,60}"#) {
            let _ = members(text.as_bytes()).map(|m| m.key().len()).sum::<usize>();
            let _ = elements(text.as_bytes()).count();
        }
    }
}
