//! B.0.6, B.0.8, B.1 tools, G.1, G.2.

use super::*;
use crate::canonical::{Choice, ComputerTool, Number, VendorTool, WebSearch};

fn offering(tools: Vec<Tool<'static>>) -> Request<'static> {
    Request { tools, ..hello() }
}

fn chosen(choice: Choice<'static>, parallel: Option<bool>) -> Value {
    let tools = vec![function("f", None), function("g", None)];
    sent(Request { tool_choice: Some(choice), parallel_tool_calls: parallel, ..offering(tools) })
}

#[test]
fn functions_keep_name_description_and_schema() {
    let tool = Tool::Function(FunctionTool {
        name: Text::from("f"),
        description: Some(Text::from("does")),
        parameters: Some(Raw::from(&br#"{"type":"object","properties":{"b":{},"a":{"default":1.0}}}"#[..])),
        vendor_schema: false,
        strict: Some(false),
    });
    let (body, encoding) = encoded(offering(vec![tool]), &target(SONNET)).expect("encodes");
    assert_eq!(
        body["tools"],
        json!([{"name": "f", "description": "does", "input_schema": {"type": "object", "properties": {"b": {}, "a": {"default": 1.0}}}}])
    );
    assert!(encoding.losses.is_empty());
}

#[test]
fn every_root_becomes_an_object() {
    let object = json!({"type": "object", "properties": {}});
    let table = [
        (None, object.clone(), 0),
        (Some("{}"), json!({"type": "object"}), 0),
        (Some(r#"{"properties":{"a":{}}}"#), json!({"type": "object", "properties": {"a": {}}}), 0),
        (Some(r#"{"type":["object","null"],"properties":{}}"#), object.clone(), 0),
        (Some(r#"{"type":"string"}"#), object, 1),
        (
            Some(r#"{"anyOf":[{"properties":{"a":{}},"required":["a","b"]},{"properties":{"b":{}},"required":["b"]}],"description":"d"}"#),
            json!({"type": "object", "description": "d", "properties": {"a": {}, "b": {}}, "required": ["b"]}),
            0,
        ),
    ];
    for (schema, expected, changes) in table {
        let (body, encoding) = encoded(offering(vec![function("f", schema)]), &target(SONNET)).expect("encodes");
        assert_eq!(body["tools"][0]["input_schema"], expected, "{schema:?}");
        assert_eq!(losses(&encoding).len(), changes, "{schema:?}");
    }
}

#[test]
fn schemas_of_the_generate_content_vendor_become_plain_ones() {
    let Tool::Function(tool) = function("f", Some(r#"{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}"#)) else {
        unreachable!()
    };
    let body = sent(offering(vec![Tool::Function(FunctionTool { vendor_schema: true, ..tool })]));
    assert_eq!(body["tools"][0]["input_schema"], json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}));
}

#[test]
fn strictness_is_sent_only_where_it_is_known() {
    let Tool::Function(tool) = function("f", Some(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#)) else { unreachable!() };
    let strict = || offering(vec![Tool::Function(FunctionTool { strict: Some(true), ..tool.clone() })]);
    let (body, encoding) = encoded(strict(), &target(SONNET)).expect("encodes");
    assert_eq!((&body["tools"][0]["strict"], &body["tools"][0]["input_schema"]["additionalProperties"]), (&json!(true), &json!(false)));
    assert!(encoding.losses.is_empty());
    for target in [target("claude-3-5-sonnet-20241022"), bedrock(SONNET)] {
        let (body, encoding) = encoded(strict(), &target).expect("encodes");
        assert!(body["tools"][0].get("strict").is_none());
        assert_eq!(losses(&encoding), [lost("tools.function.strict", Weight::Minor)]);
    }
}

#[test]
fn names_are_changed_alike_everywhere_and_remembered() {
    let turns = vec![user(vec![text("a")]), model(vec![call("c", "a.b", "{}")]), user(vec![result("c", vec![])])];
    let request = Request { tools: vec![function("a.b", None)], tool_choice: Some(Choice::Named(Text::from("a.b"))), ..chat(turns) };
    let (body, encoding) = encoded(request, &target(SONNET)).expect("encodes");
    let names = [&body["tools"][0]["name"], &body["tool_choice"]["name"], &body["messages"][1]["content"][0]["name"]];
    assert_eq!(names, [&json!("a_b"); 3]);
    assert_eq!(encoding.adaptations.renamed, [("a_b".to_owned(), "a.b".to_owned())]);
}

#[test]
fn every_choice_has_its_words() {
    assert_eq!(chosen(Choice::Auto, None)["tool_choice"], json!({"type": "auto"}));
    assert_eq!(chosen(Choice::Any, Some(true))["tool_choice"], json!({"type": "any"}));
    assert_eq!(
        chosen(Choice::Named(Text::from("g")), Some(false))["tool_choice"],
        json!({"type": "tool", "name": "g", "disable_parallel_tool_use": true})
    );
    assert_eq!(chosen(Choice::None, Some(false))["tool_choice"], json!({"type": "none"}));
    for (required, word) in [(true, "any"), (false, "auto")] {
        let body = chosen(Choice::Among { names: vec![Text::from("g")], required }, None);
        assert_eq!(
            (&body["tools"][0]["name"], body["tools"].as_array().map(Vec::len)),
            (&json!("g"), Some(1)),
            "only the subset is offered"
        );
        assert_eq!(body["tool_choice"], json!({"type": word}));
    }
}

#[test]
fn one_call_at_a_time_is_said_without_a_choice_too() {
    let body = sent(Request { parallel_tool_calls: Some(false), ..offering(vec![function("f", None)]) });
    assert_eq!(body["tool_choice"], json!({"type": "auto", "disable_parallel_tool_use": true}));
    assert!(sent(Request { parallel_tool_calls: Some(false), ..hello() }).get("tool_choice").is_none());
}

#[test]
fn a_choice_without_tools_goes() {
    let (body, encoding) = encoded(Request { tool_choice: Some(Choice::Any), ..hello() }, &target(SONNET)).expect("encodes");
    assert!(body.get("tool_choice").is_none());
    assert_eq!(losses(&encoding), [lost("tool_choice", Weight::Minor)]);
}

#[test]
fn tools_of_the_history_are_declared_when_none_are_offered() {
    let turns = vec![
        user(vec![text("a")]),
        model(vec![call("c", "f", "{}"), call("d", "f", "{}")]),
        user(vec![result("c", vec![]), result("d", vec![])]),
    ];
    let body = sent(chat(turns));
    assert_eq!(body["tools"], json!([{"name": "f", "input_schema": {"type": "object", "properties": {}}}]));
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}

#[test]
fn tools_for_free_text_become_functions() {
    let format = br#"{"type":"grammar","grammar":{"syntax":"lark","definition":"start: /a+/"}}"#;
    let tool = Tool::Custom { name: Text::from("grep"), description: Some(Text::from("Finds.")), format: Some(Raw::from(&format[..])) };
    let (body, encoding) = encoded(offering(vec![tool]), &target(SONNET)).expect("encodes");
    assert_eq!(
        body["tools"][0]["input_schema"],
        json!({"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]})
    );
    assert_eq!(body["tools"][0]["description"], json!("Finds.\nThe input must match this lark grammar:\nstart: /a+/"));
    assert_eq!(encoding.adaptations.custom, ["grep"]);
}

#[test]
fn search_of_the_web_is_the_vendors_own_except_on_bedrock() {
    let search = || {
        let location = br#"{"type":"approximate","approximate":{"city":"Ulm","country":"DE"}}"#;
        let search = WebSearch { context_size: Some(Text::from("high")), location: Some(Raw::from(&location[..])), ..WebSearch::default() };
        offering(vec![Tool::WebSearch(search)])
    };
    let expected = json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 10,
        "user_location": {"type": "approximate", "city": "Ulm", "country": "DE"}}]);
    assert_eq!(sent(search())["tools"], expected);
    let (body, encoding) = encoded(search(), &bedrock(SONNET)).expect("encodes");
    assert!(body.get("tools").is_none());
    assert_eq!(losses(&encoding), [lost("web_search_options", Weight::Major)]);
}

#[test]
fn tools_of_other_vendors_weigh_much() {
    let tool = Tool::Unknown { kind: Text::from("codeExecution"), raw: Raw::from(&b"{}"[..]) };
    let (body, encoding) = encoded(offering(vec![tool, function("f", None)]), &target(SONNET)).expect("encodes");
    assert_eq!(body["tools"].as_array().map(Vec::len), Some(1));
    assert_eq!(losses(&encoding), [lost("tools.codeExecution", Weight::Major)]);
}

#[test]
fn screens_and_shells_are_declared_natively() {
    let screen = ComputerTool {
        kind: Text::from("computer_20250124"),
        name: Text::from("computer"),
        width: Some(Number("1280")),
        height: Some(Number("800")),
        display: None,
        zoom: false,
    };
    let shell = VendorTool { kind: Text::from("bash_20250124"), name: Text::from("bash") };
    let body = sent(offering(vec![Tool::Computer(screen), Tool::Vendor(shell)]));
    let expected = json!([{"type": "computer_20250124", "name": "computer", "display_width_px": 1280, "display_height_px": 800},
        {"type": "bash_20250124", "name": "bash"}]);
    assert_eq!(body["tools"], expected);
}

#[test]
fn a_function_named_like_the_vendors_search_is_told_apart() {
    let tools = vec![Tool::WebSearch(WebSearch::default()), function("web_search", None)];
    let (body, encoding) = encoded(offering(tools), &target(SONNET)).expect("encodes");
    assert_eq!((&body["tools"][0]["name"], &body["tools"][1]["name"]), (&json!("web_search"), &json!("web_search_function")));
    assert_eq!(encoding.adaptations.renamed, [("web_search_function".to_owned(), "web_search".to_owned())]);
}
