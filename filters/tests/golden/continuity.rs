//! Sealed tokens of reasoning: what a client was given and sends back reaches the provider and model that minted it byte for
//! byte, and nobody else.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use svc_filters::shape::Shape;
use svc_filters::translate::{Answer, Capabilities, Policy, Prepared, ProviderKind, Quirks, Target, Viewer, prepare};

/// As a provider writes it into JSON: with an escape, and with characters base64 for URLs has no place for.
const WRITTEN: &str = r"EqoBCk\/gIBx+é/Q==";
/// The token itself.
const MINTED: &str = "EqoBCk/gIBx+é/Q==";
/// A name no provider takes as it is.
const TOOL: &str = "rates/get é";

fn target(shape: Shape, origin: u32) -> Target<'static> {
    let (kind, model) = match shape {
        Shape::ChatCompletions | Shape::Responses => (ProviderKind::Openai, "gpt-5.6"),
        Shape::Messages => (ProviderKind::Anthropic, "claude-sonnet-4-5"),
        Shape::GenerateContent => (ProviderKind::Gemini, "gemini-3.1-pro-preview"),
    };
    // Chat providers are asked in the responses dialect where they reason and are offered tools.
    let asked = if shape == Shape::Responses { Shape::ChatCompletions } else { shape };
    let capabilities = Capabilities::of(asked, model);
    Target { shape: asked, kind, model, origin, capabilities, quirks: Quirks::VENDOR }
}

fn prepared(client: Shape, upstream: Shape, origin: u32, body: &Value) -> Prepared {
    let stream = body["stream"] == true;
    prepare(client, body.to_string().as_bytes(), stream, &target(upstream, origin), Policy::Lossy, &[]).expect("a request")
}

/// The provider's whole answer, as the client gets it.
fn answered(client: Shape, prepared: &Prepared, body: &str) -> Vec<u8> {
    let viewer = Viewer { shape: client, model: Arc::from("alias"), request_id: Arc::from("req-1"), created: 1, array: false };
    let mut answer = Answer::new(prepared, Some("application/json"), viewer);
    let out = answer.push(Bytes::copy_from_slice(body.as_bytes()), true).expect("within bounds");
    assert!(answer.terminal_seen(), "{}", String::from_utf8_lossy(&out));
    out.to_vec()
}

fn tool_sent(prepared: &Prepared, pointer: &str) -> String {
    let body: Value = serde_json::from_slice(&prepared.body).expect("JSON");
    let name = body.pointer(pointer).and_then(Value::as_str).expect("the name sent").to_owned();
    assert_ne!(name, TOOL);
    name
}

/// What a client of the responses dialect asks, with the history so far.
fn ask(history: &[Value], stream: bool) -> Value {
    let mut input = vec![json!({"role": "user", "content": "Rate?"})];
    input.extend(history.iter().cloned());
    json!({"model": "m", "input": input, "stream": stream, "store": false, "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "high", "summary": "auto"}, "max_output_tokens": 40_000,
        "tools": [{"type": "function", "name": TOOL, "parameters": {"type": "object", "properties": {}}, "strict": false}]})
}

/// The items of an answer, and the client's result of its call.
fn items(out: &[u8], stream: bool) -> Vec<Value> {
    let response: Value = if stream {
        let text = std::str::from_utf8(out).expect("UTF-8");
        let last = text.lines().rev().find_map(|line| line.strip_prefix("data: ")).expect("an event");
        serde_json::from_str::<Value>(last).expect("JSON")["response"].take()
    } else {
        serde_json::from_slice(out).expect("JSON")
    };
    let mut items = response["output"].as_array().cloned().expect("items");
    let call = items.iter().find(|item| item["type"] == "function_call").expect("a call");
    assert_eq!(call["name"], TOOL, "the client's own name");
    let result = json!({"type": "function_call_output", "call_id": call["call_id"], "output": "1.09"});
    assert!(items.iter().any(|item| item["type"] == "reasoning" && item["encrypted_content"].is_string()), "{items:?}");
    items.push(result);
    items
}

/// Sends an answer of `upstream` to a client of the responses dialect, and back: the next request as its provider gets it, and as
/// another one does.
fn round_trip(upstream: Shape, tool_at: &str, answer: impl Fn(&str) -> String) -> Vec<[String; 2]> {
    let trip = |stream| {
        let first = prepared(Shape::Responses, upstream, 7, &ask(&[], stream));
        let out = answered(Shape::Responses, &first, &answer(&tool_sent(&first, tool_at)));
        assert!(!String::from_utf8_lossy(&out).contains(MINTED), "the token is tagged");
        let history = items(&out, stream);
        [7, 8].map(|origin| {
            let next = prepared(Shape::Responses, upstream, origin, &ask(&history, stream));
            String::from_utf8(next.body.to_vec()).expect("UTF-8")
        })
    };
    [false, true].map(trip).to_vec()
}

