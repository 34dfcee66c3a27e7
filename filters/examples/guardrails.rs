//! Measures what looking for content costs: `cargo run --release -p svc-filters --example guardrails`.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::json;
use svc_filters::guardrails::{Action, DEFAULT_PRIORITY, LooksFor, Place, Places, Rule, RuleSet, RuleSpec, Stream, library};
use svc_filters::passage::{BodyKind, Framing};
use svc_filters::screening::{AnswerScreen, Body, Closing, screen_request};

/// How long each figure is measured.
const SPAN: Duration = Duration::from_millis(400);
const PLACE: Place = Place::Answer;
/// Patterns as operators write them.
const OWN: [&str; 14] = [
    r"(?i)\bproject\s+aurora\b",
    r"(?i)\bconfidential\b",
    r"(?i)internal use only",
    r"\bEMP-\d{6}\b",
    r"(?i)\b(?:password|passwd|secret)\s*[:=]\s*\S+",
    r"https?://[a-z.]*intranet\.example\S*",
    r"\b[A-Z]{3}-\d{4}-[A-Z]{2}\b",
    r"(?i)\bacme\s+(?:corp|gmbh|ltd)\b",
    r"(?i)drop\s+table\s+\w+",
    r"\b\d{2}/\d{2}/\d{4}\b",
    r"(?i)\bticket\s*#\d+",
    r"(?i)how\s+to\s+build\s+a\s+bomb",
    r"(?i)merger|acquisition",
    r"(?i)\bpatient\s+id\b",
];

fn main() -> Result<(), Box<dyn Error>> {
    let library = library::all().map(|detector| LooksFor::Detector(detector.name.to_owned()));
    let own = OWN.iter().map(|pattern| LooksFor::Pattern((*pattern).to_owned()));
    let thirty: Vec<LooksFor> = library.chain(own).take(30).collect();
    let start = Instant::now();
    let set = set(thirty)?;
    println!("{} rules compiled and joined in {:?}", set.rules().len(), start.elapsed());
    let english = "The quick brown fox jumps over the lazy dog, while 42 others look on; in 2024 that was news. A gateway (or proxy) \
        takes a request, asks a provider and hands the answer back, word by word. ";
    for (name, text) in [
        ("English", english.repeat(200)),
        ("Chinese", "网关接收请求，向提供者提问，然后逐字返回答案。这句话里没有任何号码，也没有密钥。".repeat(300)),
        ("base64", "QWxhZGRpbjpvcGVuIHNlc2FtZQ+/".repeat(1200)),
        ("cards", "pay with 4111 1111 1111 1111 or write to jane@example.org, ".repeat(600)),
    ] {
        for size in [5, 50] {
            per_piece(&format!("{name}, in pieces of {size} bytes"), &set, &pieces(&text, size));
        }
        per_byte(&format!("{name}, may_match"), &text, || _ = black_box(set.may_match(PLACE, black_box(&text))));
        per_byte(&format!("{name}, scan"), &text, || drop(black_box(set.scan(PLACE, black_box(&text)))));
    }
    bodies(&set);
    events(&set)
}

/// Requests of chat completions.
fn bodies(set: &RuleSet) {
    let said = |text: &str| json!({"role": "user", "content": [{"type": "text", "text": text}]});
    let picture = format!("data:image/png;base64,{}", "A".repeat(4 << 20));
    let nested = (0..60).fold(json!([1, [2], {}]), |inner, _| json!({"x": [{"a": 1}, inner]}));
    for (name, message, times) in [
        ("a short request", said("What is the weather like in the south of France today?"), 1),
        ("a long talk", said(&"Nothing of note is said here. ".repeat(20)), 100),
        ("a picture", json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": picture}}]}), 1),
        ("deep and wide", nested, 1_000),
    ] {
        let body = json!({"model": "m", "messages": vec![message; times]}).to_string();
        let took = time(|| drop(black_box(screen_request(set, Body::Json(BodyKind::ChatCompletions, black_box(body.as_bytes()))))));
        println!("{name:<40} {:>9.1} us of {} bytes", took.as_nanos() as f64 / 1000.0, body.len());
    }
}

/// Events of a stream of chat completions, each by itself.
fn events(set: &Arc<RuleSet>) -> Result<(), Box<dyn Error>> {
    let words = ["Nothing", " is f", "ound ", "in th", "ese w", "ords,", " and ", "so on"];
    let event = |word: &&str| {
        let delta = json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": word}, "finish_reason": null}]});
        Bytes::from(format!("data: {delta}\n\n"))
    };
    let events: Vec<Bytes> = words.iter().cycle().take(20_000).map(event).collect();
    let mut failed = None;
    let took = time(|| {
        let closing = Closing { request_id: "r".into(), model: "m".into() };
        let mut screen = AnswerScreen::new(set.clone(), BodyKind::ChatCompletions, Framing::Sse, closing);
        for event in &events {
            failed = failed.or(black_box(screen.push(event.clone(), false)).err());
        }
    });
    println!("{:<40} {:>9.1} ns/event", "a stream, in pieces of a word", took.as_nanos() as f64 / events.len() as f64);
    failed.map_or(Ok(()), |error| Err(error.into()))
}

fn set(rules: Vec<LooksFor>) -> Result<Arc<RuleSet>, Box<dyn Error>> {
    let compile = |looks_for| {
        let spec = RuleSpec {
            name: "rule".to_owned(),
            priority: DEFAULT_PRIORITY,
            looks_for,
            check: None,
            max_match: None,
            action: Action::LogOnly,
            places: Places::ALL,
        };
        Rule::compile(spec).map(Arc::new)
    };
    Ok(Arc::new(RuleSet::new(rules.into_iter().map(compile).collect::<Result<_, _>>()?)?))
}

fn pieces(text: &str, size: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at_checked(rest.ceil_char_boundary(size.min(rest.len()))).unwrap_or((rest, ""));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// The mean time of one call.
fn time(mut call: impl FnMut()) -> Duration {
    let start = Instant::now();
    let mut calls = 0_u32;
    while start.elapsed() < SPAN {
        call();
        calls += 1;
    }
    start.elapsed() / calls.max(1)
}

fn per_piece(name: &str, set: &Arc<RuleSet>, pieces: &[&str]) {
    let took = time(|| {
        let mut stream = Stream::new(set, PLACE);
        for piece in pieces {
            black_box(stream.push(black_box(piece)));
        }
        black_box(stream.end());
    });
    println!("{name:<40} {:>9.1} ns/piece", took.as_nanos() as f64 / pieces.len() as f64);
}

fn per_byte(name: &str, text: &str, call: impl FnMut()) {
    let took = time(call);
    println!("{name:<40} {:>9.1} MB/s", text.len() as f64 * 1000.0 / took.as_nanos() as f64);
}
