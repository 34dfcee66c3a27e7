//! `/admin/routing/explain`: it says what the gateway does, and does nothing itself.

use serde_json::{Value, json};
use svc_tests::admin::{self, Admin};
use svc_tests::gateway::{KEY, Options};
use svc_tests::raw::{Answer, Connection};
use svc_tests::wait;

use crate::stage::{NOBODY, Stage, fresh_postgres};

const PATH: &str = "/admin/routing/explain";
const BLUE: &str = "test-key-blue-00001";
const KEYS: &str = "  - {name: blue, secret: test-key-blue-00001, owner: {agent: crawler}, team: research, tags: {job: batch}}
  - {name: once, secret: test-key-once-00001, owner: {agent: crawler}, rpm_limit: 1}\n";
const MODELS: &str = "  - {name: spread, targets: [{provider: chat, model: demo-1, region: us}, {provider: messages, model: demo-1, region: eu, priority: 1}]}
  - {name: apart, targets: [{provider: messages, model: demo-1}]}\n";
const RULES: &str = r#"
rules:
  - {name: no-batch, kind: deny, priority: 1, when: {models: [chat-model], tags: {job: batch}}}
  - {name: watched, kind: deny, priority: 2, log_only: true, when: {tools: true}}
  - {name: research-eu, kind: custom, priority: 3, region: eu, tags: [gdpr], scope: {teams: [research]}, when: {cel: "model == 'spread'"}}
  - {name: long-goes-cheap, kind: cost_saver, priority: 4, when: {prompt_tokens: {min: 3000}}, redirect: {model: messages-model}}
  - {name: by-header, kind: custom, priority: 5, when: {cel: "headers['x-lane'] == 'b' && !stream"}, redirect: {model: generate-model}}
  - {name: by-metadata, kind: cost_saver, priority: 6, when: {metadata: {job: x}}, redirect: {model: spread}}
  - {name: halves, kind: ab, priority: 7, when: {models: [default, spread], images: true}, sticky: end_user,
     split: [{model: chat-model, weight: 50}, {model: messages-model, weight: 50}]}
"#;

fn start(database: Option<String>) -> Stage {
    Stage::with(database, |options: Options| options.with_models(MODELS).with(KEYS).with(RULES))
}

fn explained(stage: &Stage, question: &Value) -> Value {
    let answer = stage.admin.call("POST", PATH, question);
    assert_eq!(answer.status, 200, "{question}: {}", answer.text());
    answer.json()
}

fn chat(model: &str, text: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": text}]})
}

/// Asks the gateway for what a question is about.
fn really(stage: &Stage, question: &Value) -> Answer {
    let secret = if question["key"] == "blue" { BLUE } else { KEY };
    let bearer = format!("Bearer {secret}");
    let mut headers = vec![("authorization", &*bearer), ("content-type", "application/json")];
    headers.extend(
        question["headers"].as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value.as_str().expect("a text"))),
    );
    let mut connection = Connection::open(stage.gateway.address);
    connection.post(question["path"].as_str().unwrap_or("/v1/chat/completions"), &headers, question["body"].to_string());
    connection.answer().expect("an answer")
}

fn with(mut body: Value, more: Value) -> Value {
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    body
}

fn questions() -> Vec<Value> {
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]);
    let picture = json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]}]);
    let generate = json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]});
    let mut questions = vec![
        json!({"key": "all", "body": chat("chat-model", "hi")}),
        json!({"key": "blue", "body": chat("default", "hi")}),
        json!({"key": "blue", "body": chat("spread", "hi")}),
        json!({"key": "all", "body": chat("spread", "hi")}),
        json!({"key": "all", "body": chat("chat-model", &"word ".repeat(5_000))}),
        json!({"key": "all", "body": with(chat("chat-model", "hi"), json!({"tools": tools}))}),
        json!({"key": "all", "headers": {"x-lane": "b"}, "body": chat("chat-model", "hi")}),
        json!({"key": "all", "headers": {"x-lane": "b"}, "body": with(chat("chat-model", "hi"), json!({"stream": true}))}),
        json!({"key": "all", "body": with(chat("messages-model", "hi"), json!({"metadata": {"job": "x"}}))}),
        json!({"key": "all", "body": chat("nobody", "hi")}),
        json!({"key": "all", "path": "/v1beta/models/generate-model:generateContent", "body": generate}),
        json!({"key": "blue", "path": "/v1/messages", "body": with(chat("chat-model", "hi"), json!({"max_tokens": 10}))}),
    ];
    questions.extend((0..6).map(|user| {
        let body = with(chat("chat-model", ""), json!({"user": format!("u-{user}"), "messages": picture.clone()}));
        json!({"key": "all", "body": body})
    }));
    questions
}

