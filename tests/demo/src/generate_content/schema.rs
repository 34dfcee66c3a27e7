//! Schemas as the older fields `parameters` and `responseSchema` take them: a message with fixed fields, not JSON Schema.

use serde_json::{Map, Value};

use crate::generate_content::SHAPE;
use crate::refusal::Refusal;
use crate::validate::{Fields, Kind, field};

const SCHEMA: Fields = Fields {
    known: &[
        ("type", Kind::Text),
        ("anyOf", Kind::List),
        ("default", Kind::Any),
        ("description", Kind::Text),
        ("enum", Kind::List),
        ("example", Kind::Any),
        ("format", Kind::Text),
        ("items", Kind::Object),
        ("maxItems", Kind::Any),
        ("maxLength", Kind::Any),
        ("maxProperties", Kind::Any),
        ("maximum", Kind::Number),
        ("minItems", Kind::Any),
        ("minLength", Kind::Any),
        ("minProperties", Kind::Any),
        ("minimum", Kind::Number),
        ("nullable", Kind::Bool),
        ("pattern", Kind::Text),
        ("properties", Kind::Object),
        ("propertyOrdering", Kind::List),
        ("required", Kind::List),
        ("title", Kind::Text),
    ],
    required: &[],
};
const TYPES: [&str; 8] = ["TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];

/// Refuses what the message has no field for, everywhere in the schema.
pub(super) fn proto(schema: &Value, path: &str) -> Result<(), Refusal> {
    let Some(fields) = schema.as_object() else { return Ok(()) };
    SCHEMA.check(SHAPE, path, fields)?;
    let kind = field(SHAPE, fields, "type").and_then(Value::as_str).map(str::to_uppercase);
    if let Some(kind) = kind.as_deref().filter(|kind| !TYPES.contains(kind)) {
        return Err(Refusal::invalid(format!("Invalid value at '{path}.type' (type.googleapis.com/Type), \"{kind}\"")));
    }
    let properties = field(SHAPE, fields, "properties").and_then(Value::as_object);
    if let Some(properties) = properties {
        shaped(fields, properties, path)?;
    }
    if kind.as_deref() == Some("ARRAY") && field(SHAPE, fields, "items").is_none() {
        return Err(Refusal::invalid(format!("* GenerateContentRequest.{path}.items: missing field.\n")));
    }
    let listed = field(SHAPE, fields, "enum").and_then(Value::as_array).into_iter().flatten();
    for value in listed {
        if value.as_str().is_none_or(str::is_empty) {
            return Err(Refusal::invalid(format!("* GenerateContentRequest.{path}.enum[0]: cannot be empty.\n")));
        }
    }
    let branches = field(SHAPE, fields, "anyOf").and_then(Value::as_array).into_iter().flatten();
    let items = field(SHAPE, fields, "items").into_iter();
    let named = properties.into_iter().flatten().map(|(name, schema)| (format!("{path}.properties[{name}]"), schema));
    let others = branches.map(|schema| (format!("{path}.any_of"), schema)).chain(items.map(|schema| (format!("{path}.items"), schema)));
    named.chain(others).try_for_each(|(path, schema)| proto(schema, &path))
}

fn shaped(fields: &Map<String, Value>, properties: &Map<String, Value>, path: &str) -> Result<(), Refusal> {
    if properties.is_empty() {
        return Err(Refusal::invalid(format!("* GenerateContentRequest.{path}.properties: should be non-empty for OBJECT type\n")));
    }
    let required = field(SHAPE, fields, "required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for (at, name) in required.enumerate() {
        if !properties.contains_key(name) {
            return Err(Refusal::invalid(format!("* GenerateContentRequest.{path}.required[{at}]: property is not defined\n")));
        }
    }
    Ok(())
}
