//! Schemas for output that is bound to them: the vendor knows fewer keywords there. What it does not know is said in words.

use crate::wire::json::{Kind, Member, Value, Writer};

/// Formats of strings the vendor knows.
const FORMATS: [&str; 10] = ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

/// Whether nothing that the schema allows is lost when every object is closed.
pub(super) fn can_bind(schema: Value<'_>) -> bool {
    if schema.kind() != Kind::Object {
        return true;
    }
    let told = ["type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "properties"];
    let anything = told.iter().all(|name| schema.get(name).is_null());
    !anything && !is_open(schema) && !schema.get("$ref").is_str("#") && schema.members().all(|member| parts(&member).all(can_bind))
}

/// Whether objects of the schema may have members it does not name.
fn is_open(schema: Value<'_>) -> bool {
    let (others, named) = (schema.get("additionalProperties"), schema.get("properties").kind() == Kind::Object);
    let of_objects = named || schema.get("type").is_str("object");
    let free = others.kind() == Kind::Object || others.bool() == Some(true) || (!named && others.is_null());
    (of_objects && free) || !schema.get("patternProperties").is_null()
}

/// The schemas a member holds.
fn parts<'a>(member: &Member<'a>) -> Box<dyn Iterator<Item = Value<'a>> + 'a> {
    match &*member.key() {
        "properties" | "$defs" | "definitions" => Box::new(member.json().members().map(|member| member.json())),
        "anyOf" | "oneOf" | "allOf" => Box::new(member.json().elements().map(|branch| branch.json())),
        "items" => Box::new(std::iter::once(member.json())),
        _ => Box::new(std::iter::empty()),
    }
}

/// The schema with every object closed and every unknown constraint moved into the description.
pub(super) fn schema(value: Value<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.bytes().len() + 64);
    write(value, &mut Writer::new(&mut out));
    out
}

fn write(value: Value<'_>, w: &mut Writer<'_>) {
    if value.kind() != Kind::Object {
        return w.raw(value.bytes());
    }
    let mut words: Vec<String> = Vec::new();
    w.begin_object();
    for member in value.members() {
        member_of(&member, w, &mut words);
    }
    if value.get("type").is_str("object") || value.get("properties").kind() == Kind::Object {
        w.bool_field("additionalProperties", false);
    }
    describe(value, &words, w);
    w.end_object();
}

fn member_of(member: &Member<'_>, w: &mut Writer<'_>, words: &mut Vec<String>) {
    let value = member.json();
    let name = member.key();
    match &*name {
        "description" | "additionalProperties" | "$schema" | "$id" => {}
        "properties" | "$defs" | "definitions" => {
            w.object(&name, |w| {
                for property in value.members() {
                    w.key(&property.key());
                    write(property.json(), w);
                }
            });
        }
        "items" => {
            w.key("items");
            write(value, w);
        }
        "anyOf" | "oneOf" => branches("anyOf", value, w),
        "allOf" => branches("allOf", value, w),
        "format" if !FORMATS.iter().any(|format| value.is_str(format)) => words.push(said("format", value)),
        "minItems" if value.u64().is_some_and(|least| least <= 1) => {
            w.key("minItems");
            w.raw(value.bytes());
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "minLength" | "maxLength" | "pattern"
        | "minItems" | "maxItems" | "uniqueItems" | "minProperties" | "maxProperties" => words.push(said(&name, value)),
        _ => {
            w.key(&name);
            w.raw(value.bytes());
        }
    }
}

fn branches(name: &str, value: Value<'_>, w: &mut Writer<'_>) {
    w.array(name, |w| value.elements().for_each(|branch| write(branch.json(), w)));
}

/// A constraint in words: `minLength` 3 becomes `min length 3`.
fn said(name: &str, value: Value<'_>) -> String {
    let mut words = String::with_capacity(name.len() + 16);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    let words = words.replace("minimum", "min").replace("maximum", "max");
    let value = value.str().unwrap_or_else(|| String::from_utf8_lossy(value.bytes()));
    format!("{words} {value}")
}

fn describe(value: Value<'_>, words: &[String], w: &mut Writer<'_>) {
    let description = value.get("description");
    if words.is_empty() {
        if let Some(text) = description.text() {
            w.text_field("description", &text);
        }
        return;
    }
    let words = words.join(", ");
    match description.str().filter(|text| !text.is_empty()) {
        Some(text) => w.str_field("description", &format!("{text} ({words})")),
        None => w.str_field("description", &words),
    }
}
