//! Who may call `/admin`, and where its secret opens nothing.

use serde_json::json;
use svc_tests::admin::{Admin, JSON, send};
use svc_tests::gateway::{ADMIN_SECRET, KEY};
use svc_tests::raw::Connection;
use svc_tests::shapes::Shape;

use crate::stage::{NOBODY, Stage};

fn closed(stage: &Stage) {
    stage.user("ada@example.com");
    let key = stage.key("ada@example.com", &json!({}));
    stage.expect_works_soon("a new key", key.made, &key.secret);
    let before = stage.admin.get("/admin/keys?limit=200");
    let bearer = |secret: &str| vec![("authorization", format!("Bearer {secret}"))];
    let wrong = ADMIN_SECRET.to_uppercase();
    let callers = [
        ("no secret", vec![]),
        ("a wrong secret", bearer(&wrong)),
        ("a secret cut short", bearer(&ADMIN_SECRET[..ADMIN_SECRET.len() - 1])),
        ("an empty secret", bearer("")),
        ("a declared key", bearer(KEY)),
        ("a minted key", bearer(&key.secret)),
        ("the secret without a scheme", vec![("authorization", ADMIN_SECRET.to_owned())]),
        ("the secret as a data key", vec![("x-api-key", ADMIN_SECRET.to_owned())]),
        ("the secret twice", [bearer(ADMIN_SECRET), bearer(ADMIN_SECRET)].concat()),
    ];
    let rotate = format!("{}/rotate", key.path);
    let query = format!("/admin/keys?key={ADMIN_SECRET}");
    let calls = [
        ("GET", "/admin/health"),
        ("GET", "/admin/licence"),
        ("GET", "/admin/keys"),
        ("GET", &query),
        ("POST", "/admin/keys"),
        ("GET", &key.path),
        ("PATCH", &key.path),
        ("DELETE", &key.path),
        ("POST", &rotate),
        ("GET", "/admin/users"),
        ("POST", "/admin/users"),
        ("GET", "/admin/nothing"),
        ("PUT", "/admin/keys"),
    ];
    for (who, headers) in &callers {
        for (method, path) in calls {
            let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).chain([JSON]).collect();
            let body = if method == "GET" { "" } else { r#"{"status": "disabled"}"# };
            let answer = send(stage.gateway.address, method, path, &headers, body);
            Admin::expect_problem(&format!("{who}: {method} {path}"), &answer, 401, "unauthenticated");
            assert!(
                answer.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")),
                "RFC 9110, 11.6.1: {}",
                answer.head
            );
        }
    }
    assert_eq!(stage.admin.get("/admin/keys?limit=200")["data"].as_array().map(Vec::len), before["data"].as_array().map(Vec::len));
    assert_eq!(stage.ask(&key.secret).status, 200, "nothing was changed by those who were refused");
}

fn of_no_use_elsewhere(stage: &Stage) {
    for shape in Shape::ALL {
        let mut connection = Connection::open(stage.gateway.address);
        shape.send(&mut connection, ADMIN_SECRET, shape.model(), "hi", false);
        shape.expect_error("the admin secret", &connection.answer().expect("an answer"), 401, "key_not_found");
    }
    let bearer = format!("Bearer {ADMIN_SECRET}");
    let answer = send(stage.gateway.address, "GET", "/v1/models", &[("authorization", &bearer)], "");
    Shape::Chat.expect_error("the admin secret", &answer, 401, "key_not_found");
    for path in [format!("/v1/keys/{NOBODY}"), "/v1/admin/keys".to_owned(), "//admin/keys".to_owned(), "/admin".to_owned()] {
        let answer = send(stage.gateway.address, "GET", &path, &[("authorization", &bearer)], "");
        assert!((400..500).contains(&answer.status), "{path} is no way in: {}", answer.text());
        assert!(!answer.text().contains("\"data\""), "{path} lists nothing: {}", answer.text());
    }
}

on_both! {
    closed: whoever_lacks_the_admin_secret_is_refused_on_sqlite, whoever_lacks_the_admin_secret_is_refused_on_postgresql;
    of_no_use_elsewhere: the_admin_secret_is_no_key_on_sqlite, the_admin_secret_is_no_key_on_postgresql;
}
