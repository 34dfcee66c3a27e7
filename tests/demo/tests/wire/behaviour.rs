//! Markers: each does what the help says, and what arrived can be looked at.

use std::time::{Duration, Instant};

use crate::support::{chat, demo, post, send};

#[tokio::test]
async fn an_asked_for_error_has_the_vendors_form_and_headers() {
    let demo = demo(&[]).await;
    let failed = chat(&demo, "demo:error=429 demo:retry-after=7", false).await;
    assert_eq!(failed.status(), "429");
    for part in ["retry-after: 7", "x-request-id: req_demo", r#""code":"rate_limit_exceeded""#] {
        assert!(failed.text.contains(part), "{part} is missing in {}", failed.text);
    }
}

#[tokio::test]
async fn a_cut_stream_has_a_beginning_and_no_end() {
    let demo = demo(&[]).await;
    let cut = chat(&demo, "demo:cut=2", true).await;
    assert_eq!(cut.text.matches("data: ").count(), 2);
    assert!(!cut.text.ends_with("0\r\n\r\n"), "the last chunk must not come");
}

#[tokio::test]
async fn a_reset_connection_brings_nothing() {
    let demo = demo(&[]).await;
    let reset = chat(&demo, "demo:reset", false).await;
    assert_eq!(reset.text, "");
    assert_eq!(reset.end.expect_err("a reset").kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn an_error_inside_a_stream_is_its_last_event() {
    let demo = demo(&[]).await;
    let failed = chat(&demo, "demo:inband-error=2", true).await;
    assert_eq!((failed.status(), failed.text.contains("[DONE]")), ("200", false));
    assert!(failed.text.contains(r#"data: {"error":"#) && failed.text.ends_with("0\r\n\r\n"), "{}", failed.text);
}

#[tokio::test]
async fn markers_for_another_credential_or_a_later_time_do_not_count() {
    let demo = demo(&[]).await;
    assert_eq!(chat(&demo, "demo:error=500 demo:for-key=other", false).await.status(), "200");
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(chat(&demo, "demo:error=500 demo:first=2", false).await.status().to_owned());
    }
    assert_eq!(statuses, ["500", "500", "200"]);
}

#[tokio::test]
async fn sizes_and_numbers_are_as_asked() {
    let demo = demo(&[]).await;
    let large = chat(&demo, "demo:bytes=100000 demo:in=120 demo:cached=64 demo:out=31 demo:reasoning=12", false).await;
    let body = large.text.split_once("\r\n\r\n").expect("a body").1;
    let answer: serde_json::Value = serde_json::from_str(body).expect("JSON");
    assert_eq!(answer["choices"][0]["message"]["content"].as_str().map(str::len), Some(100_000));
    assert_eq!(answer["usage"]["total_tokens"], 151);
    assert_eq!(answer["usage"]["prompt_tokens_details"]["cached_tokens"], 64);
    let slow = Instant::now();
    chat(&demo, "demo:wait=150ms", false).await;
    assert!(slow.elapsed() >= Duration::from_millis(150));
}

#[tokio::test]
async fn a_lost_thread_and_a_kept_one_are_told_apart() {
    let demo = demo(&[]).await;
    let headers = ["x-api-key: mine", "anthropic-version: 2026-10-21", "anthropic-beta: message-threads-2026-08-12"];
    let ask = |thread: &str| format!(r#"{{"model":"m","max_tokens":99,"thread":{thread},"messages":[{{"role":"user","content":"hi"}}]}}"#);
    let created = post(&demo, "/v1/messages", &headers, &ask(r#"{"type":"create"}"#)).await;
    let id = created.text.split(r#""id":""#).nth(1).and_then(|rest| rest.split('"').next()).expect("an id");
    let go_on = ask(&format!(r#"{{"type":"continue","previous_message_id":"{id}"}}"#));
    let other = ["x-api-key: yours", headers[1], headers[2]];
    let stranger = post(&demo, "/v1/messages", &other, &go_on).await;
    assert!(stranger.status() == "404" && stranger.text.contains("thread_not_found"), "{}", stranger.text);
    assert_eq!(post(&demo, "/v1/messages", &headers, &go_on).await.status(), "200");
    assert!(post(&demo, "/v1/messages", &headers, &go_on).await.text.contains("thread_already_continued"));
}

#[tokio::test]
async fn what_arrived_is_remembered_until_it_is_forgotten() {
    let demo = demo(&[]).await;
    chat(&demo, "hello", false).await;
    let seen = send(demo.address(), "GET", "/__seen?last=1", &[], "").await.text;
    for part in [r#""path":"/v1/chat/completions""#, r#"["authorization","Bearer good"]"#, r#""answer":"complete""#, "HTTP/1.1"] {
        assert!(seen.contains(part), "{part} is missing in {seen}");
    }
    send(demo.address(), "DELETE", "/__seen", &[], "").await;
    assert!(send(demo.address(), "GET", "/__seen", &[], "").await.text.ends_with(r#"{"requests":[]}"#));
}
