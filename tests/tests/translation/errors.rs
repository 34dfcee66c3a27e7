//! Failures of a provider of another shape, as the client's SDK expects them.

use serde_json::Value;
use svc_entity::Outcome;
use svc_tests::gateway::KEY;
use svc_tests::raw::Connection;
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;

use super::{ask, message, start};

/// Whether a body is an error of the shape.
fn is_of(shape: Shape, body: &Value) -> bool {
    match shape {
        Shape::Chat | Shape::Responses => body["error"]["type"].is_string() && body["error"]["message"].is_string(),
        Shape::Messages => body["type"] == "error" && body["error"]["type"].is_string(),
        Shape::Generate => body["error"]["status"].is_string() && body["error"]["code"].is_u64(),
    }
}

fn pairs() -> impl Iterator<Item = (Shape, Shape)> {
    let all = Shape::ALL.into_iter().flat_map(|client| Shape::ALL.into_iter().map(move |provider| (client, provider)));
    all.filter(|(client, provider)| client != provider)
}

#[test]
fn errors_are_told_in_the_clients_shape_and_the_connection_goes_on() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let database = Database::open(&gateway.database_url());
    for (client, provider) in pairs() {
        for (status, expected) in [(400, 400), (404, 404), (429, 429), (500, 500)] {
            let told = format!("{client:?} > {provider:?}, {status}");
            let mut connection = Connection::open(gateway.address);
            for stream in [false, true] {
                client.send(&mut connection, KEY, provider.model(), &format!("demo:error={status}"), stream);
                let answer = connection.answer().expect("the connection is kept");
                let told = format!("{told}: {}\n{}", answer.head, answer.text());
                assert_eq!(answer.status, expected, "{told}");
                assert!(is_of(client, &answer.json()), "{told}");
                assert!(!message(&answer).is_empty(), "{told}");
                assert_eq!(answer.header("x-svc-error-origin"), Some("upstream"), "{told}");
                let row = database.row(answer.header("x-svc-request-id").expect("an id"));
                assert_eq!((row.outcome, row.status), (Outcome::UpstreamError, i32::from(expected)), "{told}");
            }
        }
    }
}

#[test]
fn a_web_page_in_place_of_an_error_is_an_error_all_the_same() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for (client, provider) in pairs() {
        let answer = ask(&gateway, client, provider.model(), "demo:status=500", false);
        assert!(answer.status >= 500 && is_of(client, &answer.json()), "{client:?} > {provider:?}: {}", answer.text());
    }
}

#[test]
fn when_to_come_again_is_passed_on() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let answer = ask(&gateway, Shape::Messages, "chat-model", "demo:error=429 demo:retry-after=2", false);
    assert_eq!((answer.status, answer.header("retry-after")), (429, Some("2")), "{}", answer.head);
    let answer = ask(&gateway, Shape::Generate, "messages-model", "demo:error=429 demo:retry-after=2", false);
    assert!(answer.text().contains("RetryInfo"), "{}", answer.text());
}

#[test]
fn an_error_before_the_first_content_of_a_stream_is_an_http_error() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for client in Shape::ALL {
        for provider in Shape::ALL {
            let answer = ask(&gateway, client, provider.model(), "demo:inband-error=0", true);
            let told = format!("{client:?} > {provider:?}: {}\n{}", answer.head, answer.text());
            assert!(answer.status >= 500, "{told}");
            assert!(is_of(client, &answer.json()), "{told}");
            assert_eq!(answer.header("x-svc-error-origin"), Some("upstream"), "{told}");
        }
    }
}

#[test]
fn a_broken_answer_never_looks_complete() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for (client, provider) in pairs() {
        for how in ["demo:cut=8", "demo:end-after=8", "demo:inband-error=8", "demo:garbage=8"] {
            let answer = ask(&gateway, client, provider.model(), &format!("{how} demo:chunks=20"), true);
            let text = answer.text();
            let told = format!("{client:?} > {provider:?}, {how}: {text}");
            assert_eq!(answer.status, 200, "{told}");
            assert!(!text.contains("[DONE]") && !text.contains("message_stop") && !text.contains("finishReason"), "{told}");
            assert!(text.contains("error"), "{told}");
        }
    }
}

#[test]
fn an_answer_that_is_no_answer_is_an_error() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for (client, provider) in pairs() {
        for how in ["demo:empty", "demo:cut=0"] {
            let answer = ask(&gateway, client, provider.model(), how, false);
            assert!(
                answer.status >= 500 && is_of(client, &answer.json()),
                "{client:?} > {provider:?}, {how}: {}\n{}",
                answer.head,
                answer.text()
            );
        }
    }
}
