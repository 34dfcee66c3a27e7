//! Tool calls in the many ways services label their pieces.

use super::*;

#[test]
fn calls_in_the_vendors_form_interleave_by_index() {
    let seen = calls(&[
        r#"{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}"#,
        r#"{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":""}}"#,
        r#"{"index":1,"function":{"arguments":"{\"x\""}}"#,
        r#"{"index":0,"function":{"arguments":"{}"}}"#,
        r#"{"index":1,"function":{"arguments":":1}"}}"#,
    ]);
    let expected = [
        "0 call 0 a f",
        "0 call 1 b g",
        "0 arguments 1 {\"x\"",
        "0 arguments 0 {}",
        "0 arguments 1 :1}",
        "0 end 0",
        "0 end 1",
        "0 finish ToolCalls `tool_calls`",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn calls_that_share_an_index_are_told_apart_by_id() {
    let seen = calls(&[
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":1}"}}"#,
        r#"{"index":0,"id":"b","function":{"name":"f","arguments":"{\"n\":"}}"#,
        r#"{"index":0,"function":{"arguments":"2}"}}"#,
    ]);
    assert_eq!(seen[..5], ["0 call 0 a f", "0 arguments 0 {\"n\":1}", "0 call 1 b f", "0 arguments 1 {\"n\":", "0 arguments 1 2}"]);
}

#[test]
fn calls_that_share_an_index_without_ids_are_told_apart_by_whole_arguments() {
    let seen = calls(&[
        r#"{"index":0,"function":{"name":"f","arguments":"{\"n\":"}}"#,
        r#"{"index":0,"function":{"name":"f","arguments":"\"}\"}"}}"#,
        r#"{"index":0,"function":{"name":"f","arguments":"{}"}}"#,
    ]);
    assert_eq!(seen[..5], ["0 call 0 minted f", "0 arguments 0 {\"n\":", "0 arguments 0 \"}\"}", "0 call 1 minted f", "0 arguments 1 {}"]);
}

#[test]
fn calls_without_index_go_by_id_and_else_go_on() {
    let seen = calls(&[
        r#"{"id":"a","function":{"name":"f","arguments":"{"}}"#,
        r#"{"function":{"arguments":"}"}}"#,
        r#"{"id":"b","function":{"name":"g","arguments":"{}"}}"#,
        r#"{"id":"a","function":{"arguments":" "}}"#,
    ]);
    assert_eq!(seen[..6], ["0 call 0 a f", "0 arguments 0 {", "0 arguments 0 }", "0 call 1 b g", "0 arguments 1 {}", "0 arguments 0  "]);
}

#[test]
fn calls_without_index_and_id_are_told_apart_by_their_names() {
    let seen = deltas(
        &[r#"{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}},{"function":{"name":"f","arguments":{}}}]}"#],
        "tool_calls",
    );
    assert_eq!(seen[..4], ["0 call 0 minted f", "0 arguments 0 {\"a\":1}", "0 call 1 minted f", "0 arguments 1 {}"]);
    let seen = calls(&[r#"{"function":{"name":"f","arguments":"{}"}}"#, r#"{"function":{"name":"g","arguments":"{}"}}"#]);
    assert_eq!(seen.iter().filter(|line| line.contains("call")).count(), 3, "two calls and the reason: {seen:?}");
}

#[test]
fn a_repeated_id_and_name_are_the_same_call() {
    let seen = calls(&[
        r#"{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}"#,
        r#"{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{"}}"#,
        r#"{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"}"}}"#,
    ]);
    assert_eq!(seen[..4], ["0 call 0 a f", "0 arguments 0 {", "0 arguments 0 }", "0 end 0"]);
}

#[test]
fn a_name_may_come_late_or_in_pieces() {
    let late = calls(&[
        r#"{"index":0,"id":"a","type":"function","function":{"arguments":"{"}}"#,
        r#"{"index":0,"function":{"name":"f"}}"#,
        r#"{"index":0,"function":{"arguments":"}"}}"#,
    ]);
    assert_eq!(late[..4], ["0 call 0 a f", "0 arguments 0 {", "0 arguments 0 }", "0 end 0"]);
    let pieces = calls(&[
        r#"{"index":0,"id":"a","type":"function","function":{"name":"get_"}}"#,
        r#"{"index":0,"function":{"name":"rate"}}"#,
        r#"{"index":0,"function":{"arguments":"{}"}}"#,
    ]);
    assert_eq!(pieces[..2], ["0 call 0 a get_rate", "0 arguments 0 {}"]);
    let growing = calls(&[r#"{"index":0,"id":"a","function":{"name":"get_"}}"#, r#"{"index":0,"function":{"name":"get_rate"}}"#]);
    assert_eq!(growing[..2], ["0 call 0 a get_rate", "0 end 0"]);
}

#[test]
fn one_id_for_two_indices_is_made_two() {
    let seen = calls(&[
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#,
        r#"{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}}"#,
    ]);
    assert_eq!((seen[0].as_str(), seen[2].as_str()), ("0 call 0 a f", "0 call 1 a_2 f"));
}

#[test]
fn a_call_without_arguments_ends_without_any() {
    let seen = calls(&[r#"{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}"#]);
    assert_eq!(seen, ["0 call 0 a f", "0 end 0", "0 finish ToolCalls `tool_calls`"]);
}

#[test]
fn a_call_without_arguments_begins_before_the_text_after_it() {
    let call = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}"#;
    assert_eq!(deltas(&[call, r#"{"content":"x"}"#], "tool_calls")[..2], ["0 call 0 a f", "0 text x"]);
}

#[test]
fn free_text_calls_and_tokens_of_calls_are_read() {
    let seen = calls(&[
        r#"{"index":0,"id":"a","type":"custom","custom":{"name":"sql","input":""}}"#,
        r#"{"index":0,"custom":{"input":"select"}}"#,
        r#"{"index":1,"id":"b","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"T"}}}"#,
    ]);
    assert_eq!(seen[..4], ["0 call 0 a sql custom", "0 arguments 0 select", "0 call 1 b f token T", "0 arguments 1 {}"]);
}

#[test]
fn the_old_form_of_a_call_is_read() {
    let seen = deltas(&[r#"{"function_call":{"name":"f","arguments":""}}"#, r#"{"function_call":{"arguments":"{}"}}"#], "function_call");
    assert_eq!(seen, ["0 call 0 minted f", "0 arguments 0 {}", "0 end 0", "0 finish ToolCalls `function_call`"]);
}
