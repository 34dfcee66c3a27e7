//! JSON read in one walk, with every byte checked on the way.

use crate::wire::json::{Kind, Value, skip_space, string_stop};

/// Deepest nesting of a value that is skipped.
const DEPTH: usize = 128;

/// A place in a document. Every step is `None` where the bytes are no JSON.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Goes on with the members of an object whose first `at` bytes were read before.
    pub(super) const fn within(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    #[inline]
    fn peek(&mut self) -> Option<u8> {
        self.at = skip_space(self.bytes, self.at);
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// What comes next.
    pub(super) fn kind(&mut self) -> Option<Kind> {
        Kind::of(self.peek()?)
    }

    /// Walks an object. `each` gets every key as written, with the place where it begins, and must take its value.
    #[inline]
    pub(super) fn object(&mut self, each: impl FnMut(&mut Self, &'a [u8], usize) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        self.members(each)
    }

    /// As [`Self::object`], after its brace.
    #[inline]
    pub(super) fn members(&mut self, mut each: impl FnMut(&mut Self, &'a [u8], usize) -> Option<()>) -> Option<()> {
        loop {
            self.peek()?;
            let begins = self.at;
            let key = self.string()?;
            self.expect(b':')?;
            each(self, key, begins)?;
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// Walks an array. `each` must take the element.
    #[inline]
    pub(super) fn array(&mut self, mut each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(b'[')?;
        if self.peek()? == b']' {
            self.at += 1;
            return Some(());
        }
        loop {
            each(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// Takes the next value whole.
    #[inline]
    pub(super) fn value(&mut self) -> Option<Value<'a>> {
        self.peek()?;
        let start = self.at;
        self.skip(DEPTH)?;
        Some(Value::of(self.bytes.get(start..self.at)?))
    }

    /// Whether nothing is left.
    pub(super) fn is_over(&mut self) -> bool {
        self.peek().is_none()
    }

    fn skip(&mut self, depth: usize) -> Option<()> {
        match self.kind()? {
            Kind::String => self.string().map(drop),
            Kind::Object if depth > 0 => self.object(|cursor, _, _| cursor.skip(depth - 1)),
            Kind::Array if depth > 0 => self.array(|cursor| cursor.skip(depth - 1)),
            Kind::Object | Kind::Array => None,
            Kind::Number => self.number(),
            Kind::Bool | Kind::Null => self.literal(),
        }
    }

    /// What stands between the quotes of a string.
    #[inline]
    fn string(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            self.at = string_stop(self.bytes, self.at);
            match self.bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return self.bytes.get(start..self.at - 1);
                }
                b'\\' => self.escape()?,
                _ => return None,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        match self.bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                let digits = self.bytes.get(self.at + 2..self.at + 6)?;
                digits.iter().all(u8::is_ascii_hexdigit).then(|| self.at += 6)?;
            }
            _ => return None,
        }
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        let leading = self.bytes.get(self.at);
        let digits = self.digits()?;
        if digits > 1 && leading == Some(&b'0') {
            return None;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    /// Takes at least one digit.
    fn digits(&mut self) -> Option<usize> {
        let rest = self.bytes.get(self.at..)?;
        let count = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.at += count;
        (count > 0).then_some(count)
    }

    fn literal(&mut self) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        let word = [&b"null"[..], b"true", b"false"].into_iter().find(|word| rest.starts_with(word))?;
        self.at += word.len();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valid(bytes: &[u8]) -> bool {
        let mut cursor = Cursor::new(bytes);
        cursor.value().is_some() && cursor.is_over()
    }

    #[test]
    fn values_are_taken_whole() {
        let mut seen = Vec::new();
        let walked = Cursor::new(br#" {"a" : [1,{"b":"]"}] ,"c":null}"#).object(|cursor, key, _| {
            seen.push((key.to_vec(), cursor.value()?.bytes().to_vec()));
            Some(())
        });
        assert!(walked.is_some());
        assert_eq!(seen, [(b"a".to_vec(), br#"[1,{"b":"]"}]"#.to_vec()), (b"c".to_vec(), b"null".to_vec())]);
    }

    proptest::proptest! {
        #[test]
        fn only_json_is_taken(text in r#"[\[\]{}:,"\\u1-9e.tnrl a-]{0,24}"#) {
            // A lone surrogate is let through as it is; the other reader refuses it.
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) {
                proptest::prop_assert!(valid(text.as_bytes()), "{value}");
            } else if valid(text.as_bytes()) {
                proptest::prop_assert!(text.contains("\\u") || text.contains('e'), "{}", text);
            }
        }
    }
}
