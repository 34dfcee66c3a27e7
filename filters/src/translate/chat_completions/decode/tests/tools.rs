//! Tools, and mistakes.

use super::*;

#[test]
fn tools_and_the_choice_are_read() {
    let body = with(
        r#""tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"},"strict":true}},{"type":"custom","custom":{"name":"sql","format":{"type":"text"}}},
        {"type":"function","function":{"name":"","parameters":{}}},{"type":"mcp","server_url":"u"}],"web_search_options":{"search_context_size":"low","user_location":{"type":"approximate","approximate":{"city":"Ulm"}}}"#,
    );
    let request = read(&body);
    assert!(matches!(&request.tools[0], Tool::Function(f) if f.name.is("f") && f.strict == Some(true) && f.parameters.is_some()));
    assert!(matches!(&request.tools[1], Tool::Custom { name, format: Some(_), .. } if name.is("sql")));
    assert!(matches!(&request.tools[2], Tool::Unknown { kind, .. } if kind.is("mcp")));
    let Tool::WebSearch(search) = &request.tools[3] else { panic!("a search") };
    assert_eq!(
        (search.context_size.clone(), search.location.as_ref().map(|place| place.as_text().into_owned())),
        (Some("low".into()), Some(r#"{"city":"Ulm"}"#.to_owned()))
    );
    assert_eq!(extras(&body), [("tools.function.name".to_owned(), Weight::Minor)], "a tool without a name is left out");
}

#[test]
fn every_choice_of_tools_is_read() {
    let choice = |value: &'static str| {
        let body: &'static str = Box::leak(with(&format!(r#""tool_choice":{value}"#)).into_boxed_str());
        read(body).tool_choice.expect("a choice")
    };
    assert_eq!(choice(r#""auto""#), Choice::Auto);
    assert_eq!(choice(r#""required""#), Choice::Any);
    assert_eq!(choice(r#""none""#), Choice::None);
    assert_eq!(choice(r#"{"type":"function","function":{"name":"f"}}"#), Choice::Named("f".into()));
    assert_eq!(choice(r#"{"type":"custom","custom":{"name":"f"}}"#), Choice::Named("f".into()));
    let among = r#"{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}},{"type":"function","name":"g"}]}}"#;
    assert_eq!(choice(among), Choice::Among { names: vec!["f".into(), "g".into()], required: true });
}

#[test]
fn the_old_functions_become_tools() {
    let body = r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"1"}],
        "functions":[{"name":"f","parameters":{"type":"object"}}],"function_call":{"name":"f"}}"#;
    let request = read(body);
    assert!(matches!(&request.tools[..], [Tool::Function(f)] if f.name.is("f")));
    assert_eq!(request.tool_choice, Some(Choice::Named("f".into())));
    let mut turns = request.turns;
    crate::translate::map::conversation::pair(&mut turns, &mut crate::canonical::Losses::default()).expect("they belong together");
    let (Block::ToolCall(call), Block::ToolResult(result)) = (&turns[1].blocks[0], &turns[2].blocks[0]) else {
        panic!("a call and its result")
    };
    assert!(!call.id.is_empty() && call.id == result.id);
}

#[test]
fn mistakes_are_named_by_their_place() {
    let table = [
        (r#"{"model":"m"}"#.to_owned(), "messages"),
        (r#"{"messages":[]}"#.to_owned(), "messages"),
        (r#"{"messages":{}}"#.to_owned(), "messages"),
        (r#"{"messages":[{"role":"owner","content":"x"}]}"#.to_owned(), "messages[0].role"),
        (r#"{"messages":[{"role":"user","content":5}]}"#.to_owned(), "messages[0].content"),
        (r#"{"messages":[{"role":"user","content":[{"type":"text"}]}]}"#.to_owned(), "messages[0].content[0].text"),
        (r#"{"messages":[{"role":"tool","content":"x"}]}"#.to_owned(), "messages[0].tool_call_id"),
        (
            r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function"}]}]}"#.to_owned(),
            "messages[0].tool_calls[0].function",
        ),
        (
            r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,***"}}]}]}"#.to_owned(),
            "messages[0].content[0].image_url.url",
        ),
        (with(r#""temperature":"hot""#), "temperature"),
        (with(r#""max_tokens":-1"#), "max_tokens"),
        (with(r#""n":0"#), "n"),
        (with(r#""stop":5"#), "stop"),
        (
            with(r#""tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}]"#),
            "tools[1].function.name",
        ),
        (with(r#""tools":[{"type":"function","function":{"name":"f","parameters":[]}}]"#), "tools[0].function.parameters"),
        (with(r#""tool_choice":"maybe""#), "tool_choice"),
        (with(r#""response_format":{"type":"xml"}"#), "response_format.type"),
        ("[]".to_owned(), ""),
    ];
    for (body, place) in table {
        let said = refusal(&body);
        assert!(said.starts_with(&format!("read `{place}`:")), "{body}: {said}");
    }
    assert_eq!(refusal(&with(r#""stream":"yes""#)), "read `stream`: must be a boolean, not a string");
}
