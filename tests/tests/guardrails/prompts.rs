//! What the client sends.

use serde_json::json;
use svc_tests::shapes::Shape;

use crate::said::Said;
use crate::{CLIENTS, Setup, pairs};

const GUARDRAILS: &str = r#"
  - {name: no-plans, kind: regex, pattern: 'plan-\d+', action: block, applies_to: [prompt]}
  - {name: cards, kind: detector, detector: card_number, action: mask, mask: "[{rule} {last4}]", applies_to: [prompt]}
  - {name: lawyers, kind: regex, pattern: '(?i)legal advice', action: redirect, redirect: {model: messages-model}}
  - {name: no-jokes, kind: regex, pattern: 'tell me a joke', action: redirect, redirect: {text: "I tell no jokes."}, applies_to: [prompt]}
  - {name: weather, kind: regex, pattern: 'weather', action: log_only, applies_to: [prompt]}
"#;

#[test]
fn a_prompt_is_refused_with_the_error_of_the_shape() {
    let setup = Setup::new(GUARDRAILS);
    for (client, provider, stream) in pairs() {
        let before = setup.upstream.count();
        let refused = setup.ask(client, provider.model(), "this is plan-17, isn't it", stream);
        client.expect_error("a block", &refused, 400, "content_guardrail_blocked");
        assert_eq!(refused.header("x-should-retry"), Some("false"));
        assert!(refused.text().contains("no-plans") && !refused.text().contains("plan-17"), "{}", refused.text());
        assert_eq!(setup.upstream.count(), before, "nobody was asked");
        let note = setup.note(&refused, "guardrails_prompt");
        assert_eq!((note["decided"].as_str(), note["findings"][0]["place"].as_str()), (Some("no-plans"), Some("messages")), "{note}");
        assert!(!note.to_string().contains("plan-17"), "the log keeps no text: {note}");
    }
}

#[test]
fn a_match_is_masked_and_everything_else_stays() {
    let setup = Setup::new(GUARDRAILS);
    for (client, provider, stream) in pairs() {
        let answer = setup.ask(client, provider.model(), "pay with 4111 1111 1111 1111, please", stream);
        let told = format!("{} to {} stream {stream}: {}", client.name(), provider.name(), answer.text());
        assert_eq!(answer.status, 200, "{told}");
        assert!(Said::of(client, &answer, stream).text.contains("pay with [cards 1111], please"), "{told}");
        let seen = setup.upstream.newest();
        assert!(seen.text("body").contains("[cards 1111]") && !seen.text("body").contains("4111"), "{}", seen.text("body"));
    }
    // Of the same dialect, nothing but the match differs.
    let odd = r#"{ "messages" : [ {"role":"user","content":"a\u0041 4111111111111111 \/ \ud83d\ude00", "x_odd" : [1.50, {}]} ],"model":"chat-model" ,"max_tokens":5 }"#;
    let mut connection = svc_tests::raw::Connection::open(setup.gateway.address);
    let (name, value) = Shape::Chat.credential(svc_tests::gateway::KEY);
    connection.post("/v1/chat/completions", &[(name, &value), ("content-type", "application/json")], odd);
    connection.answer().expect("an answer");
    let expected = odd.replace("4111111111111111", "[cards 1111]").replace("\"chat-model\"", "\"demo-1\"");
    assert_eq!(setup.upstream.newest().text("body"), expected);
}

