//! Requests as clients send them, field by field.

use super::*;
use crate::canonical::{Arguments, Block, Choice, Document, Media, OutputFormat, Role, Source, Tool, ToolCall, ToolResult, Turn};
use crate::translate::map::signature::tag;
use crate::wire::json::DEEPEST;

fn read(body: &str) -> Request<'_> {
    crate::wire::json::scan(body.as_bytes(), DEEPEST).expect("a body the gateway lets in");
    decode_request(body.as_bytes()).expect("a request")
}

fn refusal(body: &str) -> String {
    decode_request(body.as_bytes()).expect_err("a refusal").to_string()
}

/// A request with this field beside its message.
fn with(field: &str) -> String {
    format!(r#"{{"model":"m","messages":[{{"role":"user","content":"hi"}}],{field}}}"#)
}

fn turns(messages: &str) -> Vec<Turn<'static>> {
    let body: &'static str = Box::leak(format!(r#"{{"model":"m","messages":[{messages}]}}"#).into_boxed_str());
    read(body).turns
}

fn extras(body: &str) -> Vec<(String, Weight)> {
    read(body).extras.iter().map(|extra| (extra.field.decode().into_owned(), extra.weight)).collect()
}

#[test]
fn plain_fields_land_where_they_belong() {
    let body = with(
        r#""max_completion_tokens":5,"max_tokens":9,"temperature":0.70,"top_p":1,"top_k":40,"presence_penalty":-1.5,"frequency_penalty":2,"seed":7,"n":2,"logprobs":true,"top_logprobs":3,
        "stop":"x","stream":true,"stream_options":{"include_usage":true},"parallel_tool_calls":false,"verbosity":"low","service_tier":"flex","user":"u","reasoning_effort":"HIGH""#,
    );
    let request = read(&body);
    assert_eq!(request.max_output, Some(5), "the newer field wins");
    let sampling = &request.sampling;
    let numbers =
        [sampling.temperature, sampling.top_p, sampling.top_k, sampling.presence_penalty, sampling.frequency_penalty, sampling.seed];
    assert_eq!(numbers.map(|number| number.expect("told").0), ["0.70", "1", "40", "-1.5", "2", "7"]);
    assert_eq!((sampling.n, sampling.logprobs, sampling.top_logprobs), (Some(2), true, Some(3)));
    assert!(request.stream && request.include_usage && request.parallel_tool_calls == Some(false));
    assert_eq!(request.stop, [Text::from("x")]);
    assert_eq!((request.verbosity, request.service_tier, request.user), (Some("low".into()), Some("flex".into()), Some("u".into())));
    assert_eq!(request.thinking.effort, Some(Text::from("high")));
    assert!(request.extras.is_empty());
}

#[test]
fn null_is_absent() {
    let body = with(r#""max_tokens":null,"stop":null,"tools":null,"stream_options":null,"n":null,"anything":null"#);
    let request = read(&body);
    assert!(request.max_output.is_none() && request.stop.is_empty() && request.tools.is_empty() && request.extras.is_empty());
}

#[test]
fn the_newer_name_of_the_end_user_wins() {
    let body = with(r#""safety_identifier":"s","user":"u""#);
    assert_eq!(read(&body).user, Some(Text::from("s")));
}

#[test]
fn fields_without_a_neutral_place_are_kept_with_their_weight() {
    let table = [
        (r#""logit_bias":{"1":2}"#, "logit_bias", Weight::Minor),
        (r#""prediction":{"type":"content","content":"x"}"#, "prediction", Weight::Minor),
        (r#""metadata":{"a":"b"}"#, "metadata", Weight::Minor),
        (r#""store":true"#, "store", Weight::Minor),
        (r#""store":false"#, "store", Weight::Silent),
        (r#""prompt_cache_key":"k""#, "prompt_cache_key", Weight::Silent),
        (r#""modalities":["text"]"#, "modalities", Weight::Silent),
        (r#""modalities":["text","audio"]"#, "modalities", Weight::Major),
        (r#""audio":{"format":"wav","voice":"alloy"}"#, "audio", Weight::Major),
        (r#""moderation":{"model":"x"}"#, "moderation", Weight::Major),
        (r#""chat_template_kwargs":{"a":1}"#, "chat_template_kwargs", Weight::Minor),
        (r#""reasoning_effort":"default""#, "reasoning_effort", Weight::Minor),
        (r#""stream_options":{"include_obfuscation":false}"#, "stream_options.include_obfuscation", Weight::Silent),
    ];
    for (field, name, weight) in table {
        assert_eq!(extras(&with(field)), [(name.to_owned(), weight)], "{field}");
    }
}

#[test]
fn thinking_is_read_from_each_services_words() {
    let thinking = |field: &str| {
        let body = with(field);
        let thinking = read(&body).thinking;
        (thinking.effort.map(|effort| effort.decode().into_owned()), thinking.budget, thinking.adaptive, thinking.disabled, thinking.shown)
    };
    let high = Some("high".to_owned());
    assert_eq!(thinking(r#""reasoning":{"effort":"high"}"#), (high.clone(), None, false, false, None));
    assert_eq!(thinking(r#""reasoning":{"effort":"low"},"reasoning_effort":"high""#), (high, None, false, false, None));
    assert_eq!(thinking(r#""reasoning":{"max_tokens":2000,"exclude":true}"#), (None, Some(2000), false, false, Some(false)));
    assert_eq!(thinking(r#""reasoning":{"enabled":true}"#), (None, None, true, false, None));
    assert_eq!(thinking(r#""reasoning":{"enabled":false}"#), (None, None, false, true, None));
    assert_eq!(thinking(r#""thinking":{"type":"enabled","budget_tokens":1024}"#), (None, Some(1024), false, false, None));
    assert_eq!(thinking(r#""thinking":{"type":"disabled"}"#), (None, None, false, true, None));
}

#[test]
fn formats_are_read() {
    let format = |field: &str| format!("{:?}", read(&with(field)).format);
    assert_eq!(format(r#""response_format":{"type":"text"}"#), "Text");
    assert_eq!(format(r#""response_format":{"type":"json_object"}"#), "JsonObject");
    let body = with(
        r#""response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","schema":{"b":1,"a":2},"strict":true}}"#,
    );
    let OutputFormat::Schema { name, description, schema, vendor_schema, strict } = read(&body).format else { panic!("a schema") };
    assert_eq!((name, description, strict, vendor_schema), (Some("n".into()), Some("d".into()), Some(true), false));
    assert_eq!(schema.as_text(), r#"{"b":1,"a":2}"#, "the order is kept");
}

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
