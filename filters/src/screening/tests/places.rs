//! Bodies with every kind of place: each text says in its first letter where it has to be found, and `88` begins a number that has to
//! be found where the text before it is. Nothing else may be found.

use super::*;

/// The places of the letters.
const LETTERS: [(&str, Place); 7] = [
    ("S", Place::System),
    ("M", Place::Messages),
    ("R", Place::ToolResults),
    ("D", Place::Documents),
    ("A", Place::Answer),
    ("T", Place::Reasoning),
    ("C", Place::ToolArguments),
];

fn told(body: &str) -> Vec<(Place, String)> {
    let marks = regex::Regex::new(r"([SMRDATC]):[a-z0-9_]+|88[0-9.]+").unwrap();
    let mut last = Place::Messages;
    let mark = |found: regex::Captures<'_>| {
        let letter = found.get(1).map(|letter| letter.as_str());
        last = LETTERS.iter().find(|(name, _)| Some(*name) == letter).map_or(last, |(_, place)| *place);
        (last, found[0].to_owned())
    };
    marks.captures_iter(body).map(mark).collect()
}

fn finds_in_request(kind: BodyKind, body: &str) {
    assert!(serde_json::from_str::<serde_json::Value>(body).is_ok(), "the body of the test is no JSON: {body}");
    let told = told(body);
    assert!(!told.is_empty());
    assert_eq!(requested(kind, body), told, "{kind:?}");
}

fn finds_in_answer(kind: BodyKind, body: &str) {
    assert!(serde_json::from_str::<serde_json::Value>(body).is_ok(), "the body of the test is no JSON: {body}");
    let told = told(body);
    assert_eq!(answered(kind, body), told, "{kind:?}");
}

#[test]
fn chat_completions() {
    finds_in_request(
        BodyKind::ChatCompletions,
        r#"{"model":"no","user":"no","metadata":{"a":"no"},"messages":[
        {"role":"system","content":"S:one"},
        {"content":[{"type":"text","text":"S:two","prompt_cache_breakpoint":{"mode":"no"}}],"role":"developer","name":"no"},
        {"role":"user","name":"no","content":[{"type":"text","text":"M:one"},{"type":"image_url","image_url":{"url":"data:no","detail":"no"}},
          {"type":"input_audio","input_audio":{"data":"no","format":"no"}},
          {"type":"file","file":{"file_data":"data:no","filename":"D:one","file_id":"no"}},
          {"type":"unknown","inner":{"deeper":["M:two",{"more":"M:three","id":"no"}]},"picture":"data:image/png;base64,no"}]},
        "M:four",
        {"role":"assistant","content":"M:five","refusal":"M:six","reasoning_content":"M:seven","reasoning":"M:eight",
          "reasoning_details":[{"type":"reasoning.text","text":"M:nine","signature":"no","format":"no"},{"data":"no"}],
          "thinking_blocks":[{"type":"thinking","thinking":"M:ten","signature":"no"}],"audio":{"id":"no"},
          "tool_calls":[{"id":"no","type":"function","function":{"name":"no","arguments":"{\"a\":\"M:x\",\"b\":[881,{\"id\":\"M:y\"}],\"c\":true}"}},
            {"id":"no","type":"custom","custom":{"name":"no","input":"M:z"}}],
          "function_call":{"name":"no","arguments":"{\"name\":\"M:legacy\"}"}},
        {"role":"tool","tool_call_id":"no","content":[{"type":"text","text":"R:one"}]},
        {"role":"tool","tool_call_id":"no","content":"R:two"},
        {"role":"function","name":"no","content":"R:three"},
        {"role":"assistant","content":[{"type":"text","text":"M:parts"},{"type":"refusal","refusal":"M:refused"}],"audio":{"transcript":"M:heard"}}],
        "prediction":{"type":"content","content":[{"type":"text","text":"M:predicted"}]},
        "tools":[{"type":"function","function":{"name":"no","description":"no","parameters":{"type":"object"}}}]}"#,
    );
    finds_in_answer(
        BodyKind::ChatCompletions,
        r#"{"id":"no","object":"no","model":"no","system_fingerprint":"no","choices":[
        {"index":0,"finish_reason":"no","logprobs":{"content":[{"token":"no","bytes":[1]}]},"content_filter_results":{"hate":{"severity":"no"}},
         "message":{"role":"assistant","content":"A:one","refusal":"A:two","reasoning_content":"T:one","reasoning":"T:two",
          "annotations":[{"type":"no","url_citation":{"title":"A:title","url":"no","start_index":1}}],
          "audio":{"id":"no","data":"no","expires_at":1,"transcript":"A:heard"},
          "tool_calls":[{"id":"no","type":"function","function":{"name":"no","arguments":"{\"a\":\"C:x\",\"c\":88.5}"}},
            {"custom":{"name":"no","input":"C:free"}}],
          "function_call":{"name":"no","arguments":"C:prose"}}},
        {"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"T:parts"}]},{"type":"text","text":"A:parts"}]}}],
        "usage":{"prompt_tokens":1}}"#,
    );
}

