//! `/admin/users`.

use std::time::Instant;

use serde_json::json;
use svc_tests::admin::Admin;

use crate::stage::{Stage, ids};

fn lives(stage: &Stage) {
    let created = stage.admin.call("POST", "/admin/users", &json!({"email": "Ada@Example.com", "name": "Ada"}));
    assert_eq!(created.status, 201, "{}", created.text());
    let user = created.json();
    let id = user["id"].as_str().expect("an id");
    let path = format!("/admin/users/{id}");
    assert_eq!(id.len(), 36, "an id is a UUID");
    assert_eq!(created.header("location"), Some(path.as_str()));
    assert!(created.header("etag").is_some());
    assert_eq!((&user["email"], &user["status"], &user["source"]), (&json!("ada@example.com"), &json!("active"), &json!("api")));

    assert_eq!(stage.admin.get(&path), user, "what is read is what was made");
    assert_eq!(ids(&stage.admin.get("/admin/users?email=ADA@example.com")), [id], "the address is found in any case");
    assert!(ids(&stage.admin.get("/admin/users?status=active&limit=200")).contains(&id.to_owned()));
    assert!(!ids(&stage.admin.get("/admin/users?status=disabled")).contains(&id.to_owned()));

    let again = stage.admin.call("POST", "/admin/users", &json!({"email": "ADA@example.com", "name": "Other"}));
    Admin::expect_problem("an address that is taken", &again, 409, "already_exists");
    let other = stage.user("bob@example.com");
    let taken = stage.admin.call("PATCH", &path, &json!({"email": other["email"]}));
    Admin::expect_problem("an address that is another's", &taken, 409, "already_exists");

    let renamed = stage.admin.call("PATCH", &path, &json!({"name": "Ada L."})).json();
    assert_eq!((&renamed["name"], &renamed["email"]), (&json!("Ada L."), &user["email"]), "what is not named stays");
}

fn ends_with_keys(stage: &Stage) {
    let user = stage.user("ada@example.com");
    let path = format!("/admin/users/{}", user["id"].as_str().expect("an id"));
    let key = stage.key("ada@example.com", &json!({}));
    stage.expect_works_soon("a new key", key.made, &key.secret);

    let gone = stage.admin.bare("DELETE", &path);
    let changed = Instant::now();
    assert_eq!((gone.status, gone.body.len()), (204, 0), "{}", gone.head);
    stage.expect_soon("disabling the owner", changed, &key.secret, 403, "key_disabled");
    assert_eq!(stage.admin.get(&path)["status"], "disabled", "the row stays");
    assert_eq!(stage.admin.bare("DELETE", &path).status, 204, "again is no error");

    assert_eq!(stage.admin.call("PATCH", &path, &json!({"status": "active"})).status, 200);
    stage.expect_works_soon("enabling the owner", Instant::now(), &key.secret);
    assert_eq!(stage.admin.call("PATCH", &path, &json!({"status": "disabled"})).status, 200);
    stage.expect_soon("disabling the owner by a change", Instant::now(), &key.secret, 403, "key_disabled");
}

on_both! {
    lives: a_user_is_made_read_listed_and_changed_on_sqlite, a_user_is_made_read_listed_and_changed_on_postgresql;
    ends_with_keys: keys_end_and_return_with_their_owner_on_sqlite, keys_end_and_return_with_their_owner_on_postgresql;
}
