//! The fields of content blocks, and texts that may not be empty.

use serde_json::{Map, Value};

use crate::messages::SHAPE;
use crate::refusal::Refusal;
use crate::validate::{Fields, Kind};

/// Fields of a block beside `type`, by its type; `None` for a type that is not looked into.
fn fields(kind: &str) -> Option<Fields> {
    let known: &'static [(&'static str, Kind)] = match kind {
        "text" => &[("type", Kind::Text), ("text", Kind::Text), ("citations", Kind::Any), ("cache_control", Kind::Any)],
        "image" => &[("type", Kind::Text), ("source", Kind::Object), ("cache_control", Kind::Any)],
        "tool_use" => &[
            ("type", Kind::Text),
            ("id", Kind::Text),
            ("name", Kind::Text),
            ("input", Kind::Object),
            ("caller", Kind::Any),
            ("cache_control", Kind::Any),
        ],
        "tool_result" => &[
            ("type", Kind::Text),
            ("tool_use_id", Kind::Text),
            ("content", Kind::TextOrList),
            ("is_error", Kind::Bool),
            ("cache_control", Kind::Any),
        ],
        "thinking" => &[("type", Kind::Text), ("thinking", Kind::Text), ("signature", Kind::Text)],
        "redacted_thinking" => &[("type", Kind::Text), ("data", Kind::Text)],
        _ => return None,
    };
    let required: &'static [&'static str] = match kind {
        "text" => &["text"],
        "image" => &["source"],
        "tool_use" => &["id", "name", "input"],
        "tool_result" => &["tool_use_id"],
        "thinking" => &["thinking", "signature"],
        _ => &["data"],
    };
    Some(Fields { known, required })
}

pub(super) fn kind(block: &Map<String, Value>) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// Refuses fields a block of its type does not have.
pub(super) fn check(block: &Map<String, Value>, path: &str) -> Result<(), Refusal> {
    let kind = kind(block);
    fields(kind).map_or(Ok(()), |fields| fields.check(SHAPE, &format!("{path}.{kind}"), block))
}

/// The blocks of a message; a text counts as one.
pub(super) fn of(at: usize, message: &Value) -> Result<Vec<Map<String, Value>>, Refusal> {
    let text = |text: &str| Map::from_iter([("type".to_owned(), "text".into()), ("text".to_owned(), text.into())]);
    match message.get("content") {
        Some(Value::String(said)) => Ok(vec![text(said)]),
        Some(Value::Array(blocks)) => {
            let object = |(nth, block): (usize, &Value)| {
                let path = format!("messages.{at}.content.{nth}");
                let object = block.as_object().ok_or_else(|| Refusal::invalid(format!("{path}: Input should be a valid dictionary")))?;
                check(object, &path)?;
                Ok(object.clone())
            };
            blocks.iter().enumerate().map(object).collect()
        }
        Some(_) => Err(Refusal::invalid(format!("messages.{at}.content: Input should be a valid list"))),
        None => Err(Refusal::invalid(format!("messages.{at}.content: Field required"))),
    }
}

pub(super) fn text<'b>(block: &'b Map<String, Value>, path: &str) -> Result<&'b str, Refusal> {
    match block.get("text").and_then(Value::as_str) {
        Some("") => Err(Refusal::invalid("messages: text content blocks must be non-empty")),
        Some(text) if text.trim().is_empty() => Err(Refusal::invalid("messages: text content blocks must contain non-whitespace text")),
        Some(text) => Ok(text),
        None => Err(Refusal::invalid(format!("{path}.text.text: Field required"))),
    }
}

/// The texts of the system field.
pub(super) fn system(system: Option<&Value>) -> Result<Vec<String>, Refusal> {
    match system {
        Some(Value::String(text)) => Ok(vec![text.clone()]),
        Some(Value::Array(blocks)) => {
            let said = |(at, block): (usize, &Value)| {
                let path = format!("system.{at}");
                let block = block.as_object().ok_or_else(|| Refusal::invalid(format!("{path}: Input should be a valid dictionary")))?;
                check(block, &path)?;
                if kind(block) != "text" {
                    return Err(Refusal::invalid(format!("{path}.type: Input should be 'text'")));
                }
                text(block, &path).map_err(|_| Refusal::invalid("system: text content blocks must be non-empty")).map(str::to_owned)
            };
            blocks.iter().enumerate().map(said).collect()
        }
        _ => Ok(Vec::new()),
    }
}
