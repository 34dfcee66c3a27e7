//! Reasoning that comes back: taken as it was given, refused altered or from elsewhere.

use serde_json::{Value, json};
use svc_demo::Demo;

use crate::support::{demo, post};

const VERSION: &str = "anthropic-version: 2023-06-01";
const GOOGLE: &str = "x-goog-api-key: k";

async fn ask(demo: &Demo, path: &str, headers: &[&str], body: &Value) -> (String, Value) {
    let answer = post(demo, path, headers, &body.to_string()).await;
    let text = answer.text.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned();
    (answer.status().to_owned(), serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

#[tokio::test]
async fn thinking_blocks_come_back_as_they_were() {
    let demo = demo(&[]).await;
    let headers = ["x-api-key: k", VERSION];
    let mut body = json!({"model": "claude-sonnet-4-5", "max_tokens": 2000, "thinking": {"type": "enabled", "budget_tokens": 1024},
        "messages": [{"role": "user", "content": "hi"}]});
    let (_, first) = ask(&demo, "/v1/messages", &headers, &body).await;
    let messages = body["messages"].as_array_mut().expect("messages");
    messages.extend([json!({"role": "assistant", "content": first["content"]}), json!({"role": "user", "content": "go on"})]);
    assert_eq!(ask(&demo, "/v1/messages", &headers, &body).await.0, "200");
    let mut altered = body.clone();
    altered["messages"][1]["content"][0]["thinking"] = json!("another thought");
    let (status, refused) = ask(&demo, "/v1/messages", &headers, &altered).await;
    assert_eq!(status, "400");
    assert!(refused.to_string().contains("Invalid `signature` in `thinking` block"), "{refused}");
}

#[tokio::test]
async fn calls_of_the_third_generation_need_their_signature() {
    let demo = demo(&[]).await;
    let path = "/v1beta/models/gemini-3-pro:generateContent";
    let tools = json!([{"functionDeclarations": [{"name": "f"}]}]);
    let said = json!({"role": "user", "parts": [{"text": "hi"}]});
    let (_, asked) = ask(&demo, path, &[GOOGLE], &json!({"contents": [said], "tools": tools})).await;
    let turn = asked["candidates"][0]["content"].clone();
    let id = turn["parts"][0]["functionCall"]["id"].clone();
    let result = json!({"role": "user", "parts": [{"functionResponse": {"id": id, "name": "f", "response": {"output": "x"}}}]});
    let with = |turn: &Value| json!({"contents": [said, turn, result], "tools": tools});
    assert_eq!(ask(&demo, path, &[GOOGLE], &with(&turn)).await.0, "200");
    let mut changed = turn.clone();
    for (signature, status, words) in [
        (json!("skip_thought_signature_validator"), "200", "The tool answered"),
        (json!("RGVtb1NpZ25hdHVyZQ=="), "400", "Corrupted thought signature"),
        (Value::Null, "400", "missing a thought_signature"),
    ] {
        changed["parts"][0]["thoughtSignature"] = signature;
        let (found, answer) = ask(&demo, path, &[GOOGLE], &with(&changed)).await;
        assert_eq!(found, status, "{answer}");
        assert!(answer.to_string().contains(words), "{answer}");
    }
    let (status, _) = ask(&demo, "/v1beta/models/gemini-3-flash:generateContent", &[GOOGLE], &with(&turn)).await;
    assert_eq!(status, "400", "another model did not make it");
}

#[tokio::test]
async fn encrypted_reasoning_holds_only_at_the_vendor_that_encrypted_it() {
    let demo = demo(&[]).await;
    let body = json!({"model": "gpt-5.6", "input": "hi", "store": false, "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"]});
    let bearer = ["authorization: Bearer k"];
    let (_, first) = ask(&demo, "/v1/responses", &bearer, &body).await;
    let mut items = first["output"].as_array().expect("items").clone();
    items.push(json!({"role": "user", "content": "go on"}));
    let next = json!({"model": "gpt-5.6", "input": items});
    assert_eq!(ask(&demo, "/v1/responses", &bearer, &next).await.0, "200");
    let (status, refused) = ask(&demo, "/openai/v1/responses", &bearer, &next).await;
    assert_eq!(status, "400");
    assert!(refused.to_string().contains("could not be verified"), "{refused}");
    let mut bare = next;
    bare["input"][0].as_object_mut().expect("an item").remove("encrypted_content");
    assert_eq!(ask(&demo, "/v1/responses", &bearer, &bare).await.0, "404", "nothing is kept here");
}
