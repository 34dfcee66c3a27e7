//! Rotating a key.

use std::time::Instant;

use serde_json::{Value, json};
use svc_tests::shapes::Shape;

use crate::stage::{Key, Stage};

fn rotate(stage: &Stage, key: &Key, body: &Value) -> (Value, String) {
    let answer = stage.admin.call("POST", &format!("{}/rotate", key.path), body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.header("etag").is_some(), "{}", answer.head);
    let shown = answer.json();
    let secret = shown["secret"].as_str().expect("the new secret, this once").to_owned();
    assert!(secret.starts_with("sk-svc-") && secret != key.secret, "a new secret");
    assert_eq!(shown["id"], key.id.as_str(), "it is the same key");
    assert!(stage.admin.get(&key.path).get("secret").is_none(), "the new secret is shown once as well");
    (shown, secret)
}

fn overlapping(stage: &Stage) {
    stage.user("ada@example.com");
    let key = stage.key("ada@example.com", &json!({}));
    stage.expect_works_soon("a new key", key.made, &key.secret);

    let (shown, second) = rotate(stage, &key, &json!({"overlap_hours": 1}));
    let changed = Instant::now();
    assert!(shown["previous_valid_until"].is_string(), "how long the old secret lasts is told: {shown}");
    stage.expect_works_soon("the new secret", changed, &second);
    assert_eq!(stage.ask(&key.secret).status, 200, "the old secret works beside it");

    let (shown, third) = rotate(stage, &key, &json!({"overlap_hours": 0}));
    let changed = Instant::now();
    assert_eq!(shown["previous_valid_until"], Value::Null, "no secret lasts beside it: {shown}");
    stage.expect_soon("the secret before", changed, &second, 401, "key_not_found");
    stage.expect_works_soon("the newest secret", changed, &third);
    Shape::Chat.expect_error("the first secret", &stage.ask(&key.secret), 401, "key_not_found");

    assert_eq!(stage.admin.call("PATCH", &key.path, &json!({"status": "disabled"})).status, 200);
    stage.expect_soon("disabling a rotated key", Instant::now(), &third, 403, "key_disabled");
}

fn by_default(stage: &Stage) {
    stage.user("ada@example.com");
    let key = stage.key("ada@example.com", &json!({}));
    let answer = stage.admin.bare("POST", &format!("{}/rotate", key.path));
    assert_eq!(answer.status, 200, "a rotation needs no body: {}", answer.text());
    let second = answer.json()["secret"].as_str().expect("a secret").to_owned();
    let changed = Instant::now();
    stage.expect_works_soon("the new secret", changed, &second);
    assert_eq!(stage.ask(&key.secret).status, 200, "the old secret lasts a day unless told otherwise");
    assert_eq!(stage.admin.bare("DELETE", &key.path).status, 204);
    let changed = Instant::now();
    stage.expect_soon("revoking ends the new secret", changed, &second, 403, "key_disabled");
    stage.expect_soon("revoking ends the old secret", changed, &key.secret, 403, "key_disabled");
}

on_both! {
    overlapping: both_secrets_work_for_the_overlap_on_sqlite, both_secrets_work_for_the_overlap_on_postgresql;
    by_default: a_rotation_needs_no_body_and_ends_with_the_key_on_sqlite, a_rotation_needs_no_body_and_ends_with_the_key_on_postgresql;
}
