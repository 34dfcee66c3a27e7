use http::HeaderMap;
use serde_json::{Value, json};

use super::super::anthropic::BETA;
use super::*;

const MODEL: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

fn draft<'a>(endpoint: Endpoint, model: &'a str, headers: &'a HeaderMap, body: &'a Pieces) -> Draft<'a> {
    Draft { endpoint, model, stream: false, headers, body }
}

fn path(endpoint: Endpoint, model: &str, stream: bool) -> String {
    let headers = HeaderMap::new();
    let dispatch = Dispatch { endpoint, model, stream, headers: &headers, query: None, body: &Pieces::default(), authorisation: None };
    Bedrock.path("", &dispatch)
}

fn prepared(body: &str, betas: Option<&'static str>) -> (String, Vec<String>) {
    let mut headers = HeaderMap::new();
    if let Some(betas) = betas {
        headers.insert(BETA, HeaderValue::from_static(betas));
    }
    let body = Pieces::from(Bytes::from(body.to_owned()));
    let prepared = Bedrock.prepare(&draft(Endpoint::Messages, MODEL, &headers, &body)).unwrap();
    (String::from_utf8(prepared.body.whole().to_vec()).unwrap(), prepared.omitted)
}

#[test]
fn the_model_is_one_segment_of_the_path() {
    for (model, stream, expected) in [
        ("anthropic.claude-v1:0", false, "/model/anthropic.claude-v1%3A0/invoke"),
        (MODEL, true, "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream"),
        (
            "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc",
            false,
            "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc/invoke",
        ),
    ] {
        assert_eq!(path(Endpoint::Messages, model, stream), expected);
    }
    let counted = "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens";
    for profile in [MODEL, "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0"] {
        assert_eq!(path(Endpoint::MessagesCountTokens, profile, false), counted, "profiles cannot be counted by");
    }
}

