//! Names of attributes, as the semantic conventions of OpenTelemetry have them, and our own for what those have none for.
//!
//! Those of generative AI are still in development: <https://github.com/open-telemetry/semantic-conventions-genai>.

use svc_filters::endpoint::Endpoint;

pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(super) const REQUEST_STREAM: &str = "gen_ai.request.stream";
pub(super) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
pub(super) const FIRST_CHUNK: &str = "gen_ai.response.time_to_first_chunk";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const CACHE_READ_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(super) const CACHE_WRITE_TOKENS: &str = "gen_ai.usage.cache_write.input_tokens";
pub(super) const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";

pub(super) const ERROR_TYPE: &str = "error.type";
pub(super) const METHOD: &str = "http.request.method";
pub(super) const RESEND_COUNT: &str = "http.request.resend_count";
pub(super) const STATUS_CODE: &str = "http.response.status_code";
pub(super) const URL_PATH: &str = "url.path";
pub(super) const SERVER_ADDRESS: &str = "server.address";
pub(super) const SERVER_PORT: &str = "server.port";
pub(super) const CLIENT_ADDRESS: &str = "client.address";
pub(super) const USER_AGENT: &str = "user_agent.original";

pub(super) const SERVICE_NAME: &str = "service.name";
pub(super) const SERVICE_VERSION: &str = "service.version";
pub(super) const SERVICE_INSTANCE: &str = "service.instance.id";

pub(super) const OWN_REQUEST_ID: &str = "svc.request_id";
pub(super) const OWN_ENDPOINT: &str = "svc.endpoint";
pub(super) const OWN_OUTCOME: &str = "svc.outcome";
pub(super) const OWN_MODEL: &str = "svc.model";
pub(super) const OWN_PROVIDER: &str = "svc.provider";
pub(super) const OWN_RULE: &str = "svc.rule";
pub(super) const OWN_KEY_ID: &str = "svc.key_id";
pub(super) const OWN_TEAM_ID: &str = "svc.team_id";
pub(super) const OWN_APPLICATION_ID: &str = "svc.application_id";
pub(super) const OWN_OWNER_KIND: &str = "svc.owner_kind";
pub(super) const OWN_OWNER_ID: &str = "svc.owner_id";
pub(super) const OWN_ATTEMPTS: &str = "svc.attempts";
pub(super) const OWN_VENDOR_ID: &str = "svc.upstream_request_id";

/// The operation of an endpoint: the conventions' word for it, else our own name of the endpoint.
pub(super) fn operation(endpoint: &str) -> &str {
    const CONVENTIONAL: [(Endpoint, &str); 8] = [
        (Endpoint::ChatCompletions, "chat"),
        (Endpoint::Messages, "chat"),
        (Endpoint::Responses, "chat"),
        (Endpoint::Completions, "text_completion"),
        (Endpoint::Embeddings, "embeddings"),
        (Endpoint::EmbedContent, "embeddings"),
        (Endpoint::BatchEmbedContents, "embeddings"),
        (Endpoint::StreamGenerateContent, "generate_content"),
    ];
    CONVENTIONAL.iter().find(|(known, _)| known.as_str() == endpoint).map_or(endpoint, |(_, operation)| operation)
}

/// The conventions' name of a kind of provider.
pub(super) fn provider(kind: &str) -> &str {
    match kind {
        "azure_openai" => "azure.ai.openai",
        "bedrock" => "aws.bedrock",
        "gemini" => "gcp.gemini",
        "vertex" => "gcp.vertex_ai",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use svc_filters::translate::ProviderKind;

    use super::*;

    #[test]
    fn kinds_have_the_conventions_names() {
        let kinds = [ProviderKind::Openai, ProviderKind::AzureOpenai, ProviderKind::Anthropic, ProviderKind::Bedrock];
        let names = ["openai", "azure.ai.openai", "anthropic", "aws.bedrock"];
        assert_eq!(kinds.map(|kind| provider(kind.as_str())), names);
        assert_eq!([ProviderKind::Gemini, ProviderKind::Vertex].map(|kind| provider(kind.as_str())), ["gcp.gemini", "gcp.vertex_ai"]);
    }
}
