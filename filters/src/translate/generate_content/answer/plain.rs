//! The chunk that makes up nearly all of a stream, one piece of text, read and checked in one walk.

use crate::canonical::Text;
use crate::wire::json::{Kind, Value, skip_space, string_stop};

/// Deepest nesting of a value that is passed over.
const DEPTH: usize = 32;

/// A chunk with one candidate that says one piece of text and not how it ends.
#[derive(Debug, Default)]
pub(super) struct Plain<'a> {
    pub(super) text: Option<Text<'a>>,
    pub(super) thought: bool,
    pub(super) id: Option<Text<'a>>,
    pub(super) created: Option<Text<'a>>,
    pub(super) usage: Option<Value<'a>>,
}

impl<'a> Plain<'a> {
    /// Reads a chunk; `None` for one that says anything else, and for what is no JSON.
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let mut plain = Self::default();
        let mut walk = Walk { bytes: data, at: 0 };
        walk.object(|walk, key| plain.member(walk, key))?;
        (skip_space(data, walk.at) == data.len() && plain.text.is_some()).then_some(plain)
    }

    fn member(&mut self, walk: &mut Walk<'a>, key: &[u8]) -> Option<()> {
        match key {
            b"candidates" if self.text.is_none() => walk.only(|walk| walk.object(|walk, key| self.candidate(walk, key))),
            b"usageMetadata" => {
                self.usage = Some(walk.value()?);
                Some(())
            }
            b"responseId" => {
                self.id = Some(Text::Escaped(walk.string()?));
                Some(())
            }
            b"createTime" => {
                self.created = Some(Text::Escaped(walk.string()?));
                Some(())
            }
            b"modelVersion" => walk.string().map(drop),
            _ => None,
        }
    }

    fn candidate(&mut self, walk: &mut Walk<'a>, key: &[u8]) -> Option<()> {
        match key {
            b"content" => walk.object(|walk, key| match key {
                b"parts" => walk.only(|walk| walk.object(|walk, key| self.part(walk, key))),
                b"role" => walk.string().map(drop),
                _ => None,
            }),
            b"index" => (walk.value()?.bytes() == b"0").then_some(()),
            b"safetyRatings" | b"tokenCount" | b"avgLogprobs" => walk.value().map(drop),
            _ => None,
        }
    }

    fn part(&mut self, walk: &mut Walk<'a>, key: &[u8]) -> Option<()> {
        match key {
            b"text" if self.text.is_none() => {
                let text = walk.string()?;
                std::str::from_utf8(text).ok()?;
                self.text = Some(Text::Escaped(text));
            }
            b"thought" => self.thought = walk.value()?.bool()?,
            _ => return None,
        }
        Some(())
    }
}

/// A place in a document. Every step is `None` where the bytes are no JSON.
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        self.at = skip_space(self.bytes, self.at);
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Walks an object; `each` gets every key and must take its value.
    #[inline]
    fn object(&mut self, mut each: impl FnMut(&mut Self, &'a [u8]) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            let key = self.string()?;
            self.take(b':')?;
            each(self, key)?;
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => break,
                _ => return None,
            }
        }
        self.at += 1;
        Some(())
    }

    /// Walks an array of one element, which `each` must take.
    #[inline]
    fn only(&mut self, each: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        each(self)?;
        self.take(b']')
    }

    /// Takes the next value whole.
    #[inline]
    fn value(&mut self) -> Option<Value<'a>> {
        self.peek()?;
        let start = self.at;
        self.skip(DEPTH)?;
        Some(Value::of(self.bytes.get(start..self.at)?))
    }

    fn skip(&mut self, depth: usize) -> Option<()> {
        match Kind::of(self.peek()?)? {
            Kind::String => self.string().map(drop),
            Kind::Object if depth > 0 => self.object(|walk, _| walk.skip(depth - 1)),
            Kind::Array if depth > 0 => self.elements(depth - 1),
            Kind::Object | Kind::Array => None,
            Kind::Number | Kind::Bool | Kind::Null => self.scalar(),
        }
    }

    fn elements(&mut self, depth: usize) -> Option<()> {
        self.take(b'[')?;
        if self.peek()? == b']' {
            self.at += 1;
            return Some(());
        }
        loop {
            self.skip(depth)?;
            match self.peek()? {
                b',' => self.at += 1,
                b']' => break,
                _ => return None,
            }
        }
        self.at += 1;
        Some(())
    }

    /// A number without an exponent, or a literal; what is written otherwise is left to the other reader.
    fn scalar(&mut self) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        let length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'.')).unwrap_or(rest.len());
        let word = rest.get(..length)?;
        self.at += length;
        (matches!(word, b"null" | b"true" | b"false") || is_number(word)).then_some(())
    }

    /// What stands between the quotes of a string.
    #[inline]
    fn string(&mut self) -> Option<&'a [u8]> {
        self.take(b'"')?;
        let start = self.at;
        loop {
            self.at = string_stop(self.bytes, self.at);
            match self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => self.at = escape_end(self.bytes, self.at)?,
                _ => return None,
            }
        }
        self.at += 1;
        self.bytes.get(start..self.at - 1)
    }
}

