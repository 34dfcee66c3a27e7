//! C.1 to C.4.

use super::*;

fn chat(events: &[Event<'_>]) -> Value {
    whole(Shape::ChatCompletions, events)
}

#[test]
fn the_worked_example_reads_as_the_vendor_writes_it() {
    let events = [
        start(),
        reasoning("Look up the rate."),
        text("One "),
        text("moment."),
        call(0, "toolu_01A"),
        arguments(0, "{\"pair\":"),
        arguments(0, "\"EURUSD\"}"),
        ended(0),
        finish(FinishReason::ToolCalls),
        usage(),
        Event::End,
    ];
    let answer = chat(&events);
    let expected = json!({"id": answer["id"], "type": "message", "role": "assistant", "model": "fast",
        "content": [{"type": "thinking", "thinking": "Look up the rate.", "signature": ""}, {"type": "text", "text": "One moment."},
            {"type": "tool_use", "id": "toolu_01A", "name": "get_rate", "input": {"pair": "EURUSD"}}],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 40, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 16,
            "cache_creation": {"ephemeral_5m_input_tokens": 16, "ephemeral_1h_input_tokens": 0}, "output_tokens": 31}});
    assert_eq!(answer, expected);
    assert!(answer["id"].as_str().is_some_and(|id| id.starts_with("msg_") && id.len() == 28));
}

#[test]
fn arguments_stay_as_written() {
    let events = [start(), call(0, "a"), arguments(0, "{\"b\":9007199254740993,\"a\":1.0,\"é\":\"😀\"}"), ended(0), Event::End];
    let out = String::from_utf8(write(&mut whole_encoder(view(Shape::ChatCompletions)), &events)).expect("UTF-8");
    assert!(out.contains("\"input\":{\"b\":9007199254740993,\"a\":1.0,\"é\":\"😀\"}"), "{out}");
}

#[test]
fn an_empty_answer_stays_empty() {
    let answer = chat(&[start(), finish(FinishReason::Stop), Event::End]);
    assert_eq!((&answer["content"], &answer["stop_reason"]), (&json!([]), &json!("end_turn")));
    assert_eq!(answer["usage"]["output_tokens"], 0);
}

#[test]
fn interleaved_calls_keep_the_order_of_their_beginnings() {
    let events = [
        start(),
        call(0, "a"),
        arguments(0, "{\"x\":"),
        call(1, "b"),
        arguments(1, "{}"),
        arguments(0, "1}"),
        ended(1),
        ended(0),
        Event::End,
    ];
    assert_eq!(chat(&events)["content"], json!([tool("a", json!({"x": 1})), tool("b", json!({}))]));
}

#[test]
fn a_call_the_limit_cut_off_is_dropped_and_a_broken_one_leaves_no_answer() {
    let events = |reason| [start(), text("a"), call(0, "a"), arguments(0, "{\"x\":"), ended(0), finish(reason), Event::End];
    let answer = chat(&events(FinishReason::Length));
    assert_eq!((answer["content"].as_array().map(Vec::len), &answer["stop_reason"]), (Some(1), &json!("max_tokens")));
    assert!(write(&mut whole_encoder(view(Shape::ChatCompletions)), &events(FinishReason::ToolCalls)).is_empty());
}

#[test]
fn a_failure_leaves_no_answer() {
    assert!(
        write(&mut whole_encoder(view(Shape::ChatCompletions)), &[start(), text("a"), failed(FailureClass::Server), Event::End]).is_empty()
    );
}

#[test]
fn cited_spans_are_blocks_of_their_own() {
    let events =
        [start(), search("ws_1"), text("Äh, Rust "), text("is fast."), citation(Some((4, 8))), citation(Some((9, 17))), Event::End];
    let answer = chat(&events);
    let texts: Vec<(&str, usize)> = answer["content"]
        .as_array()
        .expect("content")
        .iter()
        .filter_map(|block| Some((block["text"].as_str()?, block["citations"].as_array().map_or(0, Vec::len))))
        .collect();
    assert_eq!(texts, [("Äh, ", 0), ("Rust", 1), (" ", 0), ("is fast.", 1)]);
    assert_eq!(answer["usage"]["server_tool_use"]["web_search_requests"], 1);
    assert_eq!(
        (&answer["content"][0]["type"], &answer["content"][1]["type"]),
        (&json!("server_tool_use"), &json!("web_search_tool_result"))
    );
}

#[test]
fn spans_count_over_all_text_and_sources_without_one_belong_to_the_end() {
    let events = [start(), text("abc"), reasoning("r"), text("def"), citation(Some((3, 99))), citation(None), Event::End];
    let content = chat(&events)["content"].take();
    assert_eq!((content[0].get("citations"), &content[2]["text"]), (None, &json!("def")));
    assert_eq!(content[2]["citations"].as_array().map(Vec::len), Some(2));
}

#[test]
fn tokens_of_other_vendors_are_tagged_and_the_text_of_hidden_reasoning_is_left_out() {
    let sealed = Event::Redacted { choice: 0, signature: token("x") };
    let events = [start(), reasoning("a"), signed("tok"), sealed, text("b"), Event::End];
    let content = chat(&events)["content"].take();
    assert!(content[0]["signature"].as_str().is_some_and(|value| value.starts_with("g1.0000002a.")));
    assert_eq!(content[1]["type"], "redacted_thinking");
    let hidden = ClientView { show_reasoning: false, ..view(Shape::GenerateContent) };
    let out = write(&mut whole_encoder(hidden), &events);
    let answer: Value = serde_json::from_slice(&out).expect("valid JSON");
    let hidden = answer["content"].as_array().expect("content");
    assert_eq!((hidden.len(), &hidden[0]["thinking"], &hidden[0]["signature"]), (3, &json!(""), &content[0]["signature"]));
}
