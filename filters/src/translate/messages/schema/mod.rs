//! JSON Schemas as the messages vendor takes them: arguments of tools, and structured answers.

mod root;
mod structured;
#[cfg(test)]
mod tests;
mod vendor;

use std::borrow::Cow;

use crate::canonical::Raw;
use crate::wire::json::{Kind, Value};

/// Schema of a tool without arguments.
pub(super) const NO_ARGUMENTS: &[u8] = br#"{"type":"object","properties":{}}"#;

/// The schema of a tool's arguments, whose root must be an object, and whether its meaning had to be changed for that.
pub(super) fn arguments<'s>(schema: Option<&'s Raw<'_>>, vendor_schema: bool, strict: bool) -> (Cow<'s, [u8]>, bool) {
    let Some(schema) = schema else { return (Cow::Borrowed(NO_ARGUMENTS), false) };
    let plain = plain(schema, vendor_schema);
    let (object, changed) = match root::object(Value::of(&plain)) {
        root::Root::Fits => (plain, false),
        root::Root::Written(object) => (Cow::Owned(object), false),
        root::Root::NoObject => (Cow::Borrowed(NO_ARGUMENTS), true),
    };
    if strict { (Cow::Owned(structured::schema(Value::of(&object))), changed) } else { (object, changed) }
}

/// The schema of a structured answer, and whether the answer is an object only because it is wrapped in one with the member
/// `value`.
pub(super) fn answer(schema: &Raw<'_>, vendor_schema: bool) -> (Vec<u8>, bool) {
    let plain = plain(schema, vendor_schema);
    let value = Value::of(&plain);
    if is_object(value) {
        return (structured::schema(value), false);
    }
    let mut wrapped = br#"{"type":"object","properties":{"value":"#.to_vec();
    wrapped.extend_from_slice(&structured::schema(value));
    wrapped.extend_from_slice(br#"},"required":["value"],"additionalProperties":false}"#);
    (wrapped, true)
}

/// The schema in plain JSON Schema.
pub(super) fn plain<'s>(schema: &'s Raw<'_>, vendor_schema: bool) -> Cow<'s, [u8]> {
    if vendor_schema { Cow::Owned(vendor::plain(schema.value())) } else { Cow::Borrowed(&*schema.0) }
}

/// Whether the schema is of objects and of nothing else, told at its root.
fn is_object(schema: Value<'_>) -> bool {
    let combined = ["anyOf", "oneOf", "allOf", "$ref"].iter().any(|name| !schema.get(name).is_null());
    let kind = schema.get("type");
    schema.kind() == Kind::Object
        && !combined
        && (kind.is_str("object") || (kind.is_null() && schema.get("properties").kind() == Kind::Object))
}
