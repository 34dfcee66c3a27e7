//! `/admin/health`, and calls while the database is away.

use std::time::Duration;

use serde_json::{Value, json};
use svc_tests::admin::Admin;
use svc_tests::gateway::KEY;
use svc_tests::postgres::dedicated::Dedicated;
use svc_tests::raw::Connection;
use svc_tests::shapes::Shape;
use svc_tests::wait;

use crate::stage::Stage;

fn well(stage: &Stage) {
    let health = stage.admin.get("/admin/health");
    assert_eq!((&health["status"], &health["database"]["reachable"]), (&json!("ok"), &json!(true)), "{health}");
    assert!(health["database"]["latency_ms"].is_u64(), "{health}");
    assert_eq!((&health["journal"]["accepting"], &health["configuration"]["keys"]), (&json!(true), &json!(4)), "{health}");
    let providers: Vec<&str> = health["providers"].as_array().expect("a list").iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(providers, ["chat", "generate", "messages"]);
    let revision = health["configuration"]["revision"].as_i64().expect("a number");
    stage.user("ada@example.com");
    wait::until("the change to be in use", || {
        let now = stage.admin.get("/admin/health")["configuration"]["revision"].as_i64();
        now.filter(|now| *now > revision)
    });
}

/// What health tells of a provider.
fn provider(stage: &Stage, name: &str) -> Value {
    let health = stage.admin.get("/admin/health");
    let providers = health["providers"].as_array().expect("a list");
    providers.iter().find(|provider| provider["name"] == name).expect("it is declared").clone()
}

fn cut_off(stage: &Stage) {
    let chat = provider(stage, "chat");
    assert_eq!((&chat["up"], &chat["circuits"], &chat["credentials"]), (&json!(true), &json!([]), &json!(1)), "{chat}");
    for _ in 0..5 {
        let mut connection = Connection::open(stage.gateway.address);
        assert_eq!(Shape::Chat.ask(&mut connection, "chat-model", "demo:error=500", false).status, 500);
    }
    let chat = wait::until("the circuit to open", || Some(provider(stage, "chat")).filter(|chat| chat["up"] == false));
    let circuit = &chat["circuits"][0];
    assert_eq!((&circuit["model"], &circuit["position"], &circuit["reason"]), (&json!("demo-1"), &json!("open"), &Value::Null), "{chat}");
    assert!(circuit["until"].as_str().is_some_and(|until| until.ends_with('Z')), "{chat}");
    assert_eq!(provider(stage, "messages")["up"], true, "others are as they were");

    stage.database.execute(
        "INSERT INTO breaker_override (id, provider_id, position, reason, expires_at, created_by, created_at)
         SELECT 'o1', id, 'closed', 'it is well again', 4102444800000, 'ann', 0 FROM provider WHERE name = 'chat'",
    );
    let chat = wait::until("the order to be in force", || Some(provider(stage, "chat")).filter(|chat| chat["up"] == true));
    let circuit = &chat["circuits"][0];
    assert_eq!((&circuit["position"], &circuit["reason"]), (&json!("forced_closed"), &json!("it is well again")), "{chat}");
    assert!(
        circuit["until"].as_str().is_some_and(|until| until.starts_with("2099-12-31T23:59:59") || until.starts_with("2100-01-01T00:00:0"))
    );
}

#[test]
fn health_and_calls_follow_the_database_while_requests_are_served() {
    let mut server = Dedicated::start().expect("PostgreSQL");
    let stage = Stage::start(Some(server.url()));
    assert_eq!(stage.admin.bare("GET", "/admin/health").status, 200);

    server.stop().expect("it can be stopped");
    let health = stage.admin.bare("GET", "/admin/health");
    assert_eq!(health.status, 503, "{}", health.text());
    let body = health.json();
    assert_eq!((&body["status"], &body["database"]["reachable"]), (&json!("unavailable"), &json!(false)), "{body}");
    assert!(body["configuration"]["revision"].is_i64() && body["journal"]["accepting"] == true, "what is known is told still: {body}");
    for (method, path, body) in
        [("GET", "/admin/keys", json!(null)), ("POST", "/admin/users", json!({"email": "ada@example.com", "name": "Ada"}))]
    {
        let answer = if body.is_null() { stage.admin.bare(method, path) } else { stage.admin.call(method, path, &body) };
        Admin::expect_problem(&format!("{method} {path} without a database"), &answer, 503, "unavailable");
        assert!(answer.header("retry-after").is_some(), "{}", answer.head);
    }
    assert_eq!(stage.ask(KEY).status, 200, "requests are served meanwhile");
    assert!(!stage.gateway.log().contains("trusted"), "the log does not tell the database's password");

    server.resume().expect("it can be started again");
    wait::within(Duration::from_secs(20), "health to return", || (stage.admin.bare("GET", "/admin/health").status == 200).then_some(()));
    stage.user("ada@example.com");
}

on_both! {
    cut_off: health_tells_who_is_cut_off_on_sqlite, health_tells_who_is_cut_off_on_postgresql;
    well: a_healthy_gateway_tells_what_it_holds_on_sqlite, a_healthy_gateway_tells_what_it_holds_on_postgresql;
}
