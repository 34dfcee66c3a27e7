use super::*;
use crate::store::RequestOutcome;

const STARTED: u64 = 1_700_000_000_123_456_789;

fn tried(provider: &'static str, status: u16, failure: &'static str) -> AttemptRecord<&'static str> {
    AttemptRecord { provider, model: "gpt-4o-2024", status, failure, us: 5, queue_us: None }
}

fn made(after_us: u64, lasted_us: u64) -> TryRecord<&'static str> {
    TryRecord { after_us, lasted_us, kind: "azure_openai", host: "a.example", port: 443 }
}

/// A request that one provider failed and another answered as a stream.
fn fallen_back() -> Record<&'static str> {
    Record {
        request_id: "0190",
        endpoint: "chat_completions",
        path: "/v1/chat/completions",
        model_asked: Some("gpt-4o"),
        model_resolved: Some("gpt-4o"),
        key_id: Some("key"),
        user_agent: Some("curl"),
        outcome: RequestOutcome::Complete,
        stream: true,
        status: 200,
        total_us: 900,
        first_byte_us: Some(500),
        finish_reason: Some("stop"),
        usage: Some(svc_filters::usage::Usage { input_uncached: 10, cache_read: 3, output: 7, ..Default::default() }),
        attempts: vec![tried("one", 503, "status"), tried("two", 200, "")],
        trace: Some(TraceRecord {
            id: 0xabc,
            span: 0x11,
            parent: 0x22,
            flags: 1,
            started_ns: STARTED,
            method: "POST",
            state: Some("a=b"),
            tries: vec![made(100, 150), made(260, 640)],
        }),
        ..Record::default()
    }
}

/// A span as text: what it is, when it was after the request's start, and what it tells.
fn told(span: &Span<'_>) -> String {
    let mut text = format!(
        "{:?} `{}` {:x}/{:x} < {:x} remote={} state={:?} +{}..+{} failed={}\n",
        span.kind,
        span.name,
        span.trace,
        span.id,
        span.parent,
        span.parent_is_remote,
        span.state,
        span.start_ns - STARTED,
        span.end_ns - STARTED,
        span.failed
    );
    for (name, value) in &span.attributes {
        text.push_str(&match value {
            Value::Text(value) => format!("  {name}: {value}\n"),
            other => format!("  {name}: {other:?}\n"),
        });
    }
    text
}

