//! The root of a tool's schema, which must be one plain object.

use std::borrow::Cow;

use super::is_object;
use crate::wire::json::{Kind, Value, Writer};

const COMBINATIONS: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// What was to be done about a root.
pub(super) enum Root {
    /// Nothing.
    Fits,
    /// It was written anew.
    Written(Vec<u8>),
    /// It is of values that are no objects.
    NoObject,
}

pub(super) fn object(schema: Value<'_>) -> Root {
    if schema.kind() != Kind::Object {
        return Root::NoObject;
    }
    let combined = COMBINATIONS.iter().any(|name| schema.get(name).kind() == Kind::Array);
    let kind = schema.get("type");
    match kind.kind() {
        _ if combined => Root::Written(merged(schema)),
        Kind::String if kind.is_str("object") => Root::Fits,
        Kind::Array if kind.elements().any(|kind| kind.json().is_str("object")) => Root::Written(typed(schema)),
        Kind::Null => Root::Written(typed(schema)),
        _ if is_object(schema) => Root::Fits,
        _ => Root::NoObject,
    }
}

/// The same schema with the type `object`.
fn typed(schema: Value<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(schema.bytes().len() + 20);
    let mut w = Writer::new(&mut out);
    w.begin_object();
    w.str_field("type", "object");
    for member in schema.members().filter(|member| !member.is("type")) {
        w.key(&member.key());
        w.raw(member.value());
    }
    w.end_object();
    out
}

/// Properties and required names of the branches of a root.
#[derive(Default)]
struct Merged<'a> {
    properties: Vec<(Cow<'a, str>, &'a [u8])>,
    required: Vec<Cow<'a, str>>,
}

impl<'a> Merged<'a> {
    fn add(&mut self, schema: Value<'a>) {
        for member in schema.get("properties").members() {
            if !self.properties.iter().any(|(name, _)| *name == member.key()) {
                self.properties.push((member.key(), member.value()));
            }
        }
    }

    fn require(&mut self, names: Vec<Cow<'a, str>>) {
        for name in names {
            if !self.required.contains(&name) {
                self.required.push(name);
            }
        }
    }
}

fn required(schema: Value<'_>) -> Vec<Cow<'_, str>> {
    schema.get("required").elements().filter_map(|name| name.json().str()).collect()
}

/// One object for a root that combines several: it has the properties of all branches, and requires what all of them require
/// (what any requires, where all of them apply).
fn merged(schema: Value<'_>) -> Vec<u8> {
    let mut merged = Merged::default();
    merged.add(schema);
    merged.require(required(schema));
    for name in COMBINATIONS {
        let branches: Vec<Value<'_>> = schema.get(name).elements().map(|branch| branch.json()).collect();
        branches.iter().for_each(|branch| merged.add(*branch));
        let mut names = branches.iter().map(|branch| required(*branch));
        let all = match (name, names.next()) {
            (_, None) => Vec::new(),
            ("allOf", Some(first)) => first.into_iter().chain(names.flatten()).collect(),
            (_, Some(first)) => names.fold(first, |common, names| common.into_iter().filter(|name| names.contains(name)).collect()),
        };
        merged.require(all);
    }
    write(schema, &merged)
}

fn write(schema: Value<'_>, merged: &Merged<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(schema.bytes().len());
    let mut w = Writer::new(&mut out);
    w.begin_object();
    w.str_field("type", "object");
    let rewritten = ["type", "properties", "required", "anyOf", "oneOf", "allOf"];
    for member in schema.members().filter(|member| !rewritten.iter().any(|name| member.is(name))) {
        w.key(&member.key());
        w.raw(member.value());
    }
    w.object("properties", |w| {
        for (name, property) in &merged.properties {
            w.key(name);
            w.raw(property);
        }
    });
    if !merged.required.is_empty() {
        w.array("required", |w| merged.required.iter().for_each(|name| w.str(name)));
    }
    w.end_object();
    out
}