#[test]
fn model_and_stream_leave_the_body_and_the_version_enters_it() {
    let (body, omitted) =
        prepared(r#"{"model":"x", "max_tokens": 64, "stream":true,"messages":[ {"role":"user","content":"h\u0069"} ]}"#, None);
    assert_eq!(body, r#"{"anthropic_version":"bedrock-2023-05-31","max_tokens": 64,"messages":[ {"role":"user","content":"h\u0069"} ]}"#);
    assert!(omitted.is_empty());
}

#[test]
fn betas_enter_the_body_filtered_and_fields_the_service_refuses_are_left_out_and_noted() {
    let (body, omitted) = prepared(
        r#"{"model":"x","max_tokens":1,"service_tier":"auto","container":"c","context_management":{},"messages":[],"tools":[{"name":"a","defer_loading":true}]}"#,
        Some("interleaved-thinking-2025-05-14,oauth-2025-04-20"),
    );
    assert_eq!(
        body,
        r#"{"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["interleaved-thinking-2025-05-14"],"max_tokens":1,"messages":[],"tools":[{"name":"a"}]}"#
    );
    assert_eq!(omitted, ["anthropic-beta oauth-2025-04-20", "service_tier", "container", "context_management", "tools.defer_loading"]);
}

#[test]
fn a_field_stays_with_the_beta_it_needs() {
    let (body, omitted) = prepared(
        r#"{"model":"x","max_tokens":1,"context_management":{"edits":[]},"messages":[],"anthropic_beta":["tool-search-tool-2025-10-19"],"tools":[{"defer_loading":true}]}"#,
        Some("context-management-2025-06-27"),
    );
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["anthropic_beta"], json!(["context-management-2025-06-27", "tool-search-tool-2025-10-19"]));
    assert!(body.get("context_management").is_some() && body["tools"][0]["defer_loading"] == true);
    assert!(omitted.is_empty(), "{omitted:?}");
}

#[test]
fn counting_wraps_an_invocation_that_is_complete() {
    for (body, expected) in [
        (r#"{"model":"x","messages":[]}"#, r#"{"anthropic_version":"bedrock-2023-05-31","max_tokens":1,"messages":[]}"#),
        (
            r#"{"model":"x","messages":[],"thinking":{"type":"enabled","budget_tokens":2048}}"#,
            r#"{"anthropic_version":"bedrock-2023-05-31","max_tokens":2049,"messages":[],"thinking":{"type":"enabled","budget_tokens":2048}}"#,
        ),
    ] {
        let (headers, body) = (HeaderMap::new(), Pieces::from(Bytes::from(body)));
        let prepared = Bedrock.prepare(&draft(Endpoint::MessagesCountTokens, MODEL, &headers, &body)).unwrap();
        let wrapped: Value = serde_json::from_slice(&prepared.body.whole()).unwrap();
        let inner = STANDARD.decode(wrapped["input"]["invokeModel"]["body"].as_str().unwrap()).unwrap();
        assert_eq!(String::from_utf8(inner).unwrap(), expected);
    }
}

#[test]
fn other_families_and_endpoints_are_refused_in_clear_words() {
    let (headers, body) = (HeaderMap::new(), Pieces::from(Bytes::from_static(b"{}")));
    for (endpoint, model, part) in [
        (Endpoint::Messages, "meta.llama3-70b-instruct-v1:0", "`meta.llama3-70b-instruct-v1:0` is of a family"),
        (Endpoint::Messages, "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0", "is of a family"),
        (Endpoint::Embeddings, MODEL, "no counterpart of the endpoint embeddings"),
    ] {
        let refusal = Bedrock.prepare(&draft(endpoint, model, &headers, &body)).unwrap_err();
        assert!(refusal.message.contains(part), "{}", refusal.message);
        assert_eq!(refusal.code, Code::UnsupportedTranslation);
    }
    let profile = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc";
    assert!(Bedrock.prepare(&draft(Endpoint::Messages, profile, &headers, &body)).is_ok(), "its name does not tell");
}

#[test]
fn the_region_is_read_from_the_vendors_hosts_only() {
    assert_eq!(region_of("bedrock-runtime.eu-west-1.amazonaws.com").as_deref(), Some("eu-west-1"));
    assert_eq!(region_of("bedrock-runtime-fips.us-east-1.amazonaws.com").as_deref(), Some("us-east-1"));
    assert_eq!(region_of("bedrock-runtime.evil.example"), None);
    assert_eq!(region_of("127.0.0.1"), None);
}

/// A frame as the service writes it.
fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(u8::try_from(name.len()).unwrap());
        block.extend_from_slice(name.as_bytes());
        block.push(7);
        block.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
        block.extend_from_slice(value.as_bytes());
    }
    let mut raw = Vec::new();
    raw.extend_from_slice(&u32::try_from(16 + block.len() + payload.len()).unwrap().to_be_bytes());
    raw.extend_from_slice(&u32::try_from(block.len()).unwrap().to_be_bytes());
    raw.extend_from_slice(&crc32fast::hash(&raw).to_be_bytes());
    raw.extend_from_slice(&block);
    raw.extend_from_slice(payload);
    raw.extend_from_slice(&crc32fast::hash(&raw).to_be_bytes());
    raw
}

fn chunk(event: &str) -> Vec<u8> {
    let payload = json!({"bytes": STANDARD.encode(event), "p": "abcdefgh"}).to_string();
    frame(&[(":event-type", "chunk"), (":content-type", "application/json"), (":message-type", "event")], payload.as_bytes())
}

fn events(raw: &[u8], size: usize) -> String {
    let mut frames = Frames::default();
    let pieces = raw.chunks(size).map(|piece| frames.push(Bytes::copy_from_slice(piece)).to_vec());
    String::from_utf8(pieces.collect::<Vec<_>>().concat()).unwrap()
}

