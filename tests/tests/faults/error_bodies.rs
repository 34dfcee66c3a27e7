//! Bodies of error statuses in the client's own dialect: what is an error of it passes, all else is made one.

use std::time::Duration;

use serde_json::Value;
use svc_tests::faulty::{Faulty, Step, answers};
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::h2c::Http2;
use svc_tests::raw::{Answer, Connection};
use svc_tests::shapes::Shape;

use crate::view::is_error_body;
use crate::{STEADY, provider};

/// Content type and body of an error status, and what of it the client is told: all of it where nothing is given.
struct Case {
    kind: &'static str,
    body: &'static str,
    told: Option<&'static str>,
    /// A word the client must not see.
    hidden: &'static str,
}

const CASES: [Case; 7] = [
    Case { kind: "text/html", body: "<!doctype html><h1>Bad Gateway</h1>", told: Some("HTTP 502"), hidden: "Bad Gateway" },
    Case { kind: "application/json", body: "\n<html>Bad Gateway</html>", told: Some("HTTP 502"), hidden: "Bad Gateway" },
    Case { kind: "text/plain", body: "no healthy upstream", told: Some("no healthy upstream"), hidden: "\0" },
    Case { kind: "application/json", body: "{\"error\": {\"message\": \"cut", told: Some("HTTP 502"), hidden: "cut" },
    Case { kind: "application/json", body: "", told: Some("HTTP 502"), hidden: "\0" },
    Case { kind: "application/json", body: "null", told: Some("HTTP 502"), hidden: "\0" },
    Case { kind: "application/json; charset=utf-8", body: OWN, told: None, hidden: "\0" },
];

/// An error that every dialect takes for one of its own, written as nobody else would write it.
const OWN: &str =
    "{ \"type\" :\"error\",\n \"error\":{\"code\": 502, \"type\":\"x\",\"status\":\"Y\", \"message\":\"m\\u0021\", \"more\":[1.50]}}\n";

/// A provider of a shape that fails in one way, behind the models `model`.
fn start(shape: Shape, status: u16, case: &'static Case) -> (Gateway, Faulty) {
    let faulty = Faulty::on_request(move |_| vec![Step::send(answers::document(status, case.kind, "x-secret: 1\r\n", case.body))]);
    let options = Options::standard("http://127.0.0.1:9").with_providers(&provider("bad", shape, &faulty.url(), ""));
    let gateway = Gateway::start(options.with_models("  - {name: model, targets: [{provider: bad, model: m}]}\n").with(STEADY));
    (gateway, faulty)
}

fn check(shape: Shape, case: &Case, answer: &Answer) {
    let told = format!("{shape:?} {}: {}\n{}", case.body, answer.head, answer.text());
    assert_eq!(answer.status, 502, "{told}");
    assert!(answer.complete && answer.header("content-type").is_some_and(|kind| kind.starts_with("application/json")), "{told}");
    assert_eq!(answer.header("x-svc-error-origin"), Some("upstream"), "{told}");
    match case.told {
        None => assert_eq!(answer.text(), case.body, "it passes byte for byte"),
        Some(words) => {
            let body: Value = serde_json::from_slice(&answer.body).unwrap_or_else(|error| panic!("{error}: {told}"));
            assert!(is_error_body(shape, &body), "{told}");
            assert!(body["error"]["message"].as_str().is_some_and(|message| message.contains(words)), "{told}");
            assert!(shape != Shape::Generate || body["error"]["code"] == 502, "{told}");
        }
    }
    assert!(!answer.text().contains(case.hidden), "{told}");
}

#[test]
fn whatever_the_body_is_the_client_gets_an_error_of_its_shape_and_keeps_its_connection() {
    for shape in Shape::ALL {
        for case in &CASES {
            let (gateway, _faulty) = start(shape, 502, case);
            for stream in [false, true] {
                let mut connection = Connection::open(gateway.address);
                // An answer without any body can only be told by another one, after which the connection is closed.
                for _ in 0..if case.body.is_empty() { 1 } else { 3 } {
                    check(shape, case, &shape.ask(&mut connection, "model", "hi", stream));
                }
            }
        }
    }
}

#[test]
fn so_do_clients_over_http_2() {
    for shape in Shape::ALL {
        for case in &CASES {
            let (gateway, _faulty) = start(shape, 502, case);
            let (name, value) = shape.credential(KEY);
            for stream in [false, true] {
                let body = shape.body("model", "hi", stream).to_string();
                let mut client = Http2::open(gateway.address);
                let answer = client.post(&shape.path("model", stream), &[(name, &value)], body.as_bytes(), true);
                check(shape, case, &answer);
            }
        }
    }
}

#[test]
fn a_json_error_of_another_kind_is_told_in_the_shape() {
    const DETAIL: Case = Case { kind: "application/json", body: "{\"detail\": \"too long by far\"}", told: None, hidden: "" };
    let (gateway, _faulty) = start(Shape::Chat, 422, &DETAIL);
    let answer = Shape::Chat.ask(&mut Connection::open(gateway.address), "model", "hi", false);
    assert_eq!(answer.status, 422, "the status is the provider's: {}", answer.text());
    let error = answer.json();
    assert!(is_error_body(Shape::Chat, &error) && error["error"]["message"] == "too long by far", "{error}");
    assert_eq!(error["error"]["type"], "invalid_request_error", "{error}");
}

#[test]
fn a_client_over_http_2_is_told_the_status_of_an_error_that_breaks_off() {
    let faulty = Faulty::on_request(|_| {
        let head = "HTTP/1.1 502 Faulty\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n";
        // The head leaves before the break is known.
        vec![Step::send(head), Step::Pause(Duration::from_millis(200)), Step::send("{\"error\": {\"mess"), Step::Close]
    });
    let options = Options::standard("http://127.0.0.1:9").with_providers(&provider("bad", Shape::Chat, &faulty.url(), ""));
    let gateway = Gateway::start(options.with_models("  - {name: model, targets: [{provider: bad, model: m}]}\n").with(STEADY));
    let (name, value) = Shape::Chat.credential(KEY);
    let body = Shape::Chat.body("model", "hi", false).to_string();
    let answer = Http2::open(gateway.address).post(&Shape::Chat.path("model", false), &[(name, &value)], body.as_bytes(), true);
    assert_eq!((answer.status, answer.complete), (502, true), "{}\n{}", answer.head, answer.text());
    assert!(is_error_body(Shape::Chat, &answer.json()), "{}", answer.text());
}
