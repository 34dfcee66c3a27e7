//! Requests of every dialect as providers of this shape get them.

use serde_json::{Value as Json, json};

use super::*;
use crate::canonical::{
    Arguments, Choice, ComputerTool, Document, FunctionTool, Media, Number, Raw, SearchHit, Signature, Source, Thinking, Tool, ToolCall,
    ToolResult, WebSearch,
};
use crate::translate::{Adaptations, Capabilities, ProviderKind, Quirks};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUg==";

fn target(model: &'static str, quirks: Quirks) -> Target<'static> {
    let shape = Shape::ChatCompletions;
    Target { shape, kind: ProviderKind::Openai, model, origin: 7, capabilities: Capabilities::of(shape, model), quirks }
}

fn vendor() -> Target<'static> {
    target("gpt-4o", Quirks::VENDOR)
}

fn compatible() -> Target<'static> {
    target("llama-3.3", Quirks::COMPATIBLE)
}

fn text(said: &'static str) -> Block<'static> {
    Block::Text(Text::from(said))
}

fn turn(role: Role, blocks: Vec<Block<'static>>) -> Turn<'static> {
    Turn { role, blocks }
}

fn user(said: &'static str) -> Turn<'static> {
    turn(Role::User, vec![text(said)])
}

fn call(id: &'static str, name: &'static str, arguments: &'static str) -> Block<'static> {
    let arguments = Arguments::Json(Raw::from(arguments.as_bytes()));
    Block::ToolCall(ToolCall { id: id.into(), name: name.into(), arguments, signature: None, custom: false })
}

fn result(id: &'static str, content: Vec<Block<'static>>) -> Block<'static> {
    Block::ToolResult(ToolResult { id: id.into(), name: None, failed: false, content, object: None })
}

fn image() -> Block<'static> {
    Block::Image(Media { source: Source::Base64 { media_type: "image/jpeg".into(), data: PNG.into() }, detail: None })
}

fn function(name: &'static str, parameters: Option<&'static str>) -> Tool<'static> {
    let parameters = parameters.map(|schema| Raw::from(schema.as_bytes()));
    Tool::Function(FunctionTool { name: name.into(), description: None, parameters, vendor_schema: false, strict: None })
}

fn request(turns: Vec<Turn<'static>>) -> Request<'static> {
    Request { turns, ..Request::new(Shape::Messages) }
}

fn asked(change: impl FnOnce(&mut Request<'static>)) -> Request<'static> {
    let mut request = request(vec![user("hi")]);
    change(&mut request);
    request
}

struct Sent {
    body: Json,
    losses: Vec<(String, Weight)>,
    adaptations: Adaptations,
}

fn send(request: Request<'static>, target: &Target<'_>) -> Sent {
    let mut encoding = Encoding::default();
    encode_request(request, target, &mut encoding).expect("a request");
    let body =
        serde_json::from_slice(&encoding.body).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&encoding.body)));
    let losses = encoding.losses.iter().map(|loss| (loss.field.to_string(), loss.weight)).collect();
    Sent { body, losses, adaptations: encoding.adaptations }
}

fn messages(turns: Vec<Turn<'static>>) -> Json {
    send(request(turns), &vendor()).body["messages"].clone()
}

fn refused(request: Request<'static>, target: &Target<'_>) -> String {
    encode_request(request, target, &mut Encoding::default()).expect_err("a refusal").to_string()
}

#[test]
fn a_plain_request_is_plain() {
    let sent = send(asked(|request| request.max_output = Some(50)), &vendor());
    assert_eq!(sent.body, json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}], "max_completion_tokens": 50}));
    assert!(sent.losses.is_empty());
    let sent = send(asked(|request| request.max_output = Some(50)), &compatible());
    assert_eq!(sent.body["max_tokens"], 50);
    assert!(refused(asked(|request| request.max_output = Some(0)), &vendor()).starts_with("translate `max_tokens`"));
}

