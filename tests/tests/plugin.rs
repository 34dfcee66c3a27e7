//! A filter of one's own: the example plugin in a real gateway, and chains that refuse to start.

use serde_json::{Value, json};
use svc_entity::Outcome;
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{Answer, Connection};
use svc_tests::request_log::Database;
use svc_tests::shapes::{Shape, events};
use svc_tests::upstream::Upstream;

const CHAIN: &str = "filters: [auth, tenant, limits, guardrails, routing, translation, cost]\n";
const FAST: &str = "telemetry: {batch_size: 64, batch_timeout_ms: 20}\n";

fn options(upstream: &Upstream, chain: &str) -> Options {
    let mut options = Options::standard(&upstream.url()).with(FAST).with(chain);
    options.program = "svc-gateway-with-tenant";
    options
}

fn send(connection: &mut Connection, shape: Shape, tenant: Option<&str>, text: &str, stream: bool) {
    let (name, value) = shape.credential(KEY);
    let headers: Vec<(&str, &str)> = [(name, value.as_str()), ("content-type", "application/json")]
        .into_iter()
        .chain(tenant.map(|tenant| ("x-tenant", tenant)))
        .collect();
    connection.post(&shape.path(shape.model(), stream), &headers, shape.body(shape.model(), text, stream).to_string());
}

fn ask(gateway: &Gateway, shape: Shape, tenant: Option<&str>, text: &str, stream: bool) -> Answer {
    let mut connection = Connection::open(gateway.address);
    send(&mut connection, shape, tenant, text, stream);
    connection.answer().expect("an answer")
}

#[test]
fn a_plugin_refuses_and_its_notes_reach_the_request_log() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(options(&upstream, CHAIN));
    let database = Database::open(&gateway.database_url());
    for shape in Shape::ALL {
        let refused = ask(&gateway, shape, None, "hi", false);
        shape.expect_error("no tenant", &refused, 400, "invalid_request");
        let served = ask(&gateway, shape, Some("blue"), "hi", false);
        assert_eq!(served.status, 200, "{}", served.text());
        let row = database.row(served.header("x-svc-request-id").expect("an id"));
        let decision: Value = serde_json::from_str(row.decision.as_deref().unwrap_or_default()).expect("JSON");
        let notes = decision["notes"].to_string();
        assert!(notes.contains("tenant") && notes.contains("blue"), "the note is kept: {decision}");
    }
}

#[test]
fn a_plugins_panic_ends_only_its_own_request() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(options(&upstream, CHAIN));
    for shape in Shape::ALL {
        let mut other = Connection::open(gateway.address);
        send(&mut other, shape, Some("blue"), "demo:slow=10ms demo:chunks=30", true);
        let head = other.begin().expect("a head");
        assert_eq!(head.status, 200);
        for _ in 0..3 {
            let mut connection = Connection::open(gateway.address);
            send(&mut connection, shape, Some("panic"), "hi", false);
            let answer = connection.answer().expect("a panic has an answer too");
            assert_eq!(answer.status, 500, "{}: {}", shape.name(), answer.text());
            assert_eq!(answer.header("x-svc-error-origin"), Some("gateway"));
            assert!(answer.header("x-svc-error-code").is_some(), "{}", answer.head);
            assert!(answer.json()["error"]["message"].is_string(), "{}: in the shape: {}", shape.name(), answer.text());
            assert!(!answer.text().contains("mistake"), "the cause is not the client's business");
            send(&mut connection, shape, Some("blue"), "hi", false);
            assert_eq!(connection.answer().expect("an answer").status, 200, "the connection goes on");
        }
        let mut rest = Vec::new();
        loop {
            let piece = other.piece().expect("a stream beside the panic goes on");
            if piece.is_empty() {
                break;
            }
            rest.extend(piece);
        }
        assert!(String::from_utf8_lossy(&rest).contains(" 29"), "to its end");
        assert_eq!(ask(&gateway, shape, Some("blue"), "hi", false).status, 200, "others are served");
    }
}

#[test]
fn a_plugin_stops_an_answer_inside_the_stream() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(options(&upstream, CHAIN));
    let database = Database::open(&gateway.database_url());
    for shape in Shape::ALL {
        let text = "one two three forbidden-word four demo:slow=5ms demo:chunks=30";
        let answer = ask(&gateway, shape, Some("blue"), text, true);
        let body = answer.text();
        assert!(!body.contains("forbidden-word"), "{}: the word does not leave: {body}", shape.name());
        assert!(!body.contains("[DONE]") && !body.contains("message_stop") && !body.contains("finishReason"), "no clean end: {body}");
        let last = events(&body).pop().unwrap_or(json!(null));
        assert!(last["error"]["message"].is_string(), "{}: the client is told inside the stream: {body}", shape.name());
        let row = database.row(answer.header("x-svc-request-id").expect("an id"));
        assert_eq!(row.outcome, Outcome::Refused, "{row:?}");
        assert_eq!(row.error_code.as_deref(), Some("content_guardrail_blocked"), "{row:?}");

        let whole = ask(&gateway, shape, Some("blue"), "one forbidden-word", false);
        assert!(!whole.text().contains("one forbidden-word"), "{}: nor in a whole answer: {}", shape.name(), whole.text());
        assert_eq!(ask(&gateway, shape, Some("blue"), "hi", true).status, 200, "the next answer passes");
    }
}

#[test]
fn an_unsound_chain_refuses_to_start() {
    let upstream = Upstream::start();
    for (chain, words) in [
        ("filters: [auth, tenat, routing, translation]\n", &["tenat", "tenant", "auth", "limits", "routing"][..]),
        ("filters: [tenant, auth, routing, translation]\n", &["auth"]),
        ("filters: [auth, limits, limits, routing, translation]\n", &["limits", "already"]),
        ("filters: [limits, routing, translation]\n", &["auth"]),
        ("filters: [auth, limits]\n", &["routing"]),
        ("filters: [auth, routing, limits, translation, tenant, cost, nothing]\n", &["nothing", "tenant"]),
    ] {
        let printed = Gateway::refuse(&options(&upstream, chain));
        for word in words {
            assert!(printed.contains(word), "{chain} has to be refused with `{word}`: {printed}");
        }
    }
    let mut plain = options(&upstream, CHAIN);
    plain.program = "svc-gateway";
    let printed = Gateway::refuse(&plain);
    assert!(printed.contains("tenant"), "the standard program has no such filter: {printed}");
}
