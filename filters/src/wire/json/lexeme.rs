//! Texts, numbers and raw JSON, borrowed from the document they were read from.

use std::borrow::Cow;

use super::text::{lossy, unescaped};
use super::{Value, encode_string, string_stop};

/// A text.
#[derive(Clone, Debug)]
pub enum Text<'a> {
    /// What stands between the quotes of a JSON string, escapes as written there. Copied into other JSON without decoding.
    Escaped(&'a [u8]),
    /// Decoded text.
    Plain(Cow<'a, str>),
}

impl<'a> Text<'a> {
    /// The text, escapes replaced.
    #[must_use]
    pub fn decode(&self) -> Cow<'_, str> {
        match self {
            // Not `decode_string`, which would take a last escaped quote for the closing one.
            Self::Escaped(inner) => match unescaped(inner, true) {
                Cow::Borrowed(bytes) => lossy(bytes),
                Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
            },
            Self::Plain(text) => Cow::Borrowed(text),
        }
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Escaped(inner) => inner.is_empty(),
            Self::Plain(text) => text.is_empty(),
        }
    }

    /// Whether nothing but white space is in it.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Escaped(inner) if inner.first().is_some_and(|byte| byte.is_ascii_graphic() && *byte != b'\\') => false,
            _ => self.decode().trim().is_empty(),
        }
    }

    /// Whether the decoded text is `other`.
    #[must_use]
    pub fn is(&self, other: &str) -> bool {
        match self {
            Self::Escaped(inner) => *inner == other.as_bytes() || (inner.contains(&b'\\') && self.decode() == other),
            Self::Plain(text) => text == other,
        }
    }

    /// Appends the text as it stands between the quotes of a JSON string.
    pub fn escape_into(&self, out: &mut Vec<u8>) {
        match self {
            Self::Escaped(inner) => out.extend_from_slice(inner),
            Self::Plain(text) if string_stop(text.as_bytes(), 0) == text.len() => out.extend_from_slice(text.as_bytes()),
            Self::Plain(text) => {
                let at = out.len();
                encode_string(text, out);
                out.remove(at);
                out.pop();
            }
        }
    }

    /// The same text without a borrow.
    #[must_use]
    pub fn into_owned(self) -> Text<'static> {
        Text::Plain(Cow::Owned(self.decode().into_owned()))
    }

    /// A cheap copy that borrows from this one.
    #[must_use]
    pub fn as_ref(&self) -> Text<'_> {
        match self {
            Self::Escaped(inner) => Text::Escaped(inner),
            Self::Plain(text) => Text::Plain(Cow::Borrowed(text)),
        }
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self::Plain(Cow::Borrowed(text))
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self::Plain(Cow::Owned(text))
    }
}

impl<'a> From<Cow<'a, str>> for Text<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self::Plain(text)
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.decode() == other.decode()
    }
}

impl Eq for Text<'_> {}

/// A number as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a>(pub &'a str);

impl Number<'_> {
    /// Its value; fractions and exponents included.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.0.parse().unwrap_or(0.0)
    }

    /// Its value, when it is a whole number of at most 64 bits.
    #[must_use]
    pub fn whole(&self) -> Option<i64> {
        self.0.parse().ok()
    }
}

/// A JSON value as it was written, known to be valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw<'a>(pub Cow<'a, [u8]>);

impl<'a> Raw<'a> {
    /// The value, to be looked into. `null` where the bytes are no value.
    #[must_use]
    pub fn value(&self) -> Value<'_> {
        Value::of(&self.0)
    }

    /// The JSON text.
    #[must_use]
    pub fn as_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// The same value without a borrow.
    #[must_use]
    pub fn into_owned(self) -> Raw<'static> {
        Raw(Cow::Owned(self.0.into_owned()))
    }
}

impl<'a> From<&'a [u8]> for Raw<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self(Cow::Borrowed(bytes))
    }
}

impl From<Vec<u8>> for Raw<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Cow::Owned(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_text_is_copied_as_written_and_equals_its_plain_form() {
        let text = Text::Escaped(br"a\u00e9\n\/");
        assert_eq!(text, Text::from("a\u{e9}\n/"));
        assert!(text.is("a\u{e9}\n/") && !text.is_blank() && Text::Escaped(br"\n ").is_blank());
        let mut out = Vec::new();
        text.escape_into(&mut out);
        assert_eq!(out, br"a\u00e9\n\/");
    }

    #[test]
    fn quotes_at_the_ends_of_a_text_are_part_of_it() {
        assert_eq!(Text::Escaped(br#"\"{\"a\""#).decode(), "\"{\"a\"");
    }

    #[test]
    fn plain_text_is_escaped_on_the_way_out() {
        let mut out = b"x".to_vec();
        Text::from("say \"hi\"\n").escape_into(&mut out);
        assert_eq!(out, br#"xsay \"hi\"\n"#);
    }
}