#[test]
fn instructions_are_one_message_of_the_role_the_model_knows() {
    let turns = || vec![turn(Role::System, vec![text("a"), text("b")]), turn(Role::System, vec![text("c")]), user("hi")];
    let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "text", "text": "c"}]);
    assert_eq!(messages(turns())[0], json!({"role": "system", "content": parts}));
    assert_eq!(send(request(turns()), &compatible()).body["messages"][0], json!({"role": "system", "content": "a\n\nb\n\nc"}));
    assert_eq!(send(request(turns()), &target("gpt-5.1", Quirks::VENDOR)).body["messages"][0]["role"], "developer");
    let later = messages(vec![user("a"), turn(Role::System, vec![text("b")]), user("c")]);
    assert_eq!(later[1], json!({"role": "system", "content": "b"}));
    let picture = refused(request(vec![turn(Role::System, vec![image()]), user("a")]), &vendor());
    assert!(picture.starts_with("translate `system`"), "{picture}");
}

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

#[test]
fn pictures_sounds_and_documents_have_their_parts() {
    let part = |block: Block<'static>| messages(vec![turn(Role::User, vec![text("x"), block])])[0]["content"][1].clone();
    let url =
        |url: &'static str| Block::Image(Media { source: Source::Url { url: url.into(), media_type: None }, detail: Some("low".into()) });
    assert_eq!(part(url("https://x/a.png")), json!({"type": "image_url", "image_url": {"url": "https://x/a.png", "detail": "low"}}));
    assert_eq!(part(image())["image_url"]["url"], format!("data:image/png;base64,{PNG}"), "the bytes tell the type");
    let sound =
        |kind: &'static str| Block::Audio(Media { source: Source::Base64 { media_type: kind.into(), data: "AAAA".into() }, detail: None });
    assert_eq!(part(sound("audio/mpeg")), json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}}));
    let document = |source, title: Option<&'static str>| Block::Document(Document { source, title: title.map(Text::from), context: None });
    let base64 = |kind: &'static str, data: &'static str| Source::Base64 { media_type: kind.into(), data: data.into() };
    let pdf = part(document(base64("application/pdf", "JVBERi0xLjQK"), Some("a.pdf")));
    assert_eq!(pdf, json!({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjQK"}}));
    assert_eq!(part(document(Source::Text("body".into()), Some("T"))), json!({"type": "text", "text": "T\nbody"}));
    assert_eq!(part(document(base64("text/plain", "Ym9keQ=="), None)), json!({"type": "text", "text": "body"}));
    assert_eq!(part(document(Source::Blocks(vec![text("a"), text("b")]), None)), json!({"type": "text", "text": "a\nb"}));
    let own = Source::File { shape: Shape::Responses, id: "file-1".into(), media_type: None };
    assert_eq!(part(document(own, None)), json!({"type": "file", "file": {"file_id": "file-1"}}));
}

#[test]
fn media_the_provider_cannot_reach_are_refused() {
    let said = |block: Block<'static>| refused(request(vec![turn(Role::User, vec![block])]), &vendor());
    let picture = |source| Block::Image(Media { source, detail: None });
    let url = |url: &'static str, kind: Option<&'static str>| Source::Url { url: url.into(), media_type: kind.map(Text::from) };
    let place = "translate `messages.content.image`";
    assert!(said(picture(url("http://x/a.png", None))).starts_with(place));
    assert!(said(picture(url("gs://x/a.png", None))).starts_with(place));
    assert!(said(picture(url("https://x/a.mp4", Some("video/mp4")))).starts_with(place));
    assert!(said(picture(Source::File { shape: Shape::Messages, id: "f".into(), media_type: None })).starts_with(place));
    let blind = Target { capabilities: Capabilities { vision: false, ..vendor().capabilities }, ..vendor() };
    assert!(refused(request(vec![turn(Role::User, vec![image()])]), &blind).contains("takes no pictures"));
    let sound = Block::Audio(Media { source: Source::Base64 { media_type: "audio/ogg".into(), data: "AAAA".into() }, detail: None });
    assert!(said(sound).starts_with("translate `messages.content.audio`"));
    let other = Block::Document(Document {
        source: Source::File { shape: Shape::Messages, id: "f".into(), media_type: None },
        title: None,
        context: None,
    });
    assert!(said(other).starts_with("translate `messages.content.document`"));
}

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
fn sampling_goes_where_the_model_takes_it() {
    let sampled = |target: &Target<'_>| {
        send(
            asked(|request| {
                let sampling = &mut request.sampling;
                (sampling.temperature, sampling.top_p, sampling.top_k) = (Some(Number("1.5")), Some(Number("0.9")), Some(Number("40")));
                (sampling.presence_penalty, sampling.seed, sampling.n) = (Some(Number("0.5")), Some(Number("7")), Some(2));
                (sampling.logprobs, sampling.top_logprobs) = (true, Some(3));
            }),
            target,
        )
    };
    let sent = sampled(&vendor());
    let body = &sent.body;
    assert_eq!((&body["temperature"], &body["top_p"], &body["seed"], &body["n"]), (&json!(1.5), &json!(0.9), &json!(7), &json!(2)));
    assert_eq!((&body["logprobs"], &body["top_logprobs"]), (&json!(true), &json!(3)));
    assert_eq!(sent.losses, [("top_k".to_owned(), Weight::Minor)]);
    assert_eq!(sampled(&compatible()).body["top_k"], 40);
    let sent = sampled(&target("gpt-5", Quirks::VENDOR));
    assert_eq!(sent.body.get("temperature"), None);
    let lost: Vec<&str> = sent.losses.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(lost, ["temperature", "top_p", "top_k", "presence_penalty", "logprobs"]);
}

#[test]
fn fields_are_named_as_the_client_knows_them() {
    let asked = asked(|request| {
        request.from = Shape::GenerateContent;
        request.sampling.top_k = Some(Number("40"));
    });
    assert_eq!(send(asked, &vendor()).losses, [("generationConfig.topK".to_owned(), Weight::Minor)]);
}

#[test]
fn four_stop_sequences_are_the_most() {
    let stopped = |target: &Target<'_>| {
        let stop = ["a", "", "b", "c", "d", "e"].map(Text::from).to_vec();
        send(asked(|request| request.stop = stop), target)
    };
    let sent = stopped(&vendor());
    assert_eq!(sent.body["stop"], json!(["a", "b", "c", "d"]));
    assert_eq!(sent.losses, [("stop_sequences".to_owned(), Weight::Minor)]);
    assert_eq!(stopped(&target("o3", Quirks::VENDOR)).body.get("stop"), None);
}

