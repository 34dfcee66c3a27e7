//! Azure's addresses for the chat-completions vendor's models: classic deployments with an API version, and the newer `v1`.

use bytes::Bytes;
use serde_json::Value;

use crate::call::Call;
use crate::deliver::Answer;
use crate::refusal::Refusal;
use crate::{chat_completions, completions, embeddings, images, responses, speech, transcriptions};

/// API versions before these dates refuse a field. Versions are dates, some with `-preview` behind them.
const FIRST_IN: [(&str, &str); 3] =
    [("stream_options", "2024-09-01"), ("reasoning_effort", "2024-12-01"), ("max_completion_tokens", "2024-09-01")];
const DEVELOPER: &str = "2024-12-01";
const RESPONSES: &str = "2025-03-01";
const OLDEST: &str = "2022-12-01";

/// `/openai/deployments/{deployment}/{operation}`: the deployment is the model, whatever the body says.
pub(crate) fn classic(mut call: Call, deployment: &str, operation: &str) -> (Call, impl FnOnce(&Call) -> Result<Answer, Refusal> + use<>) {
    let version = call.query("api-version");
    if let Ok(mut body) = call.json() {
        body.insert("model".to_owned(), deployment.into());
        call.body = Bytes::from(Value::Object(body).to_string());
    }
    let operation = operation.to_owned();
    (call, move |call: &Call| {
        let version = supported(version)?;
        match operation.as_str() {
            "chat/completions" => {
                dated(call, &version)?;
                chat_completions::handle(call)
            }
            "completions" => completions::handle(call),
            "embeddings" => embeddings::handle(call),
            "images/generations" => images::generations(call),
            "audio/speech" => speech::handle(call),
            "audio/transcriptions" => transcriptions::handle(call),
            _ => Err(nowhere()),
        }
    })
}

/// `/openai/responses`, which only versions of the year 2025 and later have.
pub(crate) fn classic_responses(call: &Call) -> Result<Answer, Refusal> {
    let version = supported(call.query("api-version"))?;
    if version.as_str() < RESPONSES {
        return Err(Refusal::invalid("Azure OpenAI Responses API is enabled only for api-version 2025-03-01-preview and later"));
    }
    responses::handle(call)
}

/// Of the `v1` addresses: no version is needed, and only `preview` and `latest` are known.
pub(crate) fn unversioned(call: &Call) -> Result<(), Refusal> {
    match call.query("api-version").as_deref() {
        None | Some("preview" | "latest" | "v1") => Ok(()),
        Some(_) => Err(Refusal::invalid("api-version query parameter is not allowed when using /v1 path")),
    }
}

fn supported(version: Option<String>) -> Result<String, Refusal> {
    let version = version.ok_or_else(nowhere)?;
    let date = version.trim_end_matches("-preview");
    let dated = date.len() == OLDEST.len() && date.chars().all(|letter| letter.is_ascii_digit() || letter == '-');
    if dated && date >= OLDEST { Ok(date.to_owned()) } else { Err(nowhere()) }
}

fn dated(call: &Call, version: &str) -> Result<(), Refusal> {
    let body = call.json()?;
    if let Some((name, _)) = FIRST_IN.iter().find(|(name, first)| body.contains_key(*name) && version < *first) {
        return Err(Refusal::invalid(format!("Unrecognized request argument supplied: {name}")));
    }
    let messages = body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let developer = messages.iter().any(|message| message.get("role").and_then(Value::as_str) == Some("developer"));
    if developer && version < DEVELOPER {
        return Err(Refusal::invalid("'developer' is not one of ['system', 'assistant', 'user', 'function', 'tool'] - 'messages.0.role'"));
    }
    Ok(())
}

fn nowhere() -> Refusal {
    Refusal::new(404, "Resource not found").code("404")
}
