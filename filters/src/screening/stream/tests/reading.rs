//! Texts at unusual places.

use super::answers::Shape;
use super::{screened, usual};

/// `event` with `CARD` standing for a card leaves with the mask in its place.
fn masks(shape: Shape, event: &str) {
    let with = |text: &str| match shape {
        Shape::GenerateArray => format!("[{}]", event.replace("CARD", text)),
        _ => format!("data: {}\n\n", event.replace("CARD", text)),
    };
    let (out, screen) = screened(&usual(), shape, &[with("4111 1111 1111 1111")]);
    assert_eq!(out, with("[card]"));
    assert!(screen.has_sent());
}

/// `event` with a card in it leaves as it is.
fn keeps(shape: Shape, event: &str) {
    let event = format!("data: {}\n\n", event.replace("CARD", "4111 1111 1111 1111"));
    let (out, _) = screened(&usual(), shape, std::slice::from_ref(&event));
    assert_eq!(out, event);
}

#[test]
fn chunks_of_chat_completions() {
    for delta in [
        r#""content":"CARD""#,
        r#""refusal":"CARD""#,
        r#""reasoning_content":"CARD","reasoning":"CARD""#,
        r#""reasoning":"CARD","reasoning_details":[{"type":"reasoning.text","text":"CARD"},{"summary":"CARD","index":1}]"#,
        r#""thinking_blocks":[{"type":"thinking","thinking":"CARD","signature":"4111111111111111"}]"#,
        r#""content":[{"type":"text","text":"CARD"},{"type":"thinking","thinking":[{"text":"CARD"}]}]"#,
        r#""tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"a\":\"CARD\"}"}},{"index":1,"custom":{"input":"CARD"}}]"#,
        r#""tool_calls":[{"function":{"arguments":{"a":["CARD"]}}}]"#,
        r#""function_call":{"name":"f","arguments":"[\"CARD\"]"}"#,
        r#""audio":{"data":"AAAA","transcript":"CARD"}"#,
        r#""annotations":[{"type":"url_citation","url_citation":{"title":"CARD","url":"https://4111111111111111"}}]"#,
        r#""something_new":"CARD""#,
    ] {
        masks(Shape::Chat, &format!(r#"{{"choices":[{{"delta":{{{delta}}},"index":3}}]}}"#));
    }
    masks(Shape::Chat, r#"{"choices":[{"text":"CARD","index":0,"logprobs":null}]}"#);
    masks(Shape::Chat, r#"{"choices":[{"index":0,"delta":{"content":"CARD"}},{"index":1,"delta":{"content":"CARD"}}]}"#);
    keeps(
        Shape::Chat,
        r#"{"id":"CARD","choices":[{"delta":{"role":"CARD","images":[{"image_url":{"url":"CARD"}}]}}],"obfuscation":"CARD"}"#,
    );
}

#[test]
fn what_is_told_under_two_names_is_found_once() {
    let event = r#"data: {"choices":[{"delta":{"reasoning":"4111111111111111","reasoning_content":"4111111111111111"}}]}"#;
    let (_, screen) = screened(&usual(), Shape::Chat, &[format!("{event}\n\n")]);
    assert_eq!(screen.report().findings.len(), 1);
}

#[test]
fn log_probabilities_of_a_text_that_is_masked_go() {
    let event = |text: &str, logprobs: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"logprobs\":{logprobs}}}]}}\n\n")
    };
    let logprobs = r#"{"content":[{"token":"4111111111111111"}]}"#;
    let (out, _) = screened(&usual(), Shape::Chat, &[event("4111111111111111", logprobs), event(" x", logprobs)]);
    assert_eq!(out, event("[card]", "null") + &event(" x", logprobs));
    let event = |text: &str, logprobs: &str| {
        format!(
            "data: {{\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"delta\":\"{text}\",\"logprobs\":{logprobs}}}\n\n"
        )
    };
    let (out, _) = screened(&usual(), Shape::Responses, &[event("4111111111111111", r#"[{"token":"4111"}]"#)]);
    assert_eq!(out, event("[card]", "[]"));
}

#[test]
fn events_of_messages() {
    for event in [
        r#"{"index":0,"delta":{"text":"CARD","type":"text_delta"},"type":"content_block_delta"}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"CARD"}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"CARD","signature":""}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"4111111111111111","name":"f","input":{"a":{"b":["CARD"]}}}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result","title":"CARD","url":"u","encrypted_content":"4111111111111111"}]}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"cited_text":"CARD","title":"CARD","encrypted_index":"4111111111111111"}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","novelty":"CARD"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"CARD"}},"usage":{"output_tokens":1}}"#,
    ] {
        masks(Shape::Messages, event);
    }
    keeps(Shape::Messages, r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"CARD"}}"#);
    keeps(
        Shape::Messages,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"4111111111111111"}}"#,
    );
}

#[test]
fn chunks_of_generate_content() {
    for shape in [Shape::Generate, Shape::GenerateArray] {
        for part in [
            r#"{"text":"CARD"}"#,
            r#"{"thought":true,"text":"CARD","thoughtSignature":"4111111111111111"}"#,
            r#"{"functionCall":{"name":"f","args":{"a":{"b":"CARD"},"c":[1,"CARD"]}}}"#,
            r#"{"executableCode":{"language":"PYTHON","code":"pay(CARD)"}},{"codeExecutionResult":{"outcome":"OK","output":"CARD"}}"#,
            r#"{"functionCall":{"name":"f","partialArgs":[{"jsonPath":"$.a","stringValue":"CARD","willContinue":false}]}}"#,
            r#"{"text":"CARD"},{"inlineData":{"mimeType":"image/png","data":"4111111111111111"}}"#,
        ] {
            masks(shape, &format!(r#"{{"candidates":[{{"content":{{"parts":[{part}]}},"index":0}}]}}"#));
        }
        let grounding = r#""groundingMetadata":{"groundingSupports":[{"segment":{"text":"CARD"}}]}"#;
        masks(shape, &format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"CARD"}}]}},"finishReason":"STOP",{grounding}}}]}}"#));
    }
    let number = |n: &str| {
        format!("data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"functionCall\":{{\"args\":{{\"n\": {n}}}}}}}]}}}}]}}\n\n")
    };
    assert_eq!(screened(&usual(), Shape::Generate, &[number("4111111111111111")]).0, number("\"[card]\""));
}

