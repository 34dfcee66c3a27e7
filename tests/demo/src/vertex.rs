//! Vertex: the publishers `google` and `anthropic` inside a project and a location.

use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::chat_completions::is;
use crate::deliver::{Answer, Payload};
use crate::messages::{self, Version};
use crate::models;
use crate::platform;
use crate::refusal::Refusal;
use crate::vendor::Vendor;
use crate::{call, generate_content};

const COUNT: &str = "count-tokens";
const REFUSED: [&str; 3] = ["model", "container", "mcp_servers"];

/// Where a request goes, from its path.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    publisher: String,
    /// Model, colon and verb.
    target: String,
}

impl Place {
    /// `rest` is what follows the location: `publishers/{publisher}/models/{model}:{verb}`, or `endpoints/{id}:{verb}`.
    pub(crate) fn read(rest: &str) -> Option<Self> {
        if let Some(target) = rest.strip_prefix("endpoints/") {
            return Some(Self { publisher: "google".to_owned(), target: target.to_owned() });
        }
        let (publisher, target) = rest.strip_prefix("publishers/")?.split_once("/models/")?;
        Some(Self { publisher: publisher.to_owned(), target: target.to_owned() })
    }

    pub(crate) fn vendor(&self) -> Vendor {
        if self.publisher == "anthropic" { Vendor::VertexClaude } else { Vendor::Vertex }
    }

    pub(crate) fn handle(&self, call: &Call) -> Result<Answer, Refusal> {
        match self.publisher.as_str() {
            "google" => generate_content::handle(call, &self.target),
            "anthropic" => self.claude(call),
            _ => Err(nowhere()),
        }
    }

    fn claude(&self, call: &Call) -> Result<Answer, Refusal> {
        let (model, verb) = self.target.rsplit_once(':').ok_or_else(nowhere)?;
        let mut body = call.json()?;
        let version = platform::version(&mut body, &["vertex-2023-10-16"])?;
        // Unknown betas pass here; Bedrock is the one that refuses them.
        platform::betas(&mut body)?;
        match verb {
            "rawPredict" if model == COUNT => count(call, version, &body),
            "rawPredict" | "streamRawPredict" => predict(call, version, body, model, verb),
            _ => Err(nowhere()),
        }
    }
}

fn predict(call: &Call, version: Version, mut body: Map<String, Value>, model: &str, verb: &str) -> Result<Answer, Refusal> {
    if let Some(name) = REFUSED.iter().find(|name| body.contains_key(**name)) {
        return Err(Refusal::invalid(format!("{name}: Extra inputs are not permitted")));
    }
    if is(&body, "stream") && verb == "rawPredict" {
        return Err(Refusal::invalid("stream: use streamRawPredict to stream"));
    }
    let place = model.rsplit_once('@').map_or(model, |(name, _)| name);
    models::exists(call::Shape::Messages, place)?;
    body.insert("model".to_owned(), model.into());
    messages::respond(call, version, &body).map(|(answer, _)| answer)
}

fn count(call: &Call, version: Version, body: &Map<String, Value>) -> Result<Answer, Refusal> {
    let (counted, directives) = messages::counted(call, version, body)?;
    Ok(Answer { payload: Payload::Json(json!({"input_tokens": counted})), directives })
}

fn nowhere() -> Refusal {
    Refusal::new(404, "Requested entity was not found.")
}
