//! Answers: each provider's answer, written for every client; any cut of its bytes gives the same, and a broken end is an error.

use std::sync::Arc;

use bytes::Bytes;
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};
use svc_filters::passage::Cutoff;
use svc_filters::shape::Shape;
use svc_filters::translate::{Answer, Capabilities, Policy, Prepared, ProviderKind, Quirks, Target, Viewer, prepare, write_failure};

use crate::{SHAPES, compare, fixtures, report};

/// A fixture's framing is told by its name: `.sse`, `.array.json`, `.json`.
#[derive(Clone, Copy)]
struct Framed<'a> {
    upstream: Shape,
    name: &'a str,
    body: &'a [u8],
}

impl Framed<'_> {
    fn streamed(&self) -> bool {
        !self.name.ends_with(".json") || self.name.ends_with(".array.json")
    }

    fn content_type(&self) -> &'static str {
        if self.name.ends_with(".json") { "application/json" } else { "text/event-stream" }
    }
}

/// A request whose answer the fixture could be.
fn prepared(client: Shape, upstream: Shape, stream: bool) -> Prepared {
    let body = match client {
        Shape::ChatCompletions => json!({"model": "m", "stream": stream, "stream_options": stream.then(|| json!({"include_usage": true})),
            "reasoning_effort": "low", "messages": [{"role": "user", "content": "hi"}]}),
        Shape::Messages => {
            json!({"model": "m", "stream": stream, "max_tokens": 9000, "thinking": {"type": "enabled", "budget_tokens": 2000},
            "messages": [{"role": "user", "content": "hi"}]})
        }
        Shape::GenerateContent => json!({"generationConfig": {"thinkingConfig": {"includeThoughts": true}},
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}),
        Shape::Responses => json!({"model": "m", "stream": stream, "input": "hi"}),
    };
    prepared_for(client, upstream, stream, &body)
}

fn prepared_for(client: Shape, upstream: Shape, stream: bool, body: &Value) -> Prepared {
    let (kind, model) = match upstream {
        Shape::ChatCompletions | Shape::Responses => (ProviderKind::Openai, "gpt-4o"),
        Shape::Messages => (ProviderKind::Anthropic, "claude-sonnet-4-5"),
        Shape::GenerateContent => (ProviderKind::Gemini, "gemini-3.1-pro-preview"),
    };
    let capabilities = Capabilities::of(upstream, model);
    let target = Target { shape: upstream, kind, model, origin: 0x0123_4567, capabilities, quirks: Quirks::VENDOR };
    prepare(client, body.to_string().as_bytes(), stream, &target, Policy::Lossy, &[]).expect("a plain request")
}

fn viewer(client: Shape, array: bool) -> Viewer {
    Viewer { shape: client, model: Arc::from("alias"), request_id: Arc::from("req-1"), created: 1_795_219_200, array }
}

/// The client's bytes for the fixture cut at the given places, and the answer's state.
fn run(framed: Framed<'_>, client: Shape, array: bool, cuts: &[usize], end: bool) -> (Vec<u8>, Answer) {
    answered(framed, client, array, cuts, end, &prepared(client, framed.upstream, framed.streamed()))
}

/// As [`run`], for the client's own request.
fn answered(framed: Framed<'_>, client: Shape, array: bool, cuts: &[usize], end: bool, prepared: &Prepared) -> (Vec<u8>, Answer) {
    let mut answer = Answer::new(prepared, Some(framed.content_type()), viewer(client, array));
    let mut out = Vec::new();
    let mut from = 0;
    for cut in cuts.iter().copied().chain([framed.body.len()]) {
        let last = cut == framed.body.len();
        let piece = Bytes::copy_from_slice(&framed.body[from..cut]);
        out.extend_from_slice(&answer.push(piece, last && end).expect("within bounds"));
        from = cut;
    }
    if !answer.terminal_seen() {
        out.extend_from_slice(&answer.truncated(Cutoff::Failed, "The provider's answer ended before it was complete."));
    }
    (out, answer)
}

#[test]
fn every_answer_reads_as_golden_at_every_client() {
    let (mut differences, mut count) = (Vec::new(), 0);
    each(|framed| {
        count += 1;
        let mut written = serde_json::Map::new();
        for client in SHAPES.into_iter().filter(|client| *client != framed.upstream) {
            for array in [false, true].into_iter().filter(|array| !array || (client == Shape::GenerateContent && framed.streamed())) {
                let key = if array { format!("{client} as array") } else { client.to_string() };
                let (bytes, answer) = run(framed, client, array, &[], true);
                written.insert(key, snapshot(client, framed.streamed() && !array, &bytes, &answer));
            }
        }
        differences.extend(compare("answers", framed.upstream, framed.name, &Value::Object(written)));
    });
    report(&differences, count);
}