#[test]
fn events_of_responses() {
    for event in [
        r#"{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"CARD"}"#,
        r#"{"type":"response.custom_tool_call_input.delta","output_index":0,"delta":"CARD"}"#,
        r#"{"type":"response.mcp_call_arguments.done","output_index":0,"arguments":"{\"a\":\"CARD\"}"}"#,
        r#"{"type":"response.code_interpreter_call_code.done","output_index":0,"code":"CARD"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"CARD"},{"type":"refusal","refusal":"CARD"}]}}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"web_search_call","id":"4111111111111111","action":{"type":"search","query":"CARD"}}}"#,
        r#"{"type":"response.output_text.annotation.added","output_index":0,"annotation":{"type":"url_citation","title":"CARD"}}"#,
        r#"{"type":"response.new_thing.delta","output_index":0,"delta":"CARD"}"#,
        r#"{"type":"response.completed","response":{"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"CARD"}],"encrypted_content":"4111111111111111"}]}}"#,
    ] {
        masks(Shape::Responses, event);
    }
    keeps(Shape::Responses, r#"{"type":"response.created","response":{"instructions":"CARD","output":[]}}"#);
    keeps(Shape::Responses, r#"{"type":"response.image_generation_call.partial_image","partial_image_b64":"4111111111111111"}"#);
}

#[test]
fn an_item_that_was_never_told_in_pieces_is_told_of_once_and_can_stop_the_answer() {
    let done = |text: &str| {
        let item = format!(r#"{{"type":"message","content":[{{"type":"output_text","text":"{text}"}}]}}"#);
        let kind = |kind: &str, rest: String| format!("event: {kind}\ndata: {{\"type\":\"{kind}\",{rest}}}\n\n");
        [
            kind("response.output_item.done", format!(r#""output_index":0,"item":{item}"#)),
            kind("response.completed", format!(r#""response":{{"output":[{item}]}}"#)),
        ]
    };
    let (out, screen) = screened(&usual(), Shape::Responses, &done("4111111111111111"));
    assert_eq!((out, screen.report().findings.len()), (done("[card]").concat(), 1));
    let (out, screen) = screened(&usual(), Shape::Responses, &done("forbidden"));
    assert!(!out.contains("forbidden") && !out.contains("response.completed") && out.contains("response.incomplete"), "{out}");
    assert!(!screen.has_sent() && screen.report().findings.len() == 1);
}

#[test]
fn texts_side_by_side_in_every_delta_are_looked_at_across_deltas() {
    let chunk = |text: &str| {
        let details = format!(r#"[{{"type":"reasoning.text","text":"{text}"}}]"#);
        let delta = format!(r#"{{"reasoning":"{text}","reasoning_content":"{text}","reasoning_details":{details},"channel":"final"}}"#);
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n")
    };
    let (out, screen) = screened(&usual(), Shape::Chat, &[chunk("4111 1111 "), chunk("1111 1111"), chunk(" .")]);
    assert_eq!(out, chunk("[card]") + &chunk("") + &chunk(" ."));
    assert_eq!(screen.report().findings.len(), 1);
}
