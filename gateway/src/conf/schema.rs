//! The JSON Schema of the configuration, for editors.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use serde_json::{Map, Value, json};

use super::Conf;

/// The definition of a text that still has a variable in it.
const VARIABLE: &str = "Variable";
/// What constrains a value rather than describing it.
const CONSTRAINTS: [&str; 9] = ["type", "format", "pattern", "minimum", "maximum", "enum", "const", "oneOf", "anyOf"];

/// The schema as it is kept in `conf/svc.schema.json`, without the line break at its end. Where a number, a truth value or
/// a text of a certain form is wanted, it also accepts a text with a variable.
#[must_use]
pub fn json() -> String {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Conf>();
    allow_variables(&mut schema);
    schema.insert("title".to_owned(), json!("The configuration of svc"));
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        let variable = json!({"type": "string", "pattern": r"\$\{", "description": "Filled in from the environment."});
        definitions.insert(VARIABLE.to_owned(), variable);
    }
    serde_json::to_string_pretty(&schema).unwrap_or_default()
}

/// Lets every constrained scalar also be a text with a variable in it, the innermost first.
fn allow_variables(schema: &mut Schema) {
    let is_list_of_names = schema.as_object().is_some_and(is_list_of_names);
    if !is_list_of_names {
        transform_subschemas(&mut allow_variables, schema);
    }
    let Some(object) = schema.as_object_mut() else { return };
    if !is_list_of_names && !constrains_a_scalar(object) {
        return;
    }
    let constraints: Map<String, Value> =
        CONSTRAINTS.iter().filter_map(|name| object.shift_remove(*name).map(|value| ((*name).to_owned(), value))).collect();
    object.insert("anyOf".to_owned(), json!([constraints, {"$ref": format!("#/$defs/{VARIABLE}")}]));
}

/// Whether this is an enumeration whose names are described one by one. Exactly one of them may match, so that a
/// variable has to be allowed beside the whole list.
fn is_list_of_names(object: &Map<String, Value>) -> bool {
    let Some(Value::Array(names)) = object.get("oneOf") else { return false };
    names.iter().all(|name| name.get("const").is_some() || name.get("enum").is_some())
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
