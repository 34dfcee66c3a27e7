//! What is heard of an answer does not depend on whether it passes or is translated: every fixture of `tests/wire`, both ways.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use svc_filters::passage::{BodyKind, Passage, PassageKind, PassageOptions};
use svc_filters::shape::Shape;
use svc_filters::tokens::{Heard, Hearing};
use svc_filters::translate::{Answer, Capabilities, Policy, ProviderKind, Quirks, Target, Viewer, prepare};

/// What differs, and why it may.
const DIFFERENT: [(&str, &str); 9] = [
    ("tool_repeated_ids.sse", "a service that repeats a call's name; only a translation knows that it was told"),
    ("web_search.sse", "the words searched for are arguments in one dialect and a search in others"),
    ("blocked_prompt.stream.sse", "a translation puts the refusal into words"),
    ("blocked_prompt.whole.json", "the same"),
    ("code_execution.whole.json", "a translation shows what the code printed"),
    ("malformed_call_before.whole.json", "a translation ends at the failure, before usage"),
    ("failed.sse", "the same"),
    ("partial_args.sse", "a translation puts the parts of arguments together, keys included"),
    ("stale_items.sse", "a translation adds what the deltas left out"),
];

const MODEL: &str = "gpt-4o";

fn fixtures(shape: Shape) -> Vec<(String, Bytes)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/wire/answers").join(shape.as_str());
    let mut found: Vec<(String, Bytes)> = fs::read_dir(folder)
        .expect("a folder of fixtures")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(&path).expect("a fixture").into()))
        .collect();
    found.sort();
    found
}

fn content_type(name: &str) -> &'static str {
    if name.ends_with(".json") { "application/json" } else { "text/event-stream" }
}

fn passed(shape: Shape, name: &str, body: &Bytes, stream: bool, hearing: Hearing) -> Option<Heard> {
    let kind = match shape {
        Shape::ChatCompletions => BodyKind::ChatCompletions,
        Shape::Messages => BodyKind::Messages,
        Shape::GenerateContent => BodyKind::GenerateContent,
        Shape::Responses => BodyKind::Responses,
    };
    let mut passage = Passage::new(PassageKind::of(kind, Some(content_type(name)), stream), PassageOptions::default());
    passage.listen(hearing);
    passage.push(body.clone(), true).expect("within bounds");
    passage.take_heard()
}

fn translated(shape: Shape, name: &str, body: &Bytes, stream: bool, hearing: Hearing) -> Option<Heard> {
    let kind = match shape {
        Shape::ChatCompletions | Shape::Responses => ProviderKind::Openai,
        Shape::Messages => ProviderKind::Anthropic,
        Shape::GenerateContent => ProviderKind::Gemini,
    };
    let asked = json!({"model": "m", "stream": stream, "max_tokens": 99, "messages": [{"role": "user", "content": "hi"}]});
    let client = if shape == Shape::Messages { Shape::ChatCompletions } else { Shape::Messages };
    let capabilities = Capabilities::of(shape, MODEL);
    let target = Target { shape, kind, model: MODEL, origin: 1, capabilities, quirks: Quirks::VENDOR };
    let prepared = prepare(client, asked.to_string().as_bytes(), stream, &target, Policy::Lossy, &[]).expect("a plain request");
    let viewer = Viewer { shape: client, model: Arc::from("m"), request_id: Arc::from("r"), created: 1, array: false };
    let mut answer = Answer::new(&prepared, Some(content_type(name)), viewer);
    answer.listen(hearing);
    answer.push(body.clone(), true).expect("within bounds");
    answer.take_heard()
}

#[test]
fn an_answer_is_heard_alike_passed_or_translated() {
    let (mut compared, mut differences) = (0, Vec::new());
    for shape in [Shape::ChatCompletions, Shape::Messages, Shape::GenerateContent, Shape::Responses] {
        for (name, body) in fixtures(shape) {
            let stream = !name.ends_with(".json") || name.ends_with(".array.json");
            for hearing in [Hearing::All, Hearing::Missing] {
                let ways = [passed, translated].map(|way| way(shape, &name, &body, stream, hearing).map(|heard| heard.count(MODEL)));
                if DIFFERENT.iter().any(|(different, _)| *different == name) {
                    continue;
                }
                compared += 1;
                let alike = match ways {
                    [Some(passed), Some(translated)] => passed.abs_diff(translated) * 50 <= passed.max(50),
                    [None, None] => true,
                    _ => false,
                };
                if !alike {
                    differences.push(format!("{}/{name} {hearing:?}: {ways:?}", shape.as_str()));
                }
            }
        }
    }
    assert!(compared > 100, "the fixtures are there");
    assert!(differences.is_empty(), "{} of {compared}:\n  {}", differences.len(), differences.join("\n  "));
}