fn says_what_the_gateway_does(stage: &Stage) {
    let mut met: Vec<String> = Vec::new();
    for question in questions() {
        let told = explained(stage, &question);
        let answer = really(stage, &question);
        let row = stage.database.row(answer.header("x-svc-request-id").expect("an id"));
        let case = format!("{question}\n{told}\n{}\n{}", answer.head, answer.text());
        let outcome = match answer.header("x-svc-error-code") {
            Some("routing_denied") => "deny",
            Some("model_not_found") => "model_not_found",
            _ => "route",
        };
        assert_eq!(told["outcome"], outcome, "{case}");
        assert_eq!((told["rule"].as_str(), told["model"].as_str()), (row.rule.as_deref(), row.model_resolved.as_deref()), "{case}");
        assert_eq!((told["certain"].as_bool(), &told["refused"]), (Some(true), &Value::Null), "{case}");
        if outcome == "route" {
            assert_eq!(told["targets"][0]["provider"].as_str(), answer.header("x-svc-provider"), "{case}");
            assert_eq!((&told["targets"][0]["breaker"], &told["targets"][0]["available"]), (&json!("closed"), &json!(true)), "{case}");
        }
        met.extend(told["rule"].as_str().map(str::to_owned));
        met.extend(told["arm"].as_str().map(|arm| format!("arm {arm}")));
    }
    for rule in ["no-batch", "research-eu", "long-goes-cheap", "by-header", "by-metadata", "halves", "arm chat-model", "arm messages-model"]
    {
        let pins = rule == "research-eu";
        assert!(pins || met.iter().any(|name| name == rule), "the questions meet every rule, also {rule}: {met:?}");
    }
    let pinned = explained(stage, &json!({"key": "blue", "body": chat("spread", "hi")}));
    assert_eq!((&pinned["tags"], &pinned["pins"]), (&json!(["gdpr"]), &json!([{"rule": "research-eu", "region": "eu"}])));
    let target = json!({"provider": "messages", "model": "demo-1", "region": "eu", "priority": 1, "breaker": "closed", "available": true});
    assert_eq!(pinned["targets"], json!([target]));
    let rules = pinned["rules"].as_array().expect("a list");
    assert_eq!(rules[0], json!({"rule": "no-batch", "result": "unmet", "condition": "when.models"}), "{pinned}");
    assert_eq!(rules[2], json!({"rule": "research-eu", "result": "applied"}), "{pinned}");
    let lane = json!({"rule": "by-header", "result": "failed", "condition": "when.cel", "reason": "a key is missing"});
    assert_eq!(rules[4], lane, "{pinned}");
}

