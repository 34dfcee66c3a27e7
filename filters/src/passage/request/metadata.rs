//! What a client sends along for its own purposes.

use std::collections::BTreeMap;

use super::Facts;
use crate::wire::json::{Kind, members};

/// The most entries that are read.
const ENTRIES: usize = 64;
/// The longest name or value that is read, in bytes as written.
const LONGEST: usize = 4096;

impl Facts {
    /// The metadata in the body these facts were read from: texts by name, numbers and truth values as they are written.
    /// What is longer than 4 KiB or comes after the first 64 entries is left out.
    #[must_use]
    pub fn metadata(&self, body: &[u8]) -> BTreeMap<String, String> {
        let entries = members(self.places.metadata.of(body)).filter(|member| {
            member.key_span.len() <= LONGEST
                && member.span.len() <= LONGEST
                && !matches!(member.kind, Kind::Object | Kind::Array | Kind::Null)
        });
        let value = |written: &[u8]| String::from_utf8_lossy(written).into_owned();
        entries
            .take(ENTRIES)
            .map(|member| (member.key().into_owned(), member.as_str().map_or_else(|| value(member.value()), std::borrow::Cow::into_owned)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use crate::passage::{BodyKind, Facts};

    fn metadata(kind: BodyKind, body: &'static str) -> Vec<(String, String)> {
        let body = Bytes::from_static(body.as_bytes());
        Facts::read(kind, None, &body, 128).expect("valid").metadata(&body).into_iter().collect()
    }

    #[test]
    fn metadata_is_read_where_each_shape_has_it() {
        let found = [("job".to_owned(), "b\u{fc}ro".to_owned()), ("n".to_owned(), "3".to_owned())];
        let chat = r#"{"model":"m","metadata":{"job":"b\u00fcro","n":3,"deep":{"a":1},"none":null}}"#;
        assert_eq!(metadata(BodyKind::ChatCompletions, chat), found);
        assert_eq!(metadata(BodyKind::Responses, chat), found);
        assert_eq!(metadata(BodyKind::Messages, r#"{"model":"m","metadata":{"user_id":"u"}}"#), [("user_id".to_owned(), "u".to_owned())]);
        assert_eq!(metadata(BodyKind::GenerateContent, r#"{"labels":{"job":"x"}}"#), [("job".to_owned(), "x".to_owned())]);
    }

    #[test]
    fn anything_but_an_object_is_no_metadata() {
        for body in [r#"{"model":"m"}"#, r#"{"model":"m","metadata":"x"}"#, r#"{"model":"m","metadata":["a"]}"#] {
            assert_eq!(metadata(BodyKind::ChatCompletions, body), [], "{body}");
        }
    }
}
