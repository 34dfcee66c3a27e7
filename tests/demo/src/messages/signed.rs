//! Thinking blocks that come back: their signatures have to be the vendor's own and unaltered.

use serde_json::{Map, Value};

use crate::call::Call;
use crate::refusal::Refusal;

/// The models of the vendor share what their signatures are bound to.
const MODELS: &str = "claude";
const REDACTED: &str = "redacted";

pub(super) fn signature(call: &Call, thought: &str) -> String {
    call.seal(MODELS, thought)
}

pub(super) fn data(call: &Call) -> String {
    call.seal(MODELS, REDACTED)
}

pub(super) fn check(call: &Call, block: &Map<String, Value>, path: &str) -> Result<(), Refusal> {
    let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
    let (content, token, name) = match super::blocks::kind(block) {
        "thinking" => (text("thinking"), text("signature"), "signature"),
        _ => (REDACTED, text("data"), "data"),
    };
    if call.sealed(MODELS, content, token) {
        return Ok(());
    }
    Err(Refusal::invalid(format!("{path}: Invalid `{name}` in `{}` block", super::blocks::kind(block))))
}
