//! The listener: what it answers, to whom, and what it bears.

use std::net::TcpListener;

use svc_tests::gateway::{Gateway, Options};
use svc_tests::ports::free_address;
use svc_tests::prometheus::promtool;
use svc_tests::raw::{self, Connection};
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;

use crate::{STEADY, enabled};

/// The names and types of the fifteen, as the specification of the service has them.
const FIFTEEN: [(&str, &str); 15] = [
    ("svc_active_requests", "gauge"),
    ("svc_active_requests_by_provider", "gauge"),
    ("svc_cached_tokens_total", "counter"),
    ("svc_completion_tokens_total", "counter"),
    ("svc_cost_dollars_total", "counter"),
    ("svc_errors_total", "counter"),
    ("svc_prompt_tokens_total", "counter"),
    ("svc_provider_up", "gauge"),
    ("svc_queue_duration_seconds", "histogram"),
    ("svc_rate_limit_hits_total", "counter"),
    ("svc_reasoning_tokens_total", "counter"),
    ("svc_request_duration_seconds", "histogram"),
    ("svc_requests_total", "counter"),
    ("svc_vendor_input_tokens_total", "counter"),
    ("svc_vendor_output_tokens_total", "counter"),
];

fn start(more: &str) -> (Gateway, std::net::SocketAddr, Upstream) {
    let (upstream, metrics) = (Upstream::start(), free_address());
    let gateway = Gateway::start(Options::standard(&upstream.url()).with(STEADY).with(more).with(&enabled(metrics)));
    (gateway, metrics, upstream)
}

fn families(text: &str) -> Vec<(String, String)> {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let mut families: Vec<_> = types.map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect();
    families.sort();
    families
}

#[test]
fn exactly_fifteen_metrics_are_shown_from_the_first_moment_on() {
    let (gateway, metrics, _upstream) = start("");
    let expected = FIFTEEN.map(|(name, kind)| (name.to_owned(), kind.to_owned()));
    let mut shown = raw::get(metrics, "/metrics", &[]);
    for round in 0..2 {
        assert_eq!((shown.status, shown.header("content-type")), (200, Some("text/plain; version=0.0.4; charset=utf-8")));
        let text = shown.text();
        assert_eq!(families(&text), expected, "round {round}: {text}");
        assert_eq!(text.matches("# HELP ").count(), 15);
        promtool(&["check", "metrics"], &text).expect("promtool is content");
        assert_eq!(Shape::Chat.ask(&mut Connection::open(gateway.address), "chat-model", "hi", false).status, 200);
        shown = svc_tests::wait::until("the request", || {
            Some(raw::get(metrics, "/metrics", &[])).filter(|answer| answer.text().contains("svc_requests_total{"))
        });
    }
}

#[test]
fn it_answers_two_paths_and_two_methods() {
    let (_gateway, metrics, _upstream) = start("");
    let ask = |line: &str| {
        let mut connection = Connection::open(metrics);
        connection.send(format!("{line} HTTP/1.1\r\nhost: test\r\n\r\n"));
        connection.read_head().expect("an answer")
    };
    let health = raw::get(metrics, "/health", &[]);
    assert_eq!(
        (health.status, health.header("content-type"), health.text().as_str()),
        (200, Some("application/json"), r#"{"status":"healthy"}"#)
    );
    assert!(ask("HEAD /metrics").starts_with("HTTP/1.1 200 "));
    assert!(ask("HEAD /health").starts_with("HTTP/1.1 200 "));
    for path in ["/", "/admin/health", "/v1/models", "/metrics/"] {
        assert!(ask(&format!("GET {path}")).starts_with("HTTP/1.1 404 "), "{path}");
    }
    let refused = ask("POST /metrics").to_ascii_lowercase();
    assert!(refused.starts_with("http/1.1 405 ") && refused.contains("allow: get, head"), "{refused}");
}

#[test]
fn scrapers_that_stall_do_not_keep_the_next_one_out() {
    let (gateway, metrics, _upstream) = start("");
    let stalled: Vec<Connection> = (0..40)
        .map(|number| {
            let mut connection = Connection::open(metrics);
            if number % 2 == 0 {
                connection.send("GET /metrics HTTP/1.1\r\nhost: ");
            }
            connection
        })
        .collect();
    assert_eq!(raw::get(metrics, "/metrics", &[]).status, 200, "they are put out after seconds");
    assert_eq!(Shape::Chat.ask(&mut Connection::open(gateway.address), "chat-model", "hi", false).status, 200);
    drop(stalled);
    let mut long = Connection::open(metrics);
    long.send(format!("GET /metrics HTTP/1.1\r\nx-long: {}\r\n\r\n", "x".repeat(64 << 10)));
    assert!(long.answer().is_none_or(|answer| answer.status == 431), "heads have a bound");
}

#[test]
fn it_is_closed_unless_asked_for() {
    let (upstream, metrics) = (Upstream::start(), free_address());
    let off = enabled(metrics).replace("true", "false");
    let _gateway = Gateway::start(Options::standard(&upstream.url()).with(&off));
    assert!(Connection::try_open(metrics).is_none());
}

#[test]
fn a_taken_address_is_told_at_start() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it is bound");
    let told = Gateway::refuse(&Options::standard("http://127.0.0.1:1").with(&enabled(address)));
    assert!(told.contains(&format!("metrics.port: cannot listen on {address}")), "{told}");
}

#[test]
fn metrics_need_a_port_of_their_own() {
    let address = free_address();
    let told = Gateway::refuse_at(&Options::standard("http://127.0.0.1:1").with(&enabled(address)), address);
    assert!(told.contains("metrics.port") && told.contains("server.listen"), "{told}");
}

#[test]
fn names_that_are_not_configured_any_more_share_a_series() {
    let (gateway, metrics, upstream) = start("");
    let database = svc_tests::request_log::Database::open(&gateway.database_url());
    let mut stream = Connection::open(gateway.address);
    Shape::Chat.send(&mut stream, svc_tests::gateway::KEY, "chat-model", "demo:hang-after=2", true);
    stream.begin().expect("a head");
    database.execute("UPDATE model SET enabled = 0 WHERE name = 'chat-model'");
    svc_tests::wait::until("the model to go", || {
        (Shape::Chat.ask(&mut Connection::open(gateway.address), "chat-model", "hi", false).status == 404).then_some(())
    });
    drop(stream);
    let text = svc_tests::wait::until("the request that was under way", || {
        Some(raw::get(metrics, "/metrics", &[]).text()).filter(|text| text.contains("status_code=\"499\""))
    });
    assert!(text.contains("svc_requests_total{model=\"other\",provider=\"chat\",status_code=\"499\"} 1"), "{text}");
    drop(upstream);
}
