use serde_json::{Value, json};

use super::{SCHEMA, answers, body, call, function, hi, losses, refusal, result, said, target, turn, user, written};
use crate::canonical::{Block, Choice, ComputerTool, Number, Raw, Refusal, Request, Role, Text, Tool, WebSearch, Weight};
use crate::shape::Shape;
use crate::translate::{ProviderKind, Target};

#[test]
fn all_functions_stand_in_one_tool_and_nothing_is_sent_for_none() {
    let mut request = hi(Shape::ChatCompletions);
    request.tools = vec![function("a", SCHEMA), function("b", r#"{"type":"object","properties":{}}"#)];
    request.tool_choice = Some(Choice::Auto);
    let body = body(request, "gemini-2.5-pro");
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let expected = json!([{"functionDeclarations":[{"name":"a","parametersJsonSchema":schema},{"name":"b"}]}]);
    assert_eq!(body["tools"], expected);
    assert_eq!(body["toolConfig"], json!({"functionCallingConfig":{"mode":"AUTO"}}));
    let mut without = hi(Shape::ChatCompletions);
    without.tool_choice = Some(Choice::Any);
    let (body, encoding) = written(without, &target("gemini-2.5-pro"));
    assert!(body.get("toolConfig").is_none() && body.get("tools").is_none());
    assert_eq!(losses(&encoding), [("tool_choice".into(), Weight::Minor)]);
}

#[test]
fn older_models_get_schemas_in_the_vendors_dialect() {
    let mut request = hi(Shape::ChatCompletions);
    request.tools = vec![function("a", SCHEMA)];
    let declaration = &body(request, "gemini-2.0-flash")["tools"][0]["functionDeclarations"][0];
    assert_eq!(declaration["parameters"], json!({"type":"OBJECT","properties":{"a":{"type":"STRING"}}}));
}

#[test]
fn names_that_do_not_fit_are_changed_everywhere_alike() {
    let mut request = said(
        Shape::ChatCompletions,
        vec![user("hi"), turn(Role::Assistant, vec![Block::ToolCall(call("c", "1 st", "{}"))]), answers(vec![result("c", vec![])])],
    );
    request.tools = vec![function("1 st", SCHEMA)];
    request.tool_choice = Some(Choice::Named(Text::from("1 st")));
    let (body, encoding) = written(request, &target("gemini-2.5-pro"));
    assert_eq!(body["tools"][0]["functionDeclarations"][0]["name"], "_1_st");
    assert_eq!(body["contents"][1]["parts"][0]["functionCall"]["name"], "_1_st");
    assert_eq!(body["contents"][2]["parts"][0]["functionResponse"]["name"], "_1_st");
    assert_eq!(body["toolConfig"]["functionCallingConfig"], json!({"mode":"ANY","allowedFunctionNames":["_1_st"]}));
    assert_eq!(encoding.adaptations.renamed, [("_1_st".to_owned(), "1 st".to_owned())]);
}

#[test]
fn choices_are_modes() {
    let names = || vec![Text::from("a"), Text::from("b")];
    let table = [
        (Choice::Auto, json!({"mode":"AUTO"})),
        (Choice::Any, json!({"mode":"ANY"})),
        (Choice::None, json!({"mode":"NONE"})),
        (Choice::Named(Text::from("a")), json!({"mode":"ANY","allowedFunctionNames":["a"]})),
        (Choice::Among { names: names(), required: true }, json!({"mode":"ANY","allowedFunctionNames":["a","b"]})),
        (Choice::Among { names: names(), required: false }, json!({"mode":"AUTO"})),
    ];
    for (choice, expected) in table {
        let mut request = hi(Shape::ChatCompletions);
        request.tools = vec![function("a", SCHEMA), function("b", SCHEMA), function("c", SCHEMA)];
        let offered = if matches!(choice, Choice::Among { required: false, .. }) { 2 } else { 3 };
        request.tool_choice = Some(choice);
        let body = body(request, "gemini-2.5-pro");
        assert_eq!(body["toolConfig"]["functionCallingConfig"], expected);
        assert_eq!(body["tools"][0]["functionDeclarations"].as_array().unwrap().len(), offered);
    }
}

#[test]
fn nameless_tools_are_left_out_and_doubles_are_refused() {
    let mut request = hi(Shape::ChatCompletions);
    request.tools = vec![function("", SCHEMA), function("a", SCHEMA)];
    let (body, encoding) = written(request, &target("gemini-2.5-pro"));
    assert_eq!(body["tools"][0]["functionDeclarations"].as_array().unwrap().len(), 1);
    assert_eq!(losses(&encoding), [("tools.function.name".into(), Weight::Minor)]);
    let mut request = hi(Shape::ChatCompletions);
    request.tools = vec![function("a", SCHEMA), function("a", SCHEMA)];
    assert!(matches!(refusal(request, &target("gemini-2.5-pro")), Refusal::Invalid { .. }));
}

#[test]
fn tools_of_other_vendors_become_functions_or_are_noted() {
    let mut request = hi(Shape::Messages);
    let computer = ComputerTool {
        kind: Text::from("computer_20241022"),
        name: Text::from("computer"),
        width: Some(Number("1280")),
        height: Some(Number("800")),
        display: None,
        zoom: false,
    };
    let unknown = Tool::Unknown { kind: Text::from("code_execution_20250825"), raw: Raw::from(&b"{}"[..]) };
    let format = Raw::from(&br#"{"type":"grammar","grammar":{"syntax":"lark","definition":"start: /a/"}}"#[..]);
    let custom = Tool::Custom { name: Text::from("patch"), description: Some(Text::from("d")), format: Some(format) };
    request.tools = vec![Tool::Computer(computer), unknown, custom];
    let (body, encoding) = written(request, &target("gemini-2.5-pro"));
    let declarations = &body["tools"][0]["functionDeclarations"];
    assert_eq!((&declarations[0]["name"], &declarations[1]["name"]), (&json!("computer"), &json!("patch")));
    assert!(declarations[1]["description"].as_str().unwrap().ends_with("lark grammar:\nstart: /a/"));
    assert_eq!(encoding.adaptations.custom, ["patch"]);
    assert_eq!(losses(&encoding), [("tools.code_execution_20250825".into(), Weight::Major)]);
}

fn searching(from: Shape, functions: bool) -> Request<'static> {
    let mut request = hi(from);
    let name = (from == Shape::Messages).then(|| Text::from("web_search"));
    request.tools.push(Tool::WebSearch(WebSearch { name, blocked_domains: vec![Text::from("x.com")], ..WebSearch::default() }));
    if functions {
        request.tools.push(function("f", SCHEMA));
    }
    request
}

#[test]
fn a_search_goes_alone_or_beside_functions_where_the_model_can() {
    let gemini = target("gemini-2.5-pro");
    let (alone, encoding) = written(searching(Shape::Messages, false), &gemini);
    assert_eq!(alone["tools"], json!([{"googleSearch":{}}]));
    assert_eq!(losses(&encoding), [("tools.web_search.blocked_domains".into(), Weight::Minor)]);
    let (vertex, encoding) = written(searching(Shape::Messages, false), &Target { kind: ProviderKind::Vertex, ..gemini });
    assert_eq!(vertex["tools"], json!([{"googleSearch":{"excludeDomains":["x.com"]}}]));
    assert!(encoding.losses.is_empty());
    let (beside, encoding) = written(searching(Shape::Messages, true), &gemini);
    assert_eq!(beside["tools"].as_array().unwrap().len(), 1);
    assert_eq!(losses(&encoding), [("tools.web_search".into(), Weight::Minor)]);
    let (_, encoding) = written(searching(Shape::ChatCompletions, true), &gemini);
    assert_eq!(losses(&encoding), [("web_search_options".into(), Weight::Major)]);
    let mut forced = searching(Shape::Messages, true);
    forced.tool_choice = Some(Choice::Named(Text::from("web_search")));
    let (body, encoding) = written(forced, &gemini);
    assert!(body.get("toolConfig").is_none());
    assert_eq!(losses(&encoding), [("tools.web_search".into(), Weight::Major)]);
    let (third, _) = written(searching(Shape::Messages, true), &target("gemini-3-pro"));
    assert_eq!(third["tools"].as_array().unwrap().len(), 2);
    assert_eq!(third["toolConfig"], json!({"includeServerSideToolInvocations":true}));
}

#[test]
fn a_search_is_never_named_among_the_functions_to_choose() {
    let chosen = |choice| {
        let mut request = searching(Shape::Responses, true);
        request.tool_choice = Some(choice);
        let (body, encoding) = written(request, &target("gemini-3-pro"));
        (body["toolConfig"]["functionCallingConfig"].clone(), losses(&encoding))
    };
    let names = |names: &[&'static str]| names.iter().map(|name| Text::from(*name)).collect::<Vec<_>>();
    let blocked = || ("tools.web_search.blocked_domains".into(), Weight::Minor);
    let lost = vec![blocked(), ("tool_choice".into(), Weight::Minor)];
    let among = chosen(Choice::Among { names: names(&["f", "web_search"]), required: true });
    assert_eq!(among, (json!({"mode": "ANY", "allowedFunctionNames": ["f"]}), lost.clone()));
    let alone = chosen(Choice::Among { names: names(&["web_search"]), required: true });
    assert_eq!(alone, (Value::Null, lost.clone()));
    assert_eq!(chosen(Choice::Named(Text::from("web_search"))), (Value::Null, lost));
    assert_eq!(chosen(Choice::Named(Text::from("f"))).1, [blocked()]);
}