#[test]
fn a_messages_provider_gets_its_signatures_and_sealed_blocks_back() {
    let answer = |tool: &str| {
        format!(
            r#"{{"id":"msg_1","type":"message","role":"assistant","model":"c","content":[{{"type":"thinking","thinking":"Hm.","signature":"{WRITTEN}"}},
            {{"type":"redacted_thinking","data":"{WRITTEN}2"}},{{"type":"tool_use","id":"toolu_1","name":"{tool}","input":{{}}}}],
            "stop_reason":"tool_use","stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
        )
    };
    for [own, other] in round_trip(Shape::Messages, "/tools/0/name", answer) {
        let own: Value = serde_json::from_str(&own).expect("JSON");
        let content = &own["messages"][1]["content"];
        assert_eq!(content[0], json!({"type": "thinking", "thinking": "Hm.", "signature": MINTED}));
        assert_eq!(content[1], json!({"type": "redacted_thinking", "data": format!("{MINTED}2")}));
        assert_eq!(content[2]["type"], "tool_use");
        assert!(!other.contains("EqoBCk") && !other.contains("thinking\",\"thinking"), "{other}");
    }
}

#[test]
fn a_generate_content_provider_gets_its_signature_back_at_the_call() {
    let answer = |tool: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"role":"model","parts":[{{"text":"Hm.","thought":true}},
            {{"functionCall":{{"name":"{tool}","args":{{}}}},"thoughtSignature":"{WRITTEN}"}}]}},"finishReason":"STOP"}}]}}"#
        )
    };
    for [own, other] in round_trip(Shape::GenerateContent, "/tools/0/functionDeclarations/0/name", answer) {
        let own: Value = serde_json::from_str(&own).expect("JSON");
        let parts = own["contents"][1]["parts"].as_array().expect("parts");
        let call = parts.iter().find(|part| part.get("functionCall").is_some()).expect("the call");
        assert_eq!(call["thoughtSignature"], MINTED);
        assert!(!other.contains("EqoBCk"), "{other}");
    }
}

/// What the responses dialect's own provider answers.
fn responses_answer(tool: &str) -> String {
    format!(
        r#"{{"id":"resp_1","status":"completed","output":[{{"id":"rs_1","type":"reasoning","summary":[{{"type":"summary_text","text":"Hm."}}],"encrypted_content":"{WRITTEN}"}},
        {{"id":"fc_1","type":"function_call","call_id":"call_1","name":"{tool}","arguments":"{{}}","status":"completed"}}],"usage":{{"input_tokens":1,"output_tokens":1,"total_tokens":2}}}}"#
    )
}

#[test]
fn a_responses_provider_gets_its_token_back_from_clients_of_messages() {
    let ask = |history: &[Value]| {
        let mut messages = vec![json!({"role": "user", "content": "Rate?"})];
        messages.extend(history.iter().cloned());
        json!({"model": "m", "max_tokens": 9000, "thinking": {"type": "enabled", "budget_tokens": 2000}, "messages": messages,
            "tools": [{"name": TOOL, "input_schema": {"type": "object", "properties": {}}}]})
    };
    let first = prepared(Shape::Messages, Shape::Responses, 7, &ask(&[]));
    assert_eq!(first.shape, Shape::Responses);
    let out = answered(Shape::Messages, &first, &responses_answer(&tool_sent(&first, "/tools/0/name")));
    let message: Value = serde_json::from_slice(&out).expect("JSON");
    let call = message["content"].as_array().and_then(|blocks| blocks.iter().find(|block| block["type"] == "tool_use")).expect("a call");
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": "1.09"}]});
    let history = [json!({"role": "assistant", "content": message["content"]}), result];
    check_returned(|origin| prepared(Shape::Messages, Shape::Responses, origin, &ask(&history)));
}

#[test]
fn a_responses_provider_gets_its_token_back_from_clients_of_generate_content() {
    let ask = |history: &[Value]| {
        let mut contents = vec![json!({"role": "user", "parts": [{"text": "Rate?"}]})];
        contents.extend(history.iter().cloned());
        json!({"generationConfig": {"thinkingConfig": {"includeThoughts": true, "thinkingLevel": "high"}}, "contents": contents,
            "tools": [{"functionDeclarations": [{"name": TOOL}]}]})
    };
    let first = prepared(Shape::GenerateContent, Shape::Responses, 7, &ask(&[]));
    let out = answered(Shape::GenerateContent, &first, &responses_answer(&tool_sent(&first, "/tools/0/name")));
    let answer: Value = serde_json::from_slice(&out).expect("JSON");
    let result = json!({"role": "user", "parts": [{"functionResponse": {"id": "call_1", "name": TOOL, "response": {"output": "1.09"}}}]});
    let history = [answer["candidates"][0]["content"].clone(), result];
    check_returned(|origin| prepared(Shape::GenerateContent, Shape::Responses, origin, &ask(&history)));
}

fn check_returned(next: impl Fn(u32) -> Prepared) {
    let own: Value = serde_json::from_slice(&next(7).body).expect("JSON");
    let reasoning = own["input"].as_array().and_then(|items| items.iter().find(|item| item["type"] == "reasoning")).expect("reasoning");
    assert_eq!(reasoning["encrypted_content"], MINTED);
    let other = String::from_utf8(next(8).body.to_vec()).expect("UTF-8");
    assert!(!other.contains("EqoBCk") && !other.contains("encrypted_content\":\""), "{other}");
}
