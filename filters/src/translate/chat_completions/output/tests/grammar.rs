//! Whatever comes, a stream is one that the vendor's SDKs can put together.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// What is known of a choice while its chunks are read.
#[derive(Default)]
struct Seen {
    role: bool,
    finished: bool,
    calls: Vec<bool>,
}

fn event() -> impl Strategy<Value = Event<'static>> {
    let text = prop_oneof![Just(Text::from("a\"\n")), Just(Text::Escaped(br"\u00e9"))];
    (0..14_u8, 0..3_u32, text).prop_map(|(kind, choice, text)| match kind {
        0 | 1 => Event::Text { choice, text },
        2 => Event::Reasoning { choice, text },
        3 => Event::Refusal { choice, text },
        4 => Event::ReasoningSigned { choice, signature: signature() },
        5 => Event::Redacted { choice, signature: signature() },
        6 => Event::Media { choice, media_type: Text::from("image/png"), data: Text::from("AA==") },
        7 => Event::Logprobs { choice, elements: Raw::from(&b"{}"[..]) },
        8 => Event::Usage(USAGE),
        9 => Event::Ping,
        10 => Event::Unknown { kind: Text::from("x") },
        11 => finish(choice, FinishReason::Stop),
        12 => Event::WebSearch { choice, id: Text::from("s"), query: text, hits: Vec::new() },
        _ => Event::Citation { choice, citation: Citation { url: text.clone(), title: text.clone(), cited: text, span: None } },
    })
}

/// Random events with some calls in the order that decoders keep.
fn events() -> impl Strategy<Value = Vec<Event<'static>>> {
    (proptest::collection::vec(event(), 0..20), 0..4_u32).prop_map(|(mut events, calls)| {
        for number in 0..calls {
            events.push(call(number, "id", number % 2 == 1));
            events.extend((number > 1).then(|| arguments(number, "{}")));
            events.push(Event::ToolEnd { choice: 0, call: number });
        }
        events
    })
}

fn check(chunk: &Value, seen: &mut Vec<Seen>) {
    for choice in chunk["choices"].as_array().expect("choices") {
        let index = usize::try_from(choice["index"].as_u64().expect("an index")).expect("small");
        seen.resize_with(seen.len().max(index + 1), Seen::default);
        let seen = &mut seen[index];
        assert!(!seen.finished, "nothing follows the end: {chunk}");
        assert!(seen.role || choice["delta"]["role"] == "assistant", "the role comes first: {chunk}");
        seen.role = true;
        seen.finished = choice["finish_reason"].is_string();
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let at = usize::try_from(call["index"].as_u64().expect("an index")).expect("small");
            if at == seen.calls.len() {
                let kind = call["type"].as_str().expect("a type");
                assert!(call["id"].is_string() && call[kind]["name"].is_string(), "{call}");
                seen.calls.push(true);
            }
            assert!(at < seen.calls.len(), "calls are counted without gaps: {call}");
        }
    }
}

proptest! {
    #[test]
    fn every_stream_can_be_put_together(events in events(), include_usage in any::<bool>()) {
        let all: Vec<Event<'_>> = [vec![start()], events, vec![Event::End]].concat();
        let out = run(stream_encoder(view(include_usage)), &all);
        let mut lines: Vec<&str> = out.split_terminator("\n\n").map(|line| line.strip_prefix("data: ").expect("data")).collect();
        prop_assert_eq!(lines.pop(), Some("[DONE]"));
        let chunks: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let mut seen = Vec::new();
        for chunk in &chunks {
            check(chunk, &mut seen);
            prop_assert_eq!((&chunk["id"], &chunk["model"]), (&chunks[0]["id"], &chunks[0]["model"]));
            prop_assert_eq!(chunk.get("usage").is_some(), include_usage);
        }
        prop_assert!(seen.iter().filter(|choice| choice.role).all(|choice| choice.finished), "every choice ends");
        let totals: Vec<usize> = chunks.iter().enumerate().filter(|(_, chunk)| chunk["usage"].is_object()).map(|(at, _)| at).collect();
        prop_assert_eq!(totals, if include_usage { vec![chunks.len() - 1] } else { vec![] });
        let whole: Value = serde_json::from_str(&run(whole_encoder(view(include_usage)), &all)).expect("JSON");
        let streamed: String = chunks.iter().flat_map(|chunk| chunk["choices"].as_array().cloned().unwrap_or_default())
            .filter(|choice| choice["index"] == 0).filter_map(|choice| choice["delta"]["content"].as_str().map(str::to_owned)).collect();
        prop_assert_eq!(whole["choices"][0]["message"]["content"].as_str().unwrap_or_default(), streamed);
    }
}
