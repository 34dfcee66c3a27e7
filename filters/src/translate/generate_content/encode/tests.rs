use serde_json::{Value, json};

use super::encode_request;
use crate::canonical::{
    Arguments, Block, Choice, ComputerTool, Document, Extra, FunctionTool, Media, Number, OutputFormat, Raw, Refusal, Request, Role,
    SearchHit, Signature, Source, Text, Thinking, Tool, ToolCall, ToolResult, Turn, WebSearch, Weight,
};
use crate::shape::Shape;
use crate::translate::{Capabilities, Encoding, ProviderKind, Quirks, Target};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB";

fn target(model: &str) -> Target<'_> {
    Target {
        shape: Shape::GenerateContent,
        kind: ProviderKind::Gemini,
        model,
        origin: 7,
        capabilities: Capabilities::of(Shape::GenerateContent, model),
        quirks: Quirks::VENDOR,
    }
}

fn text(text: &'static str) -> Block<'static> {
    Block::Text(Text::from(text))
}

fn turn(role: Role, blocks: Vec<Block<'static>>) -> Turn<'static> {
    Turn { role, blocks }
}

fn user(words: &'static str) -> Turn<'static> {
    turn(Role::User, vec![text(words)])
}

/// A request of a client of `from` that says hi.
fn hi(from: Shape) -> Request<'static> {
    Request { turns: vec![user("hi")], ..Request::new(from) }
}

fn said(from: Shape, turns: Vec<Turn<'static>>) -> Request<'static> {
    Request { turns, ..Request::new(from) }
}

fn call(id: &'static str, name: &'static str, arguments: &'static str) -> ToolCall<'static> {
    ToolCall {
        id: Text::from(id),
        name: Text::from(name),
        arguments: Arguments::Text(Text::from(arguments)),
        signature: None,
        custom: false,
    }
}

fn result(id: &'static str, content: Vec<Block<'static>>) -> ToolResult<'static> {
    ToolResult { id: Text::from(id), name: None, failed: false, content, object: None }
}

fn answers(results: Vec<ToolResult<'static>>) -> Turn<'static> {
    turn(Role::User, results.into_iter().map(Block::ToolResult).collect())
}

fn function(name: &'static str, schema: &'static str) -> Tool<'static> {
    Tool::Function(FunctionTool {
        name: Text::from(name),
        description: None,
        parameters: Some(Raw::from(schema.as_bytes())),
        vendor_schema: false,
        strict: None,
    })
}

const SCHEMA: &str = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;

fn written(request: Request<'_>, target: &Target<'_>) -> (Value, Encoding) {
    let mut encoding = Encoding::default();
    encode_request(request, target, &mut encoding).expect("a request that can be carried");
    (serde_json::from_slice(&encoding.body).expect("JSON"), encoding)
}

fn body(request: Request<'_>, model: &str) -> Value {
    written(request, &target(model)).0
}

fn losses(encoding: &Encoding) -> Vec<(String, Weight)> {
    encoding.losses.iter().map(|loss| (loss.field.to_string(), loss.weight)).collect()
}

fn refusal(request: Request<'_>, target: &Target<'_>) -> Refusal {
    encode_request(request, target, &mut Encoding::default()).expect_err("a refusal")
}

#[test]
fn instructions_become_parts_and_turns_of_one_role_are_merged() {
    let turns = vec![
        turn(Role::System, vec![text("be"), text("brief")]),
        user("a"),
        user("b"),
        turn(Role::Assistant, vec![text("c")]),
        turn(Role::System, vec![text("late")]),
        user("d"),
    ];
    let expected = json!({
        "systemInstruction":{"parts":[{"text":"be"},{"text":"brief"},{"text":"late"}]},
        "contents":[{"role":"user","parts":[{"text":"a"},{"text":"b"}]},{"role":"model","parts":[{"text":"c"}]},{"role":"user","parts":[{"text":"d"}]}],
    });
    assert_eq!(body(said(Shape::ChatCompletions, turns), "gemini-2.5-pro"), expected);
}

#[test]
fn a_conversation_that_starts_with_the_model_or_holds_instructions_only_gets_a_user() {
    let first = body(said(Shape::Messages, vec![turn(Role::Assistant, vec![text("a")]), user("b")]), "gemini-2.5-pro");
    assert_eq!(first["contents"][0]["role"], "user");
    let only = body(said(Shape::ChatCompletions, vec![turn(Role::System, vec![text("a")])]), "gemini-2.5-pro");
    assert_eq!(only["contents"], json!([{"role":"user","parts":[{"text":"(empty)"}]}]));
}

#[test]
fn escaped_text_is_copied_as_written() {
    let request = said(Shape::ChatCompletions, vec![turn(Role::User, vec![Block::Text(Text::Escaped(br"a\u00e9\/b"))])]);
    let mut encoding = Encoding::default();
    encode_request(request, &target("gemini-2.5-pro"), &mut encoding).unwrap();
    assert_eq!(String::from_utf8(encoding.body).unwrap(), r#"{"contents":[{"role":"user","parts":[{"text":"a\u00e9\/b"}]}]}"#);
}

fn two_calls() -> Request<'static> {
    let calls = vec![
        text("wait"),
        Block::ToolCall(call("c1", "rate", r#"{"b":9007199254740993,"a":1.0}"#)),
        Block::ToolCall(call("c2", "rate", " ")),
    ];
    let results = vec![result("c2", vec![text("1.31")]), result("c1", vec![text(r#"{"eur":1.09}"#)])];
    said(Shape::ChatCompletions, vec![user("hi"), turn(Role::Assistant, calls), answers(results), user("round")])
}

#[test]
fn results_stand_alone_in_one_content_in_the_order_of_the_calls_and_get_their_names() {
    let expected = json!([
        {"role":"user","parts":[{"text":"hi"}]},
        {"role":"model","parts":[{"text":"wait"},{"functionCall":{"name":"rate","args":{"b":9007199254740993_u64,"a":1.0}}},{"functionCall":{"name":"rate","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"rate","response":{"eur":1.09}}},{"functionResponse":{"name":"rate","response":{"output":"1.31"}}}]},
        {"role":"user","parts":[{"text":"round"}]},
    ]);
    assert_eq!(body(two_calls(), "gemini-2.5-pro")["contents"], expected);
}

#[test]
fn ids_and_signatures_go_to_models_that_know_them_only() {
    let third = body(two_calls(), "gemini-3-pro");
    let parts = &third["contents"][1]["parts"];
    assert_eq!(parts[1]["functionCall"]["id"], "c1");
    assert_eq!(third["contents"][2]["parts"][0]["functionResponse"]["id"], "c1");
    assert_eq!(parts[1]["thoughtSignature"], "skip_thought_signature_validator");
    assert_eq!(parts[2].get("thoughtSignature"), None, "the first call of a step only");
    let older = serde_json::to_string(&body(two_calls(), "gemini-2.5-pro")).unwrap();
    assert!(!older.contains("\"id\"") && !older.contains("thoughtSignature"));
}

fn signature(origin: u32) -> Option<Signature<'static>> {
    Some(Signature { shape: Shape::GenerateContent, origin: Some(origin), value: Text::from("CvAB") })
}

/// One turn of the model with `blocks`, whose calls are answered.
fn signed(from: Shape, blocks: Vec<Block<'static>>) -> Value {
    let calls: Vec<Text<'static>> =
        blocks.iter().filter_map(|block| if let Block::ToolCall(call) = block { Some(call.id.clone()) } else { None }).collect();
    let results =
        calls.into_iter().map(|id| ToolResult { id, name: None, failed: false, content: vec![text("1")], object: None }).collect();
    let body = body(said(from, vec![user("hi"), turn(Role::Assistant, blocks), answers(results)]), "gemini-3-pro");
    body["contents"][1]["parts"].clone()
}

#[test]
fn a_signature_returns_to_its_call_whether_it_came_with_it_or_in_reasoning_before_it() {
    let with = Block::ToolCall(ToolCall { signature: signature(7), ..call("c1", "f", "{}") });
    assert_eq!(signed(Shape::ChatCompletions, vec![with])[0]["thoughtSignature"], "CvAB");
    let before = Block::Reasoning { text: Text::from(""), signature: signature(7) };
    let parts = signed(Shape::Messages, vec![text("a"), before.clone(), Block::ToolCall(call("c1", "f", "{}"))]);
    assert_eq!(parts[1]["thoughtSignature"], "CvAB");
    assert_eq!(parts.as_array().unwrap().len(), 2);
    let after = signed(Shape::Messages, vec![text("a"), before.clone()]);
    assert_eq!(after, json!([{"text":"a","thoughtSignature":"CvAB"}]));
    let alone = signed(Shape::Messages, vec![before.clone(), text("a")]);
    assert_eq!(alone, json!([{"text":"a","thoughtSignature":"CvAB"}]));
    let both = signed(Shape::Messages, vec![text("a"), before.clone(), before, Block::ToolCall(call("c1", "f", "{}"))]);
    assert_eq!(both[0]["thoughtSignature"], "CvAB");
    assert_eq!(both[1]["thoughtSignature"], "CvAB");
}

#[test]
fn a_signature_of_another_model_is_replaced_and_reasoning_of_others_is_left_out() {
    let foreign = Block::ToolCall(ToolCall { signature: signature(8), ..call("c1", "f", "{}") });
    assert_eq!(signed(Shape::ChatCompletions, vec![foreign])[0]["thoughtSignature"], "skip_thought_signature_validator");
    let minted = Signature { shape: Shape::Messages, origin: Some(7), value: Text::from("Eq") };
    let turns = vec![
        user("hi"),
        turn(Role::Assistant, vec![Block::Reasoning { text: Text::from("hm"), signature: Some(minted.clone()) }, Block::Redacted(minted)]),
        user("go on"),
    ];
    let (body, encoding) = written(said(Shape::Messages, turns), &target("gemini-3-pro"));
    assert_eq!(body["contents"], json!([{"role":"user","parts":[{"text":"hi"},{"text":"go on"}]}]));
    assert_eq!(losses(&encoding), [("messages.content.thinking".into(), Weight::Silent)]);
}

#[test]
fn results_become_objects() {
    let object = |result: ToolResult<'static>| {
        let turns = vec![user("hi"), turn(Role::Assistant, vec![Block::ToolCall(call("c", "f", "{}"))]), answers(vec![result])];
        body(said(Shape::ChatCompletions, turns), "gemini-2.5-pro")["contents"][2]["parts"][0]["functionResponse"]["response"].clone()
    };
    let of = |words: &'static str| object(result("c", vec![text(words)]));
    assert_eq!(of(r#" {"a":[1]} "#), json!({"a":[1]}));
    assert_eq!(of(r#"{"a":{"$ref":"x"}}"#), json!({"output":r#"{"a":{"$ref":"x"}}"#}), "the vendor reads it as a pointer");
    assert_eq!(of("[1]"), json!({"output":"[1]"}));
    assert_eq!(of("plain"), json!({"output":"plain"}));
    assert_eq!(of(r#"{"broken"#), json!({"output":"{\"broken"}));
    assert_eq!(object(result("c", vec![])), json!({"output":""}));
    assert_eq!(object(result("c", vec![text("a"), text("b")])), json!({"output":"a\nb"}));
    assert_eq!(object(ToolResult { failed: true, ..result("c", vec![text(r#"{"a":1}"#)]) }), json!({"error":"{\"a\":1}"}));
    let own = ToolResult { object: Some(Raw::from(&br#"{"x":1}"#[..])), ..result("c", vec![]) };
    assert_eq!(object(own), json!({"x":1}));
}

fn png() -> Block<'static> {
    Block::Image(Media { source: Source::Base64 { media_type: Text::from("image/jpeg"), data: Text::from(PNG) }, detail: None })
}

#[test]
fn pictures_of_results_stand_in_the_result_or_after_it() {
    let turns = || {
        let shown = result("c", vec![text("see"), png()]);
        vec![user("hi"), turn(Role::Assistant, vec![Block::ToolCall(call("c", "f", "{}"))]), answers(vec![shown])]
    };
    let picture = json!({"inlineData":{"mimeType":"image/png","data":PNG}});
    let third = body(said(Shape::Messages, turns()), "gemini-3-pro");
    assert_eq!(third["contents"][2]["parts"][0]["functionResponse"]["parts"], json!([picture]));
    assert_eq!(third["contents"].as_array().unwrap().len(), 3);
    let older = body(said(Shape::Messages, turns()), "gemini-2.5-pro");
    assert_eq!(older["contents"][2]["parts"][0]["functionResponse"], json!({"name":"f","response":{"output":"see"}}));
    assert_eq!(older["contents"][3]["parts"], json!([{"text":"[returned by the call of f (c)]"}, picture]));
}

#[test]
fn a_call_without_a_result_gets_one_and_a_result_without_a_call_is_refused() {
    let open =
        said(Shape::ChatCompletions, vec![user("hi"), turn(Role::Assistant, vec![Block::ToolCall(call("c", "f", "{}"))]), user("well?")]);
    let (body, encoding) = written(open, &target("gemini-2.5-pro"));
    assert!(body["contents"][2]["parts"][0]["functionResponse"]["response"]["error"].is_string());
    assert_eq!(body["contents"][3]["parts"][0]["text"], "well?");
    assert!(!encoding.losses.is_empty());
    let orphan = said(Shape::ChatCompletions, vec![user("hi"), answers(vec![result("x", vec![])])]);
    assert!(matches!(refusal(orphan, &target("gemini-2.5-pro")), Refusal::Invalid { .. }));
}

#[test]
fn arguments_that_are_no_object_are_the_clients_mistake() {
    let turns = vec![user("hi"), turn(Role::Assistant, vec![Block::ToolCall(call("c", "f", "[1]"))])];
    let Refusal::Invalid { field, .. } = refusal(said(Shape::ChatCompletions, turns), &target("gemini-2.5-pro")) else { panic!() };
    assert_eq!(field, "messages.tool_calls.function.arguments");
}

#[test]
fn media_are_written_where_the_provider_takes_them() {
    let parts = |block: Block<'static>, target: &Target<'_>| {
        let mut encoding = Encoding::default();
        let request = said(Shape::ChatCompletions, vec![turn(Role::User, vec![block])]);
        encode_request(request, target, &mut encoding).map(|()| {
            let body: Value = serde_json::from_slice(&encoding.body).unwrap();
            body["contents"][0]["parts"].clone()
        })
    };
    let gemini = target("gemini-2.5-pro");
    let vertex = Target { kind: ProviderKind::Vertex, ..gemini };
    let media = |source| Media { source, detail: None };
    let base64 = |kind: &'static str, data: &'static str| Source::Base64 { media_type: Text::from(kind), data: Text::from(data) };
    assert_eq!(parts(png(), &gemini).unwrap(), json!([{"inlineData":{"mimeType":"image/png","data":PNG}}]), "by its bytes");
    let sound = Block::Audio(media(base64("audio/wav", "UklGRg==")));
    assert_eq!(parts(sound, &gemini).unwrap(), json!([{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}}]));
    let document = |source| Block::Document(Document { source, title: Some(Text::from("T")), context: None });
    assert_eq!(parts(document(base64("", "JVBERi0xLjQK")), &gemini).unwrap()[0]["inlineData"]["mimeType"], "application/pdf");
    assert_eq!(parts(document(Source::Text(Text::from("words"))), &gemini).unwrap(), json!([{"text":"T\nwords"}]));
    assert_eq!(parts(document(Source::Blocks(vec![text("a"), png()])), &gemini).unwrap().as_array().unwrap().len(), 3);
    let file = |shape, id| Block::Image(media(Source::File { shape, id: Text::from(id), media_type: Some(Text::from("image/png")) }));
    let bucket = json!([{"fileData":{"mimeType":"image/png","fileUri":"gs://b/a"}}]);
    assert_eq!(parts(file(Shape::GenerateContent, "gs://b/a"), &vertex).unwrap(), bucket);
    let unknown = Block::Image(media(base64("image/*", "AAAA")));
    let url = Block::Image(media(Source::Url { url: Text::from("https://x/y.png"), media_type: None }));
    for block in [file(Shape::GenerateContent, "gs://b/a"), file(Shape::Messages, "file_1"), unknown, url] {
        assert!(matches!(parts(block.clone(), &gemini), Err(Refusal::Unsupported { .. })), "{block:?}");
    }
    let fetching = Target { capabilities: Capabilities { url_images: true, ..vertex.capabilities }, ..vertex };
    let told = Source::Url { url: Text::from("https://x/y.png"), media_type: Some(Text::from("image/png")) };
    assert_eq!(parts(Block::Image(media(told)), &fetching).unwrap()[0]["fileData"]["fileUri"], "https://x/y.png");
}

#[test]
fn an_earlier_search_becomes_text() {
    let hits = vec![SearchHit { url: Text::from("https://a"), title: Text::from("A"), sealed: Text::from("") }];
    let search = Block::WebSearch { id: Text::from("s"), query: Text::from("q"), hits };
    let body = body(said(Shape::Messages, vec![user("hi"), turn(Role::Assistant, vec![search]), user("more")]), "gemini-2.5-pro");
    assert_eq!(body["contents"][1]["parts"], json!([{"text":"[web search: q]\n- A https://a"}]));
}

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

#[test]
fn free_text_of_an_earlier_custom_call_is_wrapped() {
    let mut custom = call("c", "patch", "a \"b\" c");
    custom.custom = true;
    let turns = vec![user("hi"), turn(Role::Assistant, vec![Block::ToolCall(custom)]), answers(vec![result("c", vec![])])];
    let body = body(said(Shape::ChatCompletions, turns), "gemini-2.5-pro");
    assert_eq!(body["contents"][1]["parts"][0]["functionCall"]["args"], json!({"input":"a \"b\" c"}));
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
fn sampling_and_limits_are_written_as_they_were_read() {
    let mut request = hi(Shape::ChatCompletions);
    request.max_output = Some(50);
    let number = |text: &'static str| Some(Number(text));
    request.sampling.temperature = number("1.50");
    request.sampling.top_p = number("0.9");
    request.sampling.top_k = number("40");
    request.sampling.presence_penalty = number("0.5");
    request.sampling.frequency_penalty = number("0.25");
    request.sampling.seed = number("7");
    request.sampling.n = Some(2);
    request.sampling.logprobs = true;
    request.sampling.top_logprobs = Some(3);
    request.stop = ["a", "", "b", "c", "d", "e", "f"].map(Text::from).to_vec();
    let (body, encoding) = written(request.clone(), &target("gemini-2.5-pro"));
    let expected = json!({"temperature":1.5,"topP":0.9,"topK":40,"presencePenalty":0.5,"frequencyPenalty":0.25,"seed":7,"candidateCount":2,
        "responseLogprobs":true,"logprobs":3,"maxOutputTokens":50,"stopSequences":["a","b","c","d","e"]});
    assert_eq!(body["generationConfig"], expected);
    assert_eq!(losses(&encoding), [("stop".into(), Weight::Minor)]);
    request.stop.clear();
    request.sampling.seed = number("99999999999");
    request.sampling.n = Some(1);
    let (body, encoding) = written(request, &target("gemini-3-pro"));
    assert!(
        ["presencePenalty", "frequencyPenalty", "seed", "candidateCount"].iter().all(|name| body["generationConfig"].get(name).is_none())
    );
    let fields: Vec<String> = losses(&encoding).into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["presence_penalty", "frequency_penalty", "seed"]);
    let mut warm = hi(Shape::Messages);
    warm.max_output = Some(0);
    assert!(matches!(refusal(warm, &target("gemini-2.5-pro")), Refusal::Unsupported { field, .. } if field == "max_tokens"));
}

fn thinking(thinking: Thinking<'static>, model: &str, max_output: Option<u64>) -> Value {
    let request = Request { thinking, max_output, ..hi(Shape::ChatCompletions) };
    body(request, model)["generationConfig"]["thinkingConfig"].clone()
}

#[test]
fn thinking_is_a_budget_or_a_level_and_never_both() {
    let effort = |name: &'static str| Thinking { effort: Some(Text::from(name)), ..Thinking::default() };
    let budget = |budget: i64| Thinking { budget: Some(budget), ..Thinking::default() };
    let cases = [
        (effort("low"), "gemini-2.5-flash", json!({"thinkingBudget":1024,"includeThoughts":true})),
        (effort("medium"), "gemini-2.5-pro", json!({"thinkingBudget":8192,"includeThoughts":true})),
        (effort("high"), "gemini-2.5-pro", json!({"thinkingBudget":24576,"includeThoughts":true})),
        (effort("xhigh"), "gemini-2.5-flash", json!({"thinkingBudget":24576,"includeThoughts":true})),
        (effort("max"), "gemini-2.5-pro", json!({"thinkingBudget":32768,"includeThoughts":true})),
        (effort("minimal"), "gemini-2.5-flash-lite", json!({"thinkingBudget":512,"includeThoughts":true})),
        (effort("none"), "gemini-2.5-flash", json!({"thinkingBudget":0,"includeThoughts":false})),
        (effort("none"), "gemini-2.5-pro", json!({"thinkingBudget":128,"includeThoughts":false})),
        (budget(-1), "gemini-2.5-pro", json!({"thinkingBudget":-1,"includeThoughts":true})),
        (budget(50), "gemini-2.5-pro", json!({"thinkingBudget":128,"includeThoughts":true})),
        (effort("none"), "gemini-3-pro", json!({"thinkingLevel":"LOW","includeThoughts":false})),
        (effort("minimal"), "gemini-3-flash", json!({"thinkingLevel":"MINIMAL","includeThoughts":true})),
        (effort("medium"), "gemini-3.1-pro", json!({"thinkingLevel":"MEDIUM","includeThoughts":true})),
        (effort("medium"), "gemini-3-pro", json!({"thinkingLevel":"HIGH","includeThoughts":true})),
        (effort("xhigh"), "gemini-3.1-pro", json!({"thinkingLevel":"HIGH","includeThoughts":true})),
        (effort("max"), "gemini-3.7-pro", json!({"thinkingLevel":"XHIGH","includeThoughts":true})),
        (budget(8192), "gemini-3.1-pro", json!({"thinkingLevel":"MEDIUM","includeThoughts":true})),
        (budget(-1), "gemini-3.1-pro", json!({"includeThoughts":true})),
        (Thinking { adaptive: true, shown: Some(false), ..Thinking::default() }, "gemini-3.1-pro", json!({"includeThoughts":false})),
        (Thinking { disabled: true, ..Thinking::default() }, "gemini-2.5-flash", json!({"thinkingBudget":0,"includeThoughts":false})),
        (Thinking::default(), "gemini-3.1-pro", Value::Null),
        (effort("high"), "gemini-2.0-flash", Value::Null),
    ];
    for (wanted, model, expected) in cases {
        assert_eq!(thinking(wanted.clone(), model, None), expected, "{wanted:?} {model}");
    }
    assert_eq!(thinking(effort("high"), "gemini-2.5-pro", Some(10_000))["thinkingBudget"], 8_000, "a fifth is left for the answer");
}

#[test]
fn the_form_of_the_answer_is_bound_or_asked_for() {
    let schema = |tools: bool, model: &str| {
        let mut request = hi(Shape::ChatCompletions);
        request.format = OutputFormat::Schema {
            name: None,
            description: None,
            schema: Raw::from(SCHEMA.as_bytes()),
            vendor_schema: false,
            strict: Some(true),
        };
        if tools {
            request.tools = vec![function("f", SCHEMA)];
        }
        written(request, &target(model))
    };
    let bound = |body: &Value| body["generationConfig"]["responseMimeType"] == "application/json";
    let (plain, encoding) = schema(false, "gemini-2.5-pro");
    assert!(bound(&plain) && plain["generationConfig"]["responseJsonSchema"]["type"] == "object" && encoding.losses.is_empty());
    let (old, _) = schema(false, "gemini-2.0-flash");
    assert_eq!(old["generationConfig"]["responseSchema"]["type"], "OBJECT");
    let (tools, encoding) = schema(true, "gemini-2.5-pro");
    assert!(tools.get("generationConfig").is_none());
    assert!(tools["systemInstruction"]["parts"][0]["text"].as_str().unwrap().contains(SCHEMA));
    assert_eq!(losses(&encoding), [("response_format".into(), Weight::Minor)]);
    let (third, encoding) = schema(true, "gemini-3-pro");
    assert!(bound(&third) && encoding.losses.is_empty());
    let mut object = hi(Shape::ChatCompletions);
    object.format = OutputFormat::JsonObject;
    assert_eq!(body(object, "gemini-2.5-pro")["generationConfig"], json!({"responseMimeType":"application/json"}));
}

#[test]
fn tiers_are_spelled_as_the_vendor_does() {
    for (told, sent) in [
        ("flex", json!("flex")),
        ("priority", json!("priority")),
        ("default", json!("standard")),
        ("auto", Value::Null),
        ("scale", Value::Null),
    ] {
        let mut request = hi(Shape::ChatCompletions);
        request.service_tier = Some(Text::from(told));
        let (body, encoding) = written(request, &target("gemini-2.5-pro"));
        assert_eq!(body["serviceTier"], sent, "{told}");
        assert_eq!(encoding.losses.is_empty(), told != "scale");
    }
}

#[test]
fn fields_without_a_counterpart_are_noted_in_the_clients_terms() {
    let mut request = hi(Shape::Messages);
    request.user = Some(Text::from("u"));
    request.parallel_tool_calls = Some(false);
    request.verbosity = Some(Text::from("low"));
    request.extras.push(Extra { field: Text::from("logit_bias"), value: Raw::from(&b"{}"[..]), weight: Weight::Minor });
    let (_, encoding) = written(request, &target("gemini-2.5-pro"));
    let fields: Vec<String> = losses(&encoding).into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["logit_bias", "metadata.user_id", "verbosity", "tool_choice.disable_parallel_tool_use"]);
}

#[test]
fn tags_become_labels_where_the_provider_has_them() {
    let tagged = |value: &'static str, kind| {
        let mut request = hi(Shape::ChatCompletions);
        request.extras.push(Extra { field: Text::from("metadata"), value: Raw::from(value.as_bytes()), weight: Weight::Minor });
        let (body, encoding) = written(request, &Target { kind, ..target("gemini-2.5-pro") });
        (body["labels"].clone(), encoding.losses.is_empty())
    };
    assert_eq!(tagged(r#"{"Team":"Blue-1"}"#, ProviderKind::Vertex), (json!({"team":"blue-1"}), true));
    assert_eq!(tagged(r#"{"team":"a b"}"#, ProviderKind::Vertex), (Value::Null, false));
    assert_eq!(tagged(r#"{"team":"a"}"#, ProviderKind::Gemini), (Value::Null, false));
}
