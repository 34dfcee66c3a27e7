//! Bedrock's addresses for the messages vendor's models: `/model/{id}/invoke`, `/invoke-with-response-stream`, `/count-tokens`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::deliver::{Answer, Payload};
use crate::messages::{self, Version};
use crate::models;
use crate::platform;
use crate::refusal::Refusal;

/// Fields the vendor itself takes and Bedrock does not.
const REFUSED: [&str; 10] =
    ["model", "stream", "service_tier", "container", "mcp_servers", "inference_geo", "speed", "diagnostics", "fallbacks", "workspace_id"];
const BETAS: [&str; 12] = [
    "claude-code-20250219",
    "compact-2026-01-12",
    "computer-use-2024-10-22",
    "computer-use-2025-01-24",
    "computer-use-2025-11-24",
    "context-1m-2025-08-07",
    "context-management-2025-06-27",
    "effort-2025-11-24",
    "interleaved-thinking-2025-05-14",
    "output-128k-2025-02-19",
    "token-efficient-tools-2025-02-19",
    "tool-search-tool-2025-10-19",
];

/// `target` is what follows `/model/`, without percent-encoding.
pub(crate) fn handle(call: &Call, target: &str) -> Result<Answer, Refusal> {
    let (model, action) = target.rsplit_once('/').ok_or_else(|| Refusal::new(404, "UnknownOperationException"))?;
    models::exists(crate::call::Shape::Messages, model)?;
    if !model.contains("anthropic.") {
        return Err(named("ValidationException", "The provided model identifier is invalid."));
    }
    match action {
        "invoke" => invoke(call, model, false),
        "invoke-with-response-stream" => invoke(call, model, true),
        "count-tokens" => count(call, model),
        _ => Err(Refusal::new(404, "UnknownOperationException")),
    }
}

fn invoke(call: &Call, model: &str, streamed: bool) -> Result<Answer, Refusal> {
    let (version, mut body) = opened(call.json()?, model)?;
    body.insert("stream".to_owned(), streamed.into());
    messages::respond(call, version, &body).map(|(answer, _)| answer)
}

fn count(call: &Call, model: &str) -> Result<Answer, Refusal> {
    let outer = call.json()?;
    let inner = outer.get("input").and_then(|input| input.pointer("/invokeModel/body")?.as_str());
    let bytes = STANDARD.decode(inner.unwrap_or_default()).unwrap_or_default();
    let Ok(Value::Object(inner)) = serde_json::from_slice(&Bytes::from(bytes)) else {
        return Err(named("ValidationException", "1 validation error detected: Value at 'input.invokeModel.body' is not valid."));
    };
    let (version, mut body) = opened(inner, model)?;
    // The body is that of an invocation, so it may have a limit, which does not matter.
    body.remove("max_tokens");
    let (counted, directives) = messages::counted(call, version, &body)?;
    Ok(Answer { payload: Payload::Json(json!({"inputTokens": counted})), directives })
}

/// A body without what only Bedrock wants, and with the model's name.
fn opened(mut body: Map<String, Value>, model: &str) -> Result<(Version, Map<String, Value>), Refusal> {
    if let Some(name) = REFUSED.iter().find(|name| body.contains_key(**name)) {
        return Err(Refusal::invalid(format!("{name}: Extra inputs are not permitted")));
    }
    let version = platform::version(&mut body, &["bedrock-2023-05-31"])?;
    let betas = platform::betas(&mut body)?;
    if betas.iter().any(|beta| !BETAS.contains(&beta.as_str())) {
        return Err(Refusal::invalid("invalid beta flag"));
    }
    let managed = betas.iter().any(|beta| beta.starts_with("context-management-") || beta.starts_with("compact-"));
    if body.contains_key("context_management") && !managed {
        return Err(Refusal::invalid("context_management: Extra inputs are not permitted"));
    }
    if platform::scoped(&Value::Object(body.clone())) {
        return Err(Refusal::invalid("system.0.cache_control.ephemeral.scope: Extra inputs are not permitted"));
    }
    body.insert("model".to_owned(), model.into());
    Ok((version, body))
}

fn named(name: &str, message: &str) -> Refusal {
    let mut refusal = Refusal::invalid(message);
    refusal.kind = Some(name.into());
    refusal
}
