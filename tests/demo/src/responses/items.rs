//! The items of a responses input: their fields, their ids and what proves that reasoning is the vendor's own.

use serde_json::{Map, Value};

use crate::call::{Call, Shape};
use crate::refusal::Refusal;
use crate::validate::{Fields, Kind};

/// What encrypted reasoning is bound to besides the vendor: any of its models reads it.
const REASONING: &str = "reasoning";

/// How ids of calls begin that were made after reasoning.
pub(super) const REASONED: &str = "fc_t_";

/// The fields of an item and the beginning of its id, by its type; `None` for a type that is not looked into.
fn form(kind: &str) -> Option<(Fields, &'static str)> {
    let (known, required, prefix): (&'static [(&'static str, Kind)], &'static [&'static str], _) = match kind {
        "message" => {
            let known = &[
                ("type", Kind::Text),
                ("id", Kind::Text),
                ("role", Kind::Text),
                ("content", Kind::TextOrList),
                ("status", Kind::Text),
                ("phase", Kind::Text),
            ];
            (known, &["role", "content"], "msg")
        }
        "function_call" => {
            let known = &[
                ("type", Kind::Text),
                ("id", Kind::Text),
                ("call_id", Kind::Text),
                ("name", Kind::Text),
                ("arguments", Kind::Text),
                ("status", Kind::Text),
                ("namespace", Kind::Text),
                ("caller", Kind::Any),
            ];
            (known, &["call_id", "name", "arguments"], "fc")
        }
        "function_call_output" => {
            let known = &[
                ("type", Kind::Text),
                ("id", Kind::Text),
                ("call_id", Kind::Text),
                ("output", Kind::TextOrList),
                ("status", Kind::Text),
                ("caller", Kind::Any),
            ];
            (known, &["call_id", "output"], "fc")
        }
        "reasoning" => {
            let known = &[
                ("type", Kind::Text),
                ("id", Kind::Text),
                ("summary", Kind::List),
                ("content", Kind::List),
                ("encrypted_content", Kind::Text),
                ("status", Kind::Text),
            ];
            (known, &["summary"], "rs")
        }
        _ => return None,
    };
    Some((Fields { known, required }, prefix))
}

pub(super) fn check(call: &Call, kind: &str, item: &Map<String, Value>, path: &str) -> Result<(), Refusal> {
    let Some((fields, prefix)) = form(kind) else { return Ok(()) };
    fields.check(Shape::ChatCompletions, path, item)?;
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    if let Some(id) = text("id").filter(|id| !id.starts_with(prefix)) {
        let message = format!("Invalid '{path}.id': '{id}'. Expected an ID that begins with '{prefix}'.");
        return Err(Refusal::invalid(message).param(format!("{path}.id")).code("invalid_value"));
    }
    if kind == "reasoning" { reasoning(call, text("id").unwrap_or_default(), text("encrypted_content")) } else { Ok(()) }
}

/// Nothing is kept here, so reasoning has to bring what it was.
fn reasoning(call: &Call, id: &str, encrypted: Option<&str>) -> Result<(), Refusal> {
    match encrypted {
        None => {
            let message = format!(
                "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or \
                 remove this item from your input."
            );
            Err(Refusal::new(404, message).param("input"))
        }
        Some(token) if call.sealed(REASONING, "", token) => Ok(()),
        Some(_) => {
            let message = format!(
                "The encrypted content for item {id} could not be verified. Reason: Encrypted content could not be decrypted or parsed."
            );
            Err(Refusal::invalid(message).code("invalid_encrypted_content"))
        }
    }
}

pub(super) fn encrypted(call: &Call) -> String {
    call.seal(REASONING, "")
}

/// Reasoning comes back with what followed it, and a call made after reasoning comes back with that.
pub(super) fn together(items: &[Value]) -> Result<(), Refusal> {
    let text = |item: &Value, name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    for (at, item) in items.iter().enumerate() {
        let (kind, id) = (text(item, "type"), text(item, "id"));
        let own =
            |next: &Value| text(next, "type") == "function_call" || text(next, "role") == "assistant" || text(next, "type") == "reasoning";
        if kind == "reasoning" && !items.get(at + 1).is_some_and(own) {
            let message = format!("Item '{id}' of type 'reasoning' was provided without its required following item.");
            return Err(Refusal::invalid(message).param("input"));
        }
        let Some(reasoning) = id.strip_prefix(REASONED).and_then(|rest| rest.split('_').next()).map(|suffix| format!("rs_{suffix}")) else {
            continue;
        };
        if kind == "function_call" && !items.iter().any(|other| text(other, "id") == reasoning) {
            let message = format!("Item '{id}' of type 'function_call' was provided without its required 'reasoning' item: '{reasoning}'.");
            return Err(Refusal::invalid(message).param("input"));
        }
    }
    Ok(())
}
