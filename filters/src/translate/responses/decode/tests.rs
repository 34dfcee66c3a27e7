//! What clients of this dialect ask: the vendor's SDKs, Codex, the AI SDK.

use super::*;
use crate::canonical::{Arguments, Choice, Media, Signature, Source, Tool, ToolCall, ToolResult, WebSearch};
use crate::translate::map::signature::tag;

fn read(body: &str) -> Request<'_> {
    decode_request(body.as_bytes()).expect("a request")
}

fn refused(body: &str) -> String {
    decode_request(body.as_bytes()).expect_err("a refusal").to_string()
}

fn input(items: &str) -> String {
    format!(r#"{{"model":"m","input":[{items}]}}"#)
}

fn text(said: &str) -> Block<'_> {
    Block::Text(Text::from(said))
}

#[test]
fn input_is_a_string_or_items_and_instructions_come_first() {
    let request = read(r#"{"model":"m","input":"hi","instructions":"Be brief.","max_output_tokens":50,"stream":true,"temperature":0.5}"#);
    let expected = [Turn { role: Role::System, blocks: vec![text("Be brief.")] }, Turn { role: Role::User, blocks: vec![text("hi")] }];
    assert_eq!(request.turns, expected);
    assert_eq!((request.max_output, request.stream, request.sampling.temperature.map(|number| number.0)), (Some(50), true, Some("0.5")));
    let items = input(
        r#"{"role":"developer","content":"d"},{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},
        {"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"b","annotations":[]}]},
        {"role":"assistant","content":"c"},{"role":"user","content":"e"}"#,
    );
    let roles: Vec<(Role, usize)> = read(&items).turns.iter().map(|turn| (turn.role, turn.blocks.len())).collect();
    assert_eq!(roles, [(Role::System, 1), (Role::User, 1), (Role::Assistant, 2), (Role::User, 1)]);
}

#[test]
fn calls_in_a_row_are_one_turn_and_so_are_results() {
    let items = input(
        r#"{"role":"user","content":"go"},{"type":"function_call","id":"fc_1","call_id":"call_a","name":"f","arguments":"{\"a\":1}"},
        {"type":"custom_tool_call","call_id":"call_b","name":"patch","input":"*** Begin"},
        {"type":"function_call_output","call_id":"call_a","output":"one"},
        {"type":"custom_tool_call_output","call_id":"call_b","output":[{"type":"input_text","text":"two"},{"type":"input_image","image_url":"data:image/png;base64,QUJD"}]}"#,
    );
    let request = read(&items);
    let [_, calls, results] = request.turns.as_slice() else { panic!("three turns") };
    let [Block::ToolCall(first), Block::ToolCall(ToolCall { custom: true, arguments: Arguments::Text(patch), .. })] =
        calls.blocks.as_slice()
    else {
        panic!("two calls")
    };
    assert!(first.id.is("call_a") && !first.custom && patch.is("*** Begin"));
    assert_eq!(first.arguments.object().expect("an object").as_ref(), br#"{"a":1}"#);
    let [Block::ToolResult(one), Block::ToolResult(ToolResult { content, .. })] = results.blocks.as_slice() else { panic!("two results") };
    assert_eq!(one.content, [text("one")]);
    let [_, Block::Image(Media { source: Source::Base64 { media_type, data }, .. })] = content.as_slice() else { panic!("a picture") };
    assert!(media_type.is("image/png") && data.is("QUJD"));
}

#[test]
fn reasoning_keeps_its_token_and_says_who_minted_it() {
    let minted = |shape| Signature { shape, origin: Some(7), value: Text::from("SIG") };
    let block = |token: &str| {
        let items = input(&format!(
            r#"{{"type":"reasoning","id":"rs_1","summary":[{{"type":"summary_text","text":"a"}},{{"type":"summary_text","text":"b"}}],"encrypted_content":"{token}"}}"#
        ));
        let request = decode_request(items.as_bytes()).expect("a request");
        match &request.turns[0].blocks[0] {
            Block::Reasoning { text, signature } => {
                (text.decode().into_owned(), signature.clone().map(|found| (found.shape, found.origin, found.value.into_owned())))
            }
            Block::Redacted(found) => (String::new(), Some((found.shape, found.origin, found.value.clone().into_owned()))),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(block("gAAA"), ("a\n\nb".to_owned(), Some((Shape::Responses, None, Text::from("gAAA")))));
    assert_eq!(block(&tag(&minted(Shape::Messages))).1, Some((Shape::Messages, Some(7), Text::from("SIG"))));
    assert_eq!(block(&format!("#{}", tag(&minted(Shape::Messages)))), (String::new(), Some((Shape::Messages, Some(7), Text::from("SIG")))));
    let token = tag(&minted(Shape::GenerateContent));
    let items = input(&format!(
        r#"{{"type":"reasoning","summary":[],"encrypted_content":"{token}"}},{{"type":"function_call","call_id":"a","name":"f","arguments":""}}"#
    ));
    let request = read(&items);
    assert!(
        matches!(request.turns[0].blocks.as_slice(), [Block::ToolCall(call)] if call.signature == Some(minted(Shape::GenerateContent)))
    );
}

#[test]
fn searches_in_the_history_keep_query_and_sources() {
    let items = input(
        r#"{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","queries":["q"],"sources":[{"type":"url","url":"https://x.example"}]}}"#,
    );
    let request = read(&items);
    let [Block::WebSearch { query, hits, .. }] = request.turns[0].blocks.as_slice() else { panic!("a search") };
    assert!(query.is("q") && hits[0].url.is("https://x.example"));
}

#[test]
fn state_that_is_not_kept_is_refused_in_clear_words() {
    for (field, value) in
        [("previous_response_id", "\"resp_1\""), ("conversation", "\"conv_1\""), ("background", "true"), ("prompt", "{\"id\":\"p\"}")]
    {
        let body = format!(r#"{{"model":"m","input":"x","{field}":{value}}}"#);
        assert!(matches!(decode_request(body.as_bytes()), Err(Refusal::Unsupported { field: found, .. }) if found == field), "{field}");
    }
    assert!(refused(&input(r#"{"role":"user","content":"x"},{"type":"item_reference","id":"msg_1"}"#)).contains("input[1]"));
    let request = read(r#"{"model":"m","input":"x","store":true,"background":false,"previous_response_id":null}"#);
    assert!(request.extras.iter().all(|extra| extra.weight == Weight::Silent));
}

#[test]
fn the_clients_mistakes_are_named_with_their_place() {
    for (body, place) in [
        (r#"{"model":"m"}"#.to_owned(), "`input`"),
        (r#"{"model":"m","input":3}"#.to_owned(), "`input`"),
        (input(r#"{"role":"robot","content":"x"}"#), "`input[0].role`"),
        (input(r#"{"role":"user","content":[{"type":"input_image"}]}"#), "`input[0].content[0]`"),
        (input(r#"{"type":"function_call","name":"f","arguments":"{}"}"#), "`input[0].call_id`"),
        (r#"{"input":"x","tools":[{"type":"function"}]}"#.to_owned(), "`tools[0].name`"),
        (r#"{"input":"x","tool_choice":"maybe"}"#.to_owned(), "`tool_choice`"),
        (r#"{"input":"x","reasoning":{"effort":"huge"}}"#.to_owned(), "`reasoning.effort`"),
        (r#"{"input":"x","text":{"format":{"type":"json_schema"}}}"#.to_owned(), "`text.format.schema`"),
    ] {
        let said = refused(&body);
        assert!(said.contains(place), "{body}: {said}");
    }
}

#[test]
fn tools_of_every_kind_are_read() {
    let body = r#"{"input":"x","max_tool_calls":2,"tools":[{"type":"function","name":"f","parameters":{"type":"object"},"strict":true},
        {"type":"custom","name":"patch","format":{"type":"grammar","syntax":"lark","definition":"x"}},
        {"type":"web_search_preview_2025_03_11","search_context_size":"low","user_location":{"type":"approximate","city":"Bonn"}},
        {"type":"web_search","filters":{"allowed_domains":["x.example"]},"external_web_access":false},
        {"type":"computer_use_preview","display_width":1},{"type":"local_shell"}]}"#;
    let request = read(body);
    let [
        Tool::Function(function),
        Tool::Custom { .. },
        Tool::WebSearch(preview),
        Tool::WebSearch(WebSearch { max_uses: Some(2), allowed_domains, .. }),
        Tool::Unknown { kind, .. },
        Tool::Unknown { .. },
    ] = request.tools.as_slice()
    else {
        panic!("{:?}", request.tools)
    };
    assert!(function.strict == Some(true) && preview.location.is_some() && allowed_domains.len() == 1 && kind.is("computer_use_preview"));
    assert!(request.extras.iter().any(|extra| extra.field.is("tools.external_web_access") && extra.weight == Weight::Minor));
}

#[test]
fn choices_are_words_or_objects() {
    let choice = |value: &str| {
        let body = format!(r#"{{"input":"x","tool_choice":{value}}}"#);
        format!("{:?}", decode_request(body.as_bytes()).expect("a request").tool_choice.expect("a choice"))
    };
    let said = |choice: Choice<'_>| format!("{choice:?}");
    assert_eq!(choice("\"required\""), said(Choice::Any));
    assert_eq!(choice("\"none\""), said(Choice::None));
    for (value, name) in [
        (r#"{"type":"function","name":"f"}"#, "f"),
        (r#"{"type":"custom","name":"f"}"#, "f"),
        (r#"{"type":"web_search_preview"}"#, "web_search"),
        (r#"{"type":"file_search"}"#, "file_search"),
    ] {
        let body = format!(r#"{{"input":"x","tool_choice":{value}}}"#);
        let request = decode_request(body.as_bytes()).expect("a request");
        assert!(matches!(request.tool_choice, Some(Choice::Named(found)) if found.is(name)), "{value}");
    }
    let body = r#"{"input":"x","tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"},{"type":"web_search_preview"}]}}"#;
    let request = read(body);
    assert_eq!(request.tool_choice, Some(Choice::Among { names: vec!["f".into(), "web_search".into()], required: true }));
}

#[test]
fn what_codex_sends_costs_nothing_but_hints() {
    let body = r#"{"model":"m","instructions":"You are Codex.","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}],
        "tools":[],"tool_choice":"auto","parallel_tool_calls":false,"reasoning":{"effort":"medium","summary":"auto"},"store":false,"stream":true,
        "include":["reasoning.encrypted_content"],"prompt_cache_key":"t1","text":{"verbosity":"low"},"client_metadata":{"a":"b"}}"#;
    let request = read(body);
    assert!(request.extras.iter().all(|extra| extra.weight == Weight::Silent), "{:?}", request.extras);
    assert_eq!((request.thinking.shown, request.parallel_tool_calls), (Some(true), Some(false)));
    assert!(request.verbosity.is_some_and(|word| word.is("low")) && request.thinking.effort.is_some_and(|word| word.is("medium")));
}

#[test]
fn other_fields_are_kept_with_their_weight() {
    let body = r#"{"input":"x","metadata":{"a":"b"},"truncation":"auto","user":"u","safety_identifier":"s","service_tier":"flex","top_logprobs":2,
        "include":["message.output_text.logprobs","file_search_call.results"],"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":true}}}"#;
    let request = read(body);
    let noted: Vec<(String, Weight)> = request.extras.iter().map(|extra| (extra.field.decode().into_owned(), extra.weight)).collect();
    assert_eq!(noted, ["metadata", "truncation", "include"].map(|field| (field.to_owned(), Weight::Minor)));
    assert!(request.user.is_some_and(|user| user.is("s")) && request.service_tier.is_some_and(|tier| tier.is("flex")));
    assert!(request.sampling.logprobs && request.sampling.top_logprobs == Some(2));
    assert!(matches!(request.format, OutputFormat::Schema { name: Some(name), strict: Some(true), .. } if name.is("n")));
}
