//! Messages and their parts.

use super::*;

#[test]
fn messages_keep_their_order_and_roles() {
    let turns = turns(
        r#"{"role":"system","content":"a"},{"role":"user","content":"b"},{"role":"developer","content":[{"type":"text","text":"c"}]},{"role":"user","content":"d"}"#,
    );
    let seen: Vec<(Role, Block<'_>)> = turns.into_iter().map(|turn| (turn.role, turn.blocks[0].clone())).collect();
    let text = |said: &'static str| Block::Text(Text::from(said));
    assert_eq!(seen, [(Role::System, text("a")), (Role::User, text("b")), (Role::System, text("c")), (Role::User, text("d"))]);
}

#[test]
fn parts_of_a_users_message_are_read() {
    let turns = turns(
        r#"{"role":"user","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":"https://x/a.png","detail":"low"}},
        {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"auto"}},{"type":"image_url","image_url":"https://x/b.png"},
        {"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}},{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBE","filename":"a.pdf"}},
        {"type":"file","file":{"file_id":"file-1"}},{"type":"video_url","video_url":{"url":"u"}}]}"#,
    );
    let image = |source, detail: Option<&'static str>| Block::Image(Media { source, detail: detail.map(Text::from) });
    let url = |url: &'static str| Source::Url { url: Text::from(url), media_type: None };
    let data = |kind: &'static str, data: &'static str| Source::Base64 { media_type: Text::from(kind), data: Text::from(data) };
    let file = |source, title: Option<&'static str>| Block::Document(Document { source, title: title.map(Text::from), context: None });
    let expected = [
        Block::Text(Text::from("t")),
        image(url("https://x/a.png"), Some("low")),
        image(data("image/png", "AAAA"), None),
        image(url("https://x/b.png"), None),
        Block::Audio(Media { source: data("audio/wav", "AAAA"), detail: None }),
        file(data("application/pdf", "JVBE"), Some("a.pdf")),
        file(Source::File { shape: Shape::ChatCompletions, id: Text::from("file-1"), media_type: None }, None),
    ];
    assert_eq!(turns[0].blocks[..7], expected);
    assert!(matches!(&turns[0].blocks[7], Block::Unknown { kind, .. } if kind.is("video_url")));
}

#[test]
fn marks_and_names_beside_content_are_noted_once() {
    let body = r#"{"messages":[{"role":"user","name":"bob","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b","cache_control":{"type":"ephemeral"},"prompt_cache_breakpoint":{"mode":"explicit"}}]}]}"#;
    let expected = [
        ("cache_control".to_owned(), Weight::Silent),
        ("prompt_cache_breakpoint".to_owned(), Weight::Silent),
        ("messages.name".to_owned(), Weight::Minor),
    ];
    assert_eq!(extras(body), expected);
}

#[test]
fn a_models_message_gives_reasoning_text_refusal_and_calls_in_this_order() {
    let turns = turns(
        r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","type":"custom","custom":{"name":"sql","input":"select"}}],
        "content":"t","refusal":"no","reasoning_content":"hm","annotations":[],"audio":null,"function_call":null}"#,
    );
    let call = |id: &'static str, name: &'static str, arguments: &'static str, custom| {
        Block::ToolCall(ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: Arguments::Text(arguments.into()),
            signature: None,
            custom,
        })
    };
    let expected = [
        Block::Reasoning { text: "hm".into(), signature: None },
        Block::Text("t".into()),
        Block::Refusal("no".into()),
        call("a", "f", "{\"x\":1}", false),
        call("b", "sql", "select", true),
    ];
    assert_eq!(turns[0].blocks, expected);
}

#[test]
fn tokens_come_back_with_their_origin() {
    let minted = crate::canonical::Signature { shape: Shape::Messages, origin: Some(7), value: Text::from("S") };
    let token = tag(&minted);
    let message = format!(
        r#"{{"role":"assistant","reasoning_content":"ab","thinking_blocks":[{{"type":"thinking","thinking":"a","signature":"{token}"}},{{"type":"redacted_thinking","data":"{token}"}}],
        "tool_calls":[{{"id":"a","type":"function","function":{{"name":"f","arguments":{{}}}},"extra_content":{{"google":{{"thought_signature":"{token}"}}}}}}]}}"#
    );
    let turns = turns(&message);
    assert_eq!(turns[0].blocks[0], Block::Reasoning { text: "a".into(), signature: Some(minted.clone()) });
    assert_eq!(turns[0].blocks[1], Block::Redacted(minted.clone()));
    let Block::ToolCall(call) = &turns[0].blocks[2] else { panic!("a call") };
    assert_eq!(call.signature, Some(minted));
    assert!(matches!(&call.arguments, Arguments::Json(raw) if raw.as_text() == "{}"));
}

#[test]
fn foreign_tokens_are_of_this_dialect_and_lists_win_over_plain_reasoning() {
    let turns = turns(
        r#"{"role":"assistant","content":"t","reasoning":"x","reasoning_details":[{"type":"reasoning.text","text":"a","signature":"S"},{"type":"reasoning.encrypted","data":"D"}]}"#,
    );
    let signature = |value: &'static str| crate::canonical::Signature { shape: Shape::ChatCompletions, origin: None, value: value.into() };
    assert_eq!(
        turns[0].blocks[..2],
        [Block::Reasoning { text: "a".into(), signature: Some(signature("S")) }, Block::Redacted(signature("D"))]
    );
}

#[test]
fn reasoning_among_the_parts_is_no_text() {
    let turns = turns(
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"type":"text","text":"c"}]}"#,
    );
    assert_eq!(turns[0].blocks, [Block::Reasoning { text: "ab".into(), signature: None }, Block::Text("c".into())]);
}

#[test]
fn results_of_tools_are_turns_of_the_user() {
    let turns = turns(
        r#"{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"2"},{"type":"image_url","image_url":{"url":"https://x"}}]},{"role":"function","name":"f","content":null}"#,
    );
    let result = |id: &'static str, name: Option<&'static str>, content| {
        vec![Block::ToolResult(ToolResult { id: id.into(), name: name.map(Text::from), failed: false, content, object: None })]
    };
    let image = Block::Image(Media { source: Source::Url { url: "https://x".into(), media_type: None }, detail: None });
    assert_eq!(turns[0].blocks, result("a", None, vec![Block::Text("1".into())]));
    assert_eq!(turns[1].blocks, result("b", None, vec![Block::Text("2".into()), image]));
    assert_eq!(turns[2].blocks, result("", Some("f"), Vec::new()));
    assert!(turns.iter().all(|turn| turn.role == Role::User));
}
