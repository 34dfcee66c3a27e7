//! What was said before.

use super::*;

#[test]
fn results_come_before_the_users_words_and_pictures_follow_them() {
    let turns = vec![
        user("go"),
        turn(Role::Assistant, vec![text("ok"), call("a", "f", r#"{"b":1, "a":"x y"}"#), call("b", "f", "{}")]),
        turn(Role::User, vec![text("look"), result("a", vec![text("1"), image()]), result("b", vec![text("2"), text("3")])]),
    ];
    let expected = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "ok", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"b\":1,\"a\":\"x y\"}"}},
            {"id": "b", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        ]},
        {"role": "tool", "tool_call_id": "a", "content": "1\n[image returned by tool call a, shown below]"},
        {"role": "tool", "tool_call_id": "b", "content": "2\n3"},
        {"role": "user", "content": [
            {"type": "text", "text": "[image returned by tool call a]"},
            {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG}")}},
            {"type": "text", "text": "look"},
        ]},
    ]);
    assert_eq!(messages(turns), expected);
}

#[test]
fn pictures_of_results_in_turns_of_their_own_wait_for_the_last_result() {
    let turns = vec![
        user("go"),
        turn(Role::Assistant, vec![call("a", "f", "{}"), call("b", "f", "{}")]),
        turn(Role::User, vec![result("a", vec![image()])]),
        turn(Role::System, vec![text("note")]),
        turn(Role::User, vec![result("b", vec![])]),
        turn(Role::Assistant, vec![text("done")]),
    ];
    let roles: Vec<Json> = messages(turns).as_array().expect("messages").iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user", "system", "assistant"]);
}

