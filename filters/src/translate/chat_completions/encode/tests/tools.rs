//! Tools and the choice among them.

use super::*;

#[test]
fn functions_have_a_schema_of_an_object() {
    let parameters = |schema: Option<&'static str>| {
        send(asked(|request| request.tools = vec![function("f", schema)]), &vendor()).body["tools"][0]["function"]["parameters"].clone()
    };
    assert_eq!(parameters(None), json!({"type": "object", "properties": {}}));
    assert_eq!(parameters(Some("{}")), json!({"type": "object", "properties": {}}));
    assert_eq!(parameters(Some(r#"{"anyOf":[{"type":"object"}]}"#)), json!({"type": "object", "anyOf": [{"type": "object"}]}));
    let kept = r#"{"type":"object","properties":{"b":{"type":"integer","maximum":9007199254740993},"a":{}}}"#;
    let mut encoding = Encoding::default();
    encode_request(asked(|request| request.tools = vec![function("f", Some(kept))]), &vendor(), &mut encoding).expect("a request");
    assert!(String::from_utf8_lossy(&encoding.body).contains(kept), "order and numbers stay as they are");
}

#[test]
fn strictness_is_asked_for_only_where_the_schema_allows_it() {
    let strict = |schema: &'static str, strict| {
        let parameters = Some(Raw::from(schema.as_bytes()));
        let tool = FunctionTool { name: "f".into(), description: None, parameters, vendor_schema: false, strict };
        send(asked(|request| request.tools = vec![Tool::Function(tool)]), &vendor()).body["tools"][0]["function"].get("strict").cloned()
    };
    let closed = r#"{"type":"object","properties":{"a":{"type":"object","properties":{},"additionalProperties":false}},"required":["a"],"additionalProperties":false}"#;
    assert_eq!(strict(closed, Some(true)), Some(json!(true)));
    assert_eq!(strict(r#"{"type":"object","properties":{"a":{}},"additionalProperties":false}"#, Some(true)), Some(json!(false)));
    assert_eq!(strict(r#"{"type":"object","properties":{"a":{}},"required":["a"]}"#, Some(true)), Some(json!(false)));
    assert_eq!(strict(closed, None), None);
}

#[test]
fn names_are_changed_the_same_way_everywhere_and_noted() {
    let turns = vec![user("go"), turn(Role::Assistant, vec![call("a", "a.b:c", "{}")]), turn(Role::User, vec![result("a", vec![])])];
    let mut asked = request(turns);
    asked.tools = vec![function("a.b:c", None)];
    asked.tool_choice = Some(Choice::Named("a.b:c".into()));
    let sent = send(asked, &vendor());
    assert_eq!(sent.body["tools"][0]["function"]["name"], "a_b_c");
    assert_eq!(sent.body["messages"][1]["tool_calls"][0]["function"]["name"], "a_b_c");
    assert_eq!(sent.body["tool_choice"], json!({"type": "function", "function": {"name": "a_b_c"}}));
    assert_eq!(sent.adaptations.renamed, [("a_b_c".to_owned(), "a.b:c".to_owned())]);
}

#[test]
fn every_choice_of_tools_has_its_word() {
    let choose = |choice: Choice<'static>, target: &Target<'_>| {
        send(
            asked(|request| {
                request.tools = vec![function("f", None), function("g", None)];
                request.tool_choice = Some(choice);
            }),
            target,
        )
    };
    assert_eq!(choose(Choice::Auto, &vendor()).body["tool_choice"], "auto");
    assert_eq!(choose(Choice::Any, &vendor()).body["tool_choice"], "required");
    assert_eq!(choose(Choice::None, &vendor()).body["tool_choice"], "none");
    let among = || Choice::Among { names: vec!["g".into()], required: true };
    let listed =
        json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "g"}}]}});
    assert_eq!(choose(among(), &vendor()).body["tool_choice"], listed);
    let sent = choose(among(), &compatible());
    assert_eq!((&sent.body["tool_choice"], sent.body["tools"].as_array().map(Vec::len)), (&json!("required"), Some(1)));
    let unknown = choose(Choice::Named("x".into()), &vendor());
    assert_eq!(unknown.body.get("tool_choice"), None);
    assert_eq!(unknown.losses, [("tool_choice".to_owned(), Weight::Major)]);
    let bare = send(asked(|request| request.tool_choice = Some(Choice::Any)), &vendor());
    assert_eq!(bare.body.get("tool_choice"), None, "no tools, no choice");
}