fn is_number(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    let (whole, fraction) = match digits.iter().position(|byte| *byte == b'.') {
        Some(at) => (digits.get(..at).unwrap_or_default(), digits.get(at + 1..).unwrap_or_default()),
        None => (digits, &b"0"[..]),
    };
    let all = |digits: &[u8]| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    all(whole) && all(fraction) && (whole.len() == 1 || whole.first() != Some(&b'0'))
}

/// The offset after the escape whose backslash is at `slash`. Escapes of surrogates are left to the other reader.
fn escape_end(bytes: &[u8], slash: usize) -> Option<usize> {
    match bytes.get(slash + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(slash + 2),
        b'u' => {
            let digits = bytes.get(slash + 2..slash + 6)?;
            let surrogate = matches!(digits.first(), Some(b'd' | b'D')) && !matches!(digits.get(1), Some(b'0'..=b'7'));
            (digits.iter().all(u8::is_ascii_hexdigit) && !surrogate).then_some(slash + 6)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_as_the_vendor_writes_it_is_plain() {
        let data = br#"{"candidates": [{"content": {"parts": [{"text": "a\n\u00e9"}],"role": "model"},"index": 0}],
            "usageMetadata": {"promptTokenCount": 4,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 4}]},"modelVersion": "m","responseId": "r"} "#;
        let plain = Plain::read(data).unwrap();
        assert!(plain.text.unwrap().is("a\n\u{e9}") && !plain.thought && plain.id.unwrap().is("r") && plain.usage.is_some());
        let thought = br#"{"candidates":[{"content":{"parts":[{"thought":true,"text":""}]}}]}"#;
        assert!(Plain::read(thought).unwrap().thought);
    }

    #[test]
    fn every_other_chunk_is_left_to_the_other_reader() {
        let part = |part: &str| format!(r#"{{"candidates":[{{"content":{{"parts":[{part}]}}}}]}}"#);
        let others = [
            part(r#"{"text":"a","thoughtSignature":"x"}"#),
            part(r#"{"text":"a"},{"text":"b"}"#),
            part(r#"{"functionCall":{"name":"f"}}"#),
            part(r#"{"text":"a"}"#) + "x",
            part(r#"{"text":"\ud83d\ude00"}"#),
            part(r#"{"text":"\x"}"#),
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}"#.to_owned(),
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"index":1}]}"#.to_owned(),
            r#"{"candidates":[],"usageMetadata":{}}"#.to_owned(),
            r#"{"usageMetadata":{}}"#.to_owned(),
            r#"{"error":{}}"#.to_owned(),
        ];
        for data in others {
            assert!(Plain::read(data.as_bytes()).is_none(), "{data}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_plain_is_json(tail in r#"[\[\]{}:,"\\u0-9e.tnrl -]{0,16}"#) {
            let data = format!(r#"{{"usageMetadata":{tail},"candidates":[{{"content":{{"parts":[{{"text":"{tail}"}}]}}}}]}}"#);
            if Plain::read(data.as_bytes()).is_some() {
                proptest::prop_assert!(serde_json::from_str::<serde_json::Value>(&data).is_ok(), "{data}");
            }
        }
    }
}
