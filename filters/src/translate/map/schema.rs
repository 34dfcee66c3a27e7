//! JSON Schemas on their way between dialects.

mod vendor;

use std::borrow::Cow;

use crate::canonical::Raw;
use crate::wire::json::{Kind, Member, Value, Writer};

/// The schema in plain JSON Schema.
pub(in crate::translate) fn plain<'s>(schema: &'s Raw<'_>, vendor_schema: bool) -> Cow<'s, [u8]> {
    if vendor_schema { Cow::Owned(vendor::plain(schema.value())) } else { Cow::Borrowed(&*schema.0) }
}

/// An object with the schema as its one member. Definitions stay at the root, where references look for them.
pub(in crate::translate) fn wrapped(schema: Value<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(schema.bytes().len() + 96);
    let mut w = Writer::new(&mut out);
    let is_definition = |member: &Member<'_>| member.is("$defs") || member.is("definitions");
    let put = |member: Member<'_>, w: &mut Writer<'_>| {
        w.key(&member.key());
        w.raw(member.value());
    };
    w.begin_object();
    w.str_field("type", "object");
    w.object("properties", |w| match schema.kind() {
        Kind::Object => w.object("value", |w| schema.members().filter(|member| !is_definition(member)).for_each(|member| put(member, w))),
        _ => {
            w.key("value");
            w.raw(schema.bytes());
        }
    });
    w.array("required", |w| w.str("value"));
    w.bool_field("additionalProperties", false);
    schema.members().filter(is_definition).for_each(|member| put(member, &mut w));
    w.end_object();
    out
}