#[test]
fn free_text_tools_are_kept_by_the_vendor_and_wrapped_for_others() {
    let asked = || {
        let format = Some(Raw::from(&br#"{"type":"grammar","grammar":{"syntax":"lark","definition":"start: x"}}"#[..]));
        let arguments = Arguments::Text("select".into());
        let call = Block::ToolCall(ToolCall { id: "a".into(), name: "sql".into(), arguments, signature: None, custom: true });
        let turns = vec![user("go"), turn(Role::Assistant, vec![call]), turn(Role::User, vec![result("a", vec![])])];
        let tools = vec![Tool::Custom { name: "sql".into(), description: Some("d".into()), format }];
        Request { tools, ..request(turns) }
    };
    let sent = send(asked(), &vendor());
    assert_eq!(sent.body["tools"][0]["custom"]["format"]["type"], "grammar");
    assert_eq!(sent.body["messages"][1]["tool_calls"][0]["custom"], json!({"name": "sql", "input": "select"}));
    assert!(sent.adaptations.custom.is_empty());
    let sent = send(asked(), &compatible());
    let function = &sent.body["tools"][0]["function"];
    assert_eq!(function["parameters"]["required"], json!(["input"]));
    assert!(function["description"].as_str().expect("text").contains("start: x"));
    assert_eq!(sent.body["messages"][1]["tool_calls"][0]["function"]["arguments"], r#"{"input":"select"}"#);
    assert_eq!(sent.adaptations.custom, ["sql"]);
}

#[test]
fn a_screen_is_a_function_whose_calls_come_one_by_one() {
    let screen = ComputerTool {
        kind: "computer_20241022".into(),
        name: "computer".into(),
        width: Some(Number("1280")),
        height: Some(Number("800")),
        display: None,
        zoom: false,
    };
    let sent = send(asked(|request| request.tools = vec![Tool::Computer(screen)]), &vendor());
    assert_eq!(sent.body["tools"][0]["function"]["name"], "computer");
    assert_eq!(sent.body["parallel_tool_calls"], false);
}

#[test]
fn tools_that_only_their_vendor_runs_are_left_out() {
    let search = || Tool::WebSearch(WebSearch { name: Some("web_search".into()), ..WebSearch::default() });
    let lost = |tools: Vec<Tool<'static>>, choice: Option<Choice<'static>>| {
        let sent = send(
            asked(|request| {
                request.tools = tools;
                request.tool_choice = choice;
            }),
            &vendor(),
        );
        sent.losses
    };
    let noted = |weight| ("tools.web_search".to_owned(), weight);
    assert_eq!(lost(vec![search(), function("f", None)], None), [noted(Weight::Minor)]);
    assert_eq!(lost(vec![search()], None), [noted(Weight::Major)]);
    assert!(lost(vec![search(), function("f", None)], Some(Choice::Named("web_search".into()))).contains(&noted(Weight::Major)));
    let code = Tool::Unknown { kind: "code_execution_20250825".into(), raw: Raw::from(&b"{}"[..]) };
    assert_eq!(lost(vec![code], None), [("tools.code_execution_20250825".to_owned(), Weight::Major)]);
}

#[test]
fn models_that_refuse_tools_while_they_reason_are_told_not_to() {
    let tooled = |model: &'static str| send(asked(|request| request.tools = vec![function("f", None)]), &target(model, Quirks::VENDOR));
    assert_eq!(tooled("gpt-5.4").body["reasoning_effort"], "none");
    assert_eq!(tooled("gpt-5.1").body.get("reasoning_effort"), None);
    assert_eq!(tooled("gpt-6.2").body.get("reasoning_effort"), None, "it has no such word");
}

#[test]
fn schemas_of_the_other_vendor_are_written_plainly() {
    let tool = FunctionTool {
        name: "f".into(),
        description: None,
        parameters: Some(Raw::from(&br#"{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}"#[..])),
        vendor_schema: true,
        strict: None,
    };
    let sent = send(asked(|request| request.tools = vec![Tool::Function(tool)]), &vendor());
    let expected = json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}});
    assert_eq!(sent.body["tools"][0]["function"]["parameters"], expected);
}
