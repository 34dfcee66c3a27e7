//! Schemas in the generate-content vendor's dialect as plain JSON Schema: types in lower case, `nullable` as a type, numbers as
//! numbers, properties in the order the vendor was told.

use std::borrow::Cow;

use crate::wire::json::{Kind, Member, Value, Writer};

pub(super) fn plain(value: Value<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.bytes().len() + 32);
    write(value, &mut Writer::new(&mut out));
    out
}

fn write(value: Value<'_>, w: &mut Writer<'_>) {
    if value.kind() != Kind::Object {
        return w.raw(value.bytes());
    }
    let nullable = value.get("nullable").bool() == Some(true);
    w.begin_object();
    for member in value.members().filter(|member| member.kind != Kind::Null) {
        member_of(&member, value, nullable, w);
    }
    w.end_object();
}

fn member_of(member: &Member<'_>, schema: Value<'_>, nullable: bool, w: &mut Writer<'_>) {
    let value = member.json();
    let name = member.key();
    match &*name {
        "nullable" | "propertyOrdering" | "property_ordering" => {}
        "type" if value.is_str("TYPE_UNSPECIFIED") => {}
        "type" => kind(value, nullable, w),
        "enum" => w.array("enum", |w| {
            value.elements().for_each(|word| w.raw(word.value));
            if nullable {
                w.null();
            }
        }),
        "properties" => properties(value, schema, w),
        "$defs" | "defs" => w.object("$defs", |w| {
            for definition in value.members() {
                w.key(&definition.key());
                write(definition.json(), w);
            }
        }),
        "items" | "additionalProperties" | "additional_properties" => {
            w.key(known_as(&name));
            write(value, w);
        }
        "anyOf" | "any_of" | "oneOf" | "allOf" | "prefixItems" | "prefix_items" => {
            w.array(known_as(&name), |w| {
                value.elements().for_each(|branch| write(branch.json(), w));
                if nullable && matches!(&*name, "anyOf" | "any_of") {
                    w.raw(br#"{"type":"null"}"#);
                }
            });
        }
        "example" => w.array("examples", |w| w.raw(value.bytes())),
        _ => {
            w.key(known_as(&name));
            w.raw(&unquoted(&name, value));
        }
    }
}

/// The name JSON Schema has for a keyword that may come in snake case.
fn known_as(name: &str) -> &str {
    match name {
        "any_of" => "anyOf",
        "prefix_items" => "prefixItems",
        "additional_properties" => "additionalProperties",
        "min_items" => "minItems",
        "max_items" => "maxItems",
        "min_length" => "minLength",
        "max_length" => "maxLength",
        "min_properties" => "minProperties",
        "max_properties" => "maxProperties",
        other => other,
    }
}

fn kind(value: Value<'_>, nullable: bool, w: &mut Writer<'_>) {
    let Some(kind) = value.str() else {
        w.key("type");
        return w.raw(value.bytes());
    };
    let kind = kind.to_ascii_lowercase();
    if !nullable {
        return w.str_field("type", &kind);
    }
    w.array("type", |w| {
        w.str(&kind);
        w.str("null");
    });
}

/// The properties, those first that the schema orders.
fn properties(value: Value<'_>, schema: Value<'_>, w: &mut Writer<'_>) {
    let order = schema.get("propertyOrdering").elements().chain(schema.get("property_ordering").elements());
    let order: Vec<Cow<'_, str>> = order.filter_map(|name| name.json().str()).collect();
    let mut members: Vec<Member<'_>> = value.members().collect();
    members.sort_by_key(|member| order.iter().position(|name| *name == member.key()).unwrap_or(usize::MAX));
    w.object("properties", |w| {
        for member in &members {
            w.key(&member.key());
            write(member.json(), w);
        }
    });
}

/// A count, which the vendor's tools write as a string.
fn unquoted<'a>(name: &str, value: Value<'a>) -> Cow<'a, [u8]> {
    let counts = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties", "minimum", "maximum"];
    let text = value.str().filter(|text| counts.contains(&known_as(name)) && text.parse::<i64>().is_ok());
    text.map_or(Cow::Borrowed(value.bytes()), |text| Cow::Owned(text.into_owned().into_bytes()))
}
