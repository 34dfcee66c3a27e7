//! What Bedrock and Vertex put into the body of a messages request instead of its headers.

use serde_json::{Map, Value};

use crate::messages::Version;
use crate::refusal::Refusal;

/// Takes `anthropic_version` out of a body: one of the platform's own names, or the vendor's newest.
pub(crate) fn version(body: &mut Map<String, Value>, own: &[&str]) -> Result<Version, Refusal> {
    match body.remove("anthropic_version").as_ref().and_then(Value::as_str) {
        Some("2026-10-21") => Ok(Version::V20261021),
        Some(name) if own.contains(&name) => Ok(Version::V20230601),
        Some(_) => Err(Refusal::invalid(format!("anthropic_version: Input should be '{}'", own.join("' or '")))),
        None => Err(Refusal::invalid("anthropic_version: Field required")),
    }
}

/// Takes `anthropic_beta` out of a body.
pub(crate) fn betas(body: &mut Map<String, Value>) -> Result<Vec<String>, Refusal> {
    let Some(given) = body.remove("anthropic_beta") else { return Ok(Vec::new()) };
    let wrong = || Refusal::invalid("anthropic_beta: Input should be a valid list");
    let names = given.as_array().ok_or_else(wrong)?.iter().map(|name| name.as_str().map(str::to_owned).ok_or_else(wrong));
    names.collect()
}

/// Whether some cache mark has a scope.
pub(crate) fn scoped(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(scoped),
        Value::Object(fields) => {
            let here = fields.get("cache_control").is_some_and(|mark| mark.get("scope").is_some());
            here || fields.iter().any(|(name, value)| !matches!(name.as_str(), "input_schema" | "input") && scoped(value))
        }
        _ => false,
    }
}
