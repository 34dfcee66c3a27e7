//! B.1 and B.6, messages; B.0.5, B.0.7, B.0.9, B.0.10.

use super::*;
use crate::canonical::{SearchHit, Signature};

fn messages(turns: Vec<Turn<'static>>) -> Value {
    sent(chat(turns))["messages"].take()
}

#[test]
fn instructions_are_hoisted_in_order_and_stay_blocks() {
    let body = sent(chat(vec![system("One."), user(vec![text("a")]), system("Two."), model(vec![text("b")]), user(vec![text("c")])]));
    assert_eq!(body["system"], json!([{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]));
    assert_eq!(body["messages"].as_array().map(Vec::len), Some(3));
}

#[test]
fn calls_and_results_follow_the_vendors_rules() {
    let turns = vec![
        user(vec![text("EUR and GBP against USD?")]),
        model(vec![call("call_a1", "get_rate", r#"{"pair":"EURUSD"}"#), call("call_a2", "get_rate", r#"{"pair":"GBPUSD"}"#)]),
        user(vec![result("call_a1", vec![text("1.09")])]),
        user(vec![result("call_a2", vec![text("1.31")])]),
        user(vec![text("Round them.")]),
    ];
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "EUR and GBP against USD?"}]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "call_a1", "name": "get_rate", "input": {"pair": "EURUSD"}},
            {"type": "tool_use", "id": "call_a2", "name": "get_rate", "input": {"pair": "GBPUSD"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "call_a1", "content": "1.09"},
            {"type": "tool_result", "tool_use_id": "call_a2", "content": "1.31"},
            {"type": "text", "text": "Round them."}]}]);
    assert_eq!(messages(turns), expected);
}

#[test]
fn a_result_comes_before_text_that_stood_before_it() {
    let turns = vec![model(vec![call("c", "f", "{}")]), user(vec![text("see"), result("c", vec![text("1")])])];
    let content = &messages(turns)[2]["content"];
    assert_eq!((&content[0]["type"], &content[1]["type"]), (&json!("tool_result"), &json!("text")));
}

#[test]
fn arguments_are_objects_as_written_and_empty_ones_are_empty_objects() {
    let turns = |arguments| vec![model(vec![call("c", "f", arguments)]), user(vec![result("c", vec![])])];
    let input = |arguments| messages(turns(arguments))[1]["content"][0]["input"].to_string();
    assert_eq!(input(""), "{}");
    assert_eq!(input("  "), "{}");
    assert_eq!(input(r#"{"b":"é😀","a":9007199254740993}"#), r#"{"b":"é😀","a":9007199254740993}"#);
    let refusal = encoded(chat(turns("[1]")), &target(SONNET)).expect_err("is refused");
    assert!(
        matches!(&refusal, Refusal::Invalid { field, .. } if field == "messages[0].content[0].tool_calls.function.arguments"),
        "{refusal}"
    );
    assert!(encoded(chat(turns("{\"a\":")), &target(SONNET)).is_err());
}

#[test]
fn free_text_for_a_tool_is_the_argument_of_a_function() {
    let call = ToolCall {
        custom: true,
        ..match call("c", "grep", "a \"b\"") {
            Block::ToolCall(call) => call,
            _ => unreachable!(),
        }
    };
    let turns = vec![model(vec![Block::ToolCall(call)]), user(vec![result("c", vec![])])];
    assert_eq!(messages(turns)[1]["content"][0]["input"], json!({"input": "a \"b\""}));
}

#[test]
fn results_are_text_or_blocks_and_empty_ones_have_no_content() {
    let content = |blocks| {
        let turns = vec![model(vec![call("c", "f", "{}")]), user(vec![result("c", blocks)])];
        messages(turns)[2]["content"][0].get("content").cloned()
    };
    assert_eq!(content(vec![]), None);
    assert_eq!(content(vec![text(" ")]), None);
    assert_eq!(content(vec![text("a")]), Some(json!("a")));
    assert_eq!(content(vec![text("a"), text("b")]), Some(json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])));
}

