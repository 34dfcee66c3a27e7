//! Plausible values for a JSON schema, so that a demonstration's tool calls look like a model's.

use serde_json::{Map, Value, json};

const DEEPEST: usize = 8;

/// A value the schema accepts, the same one every time.
pub(crate) fn value(schema: &Value) -> Value {
    Sampler { root: schema }.value("", schema, 0)
}

struct Sampler<'a> {
    root: &'a Value,
}

impl Sampler<'_> {
    fn value(&self, name: &str, schema: &Value, depth: usize) -> Value {
        if depth > DEEPEST {
            return Value::Null;
        }
        if let Some(given) = given(schema) {
            return given;
        }
        if let Some(other) = self.referred(schema) {
            return self.value(name, other, depth + 1);
        }
        match kind(schema).as_str() {
            "integer" => schema.get("minimum").cloned().unwrap_or(json!(1)),
            "number" => schema.get("minimum").cloned().unwrap_or(json!(1.5)),
            "boolean" => json!(true),
            "null" => Value::Null,
            "array" => json!([self.value(name, schema.get("items").unwrap_or(&Value::Null), depth + 1)]),
            "object" => self.object(schema, depth),
            _ => json!(text(name, schema)),
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return json!({}) };
        let required = schema.get("required").and_then(Value::as_array);
        let wanted = |name: &str| required.is_none_or(|names| names.iter().any(|listed| listed == name));
        let chosen = properties.iter().filter(|(name, _)| wanted(name));
        let fields: Map<String, Value> = chosen.map(|(name, schema)| (name.clone(), self.value(name, schema, depth + 1))).collect();
        Value::Object(fields)
    }

    fn referred<'s>(&'s self, schema: &'s Value) -> Option<&'s Value> {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.root.pointer(reference.strip_prefix('#')?);
        }
        ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(*key)?.get(0))
    }
}

fn given(schema: &Value) -> Option<Value> {
    let first = |key: &str| schema.get(key)?.get(0).cloned();
    let whole = |key: &str| schema.get(key).cloned();
    whole("const").or_else(|| first("enum")).or_else(|| whole("default")).or_else(|| first("examples")).or_else(|| whole("example"))
}

fn kind(schema: &Value) -> String {
    let named = schema.get("type").and_then(|kind| kind.as_str().or_else(|| kind.get(0)?.as_str()));
    let guessed = if schema.get("properties").is_some() { "object" } else { "string" };
    named.unwrap_or(guessed).to_lowercase()
}

fn text(name: &str, schema: &Value) -> &'static str {
    match schema.get("format").and_then(Value::as_str) {
        Some("date") => return "2026-11-21",
        Some("date-time") => return "2026-11-21T09:00:00Z",
        Some("email") => return "demo@example.com",
        Some("uri" | "url") => return "https://example.com/",
        Some("uuid") => return "00000000-0000-4000-8000-000000000000",
        _ => {}
    }
    match name.to_lowercase().as_str() {
        "city" | "location" | "place" => "Paris",
        "country" => "France",
        "date" | "day" => "2026-11-21",
        "email" => "demo@example.com",
        "url" | "link" => "https://example.com/",
        "query" | "question" | "q" => "what is new",
        "path" | "file" | "file_path" | "filename" => "README.md",
        "command" => "ls",
        "currency" => "EUR",
        "pair" => "EURUSD",
        "unit" | "units" => "celsius",
        "name" => "Ada",
        _ => "demo",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_properties_get_values_of_their_type() {
        let schema = json!({"type": "object", "required": ["city", "days"],
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 2}, "note": {"type": "string"}}});
        assert_eq!(value(&schema), json!({"city": "Paris", "days": 2}));
    }

    #[test]
    fn types_in_capitals_and_references_are_understood() {
        let schema = json!({"type": "OBJECT", "properties": {"at": {"$ref": "#/$defs/point"}},
            "$defs": {"point": {"type": "ARRAY", "items": {"type": "NUMBER"}}}});
        assert_eq!(value(&schema), json!({"at": [1.5]}));
    }
}