#[test]
fn a_request_is_a_span_with_one_below_it_for_each_try() {
    let record = fallen_back();
    let all: Vec<String> = spans(&record).iter().map(told).collect();
    let (first, second) = (try_span(0x11, 1), try_span(0x11, 2));
    let expected = [
        "Server `chat gpt-4o` abc/11 < 22 remote=true state=Some(\"a=b\") +0..+900000 failed=false
  gen_ai.operation.name: chat
  gen_ai.request.model: gpt-4o
  gen_ai.request.stream: Bool(true)
  http.request.method: POST
  url.path: /v1/chat/completions
  http.response.status_code: Number(200)
  user_agent.original: curl
  svc.request_id: 0190
  svc.endpoint: chat_completions
  svc.outcome: complete
  svc.attempts: Number(2)
  svc.model: gpt-4o
  svc.key_id: key
"
        .to_owned(),
        format!(
            "Client `chat gpt-4o-2024` abc/{first:x} < 11 remote=false state=Some(\"a=b\") +100000..+250000 failed=true
  gen_ai.operation.name: chat
  gen_ai.provider.name: azure.ai.openai
  gen_ai.request.model: gpt-4o-2024
  gen_ai.request.stream: Bool(true)
  server.address: a.example
  server.port: Number(443)
  http.request.method: POST
  http.response.status_code: Number(503)
  error.type: 503
  svc.provider: one
"
        ),
        format!(
            "Client `chat gpt-4o-2024` abc/{second:x} < 11 remote=false state=Some(\"a=b\") +260000..+900000 failed=false
  gen_ai.operation.name: chat
  gen_ai.provider.name: azure.ai.openai
  gen_ai.request.model: gpt-4o-2024
  gen_ai.request.stream: Bool(true)
  server.address: a.example
  server.port: Number(443)
  http.request.method: POST
  http.request.resend_count: Number(1)
  http.response.status_code: Number(200)
  svc.provider: two
  gen_ai.response.finish_reasons: Texts([\"stop\"])
  gen_ai.response.time_to_first_chunk: Real(0.00024)
  gen_ai.usage.input_tokens: Number(13)
  gen_ai.usage.output_tokens: Number(7)
  gen_ai.usage.cache_read.input_tokens: Number(3)
"
        ),
    ];
    for (found, expected) in all.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(all.len(), 3);
}

#[test]
fn a_record_without_a_trace_makes_no_spans() {
    assert!(spans(&Record { trace: None, ..fallen_back() }).is_empty());
}

#[test]
fn a_failure_is_named_by_what_the_client_saw() {
    let kind = |outcome, status, error_code, failure| {
        let attempts = if status == 401 { vec![] } else { vec![tried("one", if status == 200 { 200 } else { 0 }, failure)] };
        let record = Record { outcome, status, error_code, attempts, ..fallen_back() };
        let server = spans(&record).remove(0);
        let error = server.attributes.iter().find(|(name, _)| *name == names::ERROR_TYPE).map(|(_, value)| value.clone());
        assert_eq!(server.failed, error.is_some());
        error.map(|value| if let Value::Text(text) = value { text.into_owned() } else { panic!("{value:?}") })
    };
    assert_eq!(kind(RequestOutcome::Refused, 401, Some("key_not_found"), ""), Some("key_not_found".to_owned()));
    assert_eq!(kind(RequestOutcome::UpstreamError, 503, Some("upstream_unavailable"), "refused"), Some("upstream_unavailable".to_owned()));
    assert_eq!(kind(RequestOutcome::UpstreamError, 200, None, "closed"), Some("closed".to_owned()), "inside a stream");
    assert_eq!(kind(RequestOutcome::UpstreamError, 200, None, ""), Some("upstream_error".to_owned()));
    assert_eq!(kind(RequestOutcome::Complete, 404, None, ""), Some("404".to_owned()));
    assert_eq!(kind(RequestOutcome::ClientGone, 200, None, "client_gone"), Some("client_gone".to_owned()));
    assert_eq!(kind(RequestOutcome::Interrupted, 0, None, ""), Some("interrupted".to_owned()));
    assert_eq!(kind(RequestOutcome::Complete, 200, None, ""), None);
}

/// The bytes are those the official Python library makes of the same span.
#[test]
fn a_span_is_written_as_the_protocol_has_it() {
    let span = Span {
        trace: 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10,
        id: 0x1112_1314_1516_1718,
        parent: 0x2122_2324_2526_2728,
        parent_is_remote: true,
        flags: 1,
        state: Some("a=b"),
        name: "chat m".to_owned(),
        kind: Kind::Client,
        start_ns: 1,
        end_ns: 1_700_000_000_123_456_789,
        attributes: vec![
            ("t", Value::Text(Cow::Borrowed("ä"))),
            ("n", Value::Number(300)),
            ("r", Value::Real(0.5)),
            ("b", Value::Bool(true)),
            ("l", Value::Texts(vec!["x", "y"])),
        ],
        failed: true,
    };
    let hex: String = span.encode().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, include_str!("span.hex").trim_end());
}

#[test]
fn texts_are_cut_between_characters() {
    let long = "ä".repeat(1000);
    let record = Record { path: long.as_str(), ..fallen_back() };
    let bytes = spans(&record)[0].encode();
    assert!(!bytes.windows(1025).any(|window| std::str::from_utf8(window).is_ok_and(|text| text.chars().all(|letter| letter == 'ä'))));
    assert!(bytes.len() < 1024 + 600, "{}", bytes.len());
}
