//! What the targets of translation check.

#![allow(dead_code)]

use std::sync::Arc;

use bytes::Bytes;
use svc_filters::passage::Cutoff;
use svc_filters::shape::Shape;
use svc_filters::translate::{Answer, Capabilities, Policy, ProviderKind, Quirks, Target, Viewer, prepare};
use svc_filters::wire::json::{outline, scan};

const SHAPES: [Shape; 4] = [Shape::ChatCompletions, Shape::Messages, Shape::GenerateContent, Shape::Responses];

fn target(shape: Shape, third: bool) -> Target<'static> {
    let (kind, model) = match shape {
        Shape::ChatCompletions | Shape::Responses => (ProviderKind::Openai, if third { "gpt-5.6" } else { "gpt-4o" }),
        Shape::Messages => (ProviderKind::Anthropic, if third { "claude-opus-5-5" } else { "claude-sonnet-4-5" }),
        Shape::GenerateContent => (ProviderKind::Gemini, if third { "gemini-3-pro" } else { "gemini-2.5-pro" }),
    };
    let quirks = if third { Quirks::VENDOR } else { Quirks::COMPATIBLE };
    Target { shape, kind, model, origin: 1, capabilities: Capabilities::of(shape, model), quirks }
}

/// A client's body at every target.
pub fn request(from: Shape, data: &[u8]) {
    if scan(data, 128, |_| {}).is_err() {
        return;
    }
    for shape in SHAPES {
        for third in [false, true] {
            if let Ok(prepared) = prepare(from, data, third, &target(shape, third), Policy::Lossy, &[]) {
                assert!(outline(&prepared.body, 1024).is_ok(), "no JSON: {}", String::from_utf8_lossy(&prepared.body));
            }
        }
    }
}

fn plain(client: Shape, stream: bool) -> String {
    match client {
        Shape::ChatCompletions => format!(r#"{{"model":"m","stream":{stream},"messages":[{{"role":"user","content":"x"}}]}}"#),
        Shape::Messages => format!(r#"{{"model":"m","stream":{stream},"max_tokens":9,"messages":[{{"role":"user","content":"x"}}]}}"#),
        Shape::GenerateContent => r#"{"contents":[{"parts":[{"text":"x"}]}]}"#.to_owned(),
        Shape::Responses => format!(r#"{{"model":"m","stream":{stream},"input":"x"}}"#),
    }
}

fn run(upstream: Shape, client: Shape, stream: bool, array: bool, body: &[u8], cut: usize) -> Vec<u8> {
    let prepared =
        prepare(client, plain(client, stream).as_bytes(), stream, &target(upstream, false), Policy::Lossy, &[]).expect("a plain request");
    let content_type = if stream { "text/event-stream" } else { "application/json" };
    let viewer = Viewer { shape: client, model: Arc::from("m"), request_id: Arc::from("r"), created: 1, array };
    let mut answer = Answer::new(&prepared, Some(content_type), viewer);
    let mut out = Vec::new();
    let mut fed = 0;
    while fed < body.len() || fed == 0 {
        let to = (fed + cut).min(body.len());
        let Ok(sent) = answer.push(Bytes::copy_from_slice(&body[fed..to]), to == body.len()) else { break };
        out.extend_from_slice(&sent);
        if to == body.len() {
            break;
        }
        fed = to;
    }
    if !answer.terminal_seen() {
        out.extend_from_slice(&answer.truncated(Cutoff::Failed, "cut"));
    }
    assert_ne!(answer.terminal_seen(), answer.failure().is_some());
    out
}

/// Digits and letters of minted ids differ from run to run; the length does not.
fn steady(bytes: &[u8]) -> usize {
    bytes.len()
}

/// A provider's body for every client: whole and in pieces.
pub fn answer(upstream: Shape, data: &[u8]) {
    let Some((first, body)) = data.split_first() else { return };
    let stream = first & 1 == 1;
    let cut = usize::from(first >> 3) + 1;
    for client in SHAPES.into_iter().filter(|client| *client != upstream) {
        let whole = run(upstream, client, stream, first & 2 != 0, body, body.len().max(1));
        let pieces = run(upstream, client, stream, first & 2 != 0, body, cut);
        assert_eq!(steady(&whole), steady(&pieces));
    }
}
