//! JSON Schemas as this vendor takes them: in its fields for JSON Schema, or, for older models, in its own dialect, where an
//! unknown keyword is refused.

mod applied;
mod build;
mod inline;
mod pointer;
mod proto;
mod words;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::canonical::Raw;
use crate::wire::json::{Kind, Value};

/// A schema to send.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Converted<'s> {
    /// It is in the vendor's own dialect.
    pub(super) own: bool,
    /// The schema.
    pub(super) json: Cow<'s, [u8]>,
}

/// The schema of a function's arguments; none where the function takes none. `own` tells that the client wrote it in the
/// vendor's dialect, `json_schema` that the model takes JSON Schema.
pub(super) fn of_arguments<'s>(schema: &'s Raw<'_>, own: bool, json_schema: bool) -> Option<Converted<'s>> {
    let root = schema.value();
    if takes_nothing(root) {
        return None;
    }
    Some(match (own, json_schema) {
        (true, _) => Converted { own: true, json: Cow::Borrowed(&*schema.0) },
        (false, true) => Converted { own: false, json: inline::inlined(root, true) },
        (false, false) => Converted { own: true, json: Cow::Owned(proto::of_arguments(root)?) },
    })
}

/// The schema of an answer.
pub(super) fn of_answer<'s>(schema: &'s Raw<'_>, own: bool, json_schema: bool) -> Converted<'s> {
    let root = schema.value();
    match (own, json_schema) {
        (true, _) => Converted { own: true, json: Cow::Borrowed(&*schema.0) },
        (false, true) => Converted { own: false, json: inline::inlined(root, false) },
        (false, false) => Converted { own: true, json: Cow::Owned(proto::of_answer(root)) },
    }
}

/// Whether the schema is that of an object without members.
fn takes_nothing(root: Value<'_>) -> bool {
    root.kind() != Kind::Object
        || root.members().all(|member| match &*member.name() {
            b"properties" => member.json().members().next().is_none(),
            b"additionalProperties" => member.as_bool() == Some(false) || member.kind == Kind::Null,
            b"$ref" | b"anyOf" | b"oneOf" | b"allOf" | b"patternProperties" | b"if" => false,
            _ => true,
        })
}
