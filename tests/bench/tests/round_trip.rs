//! The load generator against the mock, without a proxy between them.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

use svc_bench::load::plan::{Expected, Plan};
use svc_bench::load::{Report, run};
use svc_bench::mock;
use tokio::task::LocalSet;

const CHAT: &str = "/v1/chat/completions";
const STREAM: &str = r#"{"model":"mock-c20-d0","stream":true,"stream_options":{"include_usage":true}}"#;

#[expect(clippy::unwrap_used, reason = "a test that cannot start its mock has to stop")]
fn mock_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        LocalSet::new().block_on(&runtime, async { mock::serve(tokio::net::TcpListener::from_std(listener).unwrap()).await });
    });
    address
}

fn plan(path: &str, body: &str, expected: Expected) -> Plan {
    let address = mock_address();
    let request = format!("POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    Plan {
        address,
        request: request.into_bytes(),
        expected,
        connections: 4,
        count: 40,
        rate: None,
        ramp: Duration::ZERO,
        warm_up: Duration::ZERO,
        run: Duration::from_secs(30),
        timeout: Duration::from_secs(10),
    }
}

fn marker() -> Expected {
    Expected::Marker(b"bench-answer".to_vec())
}

fn assert_all_right(report: &Report) {
    assert_eq!((report.ok, report.failed), (40, 0), "{:?}", report.first_failure);
    assert_eq!(report.whole.count, 40, "every answer has a latency");
}

#[test]
fn documents_of_every_shape_pass_the_check() {
    for path in [CHAT, "/v1/messages", "/v1beta/models/mock:generateContent"] {
        assert_all_right(&run(plan(path, r#"{"model":"mock"}"#, marker())).unwrap());
    }
}

#[test]
fn streams_of_every_shape_pass_the_check_and_every_delta_is_timed() {
    for path in [CHAT, "/v1/messages", "/v1beta/models/mock-c20-d0:streamGenerateContent"] {
        let report = run(plan(path, STREAM, Expected::Deltas(20))).unwrap();
        assert_all_right(&report);
        assert_eq!((report.deltas, report.delta.count), (800, 800), "{path}");
    }
}

#[test]
fn a_paced_stream_takes_as_long_as_its_pauses() {
    let body = STREAM.replace("c20-d0", "c20-d2000");
    let report = run(plan(CHAT, &body, Expected::Deltas(20))).unwrap();
    assert_all_right(&report);
    assert!(report.whole.p50_ns >= 40_000_000, "20 pauses of 2 ms took {} ns", report.whole.p50_ns);
}

#[test]
fn a_chat_stream_without_usage_is_not_accepted() {
    let report = run(plan(CHAT, r#"{"model":"mock-c20-d0","stream":true}"#, Expected::Deltas(20))).unwrap();
    assert_eq!((report.ok, report.failed), (0, 40));
    assert!(report.first_failure.unwrap().contains("usage is missing"));
}

#[test]
fn a_wrong_status_is_a_failure_with_its_reason() {
    let report = run(plan("/v1/nothing", "{}", marker())).unwrap();
    assert_eq!((report.ok, report.failed), (0, 40));
    assert!(report.first_failure.unwrap().starts_with("status 404"));
}

#[test]
fn a_constant_rate_sends_as_many_as_are_due() {
    let plan = Plan { rate: Some(2_000), count: 1_000, run: Duration::from_millis(100), ..plan(CHAT, "{}", marker()) };
    let report = run(plan).unwrap();
    assert_eq!((report.ok, report.failed), (200, 0), "{:?}", report.first_failure);
}
