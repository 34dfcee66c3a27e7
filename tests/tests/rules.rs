//! Routing rules, declared and in the database, over real processes.

use serde_json::{Value, json};
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{self, Answer, Connection};
use svc_tests::request_log::Database;
use svc_tests::upstream::Upstream;
use svc_tests::wait;

const FAST_LOG: &str = "telemetry: {batch_size: 64, batch_timeout_ms: 20}\n";
const KEYS: &str = "  - {name: blue, secret: test-key-blue-00001, owner: {agent: crawler}, team: research, tags: {job: batch}}\n";
const RULES: &str = r#"
rules:
  - {name: no-night-batch, kind: deny, priority: 1, when: {models: [chat-model], tags: {job: batch}}}
  - {name: watched, kind: deny, priority: 2, log_only: true, when: {tools: true}}
  - {name: research-only-eu, kind: custom, priority: 3, region: eu, scope: {teams: [research]}, when: {cel: "model == 'spread'"}}
  - {name: long-goes-cheap, kind: cost_saver, priority: 4, when: {prompt_tokens: {min: 500}}, redirect: {model: messages-model}}
  - {name: by-header, kind: custom, priority: 5, when: {cel: "headers['x-lane'] == 'b' && !stream"}, redirect: {model: messages-model}}
  - {name: halves, kind: ab, priority: 6, when: {models: [split]}, split: [{model: chat-model, weight: 50}, {model: messages-model, weight: 50}], sticky: end_user}
"#;
const MODELS: &str = "  - {name: spread, targets: [{provider: chat, model: demo-1, region: us}, {provider: messages, model: demo-1, region: eu, priority: 1}]}
  - {name: split, targets: [{provider: chat, model: demo-1}]}\n";

fn start(upstream: &Upstream) -> Gateway {
    let options = Options::standard(&upstream.url()).with_models(MODELS).with(KEYS).with(RULES).with(FAST_LOG);
    Gateway::start(options)
}

fn ask(gateway: &Gateway, key: &str, body: &Value) -> Answer {
    raw::post(gateway.address, "/v1/chat/completions", key, body)
}

fn chat(model: &str, text: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": text}]})
}

#[test]
fn rules_refuse_redirect_pin_and_split_and_the_log_says_which() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let database = Database::open(&gateway.database_url());
    let row = |answer: &Answer| database.row(answer.header("x-svc-request-id").expect("an id"));

    let denied = ask(&gateway, "test-key-blue-00001", &chat("chat-model", "hi"));
    assert_eq!((denied.status, denied.header("x-svc-error-code")), (403, Some("routing_denied")), "{}", denied.text());
    assert!(denied.text().contains("no-night-batch"), "{}", denied.text());
    assert_eq!(row(&denied).rule.as_deref(), Some("no-night-batch"));
    let others = ask(&gateway, KEY, &chat("chat-model", "hi"));
    assert_eq!((others.status, others.header("x-svc-provider"), row(&others).rule), (200, Some("chat"), None));

    let pinned = ask(&gateway, "test-key-blue-00001", &chat("spread", "hi"));
    assert_eq!((pinned.status, pinned.header("x-svc-provider")), (200, Some("messages")), "{}", pinned.text());
    let free = ask(&gateway, KEY, &chat("spread", "hi"));
    assert_eq!(free.header("x-svc-provider"), Some("chat"));

    let long = ask(&gateway, KEY, &chat("chat-model", &"word ".repeat(1_000)));
    assert_eq!((long.header("x-svc-provider"), row(&long).rule.as_deref()), (Some("messages"), Some("long-goes-cheap")));
    let mut watched = chat("chat-model", "hi");
    watched["tools"] = json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]);
    let watched = ask(&gateway, KEY, &watched);
    assert_eq!(watched.status, 200);
    assert!(row(&watched).decision.expect("a decision").contains("watched"));
}

#[test]
fn expressions_see_headers_and_splits_stay_with_the_end_user() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let lane = |lane: &str| {
        let mut connection = Connection::open(gateway.address);
        let bearer = format!("Bearer {KEY}");
        let headers = [("authorization", &*bearer), ("content-type", "application/json"), ("x-lane", lane)];
        connection.post("/v1/chat/completions", &headers, chat("chat-model", "hi").to_string());
        connection.answer().expect("an answer").header("x-svc-provider").map(str::to_owned)
    };
    assert_eq!((lane("a").as_deref(), lane("b").as_deref()), (Some("chat"), Some("messages")));

    let mut served = [0, 0];
    for user in 0..40 {
        let mut body = chat("split", "hi");
        body["user"] = json!(format!("user-{user}"));
        let arms: Vec<String> =
            (0..3).map(|_| ask(&gateway, KEY, &body).header("x-svc-provider").expect("a provider").to_owned()).collect();
        assert!(arms.iter().all(|arm| *arm == arms[0]), "user {user}: {arms:?}");
        served[usize::from(arms[0] == "messages")] += 1;
    }
    assert!(served.iter().all(|arm| *arm >= 8), "{served:?}");
}

#[test]
fn a_rule_made_in_the_database_is_in_force_within_a_second() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let database = Database::open(&gateway.database_url());
    assert_eq!(ask(&gateway, KEY, &chat("generate-model", "hi")).status, 200);
    database.execute(
        "INSERT INTO routing_rule (id, name, spec, enabled, source, position, created_at, updated_at) VALUES \
         ('r1', 'closed', '{\"name\":\"closed\",\"kind\":\"deny\",\"when\":{\"models\":[\"generate-model\"]}}', TRUE, 'api', 0, 0, 0)",
    );
    wait::until("the rule is in force", || (ask(&gateway, KEY, &chat("generate-model", "hi")).status == 403).then_some(()));
    database.execute("UPDATE routing_rule SET spec = '{\"kind\":\"nonsense\"}' WHERE id = 'r1'");
    gateway.says("failed to read the rule `closed`");
    assert_eq!(ask(&gateway, KEY, &chat("generate-model", "hi")).status, 403, "what cannot be read does not open what was closed");
    database.execute("DELETE FROM routing_rule WHERE id = 'r1'");
    wait::until("the rule is gone", || (ask(&gateway, KEY, &chat("generate-model", "hi")).status == 200).then_some(()));
}

#[test]
fn an_expression_that_does_not_compile_is_refused_at_start_with_its_place() {
    let upstream = Upstream::start();
    let options = Options::standard(&upstream.url())
        .with("rules:\n  - {name: r, kind: custom, when: {cel: \"model == \"}, redirect: {model: chat-model}}\n");
    let refusal = Gateway::refuse(&options);
    assert!(refusal.contains("rules[0].when.cel"), "{refusal}");
    assert!(refusal.contains("line 1"), "{refusal}");
}
