//! Thought signatures: models of the third generation want them back on the calls they came with, and none from elsewhere.

use serde_json::{Map, Value};

use crate::call::Call;
use crate::generate_content::SHAPE;
use crate::generation::gemini;
use crate::refusal::Refusal;
use crate::validate::field;

/// Taken instead of a signature that is lost.
const PLACEHOLDER: &str = "skip_thought_signature_validator";

/// Whether a model signs its calls and wants the signatures back.
pub(super) fn signs(model: &str) -> bool {
    gemini(model).is_some_and(|version| version >= (3, 0))
}

pub(super) fn signature(call: &Call, model: &str) -> String {
    call.seal(model, "")
}

/// Refuses a signature that this model did not make here.
pub(super) fn check(call: &Call, model: &str, part: &Map<String, Value>) -> Result<(), Refusal> {
    match field(SHAPE, part, "thoughtSignature").and_then(Value::as_str) {
        None | Some(PLACEHOLDER) => Ok(()),
        Some(token) if call.sealed(model, "", token) => Ok(()),
        Some(_) => Err(Refusal::invalid("Corrupted thought signature.")),
    }
}

pub(super) fn missing(name: &str, position: usize) -> Refusal {
    Refusal::invalid(format!(
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing \
         thought_signature may lead to degraded model performance. Additional data, function call `default_api:{name}`, position {position}."
    ))
}
