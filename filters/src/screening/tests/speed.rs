//! How long screening takes. Run with `--ignored --nocapture`, optimised.

use std::time::Instant;

use super::*;
use crate::guardrails::library;

fn every_detector() -> RuleSet {
    let spec = |name: &str| RuleSpec {
        name: name.to_owned(),
        priority: DEFAULT_PRIORITY,
        looks_for: LooksFor::Detector(name.to_owned()),
        check: None,
        max_match: None,
        action: mask("x"),
        places: Places::ALL,
    };
    RuleSet::new(library::all().map(|detector| Arc::new(Rule::compile(spec(detector.name)).unwrap())).collect()).unwrap()
}

fn time(name: &str, body: &str) {
    let rules = every_detector();
    let mut least = f64::MAX;
    for (part, look) in [("found", false), ("screened", true)] {
        for _ in 0..5 {
            let start = Instant::now();
            match look {
                true => drop(screen_request(&rules, BodyKind::ChatCompletions, body.as_bytes())),
                false => request_texts(BodyKind::ChatCompletions, body.as_bytes(), &mut |found| drop(std::hint::black_box(found))),
            }
            least = least.min(start.elapsed().as_secs_f64() * 1e6);
        }
        println!("{name}: {} bytes {part} in {least:.1} us", body.len());
        least = f64::MAX;
    }
}

#[test]
#[ignore = "measures"]
fn texts_of_requests() {
    let message = |text: &str| format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#);
    let body = |messages: &[String]| format!(r#"{{"model":"m","messages":[{}]}}"#, messages.join(","));
    time("a short one", &body(&[message("What is the weather like in the south of France today?")]));
    time("a long talk", &body(&vec![message(&"Nothing of note is said here. ".repeat(20)); 100]));
    let calls = r#"{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{\"path\":\"a\\nb\",\"n\":12,\"list\":[\"x\",\"y\"]}"}}]}"#;
    time("many calls", &body(&vec![calls.to_owned(); 300]));
    let picture = format!(
        r#"{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{}"}}}}]}}"#,
        "A".repeat(4 << 20)
    );
    time("a picture", &body(&[picture]));
    let nested = format!("{}{}{}", r#"{"x":[{"a":1},"#.repeat(60), "[1,[2],{}]", "]}".repeat(60));
    time("deep and wide", &body(&vec![nested; 10_000]));
}
