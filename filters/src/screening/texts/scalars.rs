//! The strings and numbers of JSON of somebody's own, at any depth, in one pass.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::Form;
use crate::screening::escapes::{self, Cursor};
use crate::wire::json::{Kind, Span, decode_string, is_space, skip_space, string_bytes, string_end};

/// A string or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    /// Where it lies, quotes included.
    pub(super) span: Span,
    pub(super) kind: Kind,
    key: Span,
}

impl Scalar {
    /// The key it stands under.
    pub(super) fn name<'j>(&self, json: &'j [u8]) -> Cow<'j, [u8]> {
        string_bytes(self.key.of(json))
    }
}

/// The strings and numbers of `json` that are values. A last string may lack its end.
pub(super) const fn scalars(json: &[u8]) -> Scalars<'_> {
    Scalars { json, at: 0, key: Span { start: 0, end: 0 } }
}

/// See [`scalars`].
pub(super) struct Scalars<'j> {
    json: &'j [u8],
    at: usize,
    key: Span,
}

impl Iterator for Scalars<'_> {
    type Item = Scalar;

    fn next(&mut self) -> Option<Scalar> {
        loop {
            let start = skip_space(self.json, self.at);
            match *self.json.get(start)? {
                b'"' => {
                    let end = string_end(self.json, start + 1).map_or(self.json.len(), |(end, _)| end);
                    let next = skip_space(self.json, end);
                    if self.json.get(next) != Some(&b':') {
                        return Some(self.scalar(start, end, Kind::String));
                    }
                    self.key = Span { start, end };
                    self.at = next + 1;
                }
                b'-' | b'0'..=b'9' => {
                    let rest = self.json.get(start..).unwrap_or_default();
                    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b'"') || is_space(*byte);
                    let length = rest.iter().position(ends).unwrap_or(rest.len());
                    return Some(self.scalar(start, start + length, Kind::Number));
                }
                byte => {
                    if matches!(byte, b'{' | b'}') {
                        self.key = Span::default();
                    }
                    self.at = start + 1;
                }
            }
        }
    }
}

impl Scalars<'_> {
    const fn scalar(&mut self, start: usize, end: usize, kind: Kind) -> Scalar {
        self.at = end;
        Scalar { span: Span { start, end }, kind, key: self.key }
    }
}

/// Whether a text is JSON, or the beginning of some: arguments may be cut short.
pub(super) fn is_json(text: &str) -> bool {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => true,
        Err(error) => error.is_eof() && text.trim_ascii_start().starts_with(['{', '[', '"']),
    }
}

/// A text of JSON that is itself the text of a string.
pub(super) struct Inner<'i> {
    /// Where it lies in the inside of the outer string.
    pub(super) span: Span,
    pub(super) form: Form,
    pub(super) text: Cow<'i, str>,
}

/// The texts in the JSON `inner`, which is `escaped` decoded.
pub(super) fn inner<'i>(escaped: &'i [u8], inner: &'i str) -> impl Iterator<Item = Inner<'i>> {
    let json = inner.as_bytes();
    let mut cursor = Cursor::new(escaped);
    scalars(json).filter_map(move |Scalar { span, kind, .. }| {
        let value = inner.get(span.start..span.end)?;
        let (form, inside, text) = match kind {
            Kind::String => {
                let (inside, text) = string(value, span.start)?;
                (Form::InnerText, inside, text)
            }
            _ => (Form::InnerNumber, span, Cow::Borrowed(value)),
        };
        let span = Span { start: cursor.seek(inside.start), end: cursor.seek(inside.end) };
        Some(Inner { span, form, text })
    })
}

/// The inside of a string and its text; none where it is empty.
fn string(value: &str, start: usize) -> Option<(Span, Cow<'_, str>)> {
    let start = start + 1;
    if string_end(value.as_bytes(), 1).is_some() {
        let inside = Span { start, end: start + value.len().checked_sub(2)? };
        return (!inside.is_empty()).then(|| (inside, decode_string(value.as_bytes())));
    }
    let inside = value.get(1..)?;
    (!inside.is_empty()).then(|| (Span { start, end: start + inside.len() }, Cow::Owned(escapes::decode(inside.as_bytes()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(json: &str) -> Vec<&str> {
        scalars(json.as_bytes()).map(|scalar| &json[scalar.span.start..scalar.span.end]).collect()
    }

    #[test]
    fn values_are_told_from_keys_and_literals() {
        assert_eq!(all(r#" {"a" : "x:\"", "b":[-1.5e3, true,null,"y"],"c":{"d" :"z"}} "#), [r#""x:\"""#, "-1.5e3", r#""y""#, r#""z""#]);
        assert_eq!((all("12"), all(r#""a""#), all("null")), (vec!["12"], vec![r#""a""#], vec![]));
    }

    #[test]
    fn a_string_that_was_cut_off_counts() {
        assert_eq!(all(r#"{"a":"x","b":"y\"#), [r#""x""#, r#""y\"#]);
        let texts: Vec<_> = inner(br#"{\"a\":\"x\\u00\"#, r#"{"a":"x\u00"#).map(|inner| inner.text.into_owned()).collect();
        assert_eq!(texts, ["x\u{fffd}00"]);
    }

    #[test]
    fn json_is_told_from_prose() {
        assert!(["{}", "4", r#"{"a":[1,"#, r#"{"a":"x"#, "\"x\"", ""].map(is_json)[..5].iter().all(|json| *json));
        assert!(["4111 1111", "hello", "{4111 1111}", "{\"a\":1} x"].iter().all(|text| !is_json(text)));
        assert!(is_json(&"[".repeat(5000)), "however deep it is");
    }
}
