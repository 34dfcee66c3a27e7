use super::*;
use crate::canonical::{Arguments, Block, Choice, Request, Signature, Source, Text, Tool};
use crate::translate::map::signature::tag;

/// A body with one user message beside `fields`.
fn body(fields: &str) -> String {
    format!(r#"{{"model":"m","max_tokens":64,"messages":[{{"role":"user","content":"hi"}}],{fields}}}"#)
}

fn content(role: &str, blocks: &str) -> String {
    format!(r#"{{"model":"m","messages":[{{"role":"{role}","content":[{blocks}]}}]}}"#)
}

fn read(body: &str) -> Request<'_> {
    serde_json::from_str::<serde_json::Value>(body).expect("the test's body is JSON");
    decode_request(body.as_bytes()).expect("decodes")
}

/// Reads a body with one user message beside `fields`.
fn with(fields: &str) -> Request<'static> {
    read(body(fields).leak())
}

fn refused(body: &str) -> String {
    decode_request(body.as_bytes()).expect_err("is refused").to_string()
}

/// Names and weights of what has no neutral meaning.
fn extras(request: &Request<'_>) -> Vec<(String, Weight)> {
    request.extras.iter().map(|extra| (extra.field.decode().into_owned(), extra.weight)).collect()
}

fn words(blocks: &[Block<'_>]) -> Vec<String> {
    let text = |block: &Block<'_>| if let Block::Text(text) = block { text.decode().into_owned() } else { format!("{block:?}") };
    blocks.iter().map(text).collect()
}

#[test]
fn common_fields_are_read_by_name_in_any_order() {
    let request = with(
        r#""system":"Be brief.","temperature":0.70,"top_p":0.9,"top_k":5,"stop_sequences":["a","b"],"stream":true,
           "metadata":{"user_id":"u-1"},"service_tier":"auto""#,
    );
    assert_eq!(request.turns[0].role, Role::System);
    assert_eq!((words(&request.turns[0].blocks), words(&request.turns[1].blocks)), (vec!["Be brief.".into()], vec!["hi".into()]));
    assert_eq!(request.max_output, Some(64));
    assert_eq!(request.sampling.temperature.map(|number| number.0), Some("0.70"), "numbers stay as written");
    assert_eq!((request.stop.len(), request.stream), (2, true));
    assert_eq!(request.user, Some(Text::from("u-1")));
    assert_eq!(request.service_tier, Some(Text::from("auto")));
    assert!(request.extras.is_empty());
}

#[test]
fn wrong_kinds_are_refused_with_their_place() {
    let table = [
        (r#"{"model":"m"}"#, "read `messages`: is required"),
        (r#"[]"#, "read ``: must be an object, not an array"),
        (r#"{"messages":{}}"#, "read `messages`: must be an array, not an object"),
        (r#"{"messages":[{"role":"tool","content":""}]}"#, "read `messages[0].role`: must be `user`, `assistant` or `system`"),
        (r#"{"messages":[{"role":"user"}]}"#, "read `messages[0].content`: is required"),
        (
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":5}]}]}"#,
            "read `messages[0].content[0].text`: must be a string, not a number",
        ),
        (r#"{"messages":[{"role":"user","content":[{}]}]}"#, "read `messages[0].content[0].type`: is required"),
        (r#"{"messages":[],"max_tokens":"5"}"#, "read `max_tokens`: must be a number, not a string"),
        (r#"{"messages":[],"max_tokens":-5}"#, "read `max_tokens`: must be a whole number that is not negative"),
        (r#"{"messages":[],"stop_sequences":["a",1]}"#, "read `stop_sequences[1]`: must be a string, not a number"),
        (
            r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":[]}]}]}"#,
            "read `messages[0].content[0].input`: must be an object, not an array",
        ),
        (r#"{"messages":[],"tools":[{"name":"f"},{"name":"f"}]}"#, "read `tools[1].name`: tool names must be unique"),
    ];
    for (body, sentence) in table {
        assert_eq!(refused(body), sentence, "{body}");
    }
}

#[test]
fn a_null_field_is_an_absent_one() {
    let request = with(r#""system":null,"tools":null,"thinking":null,"unheard_of":null"#);
    assert!(request.turns.len() == 1 && request.tools.is_empty() && request.extras.is_empty());
}

#[test]
fn blocks_of_instructions_stay_apart_and_the_billing_mark_goes() {
    let request = with(
        r#""system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2"},
           {"type":"text","text":"One.","cache_control":{"type":"ephemeral"}},{"type":"text","text":"Two."}]"#,
    );
    assert_eq!(words(&request.turns[0].blocks), ["One.", "Two."]);
    assert_eq!(extras(&request), [("cache_control".to_owned(), Weight::Silent)]);
}

#[test]
fn instructions_in_the_middle_stay_in_their_place() {
    let request = read(
        r#"{"messages":[{"role":"user","content":"a"},{"role":"system","content":"b"},{"role":"assistant","content":"c"}],"system":"s"}"#,
    );
    let roles: Vec<Role> = request.turns.iter().map(|turn| turn.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::System, Role::Assistant]);
}

#[test]
fn cache_marks_are_silent_wherever_they_stand() {
    let request = with(
        r#""cache_control":{"type":"ephemeral"},"tools":[{"name":"f","input_schema":{},"cache_control":{"type":"ephemeral"}}],
           "system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]"#,
    );
    assert_eq!(extras(&request), [("cache_control".to_owned(), Weight::Silent)]);
    let nested = content(
        "user",
        r#"{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}"#,
    );
    assert_eq!(extras(&read(&nested)), [("cache_control".to_owned(), Weight::Silent)]);
}

#[test]
fn fields_of_this_vendor_alone_are_weighed_by_what_their_loss_means() {
    let request = with(
        r#""container":"c","mcp_servers":[{"type":"url"}],"fallbacks":[],"inference_geo":"eu","speed":"fast","metadata":{"team":"x"},"novel":1"#,
    );
    let expected = [
        ("container", Weight::Major),
        ("mcp_servers", Weight::Major),
        ("fallbacks", Weight::Minor),
        ("inference_geo", Weight::Minor),
        ("speed", Weight::Minor),
        ("metadata.team", Weight::Minor),
        ("novel", Weight::Minor),
    ];
    assert_eq!(extras(&request), expected.map(|(name, weight)| (name.to_owned(), weight)));
}

#[test]
fn pictures_and_documents_keep_their_sources() {
    let body = content(
        "user",
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA\/A"}},
           {"type":"image","source":{"type":"url","url":"https://x/y.png"}},{"type":"image","source":{"type":"file","file_id":"file_1"}},
           {"type":"document","title":"T","context":"C","source":{"type":"text","media_type":"text/plain","data":"body"},"citations":{"enabled":true}},
           {"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"}]}},
           {"type":"search_result","source":"https://s","title":"S","content":[{"type":"text","text":"found"}]}"#,
    );
    let request = read(&body);
    let blocks = &request.turns[0].blocks;
    let Block::Image(picture) = &blocks[0] else { panic!("a picture") };
    let Source::Base64 { data: Text::Escaped(data), .. } = &picture.source else { panic!("its bytes, as written") };
    assert_eq!(*data, br"AA\/A");
    assert!(matches!(&blocks[1], Block::Image(picture) if matches!(&picture.source, Source::Url { .. })));
    assert!(matches!(&blocks[2], Block::Image(picture) if matches!(&picture.source, Source::File { shape: Shape::Messages, .. })));
    let Block::Document(document) = &blocks[3] else { panic!("a document") };
    assert_eq!((document.title.clone(), document.context.clone()), (Some(Text::from("T")), Some(Text::from("C"))));
    assert!(matches!(&blocks[4], Block::Document(document) if matches!(&document.source, Source::Blocks(_))));
    assert_eq!(words(&blocks[5..]), ["S\nhttps://s\nfound"]);
    assert_eq!(extras(&request), [("messages.content.citations".to_owned(), Weight::Minor)]);
}

#[test]
fn calls_and_results_keep_ids_arguments_and_failures() {
    let body = content("assistant", r#"{"type":"tool_use","id":"toolu_1","name":"f","input":{"b":9007199254740993,"a":1.0}}"#);
    let request = read(&body);
    let Block::ToolCall(call) = &request.turns[0].blocks[0] else { panic!("a call") };
    let Arguments::Json(raw) = &call.arguments else { panic!("raw arguments") };
    assert_eq!(raw.as_text(), r#"{"b":9007199254740993,"a":1.0}"#);
    let body = content(
        "user",
        r#"{"type":"tool_result","tool_use_id":"toolu_1","content":"bad","is_error":true},
           {"type":"tool_result","tool_use_id":"toolu_2"},
           {"type":"tool_result","tool_use_id":"toolu_3","content":[{"type":"tool_reference","tool_name":"g"}]}"#,
    );
    let request = read(&body);
    let results: Vec<_> =
        request.turns[0].blocks.iter().filter_map(|b| if let Block::ToolResult(r) = b { Some(r) } else { None }).collect();
    assert!(results[0].failed && results[0].id.is("toolu_1") && words(&results[0].content) == ["bad"]);
    assert!(!results[1].failed && results[1].content.is_empty());
    assert!(matches!(&results[2].content[0], Block::Unknown { kind, .. } if kind.is("tool_reference")));
}

#[test]
fn thinking_keeps_its_own_signature_and_gives_back_a_tagged_one() {
    let foreign = Signature { shape: Shape::Responses, origin: Some(7), value: Text::from("sealed") };
    let body = content(
        "assistant",
        &format!(
            r#"{{"type":"thinking","thinking":"a","signature":"EqQB"}},{{"type":"thinking","thinking":"b","signature":"{}"}},
               {{"type":"thinking","thinking":"c","signature":""}},{{"type":"redacted_thinking","data":"own"}}"#,
            tag(&foreign)
        ),
    );
    let request = read(&body);
    let own = |value: &'static str| Signature { shape: Shape::Messages, origin: None, value: Text::from(value) };
    let thought = |text: &'static str, signature| Block::Reasoning { text: Text::from(text), signature };
    let expected = [thought("a", Some(own("EqQB"))), thought("b", Some(foreign)), thought("c", None), Block::Redacted(own("own"))];
    assert_eq!(request.turns[0].blocks, expected);
}

#[test]
fn the_token_of_a_call_comes_back_from_the_thinking_before_it() {
    let token = Signature { shape: Shape::GenerateContent, origin: Some(1), value: Text::from("sig") };
    let tagged = tag(&token);
    let body = content(
        "assistant",
        &format!(
            r#"{{"type":"thinking","thinking":"","signature":"{tagged}"}},{{"type":"tool_use","id":"a","name":"f","input":{{}}}},
               {{"type":"thinking","thinking":"why","signature":"{tagged}"}},{{"type":"tool_use","id":"b","name":"f","input":{{}}}}"#
        ),
    );
    let request = read(&body);
    let blocks = &request.turns[0].blocks;
    assert_eq!(blocks.len(), 3, "a block of thinking that only carried the token goes");
    for place in [0, 2] {
        assert!(matches!(&blocks[place], Block::ToolCall(call) if call.signature.as_ref() == Some(&token)));
    }
    assert_eq!(blocks[1], Block::Reasoning { text: Text::from("why"), signature: None });
}

#[test]
fn a_search_and_its_result_become_one_block() {
    let body = content(
        "assistant",
        r#"{"type":"server_tool_use","id":"srvtoolu_gw_1","name":"web_search","input":{"query":"rust"}},
           {"type":"web_search_tool_result","tool_use_id":"srvtoolu_gw_1","content":[{"type":"web_search_result","url":"https://r","title":"R","encrypted_content":"","page_age":null}]},
           {"type":"text","text":"So.","citations":[{"type":"web_search_result_location","url":"https://r"}]},
           {"type":"server_tool_use","id":"srvtoolu_2","name":"web_search","input":{"query":"x"}},
           {"type":"web_search_tool_result","tool_use_id":"srvtoolu_2","content":{"type":"web_search_tool_result_error","error_code":"unavailable"}},
           {"type":"mcp_tool_use","id":"m","name":"n","server_name":"s","input":{}}"#,
    );
    let request = read(&body);
    let blocks = &request.turns[0].blocks;
    assert_eq!(blocks.len(), 4);
    let Block::WebSearch { id, query, hits } = &blocks[0] else { panic!("a search") };
    assert!(id.is("srvtoolu_gw_1") && query.is("rust") && hits.len() == 1 && hits[0].url.is("https://r"));
    assert!(matches!(&blocks[2], Block::WebSearch { hits, .. } if hits.is_empty()));
    assert!(matches!(&blocks[3], Block::Unknown { kind, .. } if kind.is("mcp_tool_use")));
    assert_eq!(extras(&request), [("messages.content.citations".to_owned(), Weight::Silent)]);
}

#[test]
fn tools_are_told_apart_by_type() {
    let request = with(
        r#""tools":[{"name":"f","description":"d","input_schema":{"type":"object"},"strict":true,"eager_input_streaming":true},
           {"type":"custom","name":"g","input_schema":{}},{"input_schema":{}},
           {"type":"web_search_20250305","name":"web_search","max_uses":3,"allowed_domains":["a.b"],"user_location":{"type":"approximate","city":"X"}},
           {"type":"computer_20250124","name":"computer","display_width_px":1280,"display_height_px":800,"display_number":1},
           {"type":"bash_20250124","name":"bash"},{"type":"text_editor_20250728","name":"str_replace_based_edit_tool","max_characters":9},
           {"type":"code_execution_20250825","name":"code_execution"},{"type":"computer_toolset_20260801","name":"c"},{"type":"memory_20250818","name":"memory"}]"#,
    );
    let tools = &request.tools;
    assert_eq!(tools.len(), 9, "a tool without a name is left out");
    assert!(matches!(&tools[0], Tool::Function(f) if f.name.is("f") && f.strict == Some(true) && f.parameters.is_some()));
    assert!(matches!(&tools[1], Tool::Function(f) if f.name.is("g")));
    assert!(matches!(&tools[2], Tool::WebSearch(s) if s.max_uses == Some(3) && s.allowed_domains.len() == 1 && s.location.is_some()));
    assert!(matches!(&tools[3], Tool::Computer(c) if c.width.is_some_and(|width| width.0 == "1280") && c.kind.is("computer_20250124")));
    assert!(matches!(&tools[4], Tool::Vendor(v) if v.name.is("bash")));
    assert!(matches!(&tools[5], Tool::Vendor(v) if v.kind.is("text_editor_20250728")));
    assert!(matches!(&tools[8], Tool::Vendor(v) if v.kind.is("memory_20250818")));
    for (place, kind) in [(6, "code_execution_20250825"), (7, "computer_toolset_20260801")] {
        assert!(matches!(&tools[place], Tool::Unknown { kind: found, .. } if found.is(kind)), "{kind}");
    }
    let expected = [("tools.eager_input_streaming", Weight::Minor), ("tools.name", Weight::Minor), ("tools.max_characters", Weight::Minor)];
    assert_eq!(extras(&request), expected.map(|(name, weight)| (name.to_owned(), weight)));
}

#[test]
fn the_choice_of_tools_says_whether_calls_come_together() {
    let choice = |choice: &str| {
        let body = body(&format!(r#""tool_choice":{choice}"#));
        let request = read(&body);
        (format!("{:?}", request.tool_choice), request.parallel_tool_calls)
    };
    assert_eq!(choice(r#"{"type":"auto","disable_parallel_tool_use":true}"#), (format!("{:?}", Some(Choice::Auto)), Some(false)));
    assert_eq!(choice(r#"{"type":"any"}"#), (format!("{:?}", Some(Choice::Any)), None));
    assert_eq!(choice(r#"{"type":"none"}"#).0, format!("{:?}", Some(Choice::None)));
    assert!(choice(r#"{"type":"tool","name":"f"}"#).0.contains("Named"));
    assert!(refused(&body(r#""tool_choice":{"type":"tool"}"#)).contains("tool_choice.name"));
}

#[test]
fn thinking_is_read_in_every_form() {
    let thinking = |fields: &str| {
        let body = body(fields);
        let request = read(&body);
        let thinking = request.thinking;
        (thinking.effort.map(|e| e.decode().into_owned()), thinking.budget, thinking.adaptive, thinking.disabled, thinking.shown)
    };
    assert_eq!(thinking(r#""thinking":{"type":"enabled","budget_tokens":2048}"#), (None, Some(2048), false, false, Some(true)));
    assert_eq!(thinking(r#""thinking":{"type":"adaptive","display":"omitted"}"#), (None, None, true, false, Some(false)));
    assert_eq!(thinking(r#""thinking":{"type":"disabled"}"#), (None, None, false, true, None));
    assert_eq!(thinking(r#""output_config":{"effort":"high"}"#), (Some("high".into()), None, false, false, None));
    assert!(thinking(r#""thinking":{"type":"between_tools"}"#).2);
    assert!(refused(&body(r#""thinking":{"type":"enabled"}"#)).contains("thinking.budget_tokens"));
}

#[test]
fn structured_output_keeps_the_schema_as_written() {
    for field in [
        r#""output_config":{"format":{"type":"json_schema","schema":{"b":1,"a":2}}}"#,
        r#""output_format":{"type":"json_schema","schema":{"b":1,"a":2}}"#,
    ] {
        let body = body(field);
        let OutputFormat::Schema { schema, .. } = read(&body).format else { panic!("a schema") };
        assert_eq!(schema.as_text(), r#"{"b":1,"a":2}"#);
    }
    assert!(refused(&body(r#""output_config":{"format":{"type":"grammar"}}"#)).contains("output_config.format.type"));
}

proptest::proptest! {
    #[test]
    fn foreign_bytes_never_panic(data in r#"[{}\[\]":,a-z_0-9\\ ]{0,80}"#) {
        let _ = decode_request(data.as_bytes());
        for body in [body(&format!(r#""tools":[{data}],"thinking":{data}"#)), content("user", &data)] {
            let _ = decode_request(body.as_bytes());
        }
    }
}