#[test]
fn failed_and_structured_results_read_as_text() {
    let content = |failed, content: Vec<Block<'static>>, object: Option<&'static str>| {
        let object = object.map(|object| Raw::from(object.as_bytes()));
        let result = Block::ToolResult(ToolResult { id: "a".into(), name: None, failed, content, object });
        let turns = vec![user("go"), turn(Role::Assistant, vec![call("a", "f", "{}")]), turn(Role::User, vec![result])];
        messages(turns)[2]["content"].as_str().expect("text").to_owned()
    };
    assert_eq!(content(true, vec![text("no such file")], None), "Error: no such file");
    assert_eq!(content(true, vec![text("Error: no such file"), text("x")], None), "Error: no such file\nx");
    assert_eq!(content(true, vec![text("a"), text("b")], None), "Error: a\nb");
    assert_eq!(content(false, vec![], None), "");
    assert_eq!(content(false, vec![], Some(r#"{"output":"a\nb"}"#)), "a\nb");
    assert_eq!(content(false, vec![], Some(r#"{"result":"a"}"#)), "a");
    assert_eq!(content(false, vec![], Some(r#"{"error":"a"}"#)), "Error: a");
    assert_eq!(content(false, vec![], Some(r#"{"error":{"code": 1}}"#)), "Error: {\"code\":1}");
    assert_eq!(content(false, vec![], Some(r#"{"output":"a", "n": [1, 2]}"#)), r#"{"output":"a","n":[1,2]}"#);
    let unknown =
        Block::Unknown { shape: Shape::Messages, kind: "tool_reference".into(), raw: Raw::from(&br#"{"type":"tool_reference"}"#[..]) };
    assert_eq!(content(false, vec![unknown], None), r#"{"type":"tool_reference"}"#);
}

#[test]
fn calls_without_results_get_one_and_results_without_calls_are_refused() {
    let turns = vec![user("go"), turn(Role::Assistant, vec![call("a", "f", "{}")]), user("next")];
    let sent = send(request(turns), &vendor());
    assert_eq!(sent.body["messages"][2]["tool_call_id"], "a");
    assert!(sent.body["messages"][2]["content"].as_str().expect("text").starts_with("Error: "));
    assert_eq!(sent.losses, [("messages.tool_result".to_owned(), Weight::Minor)]);
    assert!(refused(request(vec![turn(Role::User, vec![result("x", vec![])])]), &vendor()).starts_with("read `messages[0]"));
}

#[test]
fn long_ids_are_replaced_the_same_way_in_call_and_result() {
    let id: &'static str = Box::leak("x".repeat(60).into_boxed_str());
    let sent = messages(vec![user("go"), turn(Role::Assistant, vec![call(id, "f", "{}")]), turn(Role::User, vec![result(id, vec![])])]);
    let call_id = sent[1]["tool_calls"][0]["id"].as_str().expect("an id");
    assert!(call_id.len() <= 40 && sent[2]["tool_call_id"] == call_id);
}

#[test]
fn several_texts_of_the_model_are_joined_as_their_dialect_means_them() {
    let turns = || vec![user("go"), turn(Role::Assistant, vec![text("a"), text(""), text("b")])];
    assert_eq!(messages(turns())[1]["content"], "a\n\nb");
    let from_generate = Request { from: Shape::GenerateContent, ..request(turns()) };
    assert_eq!(send(from_generate, &vendor()).body["messages"][1]["content"], "ab");
    let silent = messages(vec![user("a"), turn(Role::Assistant, vec![text("")]), user("b")]);
    assert_eq!(silent, json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]));
}

#[test]
fn earlier_searches_and_refusals_are_told_in_words() {
    let hits = vec![SearchHit { url: "https://x".into(), title: "T".into(), sealed: "".into() }];
    let search = Block::WebSearch { id: "s".into(), query: "q".into(), hits };
    let said = vec![search, text("found"), Block::Refusal("no".into())];
    let sent = messages(vec![user("go"), turn(Role::Assistant, said.clone())]);
    assert_eq!(sent[1], json!({"role": "assistant", "content": "[web search: q]\n- T https://x\n\nfound", "refusal": "no"}));
    let sent = send(request(vec![user("go"), turn(Role::Assistant, said)]), &compatible());
    assert_eq!(sent.body["messages"][1]["content"], "[web search: q]\n- T https://x\n\nfound\n\nno");
    let untitled = SearchHit { url: "https://x".into(), title: "".into(), sealed: "".into() };
    let search = |hits| Block::WebSearch { id: "s".into(), query: "q".into(), hits };
    let blocks = vec![text("a"), text("b"), search(vec![untitled]), search(Vec::new()), text("c"), text("d")];
    let from_responses = Request { from: Shape::Responses, ..request(vec![user("go"), turn(Role::Assistant, blocks)]) };
    let sent = send(from_responses, &compatible());
    assert_eq!(sent.body["messages"][1]["content"], "ab\n\n[web search: q]\n- https://x\n\n[web search: q]\n\ncd");
}

#[test]
fn earlier_reasoning_goes_only_to_those_who_want_it() {
    let signature = |shape, origin, value: &'static str| Some(Signature { shape, origin, value: value.into() });
    let thought = |signature| Block::Reasoning { text: "hm".into(), signature };
    let said = |block: Block<'static>| request(vec![user("go"), turn(Role::Assistant, vec![block, text("a")])]);
    let sent = send(said(thought(signature(Shape::Messages, None, "S"))), &vendor());
    assert_eq!(sent.body["messages"][1], json!({"role": "assistant", "content": "a"}));
    assert_eq!(sent.losses, [("messages.content.thinking".to_owned(), Weight::Silent)]);
    let echo = target("deepseek", Quirks { echo_reasoning: true, ..Quirks::COMPATIBLE });
    assert_eq!(send(said(thought(None)), &echo).body["messages"][1]["reasoning_content"], "hm");
    let sealed = r#"{"type":"reasoning.text","text":"","signature":"S","format":"x"}"#;
    let own = send(said(thought(signature(Shape::ChatCompletions, Some(7), sealed))), &compatible());
    assert_eq!(
        own.body["messages"][1]["reasoning_details"],
        json!([{"type": "reasoning.text", "text": "hm", "signature": "S", "format": "x"}])
    );
    let other = send(said(thought(signature(Shape::ChatCompletions, Some(8), sealed))), &compatible());
    assert_eq!(other.body["messages"][1].get("reasoning_details"), None);
    let data = r#"{"type":"redacted_thinking","data":"D"}"#;
    let redacted = Block::Redacted(Signature { shape: Shape::ChatCompletions, origin: Some(7), value: data.into() });
    assert_eq!(
        send(said(redacted), &compatible()).body["messages"][1]["thinking_blocks"],
        json!([{"type": "redacted_thinking", "data": "D"}])
    );
}

#[test]
fn a_token_of_a_call_returns_from_the_reasoning_before_it() {
    let token = Some(Signature { shape: Shape::ChatCompletions, origin: Some(7), value: "T".into() });
    let thought = Block::Reasoning { text: "".into(), signature: token };
    let turns = vec![user("go"), turn(Role::Assistant, vec![thought, call("a", "f", "{}")]), turn(Role::User, vec![result("a", vec![])])];
    let message = messages(turns)[1].clone();
    assert_eq!(message["tool_calls"][0]["extra_content"], json!({"google": {"thought_signature": "T"}}));
    assert_eq!(message.get("reasoning_details"), None);
}

#[test]
fn a_token_of_a_call_returns_to_who_minted_it() {
    let made = |shape, origin| {
        let signature = Some(Signature { shape, origin: Some(origin), value: "T".into() });
        let arguments = Arguments::Text("".into());
        let call = Block::ToolCall(ToolCall { id: "a".into(), name: "f".into(), arguments, signature, custom: false });
        messages(vec![user("go"), turn(Role::Assistant, vec![call]), turn(Role::User, vec![result("a", vec![])])])[1]["tool_calls"][0]
            .clone()
    };
    assert_eq!(made(Shape::ChatCompletions, 7)["extra_content"], json!({"google": {"thought_signature": "T"}}));
    assert_eq!(made(Shape::GenerateContent, 7).get("extra_content"), None);
    assert_eq!(made(Shape::ChatCompletions, 7)["function"]["arguments"], "{}", "no arguments are an empty object");
}
