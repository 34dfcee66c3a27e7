use super::*;
use crate::canonical::Citation;
use crate::shape::Shape;

/// Events as short lines: what a reader of the next stage sees.
fn told(event: &Event<'_>) -> String {
    match event {
        Event::Start { id, .. } => format!("start {}", id.as_ref().map(Text::decode).unwrap_or_default()),
        Event::Text { text, .. } => format!("text {}", text.decode()),
        Event::Reasoning { text, .. } => format!("reasoning {}", text.decode()),
        Event::ReasoningSigned { signature, .. } => format!("signed {}", signature.value.decode()),
        Event::Redacted { signature, .. } => format!("redacted {}", signature.value.decode()),
        Event::ToolStart { call, id, name, .. } => format!("call {call} {} {}", id.decode(), name.decode()),
        Event::ToolArguments { call, fragment, .. } => format!("arguments {call} {}", fragment.decode()),
        Event::ToolEnd { call, .. } => format!("end {call}"),
        Event::Citation { citation: Citation { url, span, .. }, .. } => format!("citation {} {span:?}", url.decode()),
        Event::WebSearch { id, query, hits, .. } => format!("search {} {} {}", id.decode(), query.decode(), hits.len()),
        Event::Unknown { kind } => format!("unknown {}", kind.decode()),
        Event::Finish { finish, .. } => format!("finish {:?}", finish.reason),
        Event::Usage(usage) => format!("usage {}+{}", usage.input(), usage.output),
        Event::Failed(failure) => format!("failed {:?} {}", failure.class, failure.message.decode()),
        Event::Ping => "ping".to_owned(),
        Event::End => "end".to_owned(),
        other => format!("{other:?}"),
    }
}

fn stream(events: &[&str]) -> Vec<String> {
    let mut seen = Vec::new();
    let mut decoder = decoder();
    for data in events {
        decoder.event(b"", data.as_bytes(), &mut |event| seen.push(told(&event)));
    }
    decoder.finish(&mut |event| seen.push(told(&event)));
    seen
}

fn answer(body: &str) -> Vec<String> {
    let mut seen = Vec::new();
    decoder().answer(body.as_bytes(), &mut |event| seen.push(told(&event)));
    seen
}

const START: &str =
    r#"{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn open(block: &str) -> String {
    format!(r#"{{"type":"content_block_start","index":0,"content_block":{block}}}"#)
}

fn delta(delta: &str) -> String {
    format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#)
}

const CLOSE: &str = r#"{"type":"content_block_stop","index":0}"#;

fn ended(reason: &str) -> String {
    format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":31}}}}"#)
}

