//! C.2, C.4, D.3, D.5, D.7 and the first rows of H.

use super::*;

fn chat(events: &[Event<'_>]) -> Vec<Value> {
    streamed(Shape::ChatCompletions, events)
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["type"].as_str()).collect()
}

#[test]
fn a_stream_reads_as_the_vendor_writes_it() {
    let events = [
        start(),
        call(0, "call_a1"),
        arguments(0, "{\"pair\":\"EURUSD\"}"),
        ended(0),
        finish(FinishReason::ToolCalls),
        usage(),
        Event::End,
    ];
    let out = String::from_utf8(write(&mut stream_encoder(view(Shape::ChatCompletions)), &events)).expect("UTF-8");
    let frames: Vec<&str> = out.split_terminator("\n\n").collect();
    assert!(frames[0].starts_with("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_"));
    let rest = [
        "event: ping\ndata: {\"type\":\"ping\"}",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"call_a1\",\"name\":\"get_rate\",\"input\":{}}}",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"pair\\\":\\\"EURUSD\\\"}\"}}",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"input_tokens\":40,\"cache_creation_input_tokens\":16,\"cache_read_input_tokens\":64,\"cache_creation\":{\"ephemeral_5m_input_tokens\":16,\"ephemeral_1h_input_tokens\":0},\"output_tokens\":31}}",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}",
    ];
    assert_eq!(frames[1..], rest);
}

#[test]
fn the_message_starts_empty_under_the_clients_name_for_the_model() {
    let seen = chat(&[start()]);
    let message = &seen[0]["message"];
    assert_eq!((&message["model"], &message["content"], &message["role"]), (&json!("fast"), &json!([]), &json!("assistant")));
    assert_eq!(
        (&message["stop_reason"], &message["usage"]["input_tokens"], &message["usage"]["output_tokens"]),
        (&Value::Null, &json!(0), &json!(0))
    );
    assert_eq!(message["id"].as_str().map(str::len), Some(28));
    assert_eq!(kinds(&seen), ["message_start", "ping"]);
    let own = streamed(Shape::Messages, &[Event::Start { id: Some(Text::from("msg_own")), created: None }]);
    assert_eq!(own[0]["message"]["id"], "msg_own");
}

#[test]
fn the_first_block_is_what_came_first() {
    assert_eq!(blocks(&[start(), reasoning("hm"), text("a"), Event::End])[0]["type"], "thinking");
    assert_eq!(blocks(&[start(), call(0, "a"), ended(0), Event::End])[0]["type"], "tool_use");
    assert_eq!(blocks(&[text("a"), Event::End])[0], json!({"type": "text", "text": "a"}), "a start that was not told is made up");
}