#[test]
fn frames_become_events_of_the_dialect_whatever_the_pieces() {
    let raw = [
        chunk(r#"{"type":"message_start","message":{"model":"claude"}}"#),
        chunk("{\n\"type\":\"content_block_delta\"}"),
        chunk(r#"{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":1}}"#),
    ]
    .concat();
    let expected = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude\"}}\n\n\
                    event: content_block_delta\ndata: { \"type\":\"content_block_delta\"}\n\n\
                    event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    for size in [1, 7, 100, raw.len()] {
        assert_eq!(events(&raw, size), expected, "pieces of {size}");
    }
}

#[test]
fn exceptions_and_broken_frames_end_the_answer_with_an_error_of_the_dialect() {
    let exception = |name: &str, message: &str| {
        frame(&[(":message-type", "exception"), (":exception-type", name)], json!({"message": message}).to_string().as_bytes())
    };
    let mut broken = chunk("{}");
    broken[20] ^= 1;
    for (raw, kind, message) in [
        (exception("throttlingException", "Too many requests"), "rate_limit_error", "Too many requests"),
        (exception("modelStreamErrorException", "oops"), "api_error", "oops"),
        (exception("serviceUnavailableException", "busy"), "overloaded_error", "busy"),
        (
            frame(&[(":message-type", "error"), (":error-code", "internalServerException"), (":error-message", "no")], b""),
            "api_error",
            "no",
        ),
        (broken, "api_error", "The provider's answer cannot be read: stream frame with a wrong checksum."),
        (chunk("[]"), "api_error", "The provider's answer holds an event that cannot be read."),
    ] {
        let text = events(&[raw, chunk(r#"{"type":"ping"}"#)].concat(), 64);
        let data = text.strip_prefix("event: error\ndata: ").and_then(|rest| rest.strip_suffix("\n\n")).unwrap_or_else(|| panic!("{text}"));
        let error: Value = serde_json::from_str(data).unwrap();
        assert_eq!(error, json!({"type": "error", "error": {"type": kind, "message": message}}), "nothing follows an error");
    }
}

#[test]
fn errors_become_the_vendors_own() {
    for (name, status, body, (ours, kind, message)) in [
        (
            "ValidationException:http://internal.amazon.com/coral/",
            400,
            r#"{"message":"The model returned the following errors: max_tokens: too large"}"#,
            (400, "invalid_request_error", "max_tokens: too large"),
        ),
        ("ThrottlingException", 429, r#"{"Message":"slow down"}"#, (429, "rate_limit_error", "slow down")),
        ("ServiceUnavailableException", 503, r#"{"message":"busy"}"#, (529, "overloaded_error", "busy")),
        ("ModelTimeoutException", 408, r#"{"message":"slow"}"#, (504, "timeout_error", "slow")),
        ("ModelErrorException", 424, r#"{"message":"bad"}"#, (500, "api_error", "bad")),
        ("", 502, "<html>", (500, "api_error", "The provider answered with the status 502.")),
        (
            "ResourceNotFoundException",
            404,
            r#"{"message":"no arn:aws:bedrock:us-east-1:123456789012:profile/x"}"#,
            (404, "not_found_error", "no arn:aws:bedrock:us-east-1::profile/x"),
        ),
    ] {
        let mut head = ResponseHeader::build(status, None).unwrap();
        head.insert_header("x-amzn-errortype", name).unwrap();
        head.insert_header("content-length", "9").unwrap();
        let mut unwrapping = Bedrock.unwrapping(Endpoint::Messages, &mut head).unwrap().unwrap();
        assert_eq!(head.status.as_u16(), ours, "{name}");
        assert!(head.headers.get("content-length").is_none());
        assert!(unwrapping.push(Bytes::copy_from_slice(body.as_bytes()), false).is_empty());
        let error: Value = serde_json::from_slice(&unwrapping.push(Bytes::new(), true)).unwrap();
        assert_eq!(error, json!({"type": "error", "error": {"type": kind, "message": message}}));
    }
}

#[test]
fn a_count_has_the_dialects_name() {
    let mut counted = Counted::default();
    assert!(counted.push(br#"{"input"#, false).is_empty());
    assert_eq!(&counted.push(br#"Tokens":12}"#, true)[..], br#"{"input_tokens":12}"#);
}
