//! The JSON Schema of the configuration, for editors.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Map, Value, json};

use super::Conf;

/// The schema as it is kept in `conf/svc.schema.json`, with a line break at its end.
#[must_use]
pub fn json() -> String {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Conf>();
    schema.insert("title".to_owned(), json!("The configuration of svc"));
    RecursiveTransform(allow_variables).transform(&mut schema);
    let definitions = json!({"type": "string", "pattern": r"\$\{", "description": "Filled in from the environment."});
    if let Some(Value::Object(defs)) = schema.get_mut("$defs") {
        defs.insert(VARIABLE.to_owned(), definitions);
    }
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

const VARIABLE: &str = "Variable";
/// What constrains a value rather than describing it.
const CONSTRAINTS: [&str; 11] =
    ["type", "format", "pattern", "minimum", "maximum", "enum", "const", "oneOf", "anyOf", "minLength", "maxLength"];

/// Lets a scalar also be a text with a variable in it.
fn allow_variables(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if !constrains_a_scalar(object) {
        return;
    }
    let constraints: Map<String, Value> =
        CONSTRAINTS.iter().filter_map(|name| object.shift_remove(*name).map(|value| ((*name).to_owned(), value))).collect();
    object.insert("anyOf".to_owned(), json!([constraints, {"$ref": format!("#/$defs/{VARIABLE}")}]));
}

/// Whether this is a number, truth value, name from a list, or text of a certain form.
fn constrains_a_scalar(object: &Map<String, Value>) -> bool {
    let types = match object.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is_number = types.iter().any(|name| matches!(*name, "integer" | "number" | "boolean"));
    let is_formed_text = types.contains(&"string") && ["pattern", "format", "enum"].iter().any(|name| object.contains_key(*name));
    is_number || is_formed_text || object.contains_key("const")
}
