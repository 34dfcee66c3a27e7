use serde_json::Value;

use super::decoder;
use crate::canonical::{Event, FailureClass, FinishReason};
use crate::translate::Decode;
use crate::usage::Usage;

/// What a test keeps of an event.
fn told(event: &Event<'_>) -> String {
    match event {
        Event::Start { id, created } => format!("start {:?} {created:?}", id.as_ref().map(|id| id.decode().into_owned())),
        Event::Text { choice, text } => format!("text {choice} {}", text.decode()),
        Event::Refusal { text, .. } => format!("refusal {}", text.decode()),
        Event::Reasoning { text, .. } => format!("thought {}", text.decode()),
        Event::ReasoningSigned { signature, .. } => format!("signed {}", signature.value.decode()),
        Event::Redacted { .. } => "redacted".to_owned(),
        Event::ToolStart { choice, call, id, name, signature, .. } => {
            let signature = signature.as_ref().map(|signature| signature.value.decode().into_owned()).unwrap_or_default();
            let id = if id.decode().starts_with("call_") { "made".into() } else { id.decode() };
            format!("call {choice}/{call} {id} {} {signature}", name.decode()).trim_end().to_owned()
        }
        Event::ToolArguments { call, fragment, .. } => format!("args {call} {}", fragment.decode()),
        Event::ToolEnd { call, .. } => format!("end {call}"),
        Event::Citation { citation, .. } => format!("cite {} {} {:?}", citation.url.decode(), citation.title.decode(), citation.span),
        Event::WebSearch { query, hits, .. } => format!("search {} {}", query.decode(), hits.len()),
        Event::Media { media_type, data, .. } => format!("media {} {}", media_type.decode(), data.decode()),
        Event::Logprobs { elements, .. } => format!("logprobs {}", elements.as_text()),
        Event::Unknown { kind } => format!("unknown {}", kind.decode()),
        Event::Ping => "ping".to_owned(),
        Event::Finish { choice, finish } => {
            let explanation = finish.explanation.as_ref().map(|words| format!(" ({})", words.decode())).unwrap_or_default();
            format!("finish {choice} {:?} {}{explanation}", finish.reason, finish.raw.decode())
        }
        Event::Usage(usage) => format!("usage {} {} {} {:?}", usage.input_uncached, usage.cache_read, usage.output, usage.reasoning),
        Event::Failed(failure) => format!("failed {:?} {} {}", failure.class, failure.status, failure.message.decode()),
        Event::End => "done".to_owned(),
    }
}

/// The events of a stream that ends after `chunks`.
fn stream(chunks: &[&str]) -> Vec<String> {
    let (mut decoder, mut seen) = (decoder(), Vec::new());
    for chunk in chunks {
        decoder.event(b"", chunk.as_bytes(), &mut |event| seen.push(told(&event)));
    }
    decoder.finish(&mut |event| seen.push(told(&event)));
    seen
}

fn answer(body: &str) -> Vec<String> {
    let (mut decoder, mut seen) = (decoder(), Vec::new());
    decoder.answer(body.as_bytes(), &mut |event| seen.push(told(&event)));
    seen
}

#[test]
fn text_comes_as_told_and_the_end_waits_for_the_body() {
    let first = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi \"you\"!"}]},"index":0}],"usageMetadata":{"promptTokenCount":4},"responseId":"r1","createTime":"2026-11-21T00:00:00Z"}"#;
    let last = r#"{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":2,"totalTokenCount":6}}"#;
    let seen = stream(&[first, last]);
    let expected =
        ["start Some(\"r1\") Some(1795219200)", "text 0 Hi \"you\"!", "usage 4 0 0 None", "usage 4 0 2 None", "finish 0 Stop STOP", "done"];
    assert_eq!(seen, expected);
    assert_eq!(stream(&[first]).last().map(String::as_str), Some("usage 4 0 0 None"), "cut off");
}
