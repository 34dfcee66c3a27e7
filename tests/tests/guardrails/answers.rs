//! What the model answers. The emulator repeats what it was asked, and these guardrails look at answers only.

use serde_json::json;
use svc_tests::shapes::Shape;

use crate::said::Said;
use crate::{CLIENTS, Setup, pairs};

const GUARDRAILS: &str = r#"
  - {name: accounts, kind: regex, pattern: 'account-\d{6}', action: mask, mask: "<{length}>", applies_to: [answer]}
  - {name: unsaid, kind: regex, pattern: 'unsaid-\d+', action: block, applies_to: [answer]}
  - {name: no-tips, kind: regex, pattern: 'stock tip', action: redirect, redirect: {text: "I give no tips."}, applies_to: [answer]}
  - {name: rain, kind: regex, pattern: 'rain', action: log_only, applies_to: [answer]}
"#;

/// How a stream that is cut off ends.
pub(crate) fn refused(client: Shape) -> &'static str {
    match client {
        Shape::Chat | Shape::Responses => "content_filter",
        Shape::Messages => "refusal",
        Shape::Generate => "SAFETY",
    }
}

fn done(client: Shape) -> &'static str {
    match client {
        Shape::Chat => "stop",
        Shape::Messages => "end_turn",
        Shape::Generate => "STOP",
        Shape::Responses => "completed",
    }
}

#[test]
fn matches_in_answers_are_masked() {
    let setup = Setup::new(GUARDRAILS);
    for (client, provider, stream) in pairs() {
        let told = format!("{} to {} stream {stream}", client.name(), provider.name());
        let answer = setup.ask(client, provider.model(), "send account-123456 and account-654321 the rain money demo:chunks=60", stream);
        assert_eq!(answer.status, 200, "{told}: {}", answer.text());
        let said = Said::of(client, &answer, stream);
        assert!(said.text.contains("send <14> and <14> the rain money"), "{told}: {}", said.text);
        assert!(!answer.text().contains("123456"), "{told}: {}", answer.text());
        assert_eq!(said.finish, done(client), "{told}");
        let note = setup.note(&answer, "guardrails_answer");
        let found: Vec<&str> = note["findings"].as_array().unwrap().iter().filter_map(|finding| finding["guardrail"].as_str()).collect();
        assert_eq!(found, ["accounts", "accounts", "rain"], "{told}: {note}");
    }
}

#[test]
fn answers_that_may_not_be_given_are_refused_or_cut_off() {
    let setup = Setup::new(GUARDRAILS);
    for (client, provider, stream) in pairs() {
        let told = format!("{} to {} stream {stream}", client.name(), provider.name());
        let answer = setup.ask(client, provider.model(), "well unsaid-42 secret demo:chunks=60", stream);
        assert!(!answer.text().contains("unsaid-4") && !answer.text().contains("secret"), "{told}: {}", answer.text());
        if !stream {
            client.expect_error(&told, &answer, 400, "content_guardrail_blocked");
            continue;
        }
        assert_eq!(answer.status, 200, "{told}: {}", answer.text());
        let said = Said::of(client, &answer, true);
        assert!(said.text.ends_with("well "), "{told}: {:?}", said.text);
        assert_eq!(said.finish, refused(client), "{told}: {}", answer.text());
        let row = setup.database.row(answer.header("x-svc-request-id").expect("an id"));
        assert_eq!(row.error_code.as_deref(), Some("content_guardrail_blocked"), "{told}");
        let note = setup.note(&answer, "guardrails_answer");
        assert_eq!(note["decided"], "unsaid", "{told}: {note}");
    }
}

#[test]
fn a_text_takes_the_place_of_the_rest_of_an_answer() {
    let setup = Setup::new(GUARDRAILS);
    for (client, provider, stream) in pairs() {
        let told = format!("{} to {} stream {stream}", client.name(), provider.name());
        let answer = setup.ask(client, provider.model(), "now a stock tip for you demo:chunks=60", stream);
        assert_eq!(answer.status, 200, "{told}: {}", answer.text());
        let said = Said::of(client, &answer, stream);
        assert!(said.text.ends_with("I give no tips.") && !said.text.contains("for you"), "{told}: {}", said.text);
        assert_eq!(said.text.contains("now a "), stream, "{told}: {}", said.text);
        assert_eq!(said.finish, done(client), "{told}: {}", answer.text());
    }
}

#[test]
fn arguments_of_tools_are_looked_at_as_values() {
    let setup = Setup::new(GUARDRAILS);
    for (client, provider, stream) in pairs() {
        let told = format!("{} to {} stream {stream}", client.name(), provider.name());
        let ask = r#"go demo:tool=pay demo:args={"to":"\u0061ccount-123456","n":5,"q":"a\"b"}"#;
        let mut body = client.body(provider.model(), ask, stream);
        let schema = json!({"type": "object", "properties": {"to": {"type": "string"}}});
        body["tools"] = match client {
            Shape::Chat => json!([{"type": "function", "function": {"name": "pay", "parameters": schema}}]),
            Shape::Messages => json!([{"name": "pay", "input_schema": schema}]),
            Shape::Generate => json!([{"functionDeclarations": [{"name": "pay", "parameters": schema}]}]),
            Shape::Responses => json!([{"type": "function", "name": "pay", "parameters": schema, "strict": false}]),
        };
        let answer = setup.post(client, provider.model(), &body, stream);
        assert_eq!(answer.status, 200, "{told}: {}", answer.text());
        let arguments = Said::of(client, &answer, stream).arguments();
        assert_eq!(serde_json::Value::Object(arguments), json!({"to": "<14>", "n": 5, "q": "a\"b"}), "{told}: {}", answer.text());
        assert_eq!(setup.note(&answer, "guardrails_answer")["findings"][0]["place"], "tool_arguments", "{told}");
    }
}

#[test]
fn a_stream_in_which_nothing_is_found_is_the_providers() {
    let with = Setup::new(GUARDRAILS);
    let without = Setup::new("  - {name: elsewhere, kind: regex, pattern: 'zzzz', action: block, applies_to: [prompt]}\n");
    for client in CLIENTS {
        let told = |setup: &Setup| {
            let answer = setup.ask(client, client.model(), "nothing special demo:chunks=80", true);
            Said::of(client, &answer, true)
        };
        assert_eq!(told(&with), told(&without), "{}", client.name());
    }
}
