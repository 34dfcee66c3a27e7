use serde_json::{Value, json};

use super::{PNG, answers, body, call, losses, refusal, result, said, target, text, turn, user, written};
use crate::canonical::{
    Block, Document, Media, Raw, Refusal, Request, Role, SearchHit, Signature, Source, Text, ToolCall, ToolResult, Weight,
};
use crate::shape::Shape;
use crate::translate::generate_content::encode::encode_request;
use crate::translate::{Capabilities, Encoding, ProviderKind, Target};

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
fn free_text_of_an_earlier_custom_call_is_wrapped() {
    let mut custom = call("c", "patch", "a \"b\" c");
    custom.custom = true;
    let turns = vec![user("hi"), turn(Role::Assistant, vec![Block::ToolCall(custom)]), answers(vec![result("c", vec![])])];
    let body = body(said(Shape::ChatCompletions, turns), "gemini-2.5-pro");
    assert_eq!(body["contents"][1]["parts"][0]["functionCall"]["args"], json!({"input":"a \"b\" c"}));
}