#[test]
fn efforts_follow_the_table() {
    let effort = |thinking: Thinking<'static>, target: &Target<'_>| {
        send(asked(|request| request.thinking = thinking), target).body.get("reasoning_effort").cloned()
    };
    let budget = |budget| Thinking { budget: Some(budget), ..Thinking::default() };
    let named = |effort: &'static str| Thinking { effort: Some(effort.into()), ..Thinking::default() };
    let newer = target("gpt-5.2", Quirks::VENDOR);
    for (tokens, word) in [(0, "none"), (512, "low"), (1024, "low"), (8192, "medium"), (24_576, "high"), (40_000, "xhigh")] {
        assert_eq!(effort(budget(tokens), &newer), Some(json!(word)), "{tokens}");
    }
    assert_eq!(effort(named("max"), &newer), Some(json!("xhigh")), "clamped to what the model knows");
    assert_eq!(effort(Thinking { adaptive: true, ..Thinking::default() }, &newer), Some(json!("medium")));
    assert_eq!(effort(Thinking { disabled: true, ..Thinking::default() }, &target("o3", Quirks::VENDOR)), Some(json!("low")));
    assert_eq!(effort(budget(-1), &newer), None);
    assert_eq!(effort(Thinking::default(), &newer), None, "nothing said, nothing asked");
    assert_eq!(effort(named("high"), &vendor()), None, "a model that does not reason");
    assert_eq!(effort(named("high"), &compatible()), Some(json!("high")));
    assert_eq!(effort(Thinking { disabled: true, ..Thinking::default() }, &compatible()), None);
}

#[test]
fn models_that_refuse_tools_while_they_reason_are_told_not_to() {
    let tooled = |model: &'static str| send(asked(|request| request.tools = vec![function("f", None)]), &target(model, Quirks::VENDOR));
    assert_eq!(tooled("gpt-5.4").body["reasoning_effort"], "none");
    assert_eq!(tooled("gpt-5.1").body.get("reasoning_effort"), None);
    assert_eq!(tooled("gpt-6.2").body.get("reasoning_effort"), None, "it has no such word");
}