#[test]
fn text_is_copied_as_it_is_escaped() {
    let events = [start(), Event::Text { choice: 0, text: Text::Escaped(br#"\u00e9 \"\/"#) }, text("\n\""), Event::End];
    let out = String::from_utf8(write(&mut stream_encoder(view(Shape::ChatCompletions)), &events)).expect("UTF-8");
    assert!(out.contains(r#""text":"\u00e9 \"\/"}}"#) && out.contains(r#""text":"\n\""}}"#));
}

#[test]
fn thinking_ends_with_its_signature_tagged_with_where_it_comes_from() {
    let seen = blocks(&[start(), reasoning("a"), reasoning("b"), signed("tok"), reasoning("c"), text("d"), Event::End]);
    let tagged = crate::translate::map::signature::tag(&Signature { origin: Some(0x2a), ..token("tok") });
    let expected = [
        json!({"type": "thinking", "thinking": "ab", "signature": tagged}),
        json!({"type": "thinking", "thinking": "c", "signature": ""}),
        json!({"type": "text", "text": "d"}),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_signature_without_thinking_has_an_empty_block_before_its_call() {
    let signed_call = Event::ToolStart {
        choice: 0,
        call: 0,
        id: Text::from("a"),
        name: Text::from("get_rate"),
        custom: false,
        signature: Some(token("tok")),
    };
    let seen = blocks(&[start(), text("x"), signed_call.clone(), ended(0), Event::End]);
    assert_eq!((&seen[1]["thinking"], seen[1]["signature"].as_str().map(|s| s.starts_with("g1."))), (&json!(""), Some(true)));
    assert_eq!(seen[2], tool("a", json!({})));
    let seen = blocks(&[start(), reasoning("hm"), signed_call.clone(), ended(0), Event::End]);
    assert_eq!((seen.len(), &seen[0]["thinking"]), (2, &json!("hm")), "the thinking before it takes the signature");
    let hidden = ClientView { show_reasoning: false, ..view(Shape::GenerateContent) };
    let out = write(&mut stream_encoder(hidden), &[start(), reasoning("hm"), signed_call, ended(0), Event::End]);
    let seen = grammar::check(&parsed(&out));
    assert_eq!((seen.len(), &seen[0]["thinking"]), (2, &json!("")), "a client that hides reasoning keeps the token");
}

#[test]
fn sealed_reasoning_is_a_block_of_its_own() {
    let sealed = Event::Redacted { choice: 0, signature: token("tok") };
    let seen = blocks(&[start(), reasoning("a"), sealed, text("b"), Event::End]);
    assert_eq!(seen[1]["type"], "redacted_thinking");
    assert!(seen[1]["data"].as_str().is_some_and(|data| data.starts_with("g1.")));
}

#[test]
fn calls_one_after_the_other_stream_through() {
    let events = [
        start(),
        call(0, "a"),
        arguments(0, "{\"x\":"),
        arguments(0, "1}"),
        call(1, "b"),
        arguments(1, "{}"),
        ended(0),
        ended(1),
        Event::End,
    ];
    assert_eq!(blocks(&events), [tool("a", json!({"x": 1})), tool("b", json!({}))]);
    let order = chat(&events[..7]);
    assert_eq!(
        kinds(&order)[2..],
        [
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta"
        ]
    );
}

#[test]
fn interleaved_calls_are_put_one_after_the_other() {
    let events = [
        start(),
        call(0, "a"),
        arguments(0, "{\"x\":"),
        call(1, "b"),
        arguments(1, "{\"y\":"),
        arguments(0, "1}"),
        arguments(1, "2}"),
        call(2, "c"),
        text("late"),
        finish(FinishReason::ToolCalls),
        Event::End,
    ];
    let expected = [tool("a", json!({"x": 1})), tool("b", json!({"y": 2})), tool("c", json!({})), json!({"type": "text", "text": "late"})];
    assert_eq!(blocks(&events), expected);
}

#[test]
fn a_call_without_arguments_has_an_empty_object() {
    let seen = chat(&[start(), call(0, "a"), ended(0), Event::End]);
    assert_eq!(seen[3]["delta"]["partial_json"], "{}");
}

#[test]
fn arguments_that_end_broken_are_passed_on_where_the_block_was_open() {
    let events =
        [start(), call(0, "a"), arguments(0, "{\"x\":"), call(1, "b"), arguments(1, "{\"y\""), finish(FinishReason::Length), Event::End];
    let seen = chat(&events);
    let blocks = grammar::check(&seen);
    assert_eq!(blocks, [tool("a", json!("{\"x\":"))], "and dropped where it was not");
    assert_eq!(seen[seen.len() - 2]["delta"]["stop_reason"], "max_tokens");
}

#[test]
fn ids_this_vendors_clients_do_not_take_are_replaced() {
    let seen = blocks(&[start(), call(0, "fc:1/é"), ended(0), Event::End]);
    assert!(seen[0]["id"].as_str().is_some_and(|id| id.starts_with("toolu_") && id.len() == 30));
}

#[test]
fn free_text_arguments_become_an_object() {
    let custom = Event::ToolStart { choice: 0, call: 0, id: Text::from("a"), name: Text::from("get_rate"), custom: true, signature: None };
    let seen = blocks(&[start(), custom, arguments(0, "say "), arguments(0, "\"x\""), ended(0), Event::End]);
    assert_eq!(seen, [tool("a", json!({"input": "say \"x\""}))]);
}

#[test]
fn a_search_is_two_whole_blocks_and_is_counted() {
    let events = [start(), text("a"), search("ws_1"), text("b"), search("srvtoolu_own"), Event::End];
    let seen = chat(&events);
    let blocks = grammar::check(&seen);
    let id = blocks[1]["id"].as_str().expect("an id");
    assert!(id.starts_with("srvtoolu_gw_"));
    assert_eq!(blocks[1], json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "say \"x\""}}));
    let found = json!([{"type": "web_search_result", "url": "https://r", "title": "R", "encrypted_content": "", "page_age": null}]);
    assert_eq!(blocks[2], json!({"type": "web_search_tool_result", "tool_use_id": id, "content": found}));
    assert_eq!(blocks[4]["id"], "srvtoolu_own");
    assert_eq!(seen[seen.len() - 2]["usage"]["server_tool_use"], json!({"web_search_requests": 2}));
}

#[test]
fn text_after_a_source_is_a_block_of_its_own() {
    let seen = blocks(&[start(), text("a"), citation(None), citation(None), text("b"), Event::End]);
    let source = json!({"type": "web_search_result_location", "url": "https://r", "title": "R", "encrypted_index": "", "cited_text": "c"});
    assert_eq!(seen, [json!({"type": "text", "text": "a", "citations": [source, source]}), json!({"type": "text", "text": "b"})]);
    assert!(blocks(&[start(), citation(None), Event::End]).is_empty(), "no block for a source of nothing");
}

#[test]
fn a_refusal_is_text_and_a_reason() {
    let refusal = Event::Refusal { choice: 0, text: Text::from("no") };
    let seen = chat(&[start(), refusal, finish(FinishReason::Stop), Event::End]);
    assert_eq!(grammar::check(&seen), [json!({"type": "text", "text": "no"})]);
    let delta = &seen[seen.len() - 2]["delta"];
    assert_eq!(
        *delta,
        json!({"stop_reason": "refusal", "stop_sequence": null, "stop_details": {"type": "refusal", "category": null, "explanation": null}})
    );
}

#[test]
fn reasons_to_end_are_told_in_the_vendors_words() {
    let reason = |upstream, events: &[Event<'static>], reason| {
        let mut all = vec![start()];
        all.extend_from_slice(events);
        all.extend([finish(reason), Event::End]);
        let seen = streamed(upstream, &all);
        seen[seen.len() - 2]["delta"]["stop_reason"].as_str().map(str::to_owned).expect("a reason")
    };
    let said = [text("a")];
    let called = [call(0, "a"), ended(0)];
    let chat = Shape::ChatCompletions;
    let table = [
        (reason(chat, &said, FinishReason::Stop), "end_turn"),
        (reason(chat, &called, FinishReason::Stop), "tool_use"),
        (reason(chat, &called, FinishReason::ToolCalls), "tool_use"),
        (reason(chat, &said, FinishReason::ToolCalls), "end_turn"),
        (reason(chat, &called, FinishReason::Length), "max_tokens"),
        (reason(chat, &said, FinishReason::StopSequence), "stop_sequence"),
        (reason(chat, &said, FinishReason::Refusal), "refusal"),
        (reason(chat, &said, FinishReason::Pause), "pause_turn"),
        (reason(chat, &[], FinishReason::Other), "end_turn"),
        (reason(chat, &called, FinishReason::Other), "tool_use"),
        (reason(Shape::GenerateContent, &[], FinishReason::Other), "refusal"),
        (reason(Shape::GenerateContent, &said, FinishReason::Other), "end_turn"),
    ];
    for (place, (found, expected)) in table.iter().enumerate() {
        assert_eq!(found, expected, "row {place}");
    }
}

#[test]
fn an_end_without_a_reason_or_usage_still_has_both() {
    let seen = chat(&[start(), text("a"), Event::End]);
    let delta = &seen[seen.len() - 2];
    assert_eq!((&delta["delta"]["stop_reason"], &delta["usage"]["output_tokens"]), (&json!("end_turn"), &json!(0)));
}

#[test]
fn a_stop_sequence_and_an_explanation_are_told() {
    let told = |reason, stop_sequence, explanation| {
        let finish = Finish { reason, raw: Text::from(""), stop_sequence, explanation };
        let seen = chat(&[start(), Event::Finish { choice: 0, finish }, Event::End]);
        seen[seen.len() - 2]["delta"].clone()
    };
    assert_eq!(told(FinishReason::StopSequence, Some(Text::from("END")), None)["stop_sequence"], "END");
    assert_eq!(told(FinishReason::Refusal, None, Some(Text::from("why")))["stop_details"]["explanation"], "why");
}

#[test]
fn other_answers_pictures_and_probabilities_have_no_place() {
    let events = [
        start(),
        Event::Text { choice: 1, text: Text::from("other") },
        Event::Finish {
            choice: 1,
            finish: Finish { reason: FinishReason::Length, raw: Text::from(""), stop_sequence: None, explanation: None },
        },
        Event::Media { choice: 0, media_type: Text::from("image/png"), data: Text::from("AA") },
        Event::Unknown { kind: Text::from("x") },
        Event::End,
    ];
    let seen = chat(&events);
    assert!(grammar::check(&seen).is_empty());
    assert_eq!(seen[2]["delta"]["stop_reason"], "end_turn");
}

#[test]
fn a_ping_is_native_once_the_message_has_started() {
    assert!(chat(&[Event::Ping]).is_empty());
    assert_eq!(kinds(&chat(&[start(), Event::Ping]))[2..], ["ping"]);
}

#[test]
fn an_error_ends_the_stream_with_nothing_after_it() {
    let seen = chat(&[start(), text("a"), failed(FailureClass::Overloaded), text("b"), Event::End]);
    let expected = json!({"type": "error", "error": {"type": "overloaded_error", "message": "broke"}, "request_id": "r-1"});
    assert_eq!(seen.last(), Some(&expected));
    assert_eq!(kinds(&seen)[2..], ["content_block_start", "content_block_delta", "error"]);
}

#[test]
fn nothing_follows_the_end() {
    let seen = chat(&[start(), Event::End, text("b"), Event::End, failed(FailureClass::Server)]);
    assert_eq!(kinds(&seen), ["message_start", "ping", "message_delta", "message_stop"]);
}
