//! What calls leave behind: a chain of audit rows, and no secret anywhere.

use std::fmt::Write;

use sea_orm::{EntityTrait, QueryOrder};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use svc_entity::{api_key, audit};
use svc_tests::admin::JSON;
use svc_tests::gateway::ADMIN_SECRET;
use svc_tests::upstream::runtime;

use crate::stage::Stage;

const CANARY: &str = "canary-7f3a-in-a-body";

fn rows(stage: &Stage) -> Vec<audit::Model> {
    let find = audit::Entity::find().order_by_asc(audit::Column::Id).all(stage.database.connection());
    runtime().block_on(find).expect("the audit can be read")
}

/// The first row that does not continue the chain, computed from the rows alone.
fn broken(rows: &[audit::Model]) -> Option<i64> {
    let mut previous = String::new();
    for row in rows {
        let told = json!({
            "at": row.at,
            "actor": row.actor,
            "action": row.action,
            "resource_kind": row.resource_kind,
            "resource_id": row.resource_id,
            "detail": row.detail,
        });
        let digest = Sha256::digest(format!("{previous}\n{told}"));
        let hash = digest.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a string grows");
            text
        });
        if row.previous_hash != previous || row.hash != hash {
            return Some(row.id);
        }
        previous = hash;
    }
    None
}

fn chained(stage: &Stage) {
    let user = stage.user("ada@example.com");
    let user = user["id"].as_str().expect("an id");
    let key = stage.key("ada@example.com", &json!({}));
    let rotate = format!("{}/rotate", key.path);
    let calls = [
        ("PATCH", key.path.as_str(), r#"{"rpm_limit": 7}"#, 200),
        ("PATCH", &key.path, r#"{"rpm_limit": 7}"#, 200),
        ("PATCH", &key.path, r#"{"rpm_limit": "7"}"#, 422),
        ("POST", &rotate, "{}", 200),
        ("DELETE", &key.path, "", 204),
        ("DELETE", &key.path, "", 204),
        ("PATCH", &key.path, r#"{"name": "again"}"#, 409),
        ("DELETE", &format!("/admin/users/{user}"), "", 204),
    ];
    for (method, path, body, status) in calls {
        let answer = stage.admin.send(method, path, &[JSON], body);
        assert_eq!(answer.status, status, "{method} {path} {body}: {}", answer.text());
    }
    let rows = rows(stage);
    assert_eq!(
        (rows[0].action.as_str(), rows[0].resource_id.as_str()),
        ("declare", "file"),
        "the chain begins with what the file declares"
    );
    let told: Vec<(&str, &str, &str)> =
        rows[1..].iter().map(|row| (row.action.as_str(), row.resource_kind.as_str(), row.resource_id.as_str())).collect();
    let key = key.id.as_str();
    let expected = [
        ("create", "user", user),
        ("create", "key", key),
        ("update", "key", key),
        ("rotate", "key", key),
        ("revoke", "key", key),
        ("disable", "user", user),
    ];
    assert_eq!(told, expected, "each change once, and none that changed nothing");
    assert!(rows[1..].iter().all(|row| row.actor == "admin" && row.at > 1_700_000_000_000));
    let change: Value = serde_json::from_str(&rows[3].detail).expect("JSON");
    assert_eq!(change, json!({"rpm_limit": {"from": null, "to": 7}}), "a change is told as it was and as it is");
    expect_tampering_shows(stage, &rows);
}

fn expect_tampering_shows(stage: &Stage, written: &[audit::Model]) {
    assert_eq!(broken(written), None, "the chain is intact");
    let edited = written[2].id;
    stage.database.execute(&format!("UPDATE audit SET detail = '{{}}' WHERE id = {edited}"));
    assert_eq!(broken(&rows(stage)), Some(edited), "an edited row shows");
    stage.database.execute(&format!("DELETE FROM audit WHERE id = {edited}"));
    assert_eq!(broken(&rows(stage)), Some(written[3].id), "and so does a missing one");
}

fn secretless(stage: &Stage) {
    stage.user("ada@example.com");
    let key = stage.key("ada@example.com", &json!({}));
    let rotated = stage.admin.call("POST", &format!("{}/rotate", key.path), &json!({}));
    let second = rotated.json()["secret"].as_str().expect("a secret").to_owned();
    stage.expect_works_soon("the new secret", std::time::Instant::now(), &second);
    let spilled = json!({"name": "k", "owner": {"user": "ada@example.com"}, "secret": CANARY, "expires_at": CANARY}).to_string();
    for (method, path, headers, body) in [
        ("POST", "/admin/keys", &[JSON][..], spilled.clone()),
        ("POST", "/admin/keys", &[JSON], format!("{{\"secret\": \"{CANARY}\" oops")),
        ("POST", "/admin/keys", &[("content-type", "text/plain")], spilled.clone()),
        ("PATCH", &key.path, &[JSON], spilled),
        ("PATCH", &key.path, &[JSON, ("if-match", CANARY)], r#"{"name": "n"}"#.to_owned()),
        ("GET", &format!("/admin/keys?key={CANARY}"), &[], String::new()),
        ("GET", &format!("/admin/keys?cursor={CANARY}"), &[], String::new()),
        ("GET", &format!("/admin/health?key={CANARY}"), &[], String::new()),
        ("GET", "/admin/keys?limit=200", &[("x-api-key", CANARY)], String::new()),
        ("GET", &key.path, &[], String::new()),
    ] {
        assert!(stage.admin.send(method, path, headers, body).status < 500, "{method} {path}");
    }
    let find = api_key::Entity::find().all(stage.database.connection());
    let hashes: Vec<String> = runtime()
        .block_on(find)
        .expect("the keys can be read")
        .into_iter()
        .flat_map(|row| [Some(row.secret_hash), row.previous_secret_hash])
        .flatten()
        .collect();
    assert!(hashes.len() >= 6, "those of the file, the new one and the one before: {}", hashes.len());
    let (told, log, audit) = (stage.admin.told(), stage.gateway.log(), format!("{:?}", rows(stage)));
    for secret in [&key.secret, &second] {
        assert_eq!(told.iter().filter(|answer| answer.contains(secret.as_str())).count(), 1, "a secret is shown once");
    }
    for secret in hashes.iter().map(String::as_str).chain([CANARY, ADMIN_SECRET]) {
        let found = told.iter().find(|answer| answer.contains(secret));
        assert_eq!(found, None, "no answer holds a hash, a foreign secret or what a caller spilled");
    }
    for secret in hashes.iter().chain([&key.secret, &second]).map(String::as_str).chain([CANARY, ADMIN_SECRET]) {
        assert!(!audit.contains(secret), "the audit holds no secret and no hash");
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "the log holds no secret and no hash");
    }
}

on_both! {
    chained: every_change_is_one_row_of_an_unbroken_chain_on_sqlite, every_change_is_one_row_of_an_unbroken_chain_on_postgresql;
    secretless: no_answer_no_log_and_no_audit_holds_a_secret_on_sqlite, no_answer_no_log_and_no_audit_holds_a_secret_on_postgresql;
}
