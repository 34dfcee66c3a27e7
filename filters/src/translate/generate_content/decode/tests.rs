use super::decode_request;
use crate::canonical::{Arguments, Block, Choice, OutputFormat, Refusal, Request, Role, Source, Text, Tool, Weight};
use crate::shape::Shape;
use crate::translate::generate_content::token;

fn read(body: &str) -> Request<'_> {
    decode_request(body.as_bytes(), false).expect("a valid request")
}

/// A request with the one content `hi` and further members.
fn with(members: &str) -> String {
    format!(r#"{{"contents":[{{"parts":[{{"text":"hi"}}]}}],{members}}}"#)
}

fn refused(body: &str) -> (String, String) {
    match decode_request(body.as_bytes(), false).expect_err("a mistake") {
        Refusal::Invalid { field, message } | Refusal::Unsupported { field, message } => (field, message.into_owned()),
    }
}

/// The fields without a neutral place, and their weights.
fn extras(request: &Request<'_>) -> Vec<(String, Weight)> {
    request.extras.iter().map(|extra| (extra.field.decode().into_owned(), extra.weight)).collect()
}

/// Reads one turn of the model.
fn model(parts: &str) -> String {
    format!(r#"{{"contents":[{{"role":"user","parts":[{{"text":"hi"}}]}},{{"role":"model","parts":[{parts}]}}]}}"#)
}

fn texts(blocks: &[Block<'_>]) -> Vec<String> {
    blocks.iter().map(|block| if let Block::Text(text) = block { text.decode().into_owned() } else { format!("{block:?}") }).collect()
}

#[test]
fn fields_are_read_in_snake_case_as_in_camel_case() {
    let camel = r#"{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}],
        "generationConfig":{"maxOutputTokens":5,"topP":0.5,"topK":3,"stopSequences":["x"],"candidateCount":2,"responseLogprobs":true,"logprobs":4,
        "thinkingConfig":{"thinkingBudget":7,"includeThoughts":true}},"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}},
        "tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object"}}]}],"cachedContent":"c"}"#;
    let snake = camel
        .replace("systemInstruction", "system_instruction")
        .replace("inlineData", "inline_data")
        .replace("mimeType", "mime_type")
        .replace("generationConfig", "generation_config")
        .replace("maxOutputTokens", "max_output_tokens")
        .replace("topP", "top_p")
        .replace("topK", "top_k")
        .replace("stopSequences", "stop_sequences")
        .replace("candidateCount", "candidate_count")
        .replace("responseLogprobs", "response_logprobs")
        .replace("thinkingConfig", "thinking_config")
        .replace("thinkingBudget", "thinking_budget")
        .replace("includeThoughts", "include_thoughts")
        .replace("toolConfig", "tool_config")
        .replace("functionCallingConfig", "function_calling_config")
        .replace("allowedFunctionNames", "allowed_function_names")
        .replace("functionDeclarations", "function_declarations")
        .replace("parametersJsonSchema", "parameters_json_schema")
        .replace("cachedContent", "cached_content");
    let (one, other) = (read(camel), read(&snake));
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
    assert_eq!((one.max_output, one.sampling.n, one.sampling.top_logprobs), (Some(5), Some(2), Some(4)));
    assert_eq!((one.thinking.budget, one.thinking.shown), (Some(7), Some(true)));
    assert_eq!(one.tool_choice, Some(Choice::Named(Text::from("f"))));
    assert_eq!(one.turns[0].role, Role::System);
}