#[test]
fn results_of_the_generate_content_dialect_are_unwrapped() {
    let table = [
        (r#"{"output":"sunny"}"#, json!("sunny"), false),
        (r#"{"result":"sunny"}"#, json!("sunny"), false),
        (r#"{"error":"no"}"#, json!("no"), true),
        (r#"{"error":{"code":5}}"#, json!(r#"{"code":5}"#), true),
        (r#"{"output":{"a":1}}"#, json!(r#"{"output":{"a":1}}"#), false),
        (r#"{"a":1,"b":2}"#, json!(r#"{"a":1,"b":2}"#), false),
    ];
    for (object, content, failed) in table {
        let answer = ToolResult {
            object: Some(Raw::from(object.as_bytes())),
            id: Text::from(""),
            name: Some(Text::from("f")),
            failed: false,
            content: vec![],
        };
        let turns = vec![model(vec![call("", "f", "{}")]), user(vec![Block::ToolResult(answer)])];
        let body = sent(Request { turns, ..Request::new(Shape::GenerateContent) });
        let result = &body["messages"][2]["content"][0];
        assert_eq!((&result["content"], result.get("is_error").is_some()), (&content, failed), "{object}");
        assert_eq!(result["tool_use_id"], body["messages"][1]["content"][0]["id"], "an id made from its place");
    }
}

#[test]
fn ids_the_vendor_does_not_take_are_replaced_alike_in_call_and_result() {
    let turns = vec![model(vec![call("fc:1/x", "f", "{}")]), user(vec![result("fc:1/x", vec![])])];
    let body = messages(turns);
    let id = body[1]["content"][0]["id"].as_str().expect("an id");
    assert!(id.starts_with("toolu_") && body[2]["content"][0]["tool_use_id"] == id);
}

#[test]
fn an_orphan_result_is_refused_and_a_missing_one_is_made_up() {
    let orphan = chat(vec![user(vec![text("a")]), user(vec![result("x", vec![])])]);
    assert!(matches!(encoded(orphan, &target(SONNET)), Err(Refusal::Invalid { .. })));
    let (body, encoding) =
        encoded(chat(vec![model(vec![call("c", "f", "{}")]), user(vec![text("go on")])]), &target(SONNET)).expect("encodes");
    assert_eq!(body["messages"][2]["content"][0]["is_error"], json!(true));
    assert_eq!(losses(&encoding)[0].1, Weight::Minor);
}

#[test]
fn turns_alternate_start_with_the_user_and_hold_no_blank_text() {
    let turns =
        vec![model(vec![text("a")]), user(vec![text("b"), text(" ")]), user(vec![text("c")]), model(vec![text("")]), user(vec![text("d")])];
    let body = messages(turns);
    let roles: Vec<&str> = body.as_array().expect("messages").iter().filter_map(|turn| turn["role"].as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert_eq!(body[2]["content"].as_array().map(Vec::len), Some(3), "texts of merged turns stay blocks");
    assert_eq!(messages(vec![system("s")])[0]["content"][0]["text"], json!("(empty)"));
    assert!(encoded(chat(vec![]), &target(SONNET)).is_err());
}

#[test]
fn a_begun_answer_is_trimmed_where_the_model_takes_it_and_refused_elsewhere() {
    let turns = || vec![user(vec![text("a")]), model(vec![text("Sure: \n")])];
    assert_eq!(messages(turns())[1]["content"][0]["text"], json!("Sure:"));
    let refusal = encoded(chat(turns()), &target("claude-opus-4-6")).expect_err("is refused");
    assert!(matches!(&refusal, Refusal::Unsupported { field, message } if field == "messages" && message.contains("prefill")));
}

fn signed(origin: Option<u32>, shape: Shape) -> Block<'static> {
    let signature = Signature { shape, origin, value: Text::from("EqQB") };
    Block::Reasoning { text: Text::from("hm"), signature: Some(signature) }
}

#[test]
fn only_thinking_signed_by_this_provider_and_model_goes_back() {
    let kept = json!({"type": "thinking", "thinking": "hm", "signature": "EqQB"});
    let table = [
        (signed(Some(ORIGIN), Shape::Messages), true),
        (signed(Some(1), Shape::Messages), false),
        (signed(None, Shape::Messages), false),
        (signed(Some(ORIGIN), Shape::GenerateContent), false),
        (Block::Reasoning { text: Text::from("hm"), signature: None }, false),
    ];
    for (block, goes) in table {
        let (body, encoding) =
            encoded(chat(vec![user(vec![text("a")]), model(vec![block.clone(), text("b")]), user(vec![text("c")])]), &target(SONNET))
                .expect("encodes");
        let content = &body["messages"][1]["content"];
        assert_eq!(content[0] == kept, goes, "{block:?}");
        assert_eq!(losses(&encoding).is_empty(), goes);
    }
    let sealed = Block::Redacted(Signature { shape: Shape::Messages, origin: Some(ORIGIN), value: Text::from("X") });
    let body = messages(vec![user(vec![text("a")]), model(vec![sealed, text("b")]), user(vec![text("c")])]);
    assert_eq!(body[1]["content"][0], json!({"type": "redacted_thinking", "data": "X"}));
}

#[test]
fn refusals_and_earlier_searches_become_text() {
    let hit = SearchHit { url: Text::from("https://r"), title: Text::from("R"), sealed: Text::from("") };
    let search = Block::WebSearch { id: Text::from("ws_1"), query: Text::from("rust"), hits: vec![hit] };
    let body = messages(vec![user(vec![text("a")]), model(vec![search, Block::Refusal(Text::from("no"))]), user(vec![text("c")])]);
    let expected = json!([{"type": "text", "text": "[web search: rust]\n- R https://r"}, {"type": "text", "text": "no"}]);
    assert_eq!(body[1]["content"], expected);
}

#[test]
fn what_has_no_counterpart_is_left_out_and_weighs_much() {
    let piece = Block::Unknown { shape: Shape::Responses, kind: Text::from("item_reference"), raw: Raw::from(&b"{}"[..]) };
    let request = Request { turns: vec![user(vec![text("a"), piece])], ..Request::new(Shape::Responses) };
    let (_, encoding) = encoded(request, &target(SONNET)).expect("encodes");
    assert_eq!(losses(&encoding), [lost("input.content.item_reference", Weight::Major)]);
}
