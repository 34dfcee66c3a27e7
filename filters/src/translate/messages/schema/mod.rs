//! JSON Schemas as the messages vendor takes them: arguments of tools, and structured answers.

mod root;
mod structured;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::canonical::Raw;
pub(super) use crate::translate::map::schema::plain;
use crate::translate::map::schema::wrapped;
use crate::wire::json::{Kind, Value};

/// Schema of a tool without arguments.
pub(super) const NO_ARGUMENTS: &[u8] = br#"{"type":"object","properties":{}}"#;

/// The schema of a tool's arguments, whose root must be an object, and whether its meaning had to be changed for that.
pub(super) fn arguments<'s>(schema: Option<&'s Raw<'_>>, vendor_schema: bool) -> (Cow<'s, [u8]>, bool) {
    let Some(schema) = schema else { return (Cow::Borrowed(NO_ARGUMENTS), false) };
    let plain = plain(schema, vendor_schema);
    match root::object(Value::of(&plain)) {
        root::Root::Fits => (plain, false),
        root::Root::Written(object) => (Cow::Owned(object), false),
        root::Root::NoObject => (Cow::Borrowed(NO_ARGUMENTS), true),
    }
}

/// The schema of an answer, and whether the answer is an object only because it is wrapped in one with the member `value`.
pub(super) fn answer<'s>(schema: &'s Raw<'_>, vendor_schema: bool) -> (Cow<'s, [u8]>, bool) {
    let plain = plain(schema, vendor_schema);
    if is_object(Value::of(&plain)) {
        return (plain, false);
    }
    (Cow::Owned(wrapped(Value::of(&plain))), true)
}

/// The schema as the vendor binds output to it; `None` where it cannot, since it closes every object.
pub(super) fn bound(schema: &[u8]) -> Option<Vec<u8>> {
    let schema = Value::of(schema);
    structured::can_bind(schema).then(|| structured::schema(schema))
}

/// Whether the schema is of objects and of nothing else, told at its root.
fn is_object(schema: Value<'_>) -> bool {
    let combined = ["anyOf", "oneOf", "allOf", "$ref"].iter().any(|name| !schema.get(name).is_null());
    let kind = schema.get("type");
    schema.kind() == Kind::Object
        && !combined
        && (kind.is_str("object") || (kind.is_null() && schema.get("properties").kind() == Kind::Object))
}
