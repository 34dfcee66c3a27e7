//! Measures the hot paths of the wire core: `cargo run --release -p svc-filters --example wire`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use svc_filters::passage::{BodyKind, Facts, Framing, Passage, PassageKind, PassageOptions};
use svc_filters::wire::{json, json_array, sse};

/// How long each figure is measured.
const SPAN: Duration = Duration::from_millis(400);
/// Bytes of one piece, as a read from a socket gives them.
const PIECE: usize = 16 << 10;

fn main() {
    scans();
    requests();
    splitting();
    streams();
}

/// The mean time of one call.
fn time(mut call: impl FnMut()) -> Duration {
    let start = Instant::now();
    let mut calls = 0_u32;
    while start.elapsed() < SPAN {
        for _ in 0..16 {
            call();
        }
        calls += 16;
    }
    start.elapsed() / calls
}

fn throughput(name: &str, bytes: usize, call: impl FnMut()) {
    let took = time(call);
    let rate = bytes as f64 / took.as_nanos() as f64;
    println!("{name:<52} {took:>12?} {rate:>7.2} GB/s");
}

fn per_event(name: &str, events: usize, call: impl FnMut()) {
    let took = time(call).as_nanos() as f64 / events as f64;
    println!("{name:<52} {took:>9.1} ns/event");
}

fn scans() {
    let picture = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo".repeat(30_000);
    let text = "Ein Satz mit Umlauten: äöüß, und noch ein Wort. ".repeat(20_000);
    let numbers = vec!["-0.012345678"; 100_000].join(",");
    let turns = vec![r#"{"role":"user","content":"What is the rate of EUR to USD today, and why?"}"#; 12_000].join(",");
    for (name, value) in [
        ("scan 1 MB base64 string", format!("\"data:image/png;base64,{picture}\"")),
        ("scan 1 MB text with umlauts", format!("\"{text}\"")),
        ("scan 1.3 MB of floats", format!("[{numbers}]")),
        ("scan 1 MB of short messages", format!("[{turns}]")),
    ] {
        let body = format!("{{\"model\":\"gpt-4o\",\"messages\":{value}}}");
        throughput(name, body.len(), || {
            black_box(json::scan(black_box(body.as_bytes()), 128, |_| {})).map(|_| ()).unwrap_or_default();
        });
    }
}

fn requests() {
    let filler = "Tell me about exchange rates. ".repeat(50);
    let body = Bytes::from(format!(
        r#"{{"model":"fast","stream":true,"temperature":0.2,"max_tokens":512,"user":"u-17","messages":[{{"role":"system","content":"Be brief."}},{{"role":"user","content":"{filler}"}}]}}"#
    ));
    throughput("Facts::read of a 1.7 kB chat request", body.len(), || {
        black_box(Facts::read(BodyKind::ChatCompletions, Some("application/json"), black_box(&body), 128)).map(|_| ()).unwrap_or_default();
    });
    let Ok(facts) = Facts::read(BodyKind::ChatCompletions, None, &body, 128) else { return };
    throughput("Facts::rewrite of the same", body.len(), || {
        black_box(facts.rewrite(black_box(&body), "gpt-4o-2024-08-06", true));
    });
}

fn chat_event(usage: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-BzQ1x8fkS2cPpQ0mY7hVtWn3Lr5aK\",\"object\":\"chat.completion.chunk\",\"created\":1795219200,\"model\":\"gpt-4o-2024-08-06\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_1c2d3e4f5a\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\" exchange\"}},\"logprobs\":null,\"finish_reason\":null}}]{usage}}}\n\n"
    )
}

const MESSAGES_EVENT: &str = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" exchange\"}}\n\n";
const GENERATE_DATA: &str = r#"{"candidates":[{"content":{"parts":[{"text":" exchange"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":120,"candidatesTokenCount":19,"totalTokenCount":139},"modelVersion":"gemini-3.1-pro","responseId":"q3Vb"}"#;
const RESPONSES_EVENT: &str = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_01\",\"output_index\":0,\"content_index\":0,\"delta\":\" exchange\",\"sequence_number\":7}\n\n";

fn pieces(text: &str) -> Vec<Bytes> {
    let whole = Bytes::from(text.to_owned());
    (0..whole.len()).step_by(PIECE).map(|at| whole.slice(at..whole.len().min(at + PIECE))).collect()
}

fn splitting() {
    let events = 1000;
    let stream = pieces(&chat_event("").repeat(events));
    per_event("sse::Splitter, chat chunks", events, || {
        let mut splitter = sse::Splitter::new();
        for piece in &stream {
            splitter.push(piece.clone());
            while let Ok(Some(event)) = splitter.next_event() {
                black_box(event.data());
            }
        }
    });
    let array = pieces(&format!("[{}]", vec![GENERATE_DATA; events].join(",\n")));
    per_event("json_array::Splitter, generate content", events, || {
        let mut splitter = json_array::Splitter::new();
        for piece in &array {
            splitter.push(piece.clone());
            while let Ok(Some(item)) = splitter.next_item() {
                black_box(item);
            }
        }
    });
}

fn streams() {
    use BodyKind::{ChatCompletions, GenerateContent, Messages, Responses};
    let alias: Option<Arc<str>> = Some("fast".into());
    let generate_event = format!("data: {GENERATE_DATA}\n\n");
    let plain = PassageOptions::default();
    let renamed = PassageOptions { answer_model: alias, ..plain.clone() };
    let hidden = PassageOptions { hide_usage: true, ..renamed.clone() };
    let cases = [
        ("Passage chat, nothing to edit", ChatCompletions, chat_event(""), &plain),
        ("Passage chat, model edited", ChatCompletions, chat_event(""), &renamed),
        ("Passage chat, model edited, null usage removed", ChatCompletions, chat_event(",\"usage\":null"), &hidden),
        ("Passage messages, content deltas", Messages, MESSAGES_EVENT.to_owned(), &renamed),
        ("Passage generate content, model edited", GenerateContent, generate_event, &renamed),
        ("Passage responses, text deltas", Responses, RESPONSES_EVENT.to_owned(), &renamed),
    ];
    let events = 1000;
    for (name, body, event, options) in cases {
        for (cut, stream) in
            [("16 kB reads", pieces(&event.repeat(events))), ("a read per event", vec![Bytes::from(event.clone()); events])]
        {
            per_event(&format!("{name}, {cut}"), events, || {
                let mut passage = Passage::new(PassageKind { body, framing: Framing::Sse }, options.clone());
                for piece in &stream {
                    black_box(passage.push(piece.clone(), false)).map(|_| ()).unwrap_or_default();
                }
            });
        }
    }
}
