//! Single keywords of a JSON Schema in the vendor's own dialect.

use std::borrow::Cow;

use super::applied::Applied;
use super::proto::Proto;
use crate::wire::json::{Kind, Value};

/// Whether an alternative says nothing about the value but which members it must have.
pub(super) fn only_demands(branch: Value<'_>) -> bool {
    branch.kind() == Kind::Object
        && branch.members().all(|member| matches!(&*member.name(), b"required" | b"not" | b"minProperties" | b"maxProperties"))
}

/// The type of a schema that names none.
pub(super) fn guessed(applied: &Applied<'_>) -> &'static str {
    let has = |names: &[&str]| names.iter().any(|name| applied.has(name));
    match () {
        () if has(&["enum", "const", "minLength", "maxLength", "pattern"]) => "STRING",
        () if has(&["items", "prefixItems", "minItems", "maxItems"]) => "ARRAY",
        () if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) => "NUMBER",
        () => "OBJECT",
    }
}

/// Choices are texts, whatever they were.
pub(super) fn choices(proto: &mut Proto<'_>, applied: &Applied<'_>) {
    let constant = applied.last("const");
    let listed = applied.last("enum");
    let values = listed.elements().map(|element| element.json()).chain((!constant.is_null()).then_some(constant));
    let mut any = false;
    for value in values {
        any = true;
        let text = match value.kind() {
            Kind::String => value.str().unwrap_or_default().into_owned(),
            Kind::Null => {
                proto.nullable = true;
                continue;
            }
            _ => String::from_utf8_lossy(value.bytes()).into_owned(),
        };
        if !text.is_empty() && !proto.choices.contains(&text) {
            proto.choices.push(text);
        }
    }
    if any && !proto.choices.is_empty() {
        proto.kind = Some("STRING");
    }
}

/// The least and the greatest value. Bounds that are not reached move by one where values are whole.
pub(super) fn range(proto: &mut Proto<'_>, applied: &Applied<'_>, whole: bool) {
    for (name, exclusive, step) in [("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1)] {
        let (inclusive, open) = (applied.last(name), applied.last(exclusive));
        // An older draft marks the bound beside it as not reached.
        let (bound, open) = match open.kind() {
            Kind::Number => (open, true),
            Kind::Bool => (inclusive, open.bool() == Some(true)),
            _ => (inclusive, false),
        };
        let Some(bound) = bound.number() else { continue };
        let text = match bound.whole().filter(|_| open && whole) {
            Some(bound) => bound.saturating_add(step).to_string(),
            None => bound.0.to_owned(),
        };
        proto.numbers.push((name, Cow::Owned(text)));
    }
}

/// Whether the dialect knows a format of a type.
pub(super) fn format_fits(kind: &str, format: &str) -> bool {
    match kind {
        "STRING" => matches!(format, "enum" | "date-time" | "date" | "time" | "duration"),
        "INTEGER" => matches!(format, "int32" | "int64"),
        "NUMBER" => matches!(format, "float" | "double"),
        _ => false,
    }
}

/// Title, description and example. Where there are alternatives, they carry the words. What cannot be said otherwise is said
/// in words.
pub(super) fn describe<'s>(proto: &mut Proto<'s>, applied: &Applied<'s>) {
    let title = applied.last("title").str();
    let mut description = applied.last("description").str().map(Cow::into_owned);
    let unsaid = unsaid(applied);
    if !unsaid.is_empty() {
        let unsaid = unsaid.join(", ");
        description = Some(description.map_or_else(|| unsaid.clone(), |words| format!("{words} ({unsaid})")));
    }
    if proto.any_of.is_empty() {
        proto.title = title;
        proto.description = description;
        let example = applied.last("example");
        let first = applied.last("examples").elements().next().map(|element| element.json());
        proto.example = Some(example).filter(|value| !value.is_null()).or(first).map(Value::bytes);
        return;
    }
    for branch in &mut proto.any_of {
        branch.title = branch.title.take().or_else(|| title.clone());
        branch.description = branch.description.take().or_else(|| description.clone());
    }
}

/// Constraints the dialect has no words for, in short.
fn unsaid(applied: &Applied<'_>) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(number) = applied.last("multipleOf").number() {
        words.push(format!("a multiple of {}", number.0));
    }
    if applied.last("uniqueItems").bool() == Some(true) {
        words.push("no item twice".to_owned());
    }
    let whole = applied.types().0 == ["INTEGER"];
    for (name, word) in [("exclusiveMinimum", "greater than"), ("exclusiveMaximum", "less than")] {
        if let Some(number) = applied.last(name).number().filter(|_| !whole) {
            words.push(format!("{word} {}", number.0));
        }
    }
    let default = applied.last("default");
    if !matches!(default.kind(), Kind::Null | Kind::Object | Kind::Array) {
        words.push(format!("default {}", String::from_utf8_lossy(default.bytes())));
    }
    words
}
