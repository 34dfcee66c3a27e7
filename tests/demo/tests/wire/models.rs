//! What a model refuses follows from its name, and what a shape does not know is refused everywhere in it.

use crate::support::{demo, post};

const VERSION: &str = "anthropic-version: 2023-06-01";

/// Path, body, and words of the refusal.
type Case = (&'static str, &'static str, &'static str);

async fn refused(cases: &[Case]) {
    let demo = demo(&[]).await;
    for (path, body, words) in cases {
        let answer = post(&demo, path, &["authorization: Bearer k", "x-goog-api-key: k", VERSION], body).await;
        assert!(answer.status() == "400" && answer.text.contains(words), "{body}: {}", answer.text);
    }
}

#[tokio::test]
async fn chat_models_part_functions_from_reasoning_and_know_their_own_fields_only() {
    let path = "/v1/chat/completions";
    refused(&[
        (
            path,
            r#"{"model":"gpt-5.6","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f"}}]}"#,
            "/v1/responses",
        ),
        (path, r#"{"model":"gpt-5.6","messages":[{"role":"user","content":"a"}],"max_tokens":9}"#, "Use 'max_completion_tokens' instead"),
        (path, r#"{"model":"gpt-5.2","messages":[{"role":"user","content":"a"}],"stop":["b"]}"#, "Unsupported parameter: 'stop'"),
        (
            path,
            r#"{"model":"gpt-5.6","messages":[{"role":"user","content":"a"}],"reasoning_effort":"minimal"}"#,
            "does not support 'minimal'",
        ),
        (path, r#"{"model":"m","messages":[{"role":"assistant","content":"a","reasoning_content":"b"}]}"#, "messages[0].reasoning_content"),
        (path, r#"{"model":"m","messages":[{"role":"assistant","content":"a","tool_calls":[]}]}"#, "empty array"),
        (path, r#"{"model":"m","messages":[{"role":"user","content":"a"}],"response_format":{"type":"json_object"}}"#, "the word 'json'"),
    ])
    .await;
}

#[tokio::test]
async fn items_of_the_responses_dialect_are_looked_into() {
    let path = "/v1/responses";
    refused(&[
        (
            path,
            r#"{"model":"m","input":[{"type":"function_call","id":"call_1","call_id":"c","name":"f","arguments":"{}"}]}"#,
            "begins with 'fc'",
        ),
        (path, r#"{"model":"m","input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}"#, "No tool output found"),
        (path, r#"{"model":"m","input":[{"type":"function_call_output","call_id":"c","output":"x"}]}"#, "No tool call found"),
        (path, r#"{"model":"m","input":[{"type":"reasoning","id":"rs_1","summary":[]}]}"#, "without its required following item"),
        (
            path,
            r#"{"model":"m","input":"a","tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}}}]}"#,
            "additionalProperties",
        ),
    ])
    .await;
}

#[tokio::test]
async fn messages_models_differ_in_how_they_think_and_what_can_be_forced() {
    let path = "/v1/messages";
    refused(&[
        (
            path,
            r#"{"model":"claude-opus-5-5","max_tokens":2000,"messages":[{"role":"user","content":"a"}],"thinking":{"type":"enabled","budget_tokens":1024}}"#,
            "is not supported for this model",
        ),
        (
            path,
            r#"{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"a"}],"thinking":{"type":"adaptive"}}"#,
            "adaptive thinking is not supported",
        ),
        (
            path,
            r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"any"}}"#,
            "only be specified while providing tools",
        ),
        (path, r#"{"model":"claude-opus-4-6","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#, "prefill"),
        (path, r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":" "}]}]}"#, "non-whitespace"),
        (path, r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"metadata":{"user_id":"a@b.com"}}"#, "metadata.user_id"),
    ])
    .await;
}

#[tokio::test]
async fn generate_content_models_differ_in_ids_and_levels_and_schemas_are_no_json_schema() {
    let (second, third) = ("/v1beta/models/gemini-2.5-flash:generateContent", "/v1beta/models/gemini-3-pro:generateContent");
    refused(&[
        (second, r#"{"contents":[{"role":"model","parts":[{"functionCall":{"id":"a","name":"f"}}]}]}"#, "Unknown name"),
        (
            second,
            r#"{"contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"thinkingConfig":{"thinkingLevel":"LOW"}}}"#,
            "Thinking level is not supported",
        ),
        (third, r#"{"contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"presencePenalty":0.5}}"#, "Penalty is not enabled"),
        (
            third,
            r#"{"contents":[{"parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","additionalProperties":false}}]}]}"#,
            "Unknown name",
        ),
        (third, r#"{"contents":[{"parts":[{"text":"a","functionCall":{"name":"f"}}]}]}"#, "is already set"),
        (third, r#"{"contents":[{"parts":[{"text":"a"}]}],"labels":{"a":"b"}}"#, "Unknown name"),
    ])
    .await;
}
