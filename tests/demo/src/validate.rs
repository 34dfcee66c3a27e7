//! Field checks that sound like the vendor whose shape it is.

use serde_json::{Map, Value, json};

use crate::call::Shape;
use crate::refusal::Refusal;

/// What a field may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Integer,
    Number,
    Bool,
    List,
    Object,
    TextOrList,
    TextOrObject,
    Any,
}

impl Kind {
    fn holds(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Integer => value.is_u64() || value.is_i64(),
            Self::Number => value.is_number(),
            Self::Bool => value.is_boolean(),
            Self::List => value.is_array(),
            Self::Object => value.is_object(),
            Self::TextOrList => value.is_string() || value.is_array(),
            Self::TextOrObject => value.is_string() || value.is_object(),
            Self::Any => true,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Integer => "an integer",
            Self::Number => "a decimal",
            Self::Bool => "a boolean",
            Self::List => "an array of objects",
            Self::Object => "an object",
            Self::TextOrList => "a string or an array",
            Self::TextOrObject => "a string or an object",
            Self::Any => "a value",
        }
    }
}

/// The fields of one object: what they hold and which must be there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    pub(crate) known: &'static [(&'static str, Kind)],
    pub(crate) required: &'static [&'static str],
}

impl Fields {
    /// Refuses unknown fields, missing ones and wrong types, in this order. `path` is empty at the top level.
    pub(crate) fn check(&self, shape: Shape, path: &str, object: &Map<String, Value>) -> Result<(), Refusal> {
        for (name, value) in object {
            let known = self.known.iter().find(|(known, _)| same(shape, known, name));
            let (_, kind) = known.ok_or_else(|| unknown(shape, path, name))?;
            let absent = value.is_null() && shape != Shape::Messages;
            if !absent && !kind.holds(value) {
                return Err(wrong_type(shape, &joined(path, name), *kind, value));
            }
        }
        let missing = self.required.iter().find(|name| field(shape, object, name).is_none_or(Value::is_null));
        missing.map_or(Ok(()), |name| Err(absent(shape, path, name)))
    }
}

/// A field by its name; in the generate-content shape also by its other spelling.
pub(crate) fn field<'a>(shape: Shape, object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if shape != Shape::GenerateContent {
        return object.get(name);
    }
    object.get(name).or_else(|| object.get(&snake(name)))
}

fn same(shape: Shape, known: &str, name: &str) -> bool {
    known == name || (shape == Shape::GenerateContent && snake(known) == name)
}

fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(character.to_ascii_lowercase());
    }
    out
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

pub(crate) fn unknown(shape: Shape, path: &str, name: &str) -> Refusal {
    let full = joined(path, name);
    match shape {
        Shape::ChatCompletions if path.is_empty() => Refusal::invalid(format!("Unrecognized request argument supplied: {name}")),
        Shape::ChatCompletions => Refusal::invalid(format!("Unknown parameter: '{full}'.")).param(full).code("unknown_parameter"),
        Shape::Messages => Refusal::invalid(format!("{full}: Extra inputs are not permitted")),
        Shape::GenerateContent => {
            let place = if path.is_empty() { String::new() } else { format!(" at '{}'", snake(path)) };
            violation(path, format!("Invalid JSON payload received. Unknown name \"{name}\"{place}: Cannot find field."))
        }
    }
}

fn absent(shape: Shape, path: &str, name: &str) -> Refusal {
    let full = joined(path, name);
    match shape {
        Shape::ChatCompletions if full == "model" => Refusal::invalid("you must provide a model parameter"),
        Shape::ChatCompletions => {
            Refusal::invalid(format!("Missing required parameter: '{full}'.")).param(full).code("missing_required_parameter")
        }
        Shape::Messages => Refusal::invalid(format!("{full}: Field required")),
        Shape::GenerateContent => violation(&full, format!("* GenerateContentRequest.{full}: {name} is not specified\n")),
    }
}

pub(crate) fn wrong_type(shape: Shape, path: &str, kind: Kind, value: &Value) -> Refusal {
    match shape {
        Shape::ChatCompletions => {
            let message = format!("Invalid type for '{path}': expected {}, but got {} instead.", kind.words(), found(value));
            Refusal::invalid(message).param(path).code("invalid_type")
        }
        Shape::Messages => Refusal::invalid(format!("{path}: Input should be {}", pydantic(kind))),
        Shape::GenerateContent => violation(path, format!("Invalid value at '{}' ({}), {value}", snake(path), proto(kind))),
    }
}

fn violation(path: &str, message: String) -> Refusal {
    let violations = json!([{"field": snake(path), "description": message}]);
    Refusal::invalid(message).detail(json!({"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}))
}

fn found(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a decimal",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn pydantic(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "a valid string",
        Kind::Integer => "a valid integer",
        Kind::Number => "a valid number",
        Kind::Bool => "a valid boolean",
        Kind::List | Kind::TextOrList => "a valid list",
        Kind::Object | Kind::TextOrObject => "a valid dictionary",
        Kind::Any => "valid",
    }
}

fn proto(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "TYPE_STRING",
        Kind::Integer => "TYPE_INT32",
        Kind::Number => "TYPE_FLOAT",
        Kind::Bool => "TYPE_BOOL",
        _ => "TYPE_MESSAGE",
    }
}
