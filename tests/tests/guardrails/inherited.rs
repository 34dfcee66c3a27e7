//! Whom guardrails concern, and how soon they do.

use svc_tests::raw::{self, Answer};
use svc_tests::shapes::Shape;
use svc_tests::wait;

use crate::Setup;

const KEYS: &str = "  - {name: blue, secret: test-key-blue-00001, owner: {agent: crawler}, team: research}
  - {name: red, secret: test-key-red-000001, owner: {user: ann@example.com}, team: sales}\n";
const GUARDRAILS: &str = r#"
  - {name: for-all, kind: regex, pattern: 'alpha', action: block, applies_to: [prompt]}
  - {name: for-blue, kind: regex, pattern: 'beta', action: block, applies_to: [prompt], scope: {keys: [blue]}}
  - {name: for-sales, kind: regex, pattern: 'gamma', action: block, applies_to: [prompt], scope: {teams: [sales]}}
  - {name: for-crawler, kind: regex, pattern: 'delta', action: block, applies_to: [prompt], scope: {owners: [{agent: crawler}]}}
  - {name: for-ann, kind: regex, pattern: 'epsilon', action: block, applies_to: [prompt], scope: {owners: [{user: Ann@example.com}]}}
"#;

fn ask(setup: &Setup, key: &str, text: &str) -> Answer {
    raw::post(setup.gateway.address, "/v1/chat/completions", key, &Shape::Chat.body("chat-model", text, false))
}

#[test]
fn guardrails_of_key_owner_team_and_everybody_add_up() {
    let setup = Setup::with(GUARDRAILS, KEYS);
    let blocked = |key: &str| {
        let words = ["alpha", "beta", "gamma", "delta", "epsilon"];
        words.into_iter().filter(|word| ask(&setup, key, word).status == 400).collect::<Vec<_>>()
    };
    assert_eq!(blocked("test-key-blue-00001"), ["alpha", "beta", "delta"]);
    assert_eq!(blocked("test-key-red-000001"), ["alpha", "gamma", "epsilon"]);
    assert_eq!(blocked(svc_tests::gateway::KEY), ["alpha"]);
}

#[test]
fn a_changed_guardrail_reaches_the_running_gateway() {
    let setup = Setup::with(GUARDRAILS, KEYS);
    assert_eq!(ask(&setup, svc_tests::gateway::KEY, "alpha").status, 400);
    setup.database.execute("UPDATE guardrail SET enabled = FALSE WHERE name = 'for-all'");
    wait::until("the guardrail is off", || (ask(&setup, svc_tests::gateway::KEY, "alpha").status == 200).then_some(()));
    setup.database.execute("UPDATE guardrail SET enabled = TRUE WHERE name = 'for-all'");
    wait::until("it is on again", || (ask(&setup, svc_tests::gateway::KEY, "alpha").status == 400).then_some(()));
}