#[test]
fn formats_have_their_words() {
    let format = |format: OutputFormat<'static>, target: &Target<'_>| send(asked(|request| request.format = format), target);
    let sent = format(OutputFormat::JsonObject, &vendor());
    assert_eq!(sent.body["response_format"], json!({"type": "json_object"}));
    assert_eq!(sent.body["messages"][0], json!({"role": "system", "content": "Answer in JSON."}), "the vendor insists on the word");
    assert_eq!(format(OutputFormat::JsonObject, &compatible()).body["messages"][0]["role"], "user");
    let schema = |schema: &'static str, name: Option<&'static str>, strict| OutputFormat::Schema {
        name: name.map(Text::from),
        description: None,
        schema: Raw::from(schema.as_bytes()),
        vendor_schema: false,
        strict,
    };
    let closed = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#;
    let sent = format(schema(closed, None, Some(true)), &vendor());
    let expected = json!({"name": "output", "schema": serde_json::from_str::<Json>(closed).unwrap(), "strict": true});
    assert_eq!(sent.body["response_format"], json!({"type": "json_schema", "json_schema": expected}));
    let sent = format(schema(r#"{"type":"object","properties":{"a":{}}}"#, Some("my name"), Some(true)), &vendor());
    assert_eq!(sent.body["response_format"]["json_schema"]["strict"], false);
    assert_eq!(sent.body["response_format"]["json_schema"]["name"], "my_name");
    let sent = format(schema(r#"{"type":"string","enum":["a","b"]}"#, None, None), &vendor());
    assert_eq!(sent.body["response_format"]["json_schema"]["schema"]["required"], json!(["value"]));
    assert!(sent.adaptations.wrapped);
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

#[test]
fn streams_always_ask_for_usage_where_the_provider_knows_it() {
    let streamed = |quirks| send(asked(|request| request.stream = true), &target("m", quirks)).body;
    assert_eq!(streamed(Quirks::COMPATIBLE)["stream_options"], json!({"include_usage": true}));
    let without = streamed(Quirks { stream_options: false, ..Quirks::COMPATIBLE });
    assert_eq!((&without["stream"], without.get("stream_options")), (&json!(true), None));
}

#[test]
fn tags_tiers_and_wordiness_are_carried_where_they_are_known() {
    let worded = |user: &'static str, target: &Target<'_>| {
        send(
            asked(|request| {
                (request.user, request.service_tier, request.verbosity) =
                    (Some(user.into()), Some("standard_only".into()), Some("low".into()));
            }),
            target,
        )
    };
    let sent = worded("u-1", &target("gpt-5", Quirks::VENDOR));
    assert_eq!((&sent.body["user"], &sent.body["safety_identifier"]), (&json!("u-1"), &json!("u-1")));
    assert_eq!((&sent.body["service_tier"], &sent.body["verbosity"]), (&json!("default"), &json!("low")));
    let long: &'static str = Box::leak("u".repeat(65).into_boxed_str());
    assert_eq!(worded(long, &vendor()).body["user"].as_str().map(str::len), Some(64), "a hash");
    let sent = worded(long, &compatible());
    assert_eq!((sent.body["user"].as_str(), sent.body.get("safety_identifier")), (Some(long), None));
    assert_eq!(sent.losses.len(), 2, "tier and wordiness: {:?}", sent.losses);
}

#[test]
fn fields_of_the_other_dialect_are_lost_unless_the_vendor_has_them_in_both() {
    let extra = |from, field: &'static str, target: &Target<'_>| {
        let value = Raw::from(&br#"{"a":"b"}"#[..]);
        let extras = vec![crate::canonical::Extra { field: field.into(), value, weight: Weight::Minor }];
        let sent = send(Request { from, extras, ..request(vec![user("hi")]) }, target);
        (sent.body.get(field).is_some(), sent.losses)
    };
    assert_eq!(extra(Shape::Responses, "metadata", &vendor()), (true, vec![]));
    let lost = vec![("metadata".to_owned(), Weight::Minor)];
    assert_eq!(extra(Shape::Responses, "metadata", &compatible()), (false, lost.clone()));
    assert_eq!(extra(Shape::Messages, "metadata", &vendor()), (false, lost));
    assert!(!extra(Shape::Messages, "container", &vendor()).0);
}

#[test]
fn escaped_text_is_copied_as_it_is() {
    let request = request(vec![turn(Role::User, vec![Block::Text(Text::Escaped(br"a\u00e9\n\/"))])]);
    let mut encoding = Encoding::default();
    encode_request(request, &vendor(), &mut encoding).expect("a request");
    assert!(String::from_utf8_lossy(&encoding.body).contains(r#""content":"a\u00e9\n\/""#));
}
