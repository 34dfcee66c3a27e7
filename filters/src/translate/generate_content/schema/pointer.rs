//! References inside a schema.

use std::borrow::Cow;

use crate::wire::json::{Kind, Value};

/// What a local reference, such as `#/$defs/node`, points to; none for others and for those that point nowhere.
pub(super) fn resolve<'s>(root: Value<'s>, reference: &str) -> Option<Value<'s>> {
    let path = reference.strip_prefix('#')?;
    if path.is_empty() {
        return Some(root);
    }
    path.strip_prefix('/')?.split('/').try_fold(root, |value, step| {
        let step = plain(step);
        let found = match value.kind() {
            Kind::Object => value.get(&step),
            Kind::Array => value.elements().nth(step.parse().ok()?)?.json(),
            Kind::String | Kind::Number | Kind::Bool | Kind::Null => return None,
        };
        (!found.is_null()).then_some(found)
    })
}

fn plain(step: &str) -> Cow<'_, str> {
    if !step.contains(['~', '%']) {
        return Cow::Borrowed(step);
    }
    let step = form_urlencoded::parse(step.replace('+', "%2B").as_bytes()).next().map_or_else(String::new, |(key, _)| key.into_owned());
    Cow::Owned(step.replace("~1", "/").replace("~0", "~"))
}

/// A name for what a reference points to.
pub(super) fn name(reference: &str) -> String {
    let last = reference.rsplit('/').next().unwrap_or_default();
    let clean: String = last.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if clean.chars().all(|c| c == '_') { "root".to_owned() } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_references_are_followed_and_others_are_not() {
        let root = Value::of(br##"{"$defs":{"a/b":{"x":[1,{"y":2}]}}}"##);
        assert_eq!(resolve(root, "#/$defs/a~1b/x/1/y").and_then(Value::u64), Some(2));
        assert_eq!(resolve(root, "#/%24defs/a~1b/x/0").and_then(Value::u64), Some(1));
        assert_eq!(resolve(root, "#"), Some(root));
        assert_eq!((resolve(root, "#/nowhere"), resolve(root, "https://x/y")), (None, None));
        assert_eq!((name("#/$defs/My-Node"), name("#")), ("My_Node".to_owned(), "root".to_owned()));
    }
}