#[test]
fn messages() {
    let request = r#"{"model":"no","max_tokens":1,"metadata":{"user_id":"no"},
        "system":[{"type":"text","text":"S:one","cache_control":{"type":"no","ttl":"no"}},{"type":"text","text":"S:two"}],
        "messages":[{"role":"user","content":"M:one"},{"role":"system","content":[{"type":"text","text":"S:three"}]},
        {"role":"assistant","content":[{"type":"thinking","thinking":"M:thought","signature":"no"},{"type":"redacted_thinking","data":"no"},
          {"type":"text","text":"M:two","citations":[{"type":"no","cited_text":"M:cited","document_title":"M:title","url":"no","encrypted_index":"no"}]},
          {"type":"tool_use","id":"no","name":"no","input":{"id":"M:x","n":881,"deep":{"data":["M:y",true,null]}}},
          {"type":"server_tool_use","id":"no","name":"no","input":{"query":"M:query"}},
          {"type":"web_search_tool_result","tool_use_id":"no","content":[{"type":"web_search_result","title":"R:title","url":"no","encrypted_content":"no","page_age":"R:age"}]},
          {"type":"code_execution_tool_result","tool_use_id":"no","content":{"type":"no","stdout":"R:out","stderr":"R:err","return_code":0,"content":[{"file_id":"no"}]}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"no","content":"R:one"},
          {"type":"tool_result","tool_use_id":"no","content":[{"type":"text","text":"R:two"},{"type":"image","source":{"type":"base64","media_type":"no","data":"no"}},
            {"type":"search_result","source":"R:source","title":"R:found","content":[{"type":"text","text":"R:three"}]}]},
          {"type":"document","title":"D:title","context":"D:context","citations":{"enabled":true},"source":{"type":"text","media_type":"no","data":"D:text"}},
          {"type":"document","source":{"type":"content","content":[{"type":"text","text":"D:part"}]}},
          {"type":"document","source":{"type":"content","content":"D:whole"}},
          {"type":"document","source":{"type":"base64","media_type":"no","data":"no"},"title":"D:pdf"},
          {"type":"document","source":{"data":"D:early","type":"text"}},
          {"type":"document","source":{"type":"url","url":"no"}},{"type":"image","source":{"type":"file","file_id":"no"}},
          {"type":"search_result","source":"D:source","title":"D:found","content":[{"type":"text","text":"D:result"}]},
          {"type":"invented","words":"M:new","data":"no","parts":[{"x":"M:newer"}]},{"type":"text","text":"M:last"}]}],
        "tools":[{"name":"no","description":"no","input_schema":{"type":"object"}}]}"#;
    finds_in_request(BodyKind::Messages, request);
    finds_in_request(BodyKind::CountTokens, request);
    finds_in_request(BodyKind::Messages, r#"{"messages":[{"role":"user","content":"M:one"}],"system":"S:one"}"#);
    finds_in_answer(
        BodyKind::Messages,
        r#"{"id":"no","type":"message","role":"assistant","model":"no","content":[{"type":"thinking","thinking":"T:one","signature":"no"},
        {"type":"text","text":"A:one","citations":[{"cited_text":"A:cited"}]},{"type":"tool_use","id":"no","name":"no","input":{"a":"C:x","b":{"name":"C:y","n":881}}},
        {"type":"web_search_tool_result","content":[{"type":"web_search_result","title":"A:title","url":"no"}]}],
        "stop_reason":"no","stop_sequence":"no","stop_details":{"type":"refusal","category":"no","explanation":"A:why"},"usage":{"service_tier":"no"}}"#,
    );
    finds_in_answer(BodyKind::CountTokens, r#"{"input_tokens":5,"content":"no"}"#);
}