#[test]
fn a_stream_is_read_block_by_block() {
    let seen = stream(&[
        START,
        r#"{"type": "ping"}"#,
        &open(r#"{"type":"thinking","thinking":"","signature":""}"#),
        &delta(r#"{"type":"thinking_delta","thinking":"hm"}"#),
        &delta(r#"{"type":"signature_delta","signature":"EqQB"}"#),
        CLOSE,
        &open(r#"{"type":"redacted_thinking","data":"sealed"}"#),
        CLOSE,
        &open(r#"{"type":"text","text":""}"#),
        &delta(r#"{"type":"text_delta","text":"One \"é\u00e9\n"}"#),
        CLOSE,
        &open(r#"{"type":"tool_use","id":"toolu_1","name":"f","input":{}}"#),
        &delta(r#"{"type":"input_json_delta","partial_json":""}"#),
        &delta(r#"{"type":"input_json_delta","partial_json":"{\"a\":"}"#),
        &delta(r#"{"type":"input_json_delta","partial_json":"1}"}"#),
        CLOSE,
        &ended("tool_use"),
        STOP,
    ]);
    let expected = [
        "start msg_1",
        "usage 15+1",
        "ping",
        "reasoning hm",
        "signed EqQB",
        "redacted sealed",
        "text One \"éé\n",
        "call 0 toolu_1 f",
        "arguments 0 {\"a\":",
        "arguments 0 1}",
        "end 0",
        "usage 15+31",
        "finish ToolCalls",
        "end",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_whole_answer_gives_the_same_events() {
    let seen = answer(
        r#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"EqQB"},
           {"type":"redacted_thinking","data":"sealed"},{"type":"text","text":"One"},
           {"type":"tool_use","id":"toolu_1","name":"f","input":{"a":1}},{"type":"tool_use","id":"toolu_2","name":"g","input":{}}],
           "stop_reason":"tool_use","usage":{"input_tokens":10,"output_tokens":31}}"#,
    );
    let expected = [
        "start msg_1",
        "usage 10+31",
        "reasoning hm",
        "signed EqQB",
        "redacted sealed",
        "text One",
        "call 0 toolu_1 f",
        "arguments 0 {\"a\":1}",
        "end 0",
        "call 1 toolu_2 g",
        "end 1",
        "finish ToolCalls",
        "end",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn arguments_told_at_the_start_of_a_call_are_not_lost() {
    let seen = stream(&[START, &open(r#"{"type":"tool_use","id":"a","name":"f","input":{"a":1}}"#), CLOSE, &ended("tool_use"), STOP]);
    assert_eq!(seen[2..5], ["call 0 a f", "arguments 0 {\"a\":1}", "end 0"]);
}

#[test]
fn searches_come_whole_with_what_they_found() {
    let seen = stream(&[
        START,
        &open(r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}"#),
        &delta(r#"{"type":"input_json_delta","partial_json":"{\"query\":"}"#),
        &delta(r#"{"type":"input_json_delta","partial_json":"\"rust\"}"}"#),
        CLOSE,
        &open(
            r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://r","title":"R","encrypted_content":"E","page_age":null}]}"#,
        ),
        CLOSE,
        &open(r#"{"type":"text","text":""}"#),
        &delta(r#"{"type":"text_delta","text":"Äh. "}"#),
        CLOSE,
        &open(r#"{"type":"text","text":"","citations":[]}"#),
        &delta(r#"{"type":"text_delta","text":"Rust."}"#),
        &delta(
            r#"{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://r","title":"R","encrypted_index":"","cited_text":"x"}}"#,
        ),
        CLOSE,
        &open(r#"{"type":"code_execution_tool_result","tool_use_id":"x","content":[]}"#),
        CLOSE,
        &ended("end_turn"),
        STOP,
    ]);
    assert_eq!(
        seen[2..7],
        ["search srvtoolu_1 rust 1", "text Äh. ", "text Rust.", "citation https://r Some((4, 9))", "unknown code_execution_tool_result"]
    );
}

#[test]
fn reasons_to_end_have_one_vocabulary() {
    let table = [
        ("end_turn", "Stop"),
        ("stop_sequence", "StopSequence"),
        ("max_tokens", "Length"),
        ("tool_use", "ToolCalls"),
        ("pause_turn", "Pause"),
        ("refusal", "Refusal"),
        ("model_context_window_exceeded", "Length"),
        ("compaction", "Length"),
        ("novel", "Other"),
    ];
    for (word, reason) in table {
        let seen = stream(&[START, &ended(word), STOP]);
        assert!(seen.contains(&format!("finish {reason}")), "{word}: {seen:?}");
    }
}

#[test]
fn a_refusal_is_explained_and_a_stop_sequence_told() {
    let mut finishes = Vec::new();
    for delta in [
        r#"{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":null,"explanation":"no"}}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"END"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":null},"amazon-bedrock-guardrailAction":"INTERVENED"}"#,
    ] {
        decoder().event(b"", delta.as_bytes(), &mut |event| {
            if let Event::Finish { finish, .. } = event {
                let text = |text: Option<Text<'_>>| text.map(|text| text.decode().into_owned());
                finishes.push((finish.reason, text(finish.explanation), text(finish.stop_sequence)));
            }
        });
    }
    let expected = [
        (FinishReason::Refusal, Some("no".to_owned()), None),
        (FinishReason::StopSequence, None, Some("END".to_owned())),
        (FinishReason::Refusal, None, None),
    ];
    assert_eq!(finishes, expected);
}

#[test]
fn a_body_that_ends_after_its_reason_is_whole_and_before_it_cut_off() {
    assert_eq!(stream(&[START, &ended("end_turn")]).last().map(String::as_str), Some("end"));
    assert_eq!(stream(&[START, &delta(r#"{"type":"text_delta","text":"a"}"#)]).last().map(String::as_str), Some("text a"));
    assert_eq!(stream(&[START, STOP])[2..], ["finish Stop", "end"], "an end without a reason is an end");
    assert_eq!(stream(&[START, &ended("end_turn"), "[DONE]"]).last().map(String::as_str), Some("end"));
    assert!(stream(&[]).is_empty());
}

#[test]
fn nothing_follows_an_end_or_a_failure() {
    let text = delta(r#"{"type":"text_delta","text":"a"}"#);
    assert_eq!(stream(&[START, &ended("end_turn"), STOP, &text, STOP]).iter().filter(|line| *line == "end").count(), 1);
    let seen = stream(&[START, r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#, &text]);
    assert_eq!(seen.last().map(String::as_str), Some("failed Overloaded busy"));
}

#[test]
fn errors_are_known_whatever_they_are_called() {
    assert_eq!(stream(&[r#"{"error":{"message":"x","type":"rate_limit_error"}}"#]), ["failed Rate x"]);
    let mut seen = Vec::new();
    decoder().event(b"error", br#"{"message":"x"}"#, &mut |event| seen.push(told(&event)));
    assert_eq!(seen, ["failed Server x"]);
    assert_eq!(answer(r#"{"type":"error","error":{"type":"api_error","message":"x"}}"#), ["failed Server x"]);
}

#[test]
fn data_that_is_no_json_is_a_failure_and_no_data_is_nothing() {
    assert!(stream(&["{\"type\":"])[0].starts_with("failed Server"));
    assert!(answer("<html>")[0].starts_with("failed Server"));
    assert_eq!(stream(&["", "  ", r#"{"type":"novel_event"}"#]), Vec::<String>::new());
}

#[test]
fn usage_at_the_end_overrides_and_null_does_not() {
    let seen = stream(&[
        START,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":20,"cache_read_input_tokens":null,"output_tokens":7}}"#,
    ]);
    assert_eq!(seen[2], "usage 25+7");
}

#[test]
fn deltas_are_read_alike_in_one_walk_and_in_two() {
    let texts = ["a", r#"\" \\ \/ \b\f\n\r\t"#, r"\u00e9\ud83d\ude00", "é😀\u{2028}", "", r"\ud800"];
    for (kind, field) in [("text_delta", "text"), ("thinking_delta", "thinking"), ("input_json_delta", "partial_json")] {
        for text in texts {
            let fast = format!(r#"{{"type":"content_block_delta","index":12,"delta":{{"type":"{kind}","{field}":"{text}"}}   }} "#);
            let slow = format!(r#"{{"index":12,"type":"content_block_delta","delta":{{"{field}":"{text}","type":"{kind}"}}}}"#);
            assert!(Delta::read(fast.as_bytes()).is_some() && Delta::read(slow.as_bytes()).is_none(), "{fast}");
            let call = open(r#"{"type":"tool_use","id":"a","name":"f","input":{}}"#);
            assert_eq!(stream(&[&call, &fast]), stream(&[&call, &slow]), "{fast}");
        }
    }
}

#[test]
fn a_broken_delta_is_a_failure_and_never_passed_on() {
    let broken: [&[u8]; 6] = [
        br#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}"#,
        br#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\x"}}"#,
        br#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\u12"}}"#,
        b"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\xff\"}}",
        b"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\nb\"}}",
        br#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}}"#,
    ];
    for data in broken {
        let mut seen = Vec::new();
        decoder().event(b"", data, &mut |event| seen.push(told(&event)));
        assert_eq!(seen.len(), 1, "{seen:?}");
        assert!(seen[0].starts_with("failed"), "{}", String::from_utf8_lossy(data));
    }
}

#[test]
fn a_delta_with_more_members_is_read_too() {
    let seen = stream(&[r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","novel":1},"p":"abc"}"#]);
    assert_eq!(seen, ["start ", "text a"]);
}

#[test]
fn tokens_of_this_vendor_carry_its_shape() {
    decoder().answer(br#"{"content":[{"type":"thinking","thinking":"","signature":"s"}]}"#, &mut |event| {
        if let Event::ReasoningSigned { signature, .. } = event {
            assert_eq!((signature.shape, signature.origin), (Shape::Messages, None));
        }
    });
}

proptest::proptest! {
    #[test]
    fn foreign_bytes_never_panic(data in r#"[{}\[\]":,a-z_0-9\\ ]{0,80}"#) {
        stream(&[&data]);
        stream(&[&open(&data), &delta(&data), CLOSE, &ended(&data)]);
        answer(&data);
    }
}
