//! Trying guardrails on a text, and events of blocks.

use serde_json::json;
use svc_tests::admin::Admin;

use crate::Setup;

const GUARDRAILS: &str = r#"
  - {name: cards, kind: detector, detector: card_number, action: mask}
  - {name: no-plans, kind: regex, pattern: 'plan-\d+', action: block, applies_to: [system]}
"#;

#[test]
fn a_text_is_tried_by_the_guardrails_in_force_or_by_others() {
    let setup = Setup::new(GUARDRAILS);
    let admin = Admin::new(setup.gateway.address);
    let try_on = |question: serde_json::Value| admin.call("POST", "/admin/guardrails/test", &question);
    let tried = try_on(json!({"text": "é 4111 1111 1111 1111, 4111 1111 1111 1112"}));
    assert_eq!(
        tried.json(),
        json!({
            "findings": [{"guardrail": "cards", "action": "mask", "place": "messages", "start": 2, "end": 21}],
            "decision": {"guardrail": "cards", "action": "mask"}, "text": "é [cards], 4111 1111 1111 1112",
        }),
        "the second number is no card"
    );
    assert_eq!(try_on(json!({"text": "plan-1"})).json()["decision"], json!(null), "it looks at instructions only");
    assert_eq!(try_on(json!({"text": "plan-1", "place": "system"})).json()["decision"]["action"], "block");
    let candidates = json!([{"name": "new", "kind": "regex", "pattern": "pl.n", "action": "log_only"}]);
    let tried = try_on(json!({"text": "plan-1", "guardrails": candidates})).json();
    assert_eq!((&tried["decision"]["guardrail"], &tried["findings"][0]["end"]), (&json!("new"), &json!(4)));
}

#[test]
fn guardrails_that_make_no_sense_are_refused_by_name_and_field() {
    let setup = Setup::new(GUARDRAILS);
    let admin = Admin::new(setup.gateway.address);
    for (candidate, field, words) in [
        (json!({"name": "a", "kind": "regex", "pattern": "(", "action": "block"}), "guardrails[0].pattern", "unclosed group"),
        (json!({"name": "a", "kind": "regex", "pattern": "a*", "action": "block"}), "guardrails[0].pattern", "empty text"),
        (json!({"name": "a", "kind": "regex", "pattern": "(\\w{1,100}){1,100}", "action": "block"}), "guardrails[0].pattern", "1 MiB"),
        (json!({"name": "a", "kind": "detector", "detector": "horoscope", "action": "block"}), "guardrails[0].detector", "horoscope"),
        (json!({"name": "a", "kind": "regex", "pattern": "a", "action": "mask", "mask": "{all}"}), "guardrails[0].mask", "{all}"),
        (json!({"name": "a", "kind": "regex", "pattern": "a", "action": "redirect"}), "guardrails[0]", "`redirect` is missing"),
        (
            json!({"name": "a", "kind": "regex", "pattern": "a", "action": "redirect", "redirect": {"model": "m"}, "applies_to": ["answer"]}),
            "guardrails[0].applies_to",
            "another model",
        ),
        (json!({"name": "a", "kind": "regex", "pattern": "a", "action": "drop"}), "guardrails[0].action", "drop"),
    ] {
        let refused = admin.call("POST", "/admin/guardrails/test", &json!({"text": "x", "guardrails": [candidate]}));
        let told = format!("{candidate}: {}", refused.text());
        Admin::expect_problem(&told, &refused, 422, "invalid");
        let fault = &refused.json()["errors"][0];
        assert_eq!(fault["field"], field, "{told}");
        assert!(fault["detail"].as_str().unwrap_or_default().contains(words), "{told}");
    }
}

#[test]
fn a_block_is_an_event_without_the_text() {
    let setup = Setup::new("  - {name: no-plans, kind: regex, pattern: 'plan-\\d+', action: block}\n");
    setup.ask(svc_tests::shapes::Shape::Chat, "chat-model", "plan-99", false);
    let event = svc_tests::wait::until("the event", || setup.events("guardrail.blocked").pop());
    assert_eq!((&event["guardrail"], &event["place"], &event["model"]), (&json!("no-plans"), &json!("messages"), &json!("chat-model")));
    assert!(!event.to_string().contains("plan-99"), "{event}");
}
