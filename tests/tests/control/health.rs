//! `/admin/health`, and calls while the database is away.

use std::time::Duration;

use serde_json::json;
use svc_tests::admin::Admin;
use svc_tests::gateway::KEY;
use svc_tests::postgres::dedicated::Dedicated;
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
    well: a_healthy_gateway_tells_what_it_holds_on_sqlite, a_healthy_gateway_tells_what_it_holds_on_postgresql;
}