#[test]
fn every_place_of_a_prompt_is_looked_at() {
    let setup = Setup::new(GUARDRAILS);
    let card = "4111-1111-1111-1111";
    let ask = format!("card {card}");
    let chat = json!({"model": "chat-model", "messages": [
        {"role": "system", "content": ask}, {"role": "developer", "content": [{"type": "text", "text": ask}]},
        {"role": "user", "content": ask},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": json!({"card": card, "n": 4111111111111111_u64}).to_string()}}]},
        {"role": "tool", "tool_call_id": "c1", "content": ask},
        {"role": "user", "content": [{"type": "text", "text": ask}]}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]});
    let messages = json!({"model": "messages-model", "max_tokens": 64, "system": [{"type": "text", "text": ask}], "messages": [
        {"role": "user", "content": [{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": ask}}, {"type": "text", "text": ask}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"card": card}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": ask}]}]}],
        "tools": [{"name": "f", "input_schema": {"type": "object"}}]});
    let generate = json!({"systemInstruction": {"parts": [{"text": ask}]}, "contents": [
        {"role": "user", "parts": [{"text": ask}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"card": card}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"result": ask}}}]}],
        "tools": [{"functionDeclarations": [{"name": "f"}]}]});
    let responses = json!({"model": "chat-model", "instructions": ask, "input": [
        {"role": "user", "content": [{"type": "input_text", "text": ask}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": json!({"card": card}).to_string()},
        {"type": "function_call_output", "call_id": "c1", "output": ask}],
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": false}]});
    let cases = [
        (Shape::Chat, "chat-model", chat, 7, vec!["messages", "system", "tool_results"]),
        (Shape::Messages, "messages-model", messages, 5, vec!["documents", "messages", "system", "tool_results"]),
        (Shape::Generate, "generate-model", generate, 4, vec!["messages", "system", "tool_results"]),
        (Shape::Responses, "chat-model", responses, 4, vec!["messages", "system", "tool_results"]),
    ];
    for (client, model, body, masks, places) in cases {
        let answer = setup.post(client, model, &body, false);
        assert_eq!(answer.status, 200, "{}: {}", client.name(), answer.text());
        let seen = setup.upstream.newest();
        let sent = seen.text("body");
        assert!(!sent.contains("4111"), "{}: {sent}", client.name());
        assert_eq!(sent.matches("[cards 1111]").count(), masks, "{}: {sent}", client.name());
        let note = setup.note(&answer, "guardrails_prompt");
        let mut found: Vec<&str> = note["findings"].as_array().unwrap().iter().filter_map(|finding| finding["place"].as_str()).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, places, "{}: {note}", client.name());
    }
}

#[test]
fn a_prompt_is_sent_to_another_model_or_answered_with_a_text() {
    let setup = Setup::new(GUARDRAILS);
    for (client, provider, stream) in pairs() {
        let told = format!("{} to {} stream {stream}", client.name(), provider.name());
        let answer = setup.ask(client, provider.model(), "I want Legal Advice", stream);
        assert_eq!((answer.status, answer.header("x-svc-provider")), (200, Some("messages")), "{told}: {}", answer.text());
        let before = setup.upstream.count();
        let answer = setup.ask(client, provider.model(), "please tell me a joke", stream);
        assert_eq!(answer.status, 200, "{told}: {}", answer.text());
        assert_eq!(Said::of(client, &answer, stream).text, "I tell no jokes.", "{told}: {}", answer.text());
        assert_eq!(setup.upstream.count(), before, "{told}: nobody was asked");
    }
}

#[test]
fn what_is_only_logged_changes_nothing_and_what_was_looked_at_is_noted() {
    let setup = Setup::new(GUARDRAILS);
    for client in CLIENTS {
        let answer = setup.ask(client, client.model(), "the weather, 天気", false);
        assert!(Said::of(client, &answer, false).text.contains("the weather, 天気"), "{}", answer.text());
        let note = setup.note(&answer, "guardrails_prompt");
        assert_eq!(note["rules"], json!(5), "{note}");
        assert_eq!(note["findings"], json!([{"guardrail": "weather", "action": "log_only", "place": "messages", "length": 7}]), "{note}");
        assert!(note["bytes"].as_u64() >= Some(16) && note["us"].is_u64() && note["places"].is_array(), "{note}");
        let quiet = setup.ask(client, client.model(), "hello", false);
        assert_eq!(setup.note(&quiet, "guardrails_prompt")["findings"], json!([]), "it was looked at all the same");
    }
}

#[test]
fn what_is_hidden_with_characters_nobody_sees_is_found() {
    let setup = Setup::new(GUARDRAILS);
    for hidden in ["4111\u{200b}1111\u{200b}1111\u{2060}1111", "４１１１１１１１１１１１１１１１", "4\u{ad}111 1111 1111 1111"]
    {
        let answer = setup.ask(Shape::Chat, "chat-model", &format!("pay {hidden} now"), false);
        assert!(Shape::Chat.text(&answer.json()).contains("pay [cards 1111] now"), "{hidden}: {}", answer.text());
    }
    let picture = "4111111111111111".repeat(64);
    let body = json!({"model": "chat-model", "messages": [{"role": "user", "content": [
        {"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{picture}")}}]}]});
    setup.post(Shape::Chat, "chat-model", &body, false);
    assert!(setup.upstream.newest().text("body").contains(&picture), "pictures are no text");
}
