//! Who calls, by the names an operator gave.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::routing::rules::Owner;

/// The holder of a key by name, where [`super::Key`] has the ids. Rules compare names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The user's e-mail address or the agent's name.
    pub owner: Option<Owner>,
    /// The team's name.
    pub team: Option<Arc<str>>,
    /// The application's name.
    pub application: Option<Arc<str>>,
    /// Names of the groups the owner is in.
    pub groups: Vec<Arc<str>>,
    /// Tags of the key.
    pub tags: BTreeMap<String, String>,
}

impl Caller {
    /// Reads tags as a key keeps them: a JSON object. What is no text is taken as it is written, and nothing comes of
    /// anything but an object.
    #[must_use]
    pub fn tags_of(json: &str) -> BTreeMap<String, String> {
        let read: serde_json::Map<String, serde_json::Value> = serde_json::from_str(json).unwrap_or_default();
        let text = |value: serde_json::Value| match value {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        read.into_iter().map(|(name, value)| (name, text(value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_from_the_text_a_key_keeps() {
        let tags = Caller::tags_of(r#"{"job":"batch","level":3}"#);
        assert_eq!(tags, BTreeMap::from([("job".to_owned(), "batch".to_owned()), ("level".to_owned(), "3".to_owned())]));
        assert!(Caller::tags_of("[1]").is_empty() && Caller::tags_of("").is_empty());
    }
}