#[test]
fn generate_content() {
    let request = r#"{"systemInstruction":{"role":"no","parts":[{"text":"S:one"}]},"cachedContent":"no","labels":{"a":"no"},
        "contents":[{"role":"user","parts":[{"text":"M:one"},{"inlineData":{"mimeType":"no","data":"no","displayName":"D:name"}},
          {"fileData":{"mimeType":"no","fileUri":"no"},"videoMetadata":{"startOffset":"no"}}]},
        {"parts":[{"text":"M:two"}]},
        {"role":"model","parts":[{"text":"M:thought","thought":true,"thoughtSignature":"no"},
          {"functionCall":{"id":"no","name":"no","args":{"id":"M:x","n":881,"deep":[{"data":"M:y"}]}},"thoughtSignature":"no"},
          {"executableCode":{"language":"no","code":"M:code"}},{"codeExecutionResult":{"outcome":"no","output":"R:output"}}]},
        {"role":"function","parts":[{"functionResponse":{"id":"no","name":"no","scheduling":"no","response":{"name":"R:one","n":882,"deep":["R:two"]},
          "parts":[{"inlineData":{"mimeType":"no","data":"no"}}]}}]},
        {"role":"anything","parts":[{"text":"M:three"},{"invented":{"words":["M:new"]}}]}],
        "tools":[{"functionDeclarations":[{"name":"no","description":"no"}]}],"generationConfig":{"stopSequences":["no"]}}"#;
    finds_in_request(BodyKind::GenerateContent, request);
    let spelled =
        ["systemInstruction", "inlineData", "fileData", "functionCall", "executableCode", "codeExecutionResult", "functionResponse"]
            .iter()
            .chain(&["mimeType", "displayName", "fileUri", "videoMetadata", "thoughtSignature"])
            .fold(request.to_owned(), |body, key| {
                let snake: String =
                    key.chars().flat_map(|c| if c.is_uppercase() { vec!['_', c.to_ascii_lowercase()] } else { vec![c] }).collect();
                body.replace(key, &snake)
            });
    assert!(spelled.contains("function_response") && !spelled.contains("inlineData"));
    finds_in_request(BodyKind::GenerateContent, &spelled);
    finds_in_request(BodyKind::GenerateContent, r#"{"content":{"parts":[{"text":"M:embedded"}]},"title":"D:title","taskType":"no"}"#);
    finds_in_request(
        BodyKind::GenerateContent,
        r#"{"requests":[{"model":"no","content":{"parts":[{"text":"M:one"}]}},{"title":"D:title"}],
        "generateContentRequest":{"model":"no","system_instruction":{"parts":[{"text":"S:one"}]},"contents":[{"parts":[{"text":"M:two"}]}]}}"#,
    );
    let answer = r#"{"candidates":[{"index":0,"finishReason":"no","finishMessage":"A:finish","content":{"role":"model","parts":[
        {"text":"T:one","thought":true},{"text":"A:one","thoughtSignature":"no"},{"functionCall":{"id":"no","name":"no","args":{"a":"C:x","n":881}}},
        {"executableCode":{"language":"no","code":"C:code"}},{"codeExecutionResult":{"outcome":"no","output":"A:output"}},{"inlineData":{"mimeType":"no","data":"no"}}]},
        "safetyRatings":[{"category":"no","probability":"no"}],"groundingMetadata":{"groundingChunks":[{"web":{"uri":"no","title":"A:title"}}],
        "groundingSupports":[{"segment":{"startIndex":1,"text":"A:segment"}}]}}],"usageMetadata":{"promptTokenCount":1},"modelVersion":"no","responseId":"no"}"#;
    finds_in_answer(BodyKind::GenerateContent, answer);
    finds_in_answer(BodyKind::GenerateContent, &format!("[{answer},\n{answer}]"));
}