fn snapshot(client: Shape, stream: bool, bytes: &[u8], answer: &Answer) -> Value {
    let text = String::from_utf8(bytes.to_vec()).expect("UTF-8");
    let sent =
        if stream { json!(text.split_inclusive('\n').collect::<Vec<_>>()) } else { serde_json::from_str(&text).unwrap_or(json!(text)) };
    let mut written =
        json!({ "sent": sent, "complete": answer.terminal_seen(), "usage": answer.usage(), "finish": answer.finish_reason() });
    if let Some(failure) = answer.failure() {
        let (status, body) = write_failure(client, failure, "req-1");
        written["failure"] = json!({ "status": status, "body": serde_json::from_slice::<Value>(&body).expect("JSON") });
    }
    written
}

#[test]
fn clients_that_declare_functions_get_one_call_in_the_old_form() {
    let mut calls = 0;
    each(|framed| {
        if framed.upstream == Shape::ChatCompletions {
            return;
        }
        let body = json!({"model": "m", "stream": framed.streamed(), "functions": [{"name": "get_rate"}],
            "messages": [{"role": "user", "content": "hi"}]});
        let client = Shape::ChatCompletions;
        let prepared = prepared_for(client, framed.upstream, framed.streamed(), &body);
        let (bytes, answer) = answered(framed, client, false, &[], true, &prepared);
        let text = String::from_utf8(bytes).expect("UTF-8");
        let names = text.matches("\"function_call\":{\"name\":").count();
        // Several answers have one call each.
        assert!(names < 2 || text.contains("\"index\":1"), "{}: {text}", framed.name);
        assert!(!text.contains("tool_calls"), "{}: {text}", framed.name);
        if answer.terminal_seen() && names > 0 {
            assert!(
                text.contains("\"finish_reason\":\"function_call\"") || text.contains("\"finish_reason\":\"length\""),
                "{}: {text}",
                framed.name
            );
            calls += 1;
        }
    });
    assert!(calls > 10, "{calls} answers call a function");
}

#[test]
fn any_cut_of_the_bytes_gives_the_same() {
    let mut random = StdRng::seed_from_u64(7);
    each(|framed| {
        for client in SHAPES.into_iter().filter(|client| *client != framed.upstream) {
            let (whole, _) = run(framed, client, false, &[], true);
            let every: Vec<usize> = (1..framed.body.len()).collect();
            let some: Vec<usize> = every.iter().copied().filter(|_| random.random_ratio(1, 7)).collect();
            for cuts in [every, some] {
                let (cut, _) = run(framed, client, false, &cuts, true);
                assert_eq!(steady(&whole), steady(&cut), "{} for {client}", framed.name);
            }
        }
    });
}

fn steady(bytes: &[u8]) -> String {
    crate::steady(&String::from_utf8_lossy(bytes))
}

#[test]
fn a_stream_cut_off_before_its_end_never_ends_cleanly() {
    each(|framed| {
        let events = memchr::memmem::find_iter(framed.body, b"\n\n").map(|at| at + 2);
        for at in events.filter(|at| *at < framed.body.len()) {
            let part = Framed { body: &framed.body[..at], ..framed };
            for client in SHAPES.into_iter().filter(|client| *client != framed.upstream) {
                let (bytes, answer) = run(part, client, false, &[], true);
                let text = String::from_utf8_lossy(&bytes);
                assert_eq!(answer.terminal_seen(), answer.failure().is_none(), "{} cut at {at} for {client}", framed.name);
                if answer.failure().is_some() {
                    assert!(text.contains("\"error\""), "{} cut at {at} for {client}: {text}", framed.name);
                    assert!(!text.contains("[DONE]") && !text.contains("message_stop") && !text.contains("response.completed"), "{text}");
                }
            }
        }
    });
}

#[test]
fn broken_bytes_never_panic() {
    let mut random = StdRng::seed_from_u64(11);
    each(|framed| {
        for _ in 0..20 {
            let mut body = framed.body.to_vec();
            for _ in 0..3 {
                let at = random.random_range(0..body.len());
                body[at] = random.random();
            }
            for client in SHAPES.into_iter().filter(|client| *client != framed.upstream) {
                let _ = run(Framed { body: &body, ..framed }, client, false, &[], true);
            }
        }
    });
}

fn each(mut visit: impl FnMut(Framed<'_>)) {
    for upstream in SHAPES {
        for (name, body) in fixtures("answers", upstream) {
            visit(Framed { upstream, name: &name, body: &body });
        }
    }
}
