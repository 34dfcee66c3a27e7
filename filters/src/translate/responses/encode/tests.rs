//! Requests of every dialect as providers of this one get them.

use serde_json::{Value as Json, json};

use super::*;
use crate::canonical::{
    Arguments, Choice, ComputerTool, Extra, FunctionTool, Media, Number, Raw, Signature, Source, Tool, ToolCall, ToolResult, WebSearch,
    Weight,
};
use crate::translate::{Capabilities, ProviderKind, Quirks};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUg==";

fn target(model: &'static str) -> Target<'static> {
    let shape = Shape::Responses;
    Target { shape, kind: ProviderKind::Openai, model, origin: 7, capabilities: Capabilities::of(shape, model), quirks: Quirks::VENDOR }
}

fn text(said: &'static str) -> Block<'static> {
    Block::Text(Text::from(said))
}

fn turn(role: Role, blocks: Vec<Block<'static>>) -> Turn<'static> {
    Turn { role, blocks }
}

fn call(id: &'static str, name: &'static str) -> Block<'static> {
    let arguments = Arguments::Json(Raw::from(&br#"{"a": 1}"#[..]));
    Block::ToolCall(ToolCall { id: id.into(), name: name.into(), arguments, signature: None, custom: false })
}

fn result(id: &'static str, content: Vec<Block<'static>>) -> Block<'static> {
    Block::ToolResult(ToolResult { id: id.into(), name: None, failed: false, content, object: None })
}

fn function(name: &'static str, strict: Option<bool>) -> Tool<'static> {
    let parameters = Some(Raw::from(&br#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#[..]));
    Tool::Function(FunctionTool { name: name.into(), description: None, parameters, vendor_schema: false, strict })
}

fn asked(change: impl FnOnce(&mut Request<'static>)) -> Request<'static> {
    let mut request = Request { turns: vec![turn(Role::User, vec![text("hi")])], ..Request::new(Shape::Messages) };
    change(&mut request);
    request
}

fn conversation(turns: Vec<Turn<'static>>) -> Json {
    sent("gpt-5.6", asked(|request| request.turns = turns)).0["input"].take()
}

/// The body, and the names and weights of what was lost.
fn sent(model: &'static str, request: Request<'static>) -> (Json, Vec<(String, Weight)>) {
    let mut encoding = Encoding::default();
    encode_request(request, &target(model), &mut encoding).expect("a request that can be carried");
    let body = serde_json::from_slice(&encoding.body).expect("JSON");
    (body, encoding.losses.iter().map(|loss| (loss.field.to_string(), loss.weight)).collect())
}

#[test]
fn nothing_is_stored_and_sealed_reasoning_is_asked_for() {
    let (body, losses) = sent("gpt-5.6", asked(|request| request.stream = true));
    let expected = json!({"model": "gpt-5.6", "input": [{"role": "user", "content": "hi"}], "store": false,
        "include": ["reasoning.encrypted_content"], "stream": true});
    assert_eq!((body, losses), (expected, Vec::new()));
}

#[test]
fn instructions_are_messages_in_their_place_and_empty_texts_go() {
    let input = conversation(vec![
        turn(Role::System, vec![text("Be brief."), text("")]),
        turn(Role::System, vec![text("")]),
        turn(Role::User, vec![text("a"), text("b")]),
    ]);
    let parts = json!([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]);
    assert_eq!(input, json!([{"role": "developer", "content": "Be brief."}, {"role": "user", "content": parts}]));
}

#[test]
fn calls_and_results_are_items_and_pictures_of_tools_stay_in_their_results() {
    let picture = Block::Image(Media { source: Source::Base64 { media_type: "image/png".into(), data: PNG.into() }, detail: None });
    let input = conversation(vec![
        turn(Role::User, vec![text("go")]),
        turn(Role::Assistant, vec![text("Wait."), call("toolu_1", "look"), call("toolu_2", "look")]),
        turn(Role::User, vec![text("there"), result("toolu_1", vec![text("seen"), picture]), result("toolu_2", vec![text("no")])]),
    ]);
    assert_eq!(input[1], json!({"role": "assistant", "content": [{"type": "output_text", "text": "Wait."}]}));
    assert_eq!(input[2], json!({"type": "function_call", "call_id": "toolu_1", "name": "look", "arguments": "{\"a\":1}"}));
    assert_eq!(input[4]["type"], "function_call_output");
    assert_eq!(input[4]["output"][0], json!({"type": "input_text", "text": "seen"}));
    assert_eq!(input[4]["output"][1]["image_url"], format!("data:image/png;base64,{PNG}"));
    assert_eq!(input[5], json!({"type": "function_call_output", "call_id": "toolu_2", "output": "no"}));
    assert_eq!(input[6], json!({"role": "user", "content": "there"}));
}

#[test]
fn ids_the_vendor_would_refuse_are_replaced_alike_in_calls_and_results() {
    const LONG: &str = "toolu_0123456789012345678901234567890123456789012345678901234567890123456789";
    let turns = vec![
        turn(Role::User, vec![text("go")]),
        turn(Role::Assistant, vec![call(LONG, "f")]),
        turn(Role::User, vec![result(LONG, vec![])]),
    ];
    let input = conversation(turns);
    assert!(input[1]["call_id"].as_str().is_some_and(|id| id.starts_with("call_") && id.len() <= 40));
    assert_eq!(input[1]["call_id"], input[2]["call_id"]);
}

#[test]
fn reasoning_goes_back_only_where_it_was_minted() {
    let thought = |shape, origin| Block::Reasoning {
        text: Text::from("hm"),
        signature: Some(Signature { shape, origin, value: Text::from("gAAA") }),
    };
    let said = |block| {
        conversation(vec![
            turn(Role::User, vec![text("a")]),
            turn(Role::Assistant, vec![block, text("b")]),
            turn(Role::User, vec![text("c")]),
        ])
    };
    let own = said(thought(Shape::Responses, Some(7)));
    let expected = json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gAAA"});
    assert_eq!(own[1], expected);
    for foreign in [thought(Shape::Responses, Some(8)), thought(Shape::Messages, Some(7)), thought(Shape::Responses, None)] {
        assert_eq!(said(foreign)[1]["role"], "assistant");
    }
}

#[test]
fn tools_are_flat_and_strict_only_where_asked_for_and_possible() {
    let loose = Raw::from(&br#"{"type":"object","properties":{"a":{"type":"string"}}}"#[..]);
    let (body, _) = sent(
        "gpt-5.6",
        asked(|request| {
            let broken =
                FunctionTool { name: "c".into(), description: None, parameters: Some(loose), vendor_schema: false, strict: Some(true) };
            request.tools = vec![function("a", None), function("b", Some(true)), Tool::Function(broken)];
        }),
    );
    let strict: Vec<&Json> = body["tools"].as_array().expect("tools").iter().map(|tool| &tool["strict"]).collect();
    assert_eq!(strict, [false, true, false]);
    assert_eq!((&body["tools"][0]["type"], &body["tools"][0]["name"]), (&"function".into(), &"a".into()));
}

#[test]
fn choices_have_their_forms() {
    let chosen = |choice: Choice<'static>| {
        let search = Tool::WebSearch(WebSearch { name: Some("web_search".into()), ..WebSearch::default() });
        sent(
            "gpt-5.6",
            asked(|request| {
                request.tools = vec![function("a", None), search];
                request.tool_choice = Some(choice);
            }),
        )
        .0["tool_choice"]
            .take()
    };
    assert_eq!(chosen(Choice::Auto), "auto");
    assert_eq!(chosen(Choice::Any), "required");
    assert_eq!(chosen(Choice::None), "none");
    assert_eq!(chosen(Choice::Named("a".into())), json!({"type": "function", "name": "a"}));
    assert_eq!(chosen(Choice::Named("web_search".into())), json!({"type": "web_search"}));
    let among = Choice::Among { names: vec!["a".into(), "web_search".into(), "gone".into()], required: true };
    let tools = json!([{"type": "function", "name": "a"}, {"type": "web_search"}]);
    assert_eq!(chosen(among), json!({"type": "allowed_tools", "mode": "required", "tools": tools}));
}

#[test]
fn a_search_keeps_its_bounds_and_brings_its_sources() {
    let (body, losses) = sent(
        "gpt-5",
        asked(|request| {
            request.tools = vec![Tool::WebSearch(WebSearch {
                name: Some("web_search".into()),
                max_uses: Some(3),
                allowed_domains: vec!["x.example".into()],
                blocked_domains: vec!["y.example".into()],
                location: Some(Raw::from(&br#"{"type":"approximate","city":"Bonn"}"#[..])),
                context_size: Some("low".into()),
            })];
            request.thinking.effort = Some("minimal".into());
        }),
    );
    assert_eq!(
        body["tools"][0],
        json!({"type": "web_search", "search_context_size": "low", "filters": {"allowed_domains": ["x.example"]},
        "user_location": {"type": "approximate", "city": "Bonn"}})
    );
    assert_eq!((&body["max_tool_calls"], &body["reasoning"]["effort"]), (&3.into(), &"low".into()));
    assert!(body["include"].as_array().is_some_and(|all| all.contains(&"web_search_call.action.sources".into())));
    assert_eq!(losses, [("tools.blocked_domains".to_owned(), Weight::Minor)]);
}

#[test]
fn a_screen_is_a_function_with_one_call_at_a_time() {
    let (body, _) = sent(
        "gpt-5.6",
        asked(|request| {
            request.tools = vec![Tool::Computer(ComputerTool {
                kind: "computer_20241022".into(),
                name: "computer".into(),
                width: Some(Number("1280")),
                height: Some(Number("800")),
                display: None,
                zoom: false,
            })];
        }),
    );
    assert_eq!((&body["tools"][0]["name"], &body["parallel_tool_calls"]), (&"computer".into(), &false.into()));
    assert!(body["tools"][0]["parameters"]["properties"]["action"].is_object());
}

#[test]
fn limits_sampling_and_formats_are_carried_or_noted() {
    let (body, losses) = sent(
        "gpt-4o",
        asked(|request| {
            request.max_output = Some(5);
            request.sampling.temperature = Some(Number("0.5"));
            request.sampling.top_k = Some(Number("5"));
            request.stop = vec!["END".into()];
            request.sampling.n = Some(2);
            request.format = OutputFormat::JsonObject;
            request.user = Some("u1".into());
        }),
    );
    assert_eq!((&body["max_output_tokens"], &body["temperature"]), (&16.into(), &0.5.into()));
    assert_eq!(body["text"]["format"], json!({"type": "json_object"}));
    assert_eq!(body["input"][0]["content"], "Answer in JSON.");
    assert_eq!(body["safety_identifier"], "u1");
    let expected = [("top_k", Weight::Minor), ("n", Weight::Major), ("stop_sequences", Weight::Minor)];
    assert_eq!(losses, expected.map(|(field, weight)| (field.to_owned(), weight)));
}

#[test]
fn an_effort_shows_a_summary_and_models_that_do_not_reason_get_none() {
    let effort = |model| sent(model, asked(|request| request.thinking.effort = Some("high".into())));
    assert_eq!(effort("gpt-5.6").0["reasoning"], json!({"effort": "high", "summary": "auto"}));
    let (body, losses) = effort("gpt-4o");
    assert!(body["reasoning"].is_null() && losses.iter().any(|(_, weight)| *weight == Weight::Minor));
}

#[test]
fn extras_go_only_between_the_vendors_own_dialects() {
    let extra = |from| {
        sent(
            "gpt-5.6",
            asked(|request| {
                request.from = from;
                request.extras = vec![Extra { field: "metadata".into(), value: Raw::from(&br#"{"a":"b"}"#[..]), weight: Weight::Minor }];
            }),
        )
    };
    assert_eq!(extra(Shape::ChatCompletions).0["metadata"], json!({"a": "b"}));
    assert_eq!(extra(Shape::Messages).1, [("metadata".to_owned(), Weight::Minor)]);
}