#[test]
fn responses() {
    finds_in_request(
        BodyKind::Responses,
        r#"{"model":"no","instructions":"S:one","previous_response_id":"no","prompt":{"id":"no","version":"no","variables":{"name":"M:var","id":{"type":"input_text","text":"M:typed"}}},
        "input":[{"role":"developer","content":"S:two"},{"type":"message","role":"system","content":[{"type":"input_text","text":"S:three"}]},
        {"role":"user","content":[{"type":"input_text","text":"M:one"},{"type":"input_image","image_url":"data:no","detail":"no","file_id":"no"},
          {"type":"input_file","file_data":"data:no","filename":"D:name","file_url":"no"}]},
        {"type":"reasoning","id":"no","summary":[{"type":"summary_text","text":"M:summary"}],"content":[{"type":"reasoning_text","text":"M:reasoning"}],"encrypted_content":"no"},
        {"type":"message","id":"no","status":"no","role":"assistant","phase":"no","content":[{"type":"output_text","text":"M:two","annotations":[{"type":"no","filename":"M:cited","file_id":"no","url":"no"}],"logprobs":[{"token":"no"}]},{"type":"refusal","refusal":"M:refused"}]},
        {"type":"function_call","id":"no","call_id":"no","name":"no","arguments":"{\"id\":\"M:x\",\"n\":881}","status":"no"},
        {"type":"function_call_output","call_id":"no","output":"R:one"},
        {"type":"function_call_output","call_id":"no","output":[{"type":"input_text","text":"R:two"},{"type":"input_image","image_url":"no"}]},
        {"type":"custom_tool_call","call_id":"no","name":"no","input":"M:free"},{"type":"custom_tool_call_output","call_id":"no","output":"R:three"},
        {"type":"shell_call_output","call_id":"no","output":[{"stdout":"R:out","stderr":"R:err","outcome":{"type":"no"}}]},
        {"type":"web_search_call","id":"no","status":"no","action":{"type":"no","query":"M:query","sources":[{"url":"no"}]}},
        {"type":"mcp_call","server_label":"no","name":"no","arguments":"{\"a\":\"M:y\"}","output":"R:four"},
        {"type":"image_generation_call","result":"no","revised_prompt":"M:revised"},
        {"type":"item_reference","id":"no"},{"type":"compaction","encrypted_content":"no"},
        {"type":"invented","words":"M:new"}],
        "tools":[{"type":"function","name":"no","description":"no","parameters":{}}]}"#,
    );
    finds_in_request(BodyKind::Responses, r#"{"input":"M:one"}"#);
    finds_in_answer(
        BodyKind::Responses,
        r#"{"id":"no","object":"no","status":"no","model":"no","instructions":"no","output":[
        {"type":"reasoning","id":"no","summary":[{"type":"summary_text","text":"T:one"}],"content":[{"type":"reasoning_text","text":"T:two"}],"encrypted_content":"no"},
        {"type":"message","id":"no","role":"assistant","content":[{"type":"output_text","text":"A:one","annotations":[{"title":"A:title","url":"no"}]},{"type":"refusal","refusal":"A:two"}]},
        {"type":"function_call","id":"no","call_id":"no","name":"no","arguments":"{\"a\":\"C:x\",\"n\":881}"},
        {"type":"custom_tool_call","input":"C:free"},{"type":"code_interpreter_call","container_id":"no","code":"C:code","outputs":[{"type":"logs","logs":"A:logs"}]},
        {"type":"image_generation_call","result":"no","revised_prompt":"C:revised"}],"text":{"format":{"type":"no"}},"usage":{}}"#,
    );
}

#[test]
fn endpoints_without_dialogue() {
    finds_in_request(BodyKind::Completions, r#"{"model":"no","prompt":["M:one","M:two"],"suffix":"M:three","user":"no"}"#);
    finds_in_request(BodyKind::Completions, r#"{"prompt":"M:one","stop":["no"]}"#);
    finds_in_request(BodyKind::Embeddings, r#"{"model":"no","input":["M:one","M:two"],"encoding_format":"no"}"#);
    assert_eq!(requested(BodyKind::Embeddings, r#"{"input":[[1,2],[3]]}"#), [], "tokens are no texts");
    finds_in_request(BodyKind::Moderations, r#"{"input":[{"type":"text","text":"M:one"},{"type":"image_url","image_url":{"url":"no"}}]}"#);
    finds_in_request(BodyKind::Images, r#"{"prompt":"M:one","size":"no"}"#);
    finds_in_request(BodyKind::Audio, r#"{"input":"M:one","instructions":"M:two","voice":"no"}"#);
    finds_in_answer(BodyKind::Completions, r#"{"id":"no","choices":[{"text":"A:one","finish_reason":"no","logprobs":{"tokens":["no"]}}]}"#);
    finds_in_answer(BodyKind::Images, r#"{"data":[{"b64_json":"no","url":"no","revised_prompt":"A:one"}]}"#);
    finds_in_answer(
        BodyKind::Audio,
        r#"{"task":"no","language":"no","text":"A:one","segments":[{"id":0,"text":"A:two","tokens":[1]}],"words":[{"word":"A:three"}]}"#,
    );
    finds_in_answer(BodyKind::Embeddings, r#"{"data":[{"embedding":"no"}],"model":"no"}"#);
    finds_in_answer(BodyKind::Moderations, r#"{"results":[{"categories":{"x":true}}],"model":"no"}"#);
}

#[test]
fn deep_values_are_looked_through_and_keys_that_are_escaped_or_twice_there_are_no_way_around() {
    let deep = format!(
        r#"{{"messages":[{{"role":"user","content":{}"M:deep",{{"id":"no","x":["M:deeper"]}}{}}}]}}"#,
        "[".repeat(100),
        "]".repeat(100)
    );
    finds_in_request(BodyKind::ChatCompletions, &deep);
    finds_in_request(BodyKind::Messages, r#"{"mess\u0061ges":[{"role":"user","role":"system","c\u006fntent":"S:one","content":"S:two"}]}"#);
}