fn tries_rules_that_are_not_in_force(stage: &Stage) {
    let candidate = json!([
        {"name": "home", "kind": "cost_saver", "region": "eu", "when": {"models": ["chat-model"]}},
        {"name": "night", "kind": "cost_saver", "redirect": {"model": "spread"}, "when": {"time": {"from": "22:00", "to": "06:00"}}},
        {"name": "lost", "kind": "cost_saver", "priority": -1, "redirect": {"model": "gone"}},
    ]);
    let at = |time: &str| json!({"key": "all", "at": time, "rules": candidate, "body": chat("messages-model", "hi")});
    let night = explained(stage, &at("2026-11-20T23:00:00Z"));
    assert_eq!((&night["rule"], &night["model"]), (&json!("night"), &json!("spread")), "{night}");
    assert_eq!(night["rules"][0], json!({"rule": "lost", "result": "unknown_model", "model": "gone"}), "{night}");
    let day = explained(stage, &at("2026-11-20T12:00:00Z"));
    assert_eq!((&day["rule"], &day["model"]), (&Value::Null, &json!("messages-model")), "{day}");
    let denied =
        explained(stage, &json!({"key": "all", "rules": candidate, "body": chat("chat-model", "hi"), "at": "2026-11-20T12:00:00Z"}));
    assert_eq!((&denied["outcome"], &denied["rule"]), (&json!("deny"), &json!("home")), "{denied}");
    assert_eq!(denied["denial"], json!({"reason": "region", "region": "eu"}), "{denied}");
    assert_eq!(denied["targets"], json!([]), "{denied}");
    let none = explained(stage, &json!({"key": "blue", "rules": [], "body": chat("chat-model", "hi")}));
    assert_eq!((&none["outcome"], &none["rules"]), (&json!("route"), &json!([])), "no rules at all are rules to try, too");

    let wrong =
        json!([{"name": "a", "kind": "deny"}, {"name": "a", "kind": "custom", "redirect": {"model": "x"}, "when": {"cel": "stream &&"}}]);
    let answer = stage.admin.call("POST", PATH, &json!({"key": "all", "rules": wrong, "body": chat("m", "hi")}));
    Admin::expect_problem("rules that make no sense", &answer, 422, "invalid");
    let fields: Vec<String> = answer.json()["errors"].as_array().expect("a list").iter().map(|error| error["field"].to_string()).collect();
    assert_eq!(fields, [r#""rules[1].name""#, r#""rules[1].when.cel""#], "{}", answer.text());
    assert!(answer.text().contains("line 1, column"), "{}", answer.text());
}

fn tells_what_a_logged_request_does_not(stage: &Stage) {
    let question = json!({"key": "all", "body": chat("spread", &"word ".repeat(5_000))});
    let answer = really(stage, &question);
    assert_eq!(answer.header("x-svc-provider"), Some("messages"), "{}", answer.text());
    let id = answer.header("x-svc-request-id").expect("an id").to_owned();
    assert_eq!(stage.database.row(&id).request_id, id);
    let rules = json!([
        {"name": "streams", "kind": "deny", "when": {"stream": true, "tools": true}},
        {"name": "tools", "kind": "deny", "when": {"models": ["spread"], "tools": true}},
        {"name": "long", "kind": "cost_saver", "priority": 1, "when": {"prompt_tokens": {"min": 200}}, "redirect": {"model": "chat-model"}},
    ]);
    let told = explained(stage, &json!({"request_id": id, "rules": rules}));
    assert_eq!((&told["outcome"], &told["rule"], &told["certain"]), (&json!("route"), &json!("long"), &json!(false)), "{told}");
    assert_eq!(told["unknown"], json!(["tools", "images", "headers", "metadata", "end_user", "max_tokens"]), "{told}");
    assert_eq!(
        told["rules"][0],
        json!({"rule": "streams", "result": "unmet", "condition": "when.stream"}),
        "what is known decides: {told}"
    );
    assert_eq!(told["rules"][1], json!({"rule": "tools", "result": "unknown", "condition": "when.tools"}), "{told}");
    let certain = explained(stage, &json!({"request_id": id, "rules": [rules[2].clone()]}));
    assert_eq!((&certain["certain"], &certain["model"]), (&json!(true), &json!("chat-model")), "{certain}");

    let refused = really(stage, &json!({"key": "all", "body": {"model": 5}}));
    let refused = refused.header("x-svc-request-id").expect("an id").to_owned();
    assert_eq!(stage.database.row(&refused).request_id, refused);
    for (id, why) in [(NOBODY, "names no request"), (&refused, "was refused before its model was known")] {
        let answer = stage.admin.call("POST", PATH, &json!({"request_id": id}));
        Admin::expect_problem(why, &answer, 422, "invalid");
        assert!(answer.json()["errors"][0]["field"] == "request_id" && answer.text().contains(why), "{}", answer.text());
    }
}

fn does_nothing_itself(stage: &Stage) {
    let (asked, logged) = (stage.upstream.count(), stage.database.count());
    for _ in 0..5 {
        let told = explained(stage, &json!({"key": "once", "body": chat("chat-model", "hi")}));
        assert_eq!((&told["outcome"], &told["refused"]), (&json!("route"), &Value::Null), "{told}");
    }
    assert_eq!(stage.upstream.count(), asked, "no provider was asked");
    assert_eq!(stage.ask("test-key-once-00001").status, 200, "nothing was counted against the key");
    assert_eq!(stage.ask("test-key-once-00001").status, 429);
    wait::until("the rows of those two", || (stage.database.count() == logged.map(|logged| logged + 2)).then_some(()));
    for key in [KEY, BLUE] {
        let headers = [admin::JSON, ("authorization", &*format!("Bearer {key}"))];
        let answer = admin::send(stage.gateway.address, "POST", PATH, &headers, "{}");
        Admin::expect_problem("a data key", &answer, 401, "unauthenticated");
    }
}

fn tells_of_refusals_that_are_not_the_rules(stage: &Stage) {
    let refused = |question: Value| explained(stage, &question)["refused"].clone();
    assert_eq!(refused(json!({"key": "disabled", "body": chat("chat-model", "hi")})), "key_disabled");
    assert_eq!(refused(json!({"key": "expired", "body": chat("chat-model", "hi")})), "key_disabled");
    assert_eq!(refused(json!({"key": "expired", "body": chat("chat-model", "hi"), "at": "2019-01-01T00:00:00Z"})), Value::Null);
    assert_eq!(refused(json!({"key": "limited", "body": chat("spread", "hi")})), "model_not_allowed");
    assert_eq!(refused(json!({"key": "limited", "body": chat("chat-model", "hi")})), Value::Null);
    let embedding = json!({"key": "all", "endpoint": "embeddings", "body": {"model": "apart", "input": "hi"}});
    let told = explained(stage, &embedding);
    assert_eq!((&told["refused"], &told["targets"]), (&json!("unsupported_translation"), &json!([])), "{told}");
    let answer = stage.admin.call("POST", PATH, &json!({"key": "nobody", "body": chat("m", "hi")}));
    Admin::expect_problem("a key that is none", &answer, 422, "invalid");
}

fn tells_where_breakers_stand(stage: &Stage) {
    let question = json!({"key": "all", "body": chat("spread", "hi")});
    let hold = |id: &str, position: &str, provider: &str| {
        stage.database.execute(&format!(
            "INSERT INTO breaker_override (id, provider_id, upstream_model, position, reason, created_by, created_at)
             SELECT '{id}', id, 'demo-1', '{position}', 'maintenance', 'ann', 0 FROM provider WHERE name = '{provider}'"
        ));
    };
    hold("o1", "open", "chat");
    hold("o2", "closed", "messages");
    let told = wait::until("both orders to be in force", || {
        let told = explained(stage, &question);
        let positions = [&told["targets"][0]["breaker"], &told["targets"][1]["breaker"]];
        (positions == ["forced_open", "forced_closed"]).then_some(told)
    });
    assert_eq!((&told["targets"][0]["available"], &told["targets"][1]["available"]), (&json!(false), &json!(true)), "{told}");
}

/// Each case as a test on both databases.
macro_rules! with_rules {
    ($($case:ident: $sqlite:ident, $postgres:ident;)+) => {$(
        #[test]
        fn $sqlite() {
            $case(&start(None));
        }

        #[test]
        fn $postgres() {
            $case(&start(Some(fresh_postgres())));
        }
    )+};
}

with_rules! {
    says_what_the_gateway_does: a_dry_run_says_what_the_gateway_does_on_sqlite, a_dry_run_says_what_the_gateway_does_on_postgresql;
    tries_rules_that_are_not_in_force: candidate_rules_are_tried_on_sqlite, candidate_rules_are_tried_on_postgresql;
    tells_what_a_logged_request_does_not: a_logged_request_is_tried_as_far_as_it_is_known_on_sqlite,
        a_logged_request_is_tried_as_far_as_it_is_known_on_postgresql;
    does_nothing_itself: a_dry_run_does_nothing_itself_on_sqlite, a_dry_run_does_nothing_itself_on_postgresql;
    tells_of_refusals_that_are_not_the_rules: a_dry_run_tells_of_other_refusals_on_sqlite,
        a_dry_run_tells_of_other_refusals_on_postgresql;
    tells_where_breakers_stand: a_dry_run_tells_where_breakers_stand_on_sqlite, a_dry_run_tells_where_breakers_stand_on_postgresql;
}
