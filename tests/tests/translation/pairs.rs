//! Every pair carries a conversation, streamed and whole, and says so.

use serde_json::{Value, json};
use svc_tests::raw::Answer;
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;

use super::{ask, get, post, start};

/// The whole text of a stream's events, whatever their shape.
fn streamed(answer: &Answer) -> String {
    let text = answer.text();
    let events = text.lines().filter_map(|line| line.strip_prefix("data:")).filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let pointers = ["/choices/0/delta/content", "/delta/text", "/candidates/0/content/parts/0/text"];
    let deltas = events.filter_map(|event| {
        let found = pointers.iter().find_map(|pointer| event.pointer(pointer)?.as_str().map(str::to_owned));
        found.or_else(|| (event["type"] == "response.output_text.delta").then(|| event["delta"].as_str().unwrap_or_default().to_owned()))
    });
    deltas.collect()
}

#[test]
fn every_shape_reaches_every_provider() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let database = Database::open(&gateway.database_url());
    for client in Shape::ALL {
        for provider in Shape::ALL {
            let told = format!("{client:?} > {provider:?}");
            let whole = ask(&gateway, client, provider.model(), "Hello there", false);
            assert_eq!(whole.status, 200, "{told}: {}", whole.text());
            assert_eq!(client.text(&whole.json()), "You said: Hello there", "{told}");
            assert_eq!(client.named_model(&whole.json()), Some(provider.model()), "{told}");
            let stream = ask(&gateway, client, provider.model(), "Hello there", true);
            assert_eq!((stream.status, streamed(&stream).as_str()), (200, "You said: Hello there"), "{told}: {}", stream.text());
            assert!(stream.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")), "{told}");
            for answer in [whole, stream] {
                let pair = answer.header("x-svc-translation").map(|value| value.split(';').next().unwrap_or_default().to_owned());
                let expected = (client != provider).then(|| format!("{}>{}", client.name(), provider.name()));
                assert_eq!(pair, expected, "{told}");
                let row = database.row(answer.header("x-svc-request-id").expect("an id"));
                assert_eq!((row.client_shape.as_str(), row.provider_shape.as_deref()), (client.name(), Some(provider.name())), "{told}");
                assert!(row.output.is_some_and(|output| output > 0), "usage is read from a translated answer: {told}");
            }
        }
    }
}

#[test]
fn responses_clients_reach_every_provider() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let database = Database::open(&gateway.database_url());
    for provider in Shape::ALL {
        for stream in [false, true] {
            let answer = post(&gateway, "/v1/responses", &json!({"model": provider.model(), "input": "Hello there", "stream": stream}));
            let told = format!("{provider:?}: {}", answer.text());
            assert_eq!(answer.status, 200, "{told}");
            let text = if stream {
                streamed(&answer)
            } else {
                answer.json()["output"]
                    .as_array()
                    .and_then(|items| items.last()?.pointer("/content/0/text")?.as_str().map(str::to_owned))
                    .unwrap_or_default()
            };
            assert_eq!(text, "You said: Hello there", "{told}");
            let row = database.row(answer.header("x-svc-request-id").expect("an id"));
            let dialect = if provider == Shape::Chat { "responses" } else { provider.name() };
            assert_eq!((row.client_shape.as_str(), row.provider_shape.as_deref()), ("responses", Some(dialect)), "{told}");
        }
    }
}

#[test]
fn what_was_left_out_is_told_and_recorded() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let database = Database::open(&gateway.database_url());
    let body = json!({"model": "generate-model", "messages": [{"role": "user", "content": "hi"}], "logit_bias": {"1": 1}, "user": "u-1"});
    let answer = post(&gateway, "/v1/chat/completions", &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let told = answer.header("x-svc-translation").expect("a header").to_owned();
    assert!(told.starts_with("chat_completions>generate_content; omitted=") && told.contains("logit_bias"), "{told}");
    let row = database.row(answer.header("x-svc-request-id").expect("an id"));
    let decision = row.decision.expect("a decision");
    assert!(decision.contains("logit_bias") && decision.contains("chat_completions>generate_content"), "{decision}");
}

#[test]
fn the_matrix_is_for_callers_with_a_key() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let matrix = get(&gateway, "/v1/translation-matrix");
    assert_eq!(matrix.status, 200);
    assert!(matrix.json()["data"].as_array().is_some_and(|cells| cells.len() >= 21), "{}", matrix.text());
    let anonymous = svc_tests::raw::get(gateway.address, "/v1/translation-matrix", &[("connection", "close")]);
    assert_eq!(anonymous.status, 401);
}

#[test]
fn endpoints_without_a_counterpart_say_so() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let answer = post(&gateway, "/v1/embeddings", &json!({"model": "messages-model", "input": "hi"}));
    assert_eq!((answer.status, answer.header("x-svc-error-code")), (400, Some("unsupported_translation")), "{}", answer.text());
}