#[test]
fn instructions_come_first_wherever_they_stand_and_hold_text_only() {
    let request = read(r#"{"contents":{"parts":{"text":"hi"}},"system_instruction":{"role":"user","parts":{"text":"You are a cat."}}}"#);
    assert_eq!((request.turns[0].role, request.turns[1].role), (Role::System, Role::User));
    assert_eq!(texts(&request.turns[0].blocks), ["You are a cat."]);
    let picture = r#"{"contents":[{"parts":[{"text":"a"}]}],"systemInstruction":{"parts":[{"inlineData":{"data":"AA=="}}]}}"#;
    assert_eq!(refused(picture).0, "systemInstruction.parts[0]");
}

#[test]
fn the_verb_decides_about_the_stream() {
    let body = br#"{"contents":[{"parts":[{"text":"hi"}]}]}"#;
    assert!(decode_request(body, true).unwrap().stream && !decode_request(body, false).unwrap().stream);
}

#[test]
fn a_missing_role_is_the_users_and_unknown_ones_are_refused() {
    let request = read(r#"{"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]},{"role":"function","parts":[]}]}"#);
    assert_eq!(request.turns.iter().map(|turn| turn.role).collect::<Vec<_>>(), [Role::User, Role::Assistant, Role::User]);
    assert_eq!(refused(r#"{"contents":[{"role":"assistant","parts":[]}]}"#).0, "contents[0].role");
    assert_eq!(refused(r#"{"contents":[]}"#).0, "contents");
    assert_eq!(refused("{}").0, "contents");
}

#[test]
fn users_texts_stay_apart_and_the_models_pieces_are_one_text() {
    let request = read(
        r#"{"contents":[{"parts":[{"text":"a"},{"text":"b"}]},{"parts":[{"text":"c"}]},
        {"role":"model","parts":[{"text":"Hel"},{"text":"lo\n"}]},{"role":"model","parts":[{"text":"you"},{"text":""}]}]}"#,
    );
    assert_eq!(request.turns.len(), 3);
    assert_eq!(texts(&request.turns[0].blocks), ["a", "b"]);
    assert_eq!(texts(&request.turns[2].blocks), ["Hello\nyou"]);
    let replayed = model(r#"{"text":""},{"text":"a"},{"functionCall":{"name":"f"}},{"text":""},{"text":"","thought":true}"#);
    assert_eq!(read(&replayed).turns[1].blocks.len(), 2, "empty pieces say nothing");
}

#[test]
fn calls_and_results_come_without_ids_and_with() {
    let body = r#"{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f"},"thoughtSignature":"CvAB"},{"functionCall":{"id":"i","name":"g","args":{"b":9007199254740993,"a":1.0}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":"x"}}},{"functionResponse":{"id":"i","name":"g","response":{"error":"no"},"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}}]}]}"#;
    let request = read(body);
    let Block::ToolCall(first) = &request.turns[0].blocks[0] else { panic!() };
    let Block::ToolCall(second) = &request.turns[0].blocks[1] else { panic!() };
    assert!(first.id.is_empty() && first.arguments.object().unwrap() == &b"{}"[..]);
    let signature = first.signature.as_ref().unwrap();
    assert_eq!((signature.shape, signature.origin, signature.value.is("CvAB")), (Shape::GenerateContent, None, true));
    let Arguments::Json(raw) = &second.arguments else { panic!() };
    assert_eq!(raw.as_text(), r#"{"b":9007199254740993,"a":1.0}"#);
    let Block::ToolResult(ok) = &request.turns[1].blocks[0] else { panic!() };
    let Block::ToolResult(failed) = &request.turns[1].blocks[1] else { panic!() };
    assert!(!ok.failed && ok.content.is_empty() && ok.object.as_ref().unwrap().as_text() == r#"{"result":"x"}"#);
    assert!(failed.failed && failed.id.is("i") && matches!(failed.content[0], Block::Image(_)));
}

#[test]
fn mistakes_in_calls_and_results_are_named_with_their_place() {
    let table = [
        (model(r#"{"functionCall":{"args":{}}}"#), "contents[1].parts[0].functionCall.name"),
        (model(r#"{"functionCall":{"name":"f","args":[]}}"#), "contents[1].parts[0].functionCall.args"),
        (model(r#"{"functionResponse":{"response":{}}}"#), "contents[1].parts[0].functionResponse.name"),
        (model(r#"{"functionResponse":{"name":"f","response":"x"}}"#), "contents[1].parts[0].functionResponse.response"),
        (model(r#"{"text":"a"},{"text":1}"#), "contents[1].parts[1].text"),
        (model(r#"{"text":"a","inlineData":{"data":"AA==","mimeType":"image/png"}}"#), "contents[1].parts[0]"),
        (model(r#"{"fileData":{"fileUri":"x"},"inlineData":{"data":"AA=="}}"#), "contents[1].parts[0]"),
        (model(r#"{"inlineData":{"mimeType":"image/png"}}"#), "contents[1].parts[0].inlineData.data"),
        (model(r#"{"inlineData":{"data":"AAAA"}}"#), "contents[1].parts[0].inlineData.mimeType"),
    ];
    for (body, field) in table {
        assert_eq!(refused(&body).0, field, "{body}");
    }
    assert_eq!(refused(r#"{"contents":"hi"}"#), ("contents".into(), "expected an array, found a string".into()));
}

#[test]
fn null_is_absent_everywhere() {
    let request = read(
        r#"{"contents":[{"role":null,"parts":[{"text":"a","inlineData":null,"thought":null,"thoughtSignature":null}]}],"systemInstruction":null,"tools":null,
        "toolConfig":{"functionCallingConfig":null},"generationConfig":{"temperature":null,"stopSequences":null,"responseSchema":null,"thinkingConfig":null},"cachedContent":null,"labels":null}"#,
    );
    assert!(request.extras.is_empty() && request.tools.is_empty() && request.sampling.temperature.is_none());
    assert_eq!(request.turns.len(), 1);
}

#[test]
fn reasoning_of_another_shape_is_put_together_from_its_chunks() {
    let minted = crate::canonical::Signature { shape: Shape::Messages, origin: Some(7), value: Text::from("EqQB+/==") };
    let (signed, sealed) = (token::write(&minted, false), token::write(&minted, true));
    let body = format!(
        r#"{{"contents":[{{"role":"model","parts":[{{"text":"Let ","thought":true}}]}},{{"role":"model","parts":[{{"text":"me see","thought":true}}]}},
        {{"role":"model","parts":[{{"text":"","thought":true,"thoughtSignature":"{signed}"}},{{"thought":true,"thoughtSignature":"{sealed}"}},{{"text":"Hi"}}]}}]}}"#
    );
    let request = read(&body);
    let blocks = &request.turns[0].blocks;
    assert_eq!(blocks[0], Block::Reasoning { text: Text::from("Let me see"), signature: Some(minted.clone()) });
    assert_eq!(blocks[1], Block::Redacted(minted));
    assert_eq!(texts(&blocks[2..]), ["Hi"]);
}

#[test]
fn the_vendors_own_tokens_stay_on_reasoning_and_are_noted_on_text() {
    let body = model(r#"{"text":"hm","thought":true,"thoughtSignature":"CvAB"},{"text":"a","thoughtSignature":"CvAC"}"#);
    let request = read(&body);
    let Block::Reasoning { signature: Some(signature), .. } = &request.turns[1].blocks[0] else { panic!() };
    assert!(signature.value.is("CvAB") && signature.origin.is_none());
    assert_eq!(extras(&request), [("contents.parts.thoughtSignature".into(), Weight::Silent)]);
}

#[test]
fn media_are_sorted_by_their_type_and_bytes_come_in_either_alphabet() {
    let part = |part: &str| -> String { format!(r#"{{"contents":[{{"parts":[{part}]}}]}}"#) };
    let block = |body: &str| format!("{:?}", read(body).turns[0].blocks[0]);
    assert!(block(&part(r#"{"inlineData":{"mimeType":"image/png","data":"-_-_"}}"#)).contains("+/+/"));
    let table = [
        (r#"{"inlineData":{"mimeType":"audio/wav","data":"AAAA"}}"#, "Audio"),
        (r#"{"inlineData":{"mimeType":"video/mp4","data":"AAAA"}}"#, "Video"),
        (r#"{"inlineData":{"mimeType":"application/pdf","data":"JVBERi0xLjQK"}}"#, "Document"),
        (r#"{"inlineData":{"data":"iVBORw0KGgo="}}"#, "Image"),
        (r#"{"fileData":{"mimeType":"image/png","fileUri":"https://example.com/a"}}"#, "Image(Media { source: Url"),
        (r#"{"fileData":{"fileUri":"https://example.com/a.JPG?x=1"}}"#, "Image(Media { source: Url"),
        (r#"{"fileData":{"fileUri":"https://www.youtube.com/watch?v=1"}}"#, "Video(Media { source: Url"),
        (r#"{"fileData":{"mimeType":"image/png","fileUri":"gs://b/a.png"}}"#, "Image(Media { source: File"),
        (r#"{"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/x"}}"#, "Document(Document { source: File"),
    ];
    for (json, start) in table {
        assert!(block(&part(json)).starts_with(start), "{json}");
    }
    let body = part(r#"{"inlineData":{"mimeType":"text/plain","data":"aGk=","displayName":"a.txt"}}"#);
    let request = read(&body);
    let Block::Document(document) = &request.turns[0].blocks[0] else { panic!() };
    assert_eq!((&document.source, document.title.as_ref().is_some_and(|t| t.is("a.txt"))), (&Source::Text(Text::from("hi")), true));
}

#[test]
fn code_of_earlier_answers_becomes_text_and_is_noted() {
    let body = model(
        r#"{"executableCode":{"language":"PYTHON","code":"1+1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2"}},{"toolCall":{"id":"x"}}"#,
    );
    let request = read(&body);
    assert_eq!(texts(&request.turns[1].blocks[..1]), ["\n```python\n1+1\n```\n\n```\n2\n```\n"]);
    assert!(matches!(&request.turns[1].blocks[1], Block::Unknown { kind, .. } if kind.is("toolCall")));
    assert_eq!(extras(&request).len(), 2);
}

#[test]
fn functions_are_read_from_either_schema_and_must_have_names_of_their_own() {
    let body = with(
        r#""tools":[{"functionDeclarations":[{"name":"a","description":"d","parameters":{"type":"OBJECT"}},{"name":"b","parametersJsonSchema":{"type":"object"},"response":{}},{"description":"nameless"}]}]"#,
    );
    let request = read(&body);
    let [Tool::Function(a), Tool::Function(b)] = request.tools.as_slice() else { panic!() };
    assert!(a.vendor_schema && !b.vendor_schema && a.description.as_ref().unwrap().is("d"));
    let expected =
        [("tools.functionDeclarations.response".into(), Weight::Minor), ("tools.functionDeclarations.name".into(), Weight::Minor)];
    assert_eq!(extras(&request), expected);
    let twice = with(r#""tools":[{"functionDeclarations":[{"name":"a"}]},{"functionDeclarations":[{"name":"a"}]}]"#);
    assert_eq!(refused(&twice).0, "tools[1].functionDeclarations[0].name");
}

#[test]
fn the_vendors_own_tools_are_kept_by_their_names() {
    let body = with(
        r#""tools":[{"googleSearch":{"excludeDomains":["x.com"],"timeRangeFilter":{}}},{"codeExecution":{}},{"url_context":{}},{"googleSearchRetrieval":{"dynamicRetrievalConfig":{}}}]"#,
    );
    let request = read(&body);
    let kinds: Vec<String> = request
        .tools
        .iter()
        .map(|tool| match tool {
            Tool::WebSearch(search) => format!("search {}", search.blocked_domains.len()),
            Tool::Unknown { kind, .. } => kind.decode().into_owned(),
            _ => "other".into(),
        })
        .collect();
    assert_eq!(kinds, ["search 1", "codeExecution", "urlContext", "search 0"]);
    let fields: Vec<String> = extras(&request).into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["tools.googleSearch.timeRangeFilter", "tools.googleSearchRetrieval.dynamicRetrievalConfig"]);
}

#[test]
fn the_modes_of_calling_are_choices() {
    let names = |names: &[&'static str]| names.iter().map(|name| Text::from(*name)).collect::<Vec<_>>();
    let table = [
        (r#"{"mode":"AUTO"}"#, Some(Choice::Auto)),
        (r#"{"mode":"any"}"#, Some(Choice::Any)),
        (r#"{"mode":"NONE"}"#, Some(Choice::None)),
        (r#"{"mode":"VALIDATED"}"#, Some(Choice::Auto)),
        (r#"{"mode":"ANY","allowedFunctionNames":["a"]}"#, Some(Choice::Named(Text::from("a")))),
        (r#"{"mode":"ANY","allowedFunctionNames":["a","b"]}"#, Some(Choice::Among { names: names(&["a", "b"]), required: true })),
        (r#"{"mode":"VALIDATED","allowedFunctionNames":["a"]}"#, Some(Choice::Among { names: names(&["a"]), required: false })),
        (r#"{"mode":"MODE_UNSPECIFIED"}"#, None),
        ("{}", None),
    ];
    for (config, choice) in table {
        let body = with(&format!(r#""toolConfig":{{"functionCallingConfig":{config}}}"#));
        assert_eq!(read(&body).tool_choice, choice, "{config}");
    }
    let unknown = with(r#""toolConfig":{"functionCallingConfig":{"mode":"SOME"}}"#);
    assert_eq!(refused(&unknown).0, "toolConfig.functionCallingConfig.mode");
}

#[test]
fn sampling_and_limits_are_read_as_written() {
    let body = with(
        r#""generationConfig":{"temperature":0.70,"topP":0.9,"topK":"40","presencePenalty":-1,"frequencyPenalty":1.5,"seed":7,"candidateCount":1,"maxOutputTokens":"100","stopSequences":["a","b"]},"serviceTier":"flex""#,
    );
    let request = read(&body);
    let sampling = &request.sampling;
    let numbers =
        [sampling.temperature, sampling.top_p, sampling.top_k, sampling.presence_penalty, sampling.frequency_penalty, sampling.seed];
    assert_eq!(numbers.map(|number| number.unwrap().0), ["0.70", "0.9", "40", "-1", "1.5", "7"]);
    assert_eq!((request.max_output, request.stop.len()), (Some(100), 2));
    assert!(request.service_tier.unwrap().is("flex") && request.extras.is_empty());
    assert_eq!(refused(&with(r#""generationConfig":{"maxOutputTokens":0}"#)).0, "generationConfig.maxOutputTokens");
    assert_eq!(refused(&with(r#""generationConfig":{"temperature":"warm"}"#)).0, "generationConfig.temperature");
}

#[test]
fn thinking_is_read_from_a_budget_or_a_level_but_not_both() {
    let thinking = |config: &str| {
        let body = with(&format!(r#""generationConfig":{{"thinkingConfig":{config}}}"#));
        let thinking = read(&body).thinking;
        (thinking.budget, thinking.effort.map(|effort| effort.decode().into_owned()), thinking.shown)
    };
    assert_eq!(thinking(r#"{"thinkingBudget":-1}"#), (Some(-1), None, Some(false)));
    assert_eq!(thinking(r#"{"thinkingBudget":0,"includeThoughts":false}"#), (Some(0), None, Some(false)));
    assert_eq!(thinking(r#"{"thinkingLevel":"HIGH","includeThoughts":true}"#), (None, Some("high".into()), Some(true)));
    assert_eq!(thinking(r#"{"thinkingLevel":"THINKING_LEVEL_UNSPECIFIED"}"#), (None, None, Some(false)));
    assert_eq!(read(&with(r#""labels":{}"#)).thinking.shown, None);
    let both = with(r#""generationConfig":{"thinkingConfig":{"thinkingBudget":1,"thinkingLevel":"LOW"}}"#);
    assert_eq!(refused(&both).0, "generationConfig.thinkingConfig");
    let unknown = with(r#""generationConfig":{"thinkingConfig":{"thinkingLevel":"VERY"}}"#);
    assert_eq!(refused(&unknown).0, "generationConfig.thinkingConfig.thinkingLevel");
}

#[test]
fn the_form_of_the_answer_follows_from_type_and_schema() {
    let format = |config: &str| {
        let body = with(&format!(r#""generationConfig":{{{config}}}"#));
        match read(&body).format {
            OutputFormat::Text => "text".to_owned(),
            OutputFormat::JsonObject => "object".to_owned(),
            OutputFormat::Schema { vendor_schema, schema, .. } => format!("{vendor_schema} {}", schema.as_text()),
        }
    };
    assert_eq!(format(r#""responseMimeType":"text/plain""#), "text");
    assert_eq!(format(r#""responseMimeType":"application/json""#), "object");
    assert_eq!(format(r#""responseMimeType":"application/json","responseSchema":{"type":"STRING"}"#), r#"true {"type":"STRING"}"#);
    assert_eq!(format(r#""responseMimeType":"application/json","responseJsonSchema":{"type":"string"}"#), r#"false {"type":"string"}"#);
    assert_eq!(
        format(r#""responseMimeType":"text/x.enum","responseSchema":{"type":"STRING","enum":["a"]}"#),
        r#"true {"type":"STRING","enum":["a"]}"#
    );
    assert_eq!(
        format(r#""responseFormat":[{"text":{"mimeType":"application/json","schema":{"type":"string"}}}]"#),
        r#"false {"type":"string"}"#
    );
    let both = with(r#""generationConfig":{"responseSchema":{},"responseJsonSchema":{}}"#);
    assert_eq!(refused(&both).0, "generationConfig.responseJsonSchema");
    let bare = with(r#""generationConfig":{"responseMimeType":"text/x.enum"}"#);
    assert_eq!(refused(&bare).0, "generationConfig.responseSchema");
}

#[test]
fn every_field_without_a_neutral_place_is_noted_with_its_weight() {
    let table = [
        (r#""cachedContent":"c""#, "cachedContent", Weight::Major),
        (r#""safetySettings":[{"category":"x"}]"#, "safetySettings", Weight::Minor),
        (r#""labels":{"a":"b"}"#, "labels", Weight::Minor),
        (r#""store":true"#, "store", Weight::Minor),
        (r#""brand_new":1"#, "brandNew", Weight::Minor),
        (r#""generationConfig":{"responseModalities":["TEXT","IMAGE"]}"#, "generationConfig.responseModalities", Weight::Major),
        (r#""generationConfig":{"speechConfig":{}}"#, "generationConfig.speechConfig", Weight::Minor),
        (r#""generationConfig":{"media_resolution":"MEDIA_RESOLUTION_LOW"}"#, "generationConfig.mediaResolution", Weight::Minor),
        (r#""generationConfig":{"responseFormat":[{"image":{}}]}"#, "generationConfig.responseFormat", Weight::Major),
        (r#""generationConfig":{"responseMimeType":"application/xml"}"#, "generationConfig.responseMimeType", Weight::Major),
        (r#""toolConfig":{"retrievalConfig":{}}"#, "toolConfig.retrievalConfig", Weight::Minor),
        (r#""toolConfig":{"includeServerSideToolInvocations":true}"#, "toolConfig.includeServerSideToolInvocations", Weight::Silent),
    ];
    for (member, field, weight) in table {
        let body = with(member);
        assert_eq!(extras(&read(&body)), [(field.to_owned(), weight)], "{member}");
    }
    let quiet = [r#""safetySettings":[]"#, r#""model":"models/x""#, r#""generationConfig":{"responseModalities":["TEXT"]}"#];
    for member in quiet {
        assert!(extras(&read(&with(member))).is_empty(), "{member}");
    }
    let part = r#"{"contents":[{"parts":[{"text":"a","videoMetadata":{}}]}]}"#;
    assert_eq!(extras(&read(part)), [("contents.parts.videoMetadata".into(), Weight::Minor)]);
}

proptest::proptest! {
    #[test]
    fn json_like_bodies_never_panic(body in r#"\{"(contents|tools|generationConfig|toolConfig)":[\[\]{}:,"a-z0-9 ]{0,80}\}"#) {
        let _ = decode_request(body.as_bytes(), false);
    }
}
