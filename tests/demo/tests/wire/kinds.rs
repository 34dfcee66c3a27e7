//! The kinds of provider beyond the three vendors themselves: addresses, credentials, framing.

use svc_demo::{AwsAccess, Demo, Options};

use crate::support::{demo, post, send};

const CHAT: &str = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
const INVOKE: &str = r#"{"anthropic_version":"bedrock-2023-05-31","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}"#;
const CLAUDE: &str = "/model/eu.anthropic.claude-sonnet-4-5/invoke";
const SIGNED: &str = "authorization: AWS4-HMAC-SHA256 Credential=AKID/20261121/eu-west-1/bedrock/aws4_request, \
                      SignedHeaders=host;x-amz-date, Signature=00";

#[tokio::test]
async fn azure_wants_its_key_and_a_version_it_knows() {
    let demo = demo(&["good"]).await;
    let path = "/openai/deployments/d/chat/completions";
    for (path, header, status) in [
        (format!("{path}?api-version=2024-10-21"), "api-key: good", "200"),
        (format!("{path}?api-version=2024-10-21"), "authorization: Bearer good", "200"),
        (format!("{path}?api-version=2024-10-21"), "api-key: bad", "401"),
        (format!("{path}?api-version=2024-10-21"), "x-api-key: good", "401"),
        (path.to_owned(), "api-key: good", "404"),
        (format!("{path}?api-version=soon"), "api-key: good", "404"),
        ("/openai/v1/chat/completions".to_owned(), "api-key: good", "200"),
        ("/openai/v1/chat/completions?api-version=2024-10-21".to_owned(), "api-key: good", "400"),
    ] {
        assert_eq!(post(&demo, &path, &[header], CHAT).await.status(), status, "{path} with {header}");
    }
}

#[tokio::test]
async fn azure_streams_begin_with_a_chunk_without_choices_and_hold_one_without_delta() {
    let demo = demo(&[]).await;
    let body = CHAT.replace("\"model\":\"m\"", "\"stream\":true");
    let stream = post(&demo, "/openai/deployments/d/chat/completions?api-version=2024-10-21", &["api-key: k"], &body).await;
    let first = stream.text.split("data: ").nth(1).expect("an event");
    assert!(first.contains(r#""choices":[],"prompt_filter_results""#), "{first}");
    assert!(stream.text.contains("content_filter_offsets") && stream.text.contains("[DONE]"), "{}", stream.text);
}

#[tokio::test]
async fn bedrock_refuses_what_belongs_elsewhere_and_names_its_exception() {
    let demo = demo(&[]).await;
    for (from, to, words) in [
        ("\"max_tokens\"", "\"model\":\"m\",\"max_tokens\"", "model: Extra inputs are not permitted"),
        ("\"max_tokens\"", "\"stream\":true,\"max_tokens\"", "stream: Extra inputs are not permitted"),
        ("\"max_tokens\"", "\"anthropic_beta\":[\"mcp-client-2025-04-04\"],\"max_tokens\"", "invalid beta flag"),
        ("\"anthropic_version\":\"bedrock-2023-05-31\",", "", "anthropic_version: Field required"),
        ("\"hi\"", r#"[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]"#, "expected tags: 'base64'"),
        ("\"max_tokens\"", r#""tools":[{"type":"web_search_20250305","name":"web_search"}],"max_tokens""#, "web_search_20250305"),
    ] {
        let refused = post(&demo, CLAUDE, &[SIGNED], &INVOKE.replace(from, to)).await;
        assert_eq!(refused.status(), "400", "{}", refused.text);
        assert!(refused.text.contains(words) && refused.text.contains("x-amzn-errortype: ValidationException"), "{}", refused.text);
    }
    assert_eq!(post(&demo, CLAUDE, &[SIGNED], INVOKE).await.status(), "200");
}

#[tokio::test]
async fn bedrock_takes_no_signature_but_the_accounts() {
    let aws = AwsAccess { key: "AKID".to_owned(), secret: "secret".to_owned(), token: None, region: "eu-west-1".to_owned() };
    let demo = Demo::start(Options { aws: Some(aws), ..Options::default() }).await.expect("a free port");
    let other = SIGNED.replace("AKID", "OTHER");
    for (headers, words) in [
        (vec![], "MissingAuthenticationTokenException"),
        (vec![other.as_str()], "UnrecognizedClientException"),
        (vec![SIGNED, "x-amz-date: 20200101T000000Z"], "Signature expired"),
        (vec![SIGNED, "x-amz-date: 20261121T000000Z", "x-amz-security-token: t"], "UnrecognizedClientException"),
    ] {
        let refused = post(&demo, CLAUDE, &headers, INVOKE).await;
        assert!(refused.status() == "403" && refused.text.contains(words), "{words}: {}", refused.text);
    }
}

#[tokio::test]
async fn vertex_takes_a_bearer_token_and_hides_no_publisher() {
    let demo = demo(&[]).await;
    let place = "/v1/projects/p/locations/l/publishers";
    let claude = INVOKE.replace("bedrock-2023-05-31", "vertex-2023-10-16");
    let content = r#"{"contents":[{"parts":[{"text":"hi"}]}]}"#;
    for (path, header, body, status) in [
        ("google/models/g:generateContent", "authorization: Bearer t", content, "200"),
        ("google/models/g:generateContent", "x-goog-api-key: t", content, "401"),
        ("anthropic/models/claude:rawPredict", "authorization: Bearer t", &claude, "200"),
        ("anthropic/models/claude:rawPredict", "authorization: Bearer t", INVOKE, "400"),
        ("anthropic/models/claude:predict", "authorization: Bearer t", &claude, "404"),
    ] {
        assert_eq!(post(&demo, &format!("{place}/{path}"), &[header], body).await.status(), status, "{path} with {header}");
    }
}

#[tokio::test]
async fn there_are_no_tokens_without_an_account() {
    let demo = demo(&[]).await;
    assert_eq!(send(demo.address(), "POST", "/token", &[], "").await.status(), "404");
}
