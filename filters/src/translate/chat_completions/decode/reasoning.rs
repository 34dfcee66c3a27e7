//! Reasoning that a client sends back. The dialect has no field for it; services and gateways have three.

use super::assistant::read_token;
use super::object::Object;
use crate::canonical::{Block, Refusal, Text};
use crate::wire::json::Value;

/// The blocks, from the most telling of the fields there are.
pub(super) fn read<'a>(object: &Object<'_, 'a>) -> Result<Vec<Block<'a>>, Refusal> {
    for name in ["thinking_blocks", "reasoning_details"] {
        let blocks: Vec<Block<'a>> = object.get(name).into_iter().flat_map(Value::elements).filter_map(|part| one(part.json())).collect();
        if !blocks.is_empty() {
            return Ok(blocks);
        }
    }
    for name in ["reasoning_content", "reasoning"] {
        let text = object.get(name).and_then(Value::text).filter(|text| !text.is_empty());
        if let Some(text) = text {
            return Ok(vec![Block::Reasoning { text, signature: None }]);
        }
    }
    Ok(Vec::new())
}

/// `{type: "thinking", thinking, signature}` and `{type: "redacted_thinking", data}`, or `{type: "reasoning.text", text,
/// signature}`, `{type: "reasoning.summary", summary}` and `{type: "reasoning.encrypted", data}`.
fn one(part: Value<'_>) -> Option<Block<'_>> {
    let full = |name: &str| part.get(name).text().filter(|text| !text.is_empty());
    if let Some(data) = full("data") {
        return Some(Block::Redacted(read_token(data)));
    }
    let text = full("thinking").or_else(|| full("text")).or_else(|| full("summary"));
    let signature = full("signature").map(read_token);
    (text.is_some() || signature.is_some()).then(|| Block::Reasoning { text: text.unwrap_or(Text::from("")), signature })
}
