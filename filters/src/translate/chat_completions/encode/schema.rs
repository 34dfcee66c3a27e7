//! JSON Schemas as this dialect's providers take them.

use std::borrow::Cow;

use crate::canonical::Raw;
use crate::translate::map::schema::{plain, wrapped};
use crate::wire::json::{Kind, Value};

/// Schema of a function without arguments.
const NO_ARGUMENTS: &[u8] = br#"{"type":"object","properties":{}}"#;

/// The schema of a function's arguments: an object, as its root must say.
pub(in crate::translate) fn arguments<'s>(schema: Option<&'s Raw<'_>>, vendor_schema: bool) -> Cow<'s, [u8]> {
    let Some(schema) = schema else { return Cow::Borrowed(NO_ARGUMENTS) };
    let plain = plain(schema, vendor_schema);
    let root = Value::of(&plain);
    if root.members().next().is_none() {
        return Cow::Borrowed(NO_ARGUMENTS);
    }
    if !root.get("type").is_null() {
        return plain;
    }
    let mut typed = br#"{"type":"object","#.to_vec();
    typed.extend_from_slice(root.bytes().get(1..).unwrap_or_default());
    Cow::Owned(typed)
}

/// The schema of an answer, whose root must be an object, and whether it had to be wrapped in one with the member `value`.
pub(super) fn answer<'s>(schema: &'s Raw<'_>, vendor_schema: bool) -> (Cow<'s, [u8]>, bool) {
    let plain = plain(schema, vendor_schema);
    let root = Value::of(&plain);
    let kind = root.get("type");
    let open = kind.is_null() && root.get("enum").is_null() && root.get("const").is_null();
    if open || kind.is_str("object") {
        return (plain, false);
    }
    (Cow::Owned(wrapped(root)), true)
}

/// Whether the schema can be matched exactly, as the vendor sees it: every object closed, every property required.
pub(in crate::translate) fn complies(schema: Value<'_>) -> bool {
    let properties = schema.get("properties");
    let is_object = schema.get("type").is_str("object") || properties.kind() == Kind::Object;
    let required = schema.get("required");
    let demanded = |name: &str| required.elements().any(|word| word.json().is_str(name));
    let closed = schema.get("additionalProperties").bool() == Some(false);
    if is_object && !(closed && properties.members().all(|property| demanded(&property.key()))) {
        return false;
    }
    let within = |name: &str| schema.get(name).members().all(|inner| complies(inner.json()));
    let among = |name: &str| schema.get(name).elements().all(|inner| complies(inner.json()));
    let unknown = ["allOf", "oneOf", "not", "if", "patternProperties", "dependentRequired", "dependentSchemas"];
    unknown.iter().all(|name| schema.get(name).is_null())
        && within("properties")
        && within("$defs")
        && within("definitions")
        && among("anyOf")
        && (schema.get("items").kind() != Kind::Object || complies(schema.get("items")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_a_wrapped_schema_stay_at_the_root() {
        let schema = Raw::from(&br##"{"type":"array","items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"string"}}}"##[..]);
        let (wrapped, is_wrapped) = answer(&schema, false);
        let root = Value::of(&wrapped);
        assert!(is_wrapped && root.get("$defs").get("a").get("type").is_str("string"));
        assert!(root.get("properties").get("value").get("$defs").is_null());
    }
}
