//! Ends and failures.

use super::*;

#[test]
fn the_end_is_told_by_a_reason_or_by_the_mark_and_by_nothing_else() {
    let text = r#"{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}"#;
    let stop = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    let call = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}]}}]}"#;
    assert_eq!(streamed(&[text, stop]).last().map(String::as_str), Some("end"), "no mark");
    assert_eq!(streamed(&[text, "[DONE]"])[2..], ["0 finish Stop ``", "end"], "no reason");
    assert_eq!(streamed(&[call, "[DONE]"])[3..], ["0 end 0", "0 finish ToolCalls ``", "end"], "no reason, but a call");
    assert_eq!(streamed(&[text]), ["start  None", "0 text a"], "cut off");
    assert_eq!(streamed(&["[DONE]"]), ["start  None", "0 finish Stop ``", "end"]);
    assert!(streamed(&[]).is_empty());
}

#[test]
fn the_first_reason_counts_and_text_after_it_is_kept() {
    let seen = streamed(&[
        r#"{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":""}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"length"}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"c"},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ]);
    assert_eq!(seen, ["start  None", "0 text a", "0 text b", "0 text c", "0 finish Length `length`", "end"]);
}

#[test]
fn every_word_for_the_end_has_its_reason() {
    let table = [
        ("stop", "Stop"),
        ("length", "Length"),
        ("tool_calls", "ToolCalls"),
        ("function_call", "ToolCalls"),
        ("content_filter", "Refusal"),
        ("eos", "Stop"),
        ("abort", "Other"),
    ];
    for (word, reason) in table {
        assert_eq!(deltas(&[], word), [format!("0 finish {reason} `{word}`")]);
    }
    assert_eq!(deltas(&[r#"{"refusal":"I can't"}"#], "stop"), ["0 refusal I can't", "0 finish Refusal `stop`"]);
    let called = deltas(&[r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}]}"#], "stop");
    assert_eq!(called.last().map(String::as_str), Some("0 finish ToolCalls `stop`"));
}

#[test]
fn the_stop_sequence_is_told_where_the_service_tells_it() {
    let seen = streamed(&[r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop","stop_reason":"END"}]}"#, "[DONE]"]);
    assert_eq!(seen[1], "0 finish StopSequence `stop` at END");
    let seen = streamed(&[r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop","stop_reason":128009}]}"#, "[DONE]"]);
    assert_eq!(seen[1], "0 finish Stop `stop`");
}

#[test]
fn failures_within_an_answer_are_known_in_every_form() {
    let table = [
        (r#"{"error":{"message":"busy","type":"server_error","param":null,"code":"server_is_overloaded"}}"#, "failed Overloaded 503 busy"),
        (r#"{"error":"broke"}"#, "failed Server 500 broke"),
        (
            r#"{"error":{"code":429,"message":"slow"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#,
            "failed Rate 429 slow",
        ),
        (
            r#"{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"down"}}"#,
            "failed Server 502 down",
        ),
        (r#"{"object":"error","message":"bad","type":"BadRequestError","param":null,"code":400}"#, "failed BadRequest 400 bad"),
        (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "failed Overloaded 503 Overloaded"),
        (r#"[{"error":{"code":400,"message":"wrapped","status":"INVALID_ARGUMENT"}}]"#, "failed BadRequest 400 wrapped"),
        (r#"{"detail":"Not Found"}"#, "failed Server 500 Not Found"),
        (r#"{"choices":[{"index":0,"error":{"code":503,"message":"gone"},"finish_reason":null}]}"#, "failed Overloaded 503 gone"),
    ];
    for (event, expected) in table {
        let seen = streamed(&[event, "[DONE]"]);
        assert_eq!(seen.last().map(String::as_str), Some(expected), "{event}");
    }
    let seen = streamed(&[r#"{"choices":[{"index":0,"delta":{"content":"a"}}]}"#, r#"{"error":{"message":"x"}}"#, "[DONE]"]);
    assert_eq!(seen[1..], ["0 text a", "failed Server 500 x"], "nothing follows");
    assert_eq!(streamed(&[r#"{"error":null,"choices":[{"index":0,"delta":{"content":"a"}}]}"#])[1], "0 text a");
    let mut decoder = decoder();
    let mut seen = Vec::new();
    decoder.event(b"error", br#"{"message":"by name","code":"429"}"#, &mut |event| seen.push(shown(event)));
    assert_eq!(seen, ["failed Rate 429 by name"]);
}

#[test]
fn a_chunk_that_is_no_json_fails_and_words_between_events_do_not() {
    for broken in [r#"{"choices":[{"index":0,"delta":{"content":"a}"#, r#"{"choices":[{"delta":{"content":"\x"}}]}"#, r#"{"choices":[]} x"#]
    {
        assert_eq!(streamed(&[broken]), ["failed Server 502 the provider sent something that is not JSON"], "{broken}");
    }
    assert!(streamed(&[": OPENROUTER PROCESSING"]).is_empty());
}
