//! `/admin/keys`: a key's life, and that its settings hold on requests.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc_tests::admin::Admin;
use svc_tests::raw::Connection;
use svc_tests::shapes::Shape;
use svc_tests::wait;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::stage::{Stage, ids};

fn made(stage: &Stage) {
    let user = stage.user("ada@example.com");
    let body = json!({"name": "laptop", "owner": {"user": "Ada@example.com"}, "rpm_limit": 60, "tags": {"job": "batch"}});
    let answer = stage.admin.call("POST", "/admin/keys", &body);
    let since = Instant::now();
    assert_eq!(answer.status, 201, "{}", answer.text());
    let shown = answer.json();
    let (id, secret) = (shown["id"].as_str().expect("an id"), shown["secret"].as_str().expect("a secret"));
    assert!(secret.starts_with("sk-svc-"), "a secret names its maker");
    assert!(secret.is_ascii() && secret.len() >= 40, "a secret cannot be guessed: {} characters", secret.len());
    assert!(secret.ends_with(shown["last_four"].as_str().expect("its end")));
    assert_eq!(answer.header("location"), Some(format!("/admin/keys/{id}").as_str()));
    stage.expect_works_soon("a new key", since, secret);

    let got = stage.admin.get(&format!("/admin/keys/{id}"));
    let listed = stage.admin.get(&format!("/admin/keys?owner={}", user["id"].as_str().expect("an id")));
    assert_eq!(ids(&listed), [id], "the owner's keys are found");
    for shown in [&got, &listed["data"][0]] {
        assert!(shown.get("secret").is_none() && !shown.to_string().contains(secret), "the secret is shown once: {shown}");
        assert_eq!((&shown["owner"]["user"], &shown["rpm_limit"], &shown["tags"]), (&user["id"], &json!(60), &json!({"job": "batch"})));
        assert_eq!((&shown["status"], &shown["source"]), (&json!("active"), &json!("api")));
    }
    let by_id = stage.admin.call("POST", "/admin/keys", &json!({"name": "by id", "owner": {"user": user["id"]}}));
    assert_eq!(by_id.status, 201, "an owner is named by id too: {}", by_id.text());
    wait::until("the use of the key to be shown", || stage.admin.get(&format!("/admin/keys/{id}"))["last_used_at"].as_str().map(drop));
}

fn limited(stage: &Stage) {
    stage.user("ada@example.com");
    let key = stage.key("ada@example.com", &json!({"rpm_limit": 1}));
    stage.expect_works_soon("a new key", key.made, &key.secret);
    Shape::Chat.expect_error("past its cap", &stage.ask(&key.secret), 429, "rate_limited");
    assert_eq!(stage.admin.call("PATCH", &key.path, &json!({"rpm_limit": null})).json()["rpm_limit"], Value::Null);
    stage.expect_works_soon("lifting a cap", Instant::now(), &key.secret);

    assert_eq!(stage.admin.call("PATCH", &key.path, &json!({"allowed_models": ["messages-model"]})).status, 200);
    stage.expect_soon("a list of models", Instant::now(), &key.secret, 403, "model_not_allowed");
    let mut connection = Connection::open(stage.gateway.address);
    Shape::Messages.send(&mut connection, &key.secret, "messages-model", "hi", false);
    assert_eq!(connection.answer().map(|answer| answer.status), Some(200), "what is on the list is allowed");
    assert_eq!(stage.admin.call("PATCH", &key.path, &json!({"allowed_models": null})).status, 200);
    stage.expect_works_soon("lifting the list", Instant::now(), &key.secret);
}

fn expiring(stage: &Stage) {
    stage.user("ada@example.com");
    let late = stage.admin.call(
        "POST",
        "/admin/keys",
        &json!({"name": "late", "owner": {"user": "ada@example.com"}, "expires_at": "2020-01-01T01:00:00+01:00"}),
    );
    assert_eq!(late.json()["expires_at"], "2020-01-01T00:00:00Z", "moments are shown in UTC");
    let secret = late.json()["secret"].as_str().expect("a secret").to_owned();
    stage.expect_soon("a key past its end", Instant::now(), &secret, 403, "key_disabled");

    let end = OffsetDateTime::now_utc() + Duration::from_secs(3);
    let key = stage.key("ada@example.com", &json!({"expires_at": end.format(&Rfc3339).expect("a moment")}));
    stage.expect_works_soon("a key before its end", key.made, &key.secret);
    let refused =
        wait::within(Duration::from_secs(10), "the end of the key", || Some(stage.ask(&key.secret)).filter(|answer| answer.status != 200));
    Shape::Chat.expect_error("an expired key", &refused, 403, "key_disabled");
    let late = OffsetDateTime::now_utc() - end;
    assert!((0..1_000).contains(&late.whole_milliseconds()), "it ends on time and not {late} late");
    assert_eq!(stage.admin.call("PATCH", &key.path, &json!({"expires_at": null})).status, 200);
    stage.expect_works_soon("lifting the end", Instant::now(), &key.secret);
}

fn stopped(stage: &Stage) {
    stage.user("ada@example.com");
    let key = stage.key("ada@example.com", &json!({}));
    let other = stage.key("ada@example.com", &json!({}));
    stage.expect_works_soon("a new key", key.made, &key.secret);
    for (status, answered, code) in
        [("disabled", 403, "key_disabled"), ("active", 200, ""), ("disabled", 403, "key_disabled"), ("active", 200, "")]
    {
        let answer = stage.admin.call("PATCH", &key.path, &json!({ "status": status }));
        assert_eq!((answer.status, &answer.json()["status"]), (200, &json!(status)), "{}", answer.text());
        stage.expect_soon(status, Instant::now(), &key.secret, answered, code);
    }
    let gone = stage.admin.bare("DELETE", &key.path);
    let changed = Instant::now();
    assert_eq!((gone.status, gone.body.len(), gone.header("content-length")), (204, 0, None), "RFC 9110, 8.6: {}", gone.head);
    stage.expect_soon("revoking a key", changed, &key.secret, 403, "key_disabled");
    assert_eq!(stage.admin.get(&key.path)["status"], "revoked", "the row stays");
    assert_eq!(stage.admin.bare("DELETE", &key.path).status, 204, "again is no error");
    for body in [json!({"status": "active"}), json!({"name": "again"})] {
        Admin::expect_problem("a revoked key", &stage.admin.call("PATCH", &key.path, &body), 409, "revoked");
    }
    let rotated = stage.admin.call("POST", &format!("{}/rotate", key.path), &json!({}));
    Admin::expect_problem("a revoked key", &rotated, 409, "revoked");
    assert_eq!(stage.ask(&key.secret).status, 403, "it stays so");
    assert_eq!(stage.ask(&other.secret).status, 200, "the owner's other key is as it was");
    assert_eq!(ids(&stage.admin.get("/admin/keys?status=revoked")), [key.id], "and it is listed");
}

on_both! {
    made: a_key_is_made_shown_once_and_works_on_sqlite, a_key_is_made_shown_once_and_works_on_postgresql;
    limited: caps_and_lists_of_models_hold_on_sqlite, caps_and_lists_of_models_hold_on_postgresql;
    expiring: keys_end_at_their_time_on_sqlite, keys_end_at_their_time_on_postgresql;
    stopped: disabling_is_undone_and_revoking_is_final_on_sqlite, disabling_is_undone_and_revoking_is_final_on_postgresql;
}
