//! Clients over HTTP/2 get what those over HTTP/1.1 get.

use std::time::{Duration, Instant};

use svc_entity::Outcome;
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::h2c::Http2;
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;
use svc_tests::stub::{Reply, Stub};
use svc_tests::upstream::Upstream;
use svc_tests::wait;

const OVERLOADED: &str = "data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\"}}\n\n";
const JSON: (&str, &str) = ("content-type", "application/json");

#[test]
fn the_first_byte_and_the_silence_after_it_have_deadlines_of_their_own() {
    let upstream = Upstream::start();
    let more = "timeouts: {first_byte: 300ms, idle: 400ms, total: 60s}\nbreaker: {enabled: false}\n";
    let gateway = Gateway::start(Options::standard(&upstream.url()).with(more));
    for shape in Shape::ALL {
        let asked = Instant::now();
        let silent = Http2::open(gateway.address).ask(shape, shape.model(), "demo:hang", false);
        shape.expect_error("silent", &silent, 504, "upstream_unavailable");
        let hanging = Http2::open(gateway.address).ask(shape, shape.model(), "demo:hang-after=2 demo:chunks=10", true);
        assert!(hanging.status == 200 && hanging.text().contains("\"error\""), "{}: {}", shape.name(), hanging.text());
        assert!(asked.elapsed() < Duration::from_secs(10), "{}: not after {:?}", shape.name(), asked.elapsed());
    }
}

#[test]
fn a_client_of_a_silent_stream_is_kept_in_touch() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()).with("client_keepalive: 100ms\n"));
    for (shape, sign) in
        [(Shape::Chat, ": keep-alive\n"), (Shape::Messages, "event: ping\n"), (Shape::Generate, r#""parts":[{"text":""}]"#)]
    {
        let answer = Http2::open(gateway.address).ask(shape, shape.model(), "demo:slow=500ms demo:chunks=2", true);
        assert!(answer.complete && answer.text().contains(sign), "{}: {}", shape.name(), answer.text());
    }
}

#[test]
fn an_error_before_the_first_content_is_made_good_by_the_next_target() {
    let upstream = Upstream::start();
    let stub =
        Stub::start(|_| Reply { status: 200, headers: vec![("content-type", "text/event-stream".to_owned())], body: OVERLOADED.into() });
    let provider = format!("  - {{name: first, kind: openai, base_url: \"{}/v1\", keys: [k]}}\n", stub.url());
    let models = "  - {name: pair, targets: [{provider: first, model: m}, {provider: chat, model: demo-1, priority: 1}]}\n";
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_providers(&provider).with_models(models));
    let answer = Http2::open(gateway.address).ask(Shape::Chat, "pair", "hi", true);
    assert_eq!((answer.status, answer.header("x-svc-provider"), answer.header("x-svc-attempts")), (200, Some("chat"), Some("2")));
    assert!(answer.complete && answer.text().contains("[DONE]") && !answer.text().contains("overloaded"), "{}", answer.text());
}

#[test]
fn a_client_that_leaves_lets_its_provider_go_and_the_others_go_on() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()).with("telemetry: {batch_timeout_ms: 20}\n"));
    for shape in Shape::ALL {
        let mut client = Http2::open(gateway.address);
        let mut leaving = client.ask_stream(shape, shape.model(), "demo:slow=30ms demo:chunks=10000");
        assert!(leaving.status == 200 && leaving.piece().is_some());
        let number = upstream.newest().number();
        let left = Instant::now();
        drop(leaving);
        upstream.wait_ended(number, "abandoned");
        assert!(left.elapsed() < Duration::from_secs(2), "{}: {:?}", shape.name(), left.elapsed());
        assert_eq!(client.ask(shape, shape.model(), "hi", false).status, 200, "the connection goes on");
    }
    let database = Database::open(&gateway.database_url());
    let rows = wait::until("six rows", || Some(database.rows()).filter(|rows| rows.len() == 6));
    let outcomes: Vec<_> = rows.iter().map(|row| row.outcome).collect();
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::ClientGone).count(), 3, "{outcomes:?}");
    assert!(rows.iter().all(|row| row.client_address.as_deref() == Some("127.0.0.1")));
}

#[test]
fn a_body_that_is_too_large_is_refused_in_words() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_server("  max_body: 1MiB\n"));
    let body = vec![b' '; 8 << 20];
    for shape in Shape::ALL {
        let mut client = Http2::open(gateway.address);
        for length in [true, false] {
            let path = shape.path(shape.model(), false);
            let refused = client.post(&path, &[("authorization", &format!("Bearer {KEY}")), JSON], &body, length);
            shape.expect_error(&format!("length declared: {length}"), &refused, 413, "invalid_request");
        }
        assert_eq!(client.ask(shape, shape.model(), "hi", false).status, 200, "the connection goes on");
    }
}

#[test]
fn running_streams_finish_when_the_gateway_ends() {
    let upstream = Upstream::start();
    let mut gateway = Gateway::start(Options::standard(&upstream.url()));
    let mut client = Http2::open(gateway.address);
    let mut streams = Shape::ALL.map(|shape| client.ask_stream(shape, shape.model(), "demo:slow=30ms demo:chunks=40"));
    gateway.terminate();
    for stream in &mut streams {
        assert_eq!(stream.status, 200);
        let mut body = Vec::new();
        while let Some(piece) = stream.piece() {
            body.extend_from_slice(&piece);
        }
        let body = String::from_utf8_lossy(&body);
        assert!(["[DONE]", "message_stop", "finishReason"].iter().any(|end| body.contains(end)), "{body}");
    }
    gateway.wait_ended(Duration::from_secs(10));
}

#[test]
fn a_connection_without_requests_is_closed() {
    let upstream = Upstream::start();
    let limits = "  limits: {keepalive_idle: 300ms}\n";
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_server(limits));
    let mut client = Http2::open(gateway.address);
    assert_eq!(client.ask(Shape::Chat, "chat-model", "demo:slow=200ms demo:chunks=5", true).status, 200, "a stream is no idleness");
    client.wait_closed();
}
