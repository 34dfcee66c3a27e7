//! Calls that are refused, in which words, and that they change nothing.

use serde_json::{Value, json};
use svc_tests::admin::{Admin, JSON};
use svc_tests::raw::{Answer, Connection};

use crate::stage::{NOBODY, Stage};

/// The largest body.
const LARGEST: usize = 1 << 20;

fn expect_faults(case: &str, answer: &Answer, fields: &[&str]) {
    Admin::expect_problem(case, answer, 422, "invalid");
    let body = answer.json();
    let named: Vec<&str> = body["errors"].as_array().expect("a list").iter().filter_map(|fault| fault["field"].as_str()).collect();
    assert_eq!(named, fields, "{case}: {body}");
    for field in fields {
        assert!(body["detail"].as_str().is_some_and(|detail| detail.contains(field)), "the sentence names `{field}` too: {body}");
    }
}

fn unfit(stage: &Stage) {
    stage.user("ada@example.com");
    let owner = json!({"user": "ada@example.com"});
    let key = stage.key("ada@example.com", &json!({}));
    let before = stage.admin.get(&key.path);
    let cases = [
        (json!({}), &["name", "owner"][..]),
        (json!({"name": "k"}), &["owner"]),
        (json!({"name": "k", "owner": {"user": "ada@example.com", "agent": "bird"}}), &["owner"]),
        (json!({"name": "k", "owner": {}}), &["owner"]),
        (json!({"name": "k", "owner": null}), &["owner"]),
        (json!({"name": "k", "owner": "ada@example.com"}), &["owner"]),
        (json!({"name": "k", "owner": {"user": "nobody@example.com"}}), &["owner.user"]),
        (json!({"name": "k", "owner": {"agent": "nobody"}}), &["owner.agent"]),
        (json!({"name": "k", "owner": owner, "colour": "red"}), &["colour"]),
        (json!({"name": "k", "owner": owner, "secret": "of-my-own-0123456789"}), &["secret"]),
        (json!({"name": 5, "owner": owner}), &["name"]),
        (json!({"name": " ", "owner": owner}), &["name"]),
        (json!({"name": "k\u{0}", "owner": owner}), &["name"]),
        (json!({"name": "k".repeat(201), "owner": owner}), &["name"]),
        (json!({"name": "k", "owner": owner, "status": "revoked"}), &["status"]),
        (json!({"name": "k", "owner": owner, "rpm_limit": "5", "colour": 1, "expires_at": "soon"}), &["rpm_limit", "expires_at", "colour"]),
    ];
    for (body, fields) in cases {
        expect_faults(&body.to_string(), &stage.admin.call("POST", "/admin/keys", &body), fields);
    }
    for (field, value) in wrong_values() {
        let mut body = json!({"name": "k", "owner": owner});
        body[field] = value.clone();
        expect_faults(&body.to_string(), &stage.admin.call("POST", "/admin/keys", &body), &[field]);
        let change = json!({ field: value });
        expect_faults(&change.to_string(), &stage.admin.call("PATCH", &key.path, &change), &[field]);
    }
    for hours in [json!(-1), json!("1"), json!(0.5), json!(1_000_000)] {
        let answer = stage.admin.call("POST", &format!("{}/rotate", key.path), &json!({ "overlap_hours": hours }));
        expect_faults("an overlap that does not fit", &answer, &["overlap_hours"]);
    }
    for (body, fields) in [
        (json!({}), &["email", "name"][..]),
        (json!({"email": "nobody", "name": "N"}), &["email"]),
        (json!({"email": ["a@b.example"], "name": null}), &["email", "name"]),
        (json!({"email": "a@b.example", "name": "N", "role": "none"}), &["role"]),
        (json!({"email": "a@b.example", "name": "N", "status": true, "admin": true}), &["status", "admin"]),
    ] {
        expect_faults(&body.to_string(), &stage.admin.call("POST", "/admin/users", &body), fields);
    }
    assert_eq!(stage.admin.get(&key.path), before, "what was refused changed nothing");
}

fn wrong_values() -> Vec<(&'static str, Value)> {
    vec![
        ("rpm_limit", json!("5")),
        ("rpm_limit", json!(-1)),
        ("rpm_limit", json!(1.5)),
        ("rpm_limit", json!(u64::MAX)),
        ("tpm_limit", json!(true)),
        ("max_parallel", json!([])),
        ("allowed_models", json!("chat-model")),
        ("allowed_models", json!([1])),
        ("expires_at", json!("tomorrow")),
        ("expires_at", json!(1_700_000_000)),
        ("status", json!("gone")),
        ("status", json!(null)),
        ("tags", json!(["a"])),
        ("tags", json!({"a": 1})),
        ("content_logging", json!("loud")),
        ("team", json!("none")),
        ("application", json!("none")),
        ("role", json!("none")),
    ]
}

fn malformed(stage: &Stage) {
    let key = {
        stage.user("ada@example.com");
        stage.key("ada@example.com", &json!({}))
    };
    let rotate = format!("{}/rotate", key.path);
    let calls = [("POST", "/admin/keys"), ("POST", "/admin/users"), ("PATCH", key.path.as_str()), ("POST", rotate.as_str())];
    for (method, path) in calls {
        for body in [&b"{"[..], b"[]", b"1", b"null", b"{\"name\": \"a\"}x", b"\xff\xfe", b"{\"name\": \"\xff\"}", b"{'name': 1}"] {
            let told = format!("{method} {path} {}", String::from_utf8_lossy(body));
            Admin::expect_problem(&told, &stage.admin.send(method, path, &[JSON], body), 400, "malformed");
        }
        let deep = "[".repeat(100_000);
        Admin::expect_problem("a deep body", &stage.admin.send(method, path, &[JSON], deep), 400, "malformed");
        for headers in [
            &[][..],
            &[("content-type", "text/plain")],
            &[("content-type", "application/x-www-form-urlencoded")],
            &[JSON, ("content-encoding", "gzip")],
        ] {
            let answer = stage.admin.send(method, path, headers, "{}");
            Admin::expect_problem(&format!("{method} {path} {headers:?}"), &answer, 415, "unsupported_media_type");
        }
    }
    for content_type in ["application/json; charset=utf-8", "APPLICATION/JSON", "application/merge-patch+json"] {
        let answer = stage.admin.send("PATCH", &key.path, &[("content-type", content_type)], r#"{"name": "other"}"#);
        assert_eq!(answer.status, 200, "{content_type} is JSON: {}", answer.text());
    }
}

fn large(stage: &Stage) {
    let body = |email: &str, size: usize| {
        let mut body = json!({"email": email, "name": "Ada"}).to_string().into_bytes();
        body.resize(size, b' ');
        body
    };
    let fits = stage.admin.send("POST", "/admin/users", &[JSON], body("ada@example.com", LARGEST));
    assert_eq!(fits.status, 201, "the bound itself is allowed: {}", fits.text());
    for size in [LARGEST + 1, 8 * LARGEST] {
        let answer = stage.admin.send("POST", "/admin/users", &[JSON], body("bob@example.com", size));
        Admin::expect_problem("a body with a length", &answer, 413, "body_too_large");
        let mut connection = Connection::open(stage.gateway.address);
        let bearer = format!("Bearer {}", svc_tests::gateway::ADMIN_SECRET);
        connection.post_chunked("/admin/users", &[JSON, ("authorization", &bearer)], body("bob@example.com", size), 50_000);
        Admin::expect_problem("a body in chunks", &connection.answer().expect("the answer is not cut off"), 413, "body_too_large");
    }
    assert_eq!(stage.admin.get("/admin/users?email=bob@example.com")["data"], json!([]));
}

fn misdirected(stage: &Stage) {
    for (method, path) in [
        ("GET", format!("/admin/keys/{NOBODY}")),
        ("PATCH", format!("/admin/keys/{NOBODY}")),
        ("DELETE", format!("/admin/keys/{NOBODY}")),
        ("POST", format!("/admin/keys/{NOBODY}/rotate")),
        ("GET", format!("/admin/users/{NOBODY}")),
        ("PATCH", format!("/admin/users/{NOBODY}")),
        ("DELETE", format!("/admin/users/{NOBODY}")),
        ("GET", "/admin/keys/".to_owned()),
        ("GET", "/admin/keys/a%2Fb".to_owned()),
        ("GET", "/admin/keys/%00".to_owned()),
        ("GET", "/admin/".to_owned()),
        ("GET", "/admin/providers".to_owned()),
    ] {
        let answer = stage.admin.send(method, &path, &[JSON], if method == "GET" { "" } else { "{}" });
        Admin::expect_problem(&format!("{method} {path}"), &answer, 404, "not_found");
    }
    for (method, path, allow) in [
        ("PUT", "/admin/keys".to_owned(), "GET, HEAD, POST"),
        ("DELETE", "/admin/users".to_owned(), "GET, HEAD, POST"),
        ("POST", "/admin/health".to_owned(), "GET, HEAD"),
        ("OPTIONS", "/admin/health".to_owned(), "GET, HEAD"),
        ("DELETE", "/admin/licence".to_owned(), "GET, HEAD"),
        ("POST", format!("/admin/keys/{NOBODY}"), "GET, HEAD, PATCH, DELETE"),
        ("PUT", format!("/admin/users/{NOBODY}"), "GET, HEAD, PATCH, DELETE"),
        ("GET", format!("/admin/keys/{NOBODY}/rotate"), "POST"),
    ] {
        let answer = stage.admin.bare(method, &path);
        Admin::expect_problem(&format!("{method} {path}"), &answer, 405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
    }
}

fn declared(stage: &Stage) {
    let keys = stage.admin.get("/admin/keys?limit=200");
    let users = stage.admin.get("/admin/users?email=dev@example.com");
    let find = |rows: &Value, name: &str, value: &str| {
        let row = rows["data"].as_array().expect("rows").iter().find(|row| row[name] == value).expect("the file declares it").clone();
        assert_eq!(row["source"], "file", "{row}");
        row["id"].as_str().expect("an id").to_owned()
    };
    let key = format!("/admin/keys/{}", find(&keys, "name", "all"));
    let user = format!("/admin/users/{}", find(&users, "email", "dev@example.com"));
    for (method, path, body) in [
        ("PATCH", key.clone(), r#"{"status": "disabled"}"#),
        ("DELETE", key.clone(), ""),
        ("POST", format!("{key}/rotate"), "{}"),
        ("PATCH", user.clone(), r#"{"name": "Other"}"#),
        ("DELETE", user.clone(), ""),
    ] {
        let answer = stage.admin.send(method, &path, &[JSON], body);
        Admin::expect_problem(&format!("{method} {path}"), &answer, 409, "read_only");
    }
    assert_eq!(stage.ask(svc_tests::gateway::KEY).status, 200, "the file's key is as it was");
    stage.key("dev@example.com", &json!({}));
}

fn overtaken(stage: &Stage) {
    let user = stage.user("ada@example.com");
    let key = stage.key("ada@example.com", &json!({}));
    for path in [key.path.clone(), format!("/admin/users/{}", user["id"].as_str().expect("an id"))] {
        let first = stage.admin.bare("GET", &path).header("etag").expect("a version").to_owned();
        assert!(first.starts_with('"') && first.ends_with('"'), "a strong version: {first}");
        let with = |tag: &str, method: &str, body: &str| stage.admin.send(method, &path, &[JSON, ("if-match", tag)], body);
        let changed = with(&first, "PATCH", r#"{"name": "second"}"#);
        assert_eq!(changed.status, 200, "the present version is changed: {}", changed.text());
        let second = changed.header("etag").expect("a version").to_owned();
        assert_ne!(first, second, "a change is another version");
        assert_eq!(stage.admin.bare("GET", &path).header("etag"), Some(second.as_str()));
        Admin::expect_problem("a late change", &with(&first, "PATCH", r#"{"name": "late"}"#), 412, "precondition_failed");
        Admin::expect_problem("a late end", &with(&first, "DELETE", ""), 412, "precondition_failed");
        Admin::expect_problem("no version at all", &with("x", "PATCH", r#"{"name": "late"}"#), 412, "precondition_failed");
        assert_eq!(stage.admin.get(&path)["name"], "second", "nothing that was late changed it");
        let same = with(&second, "PATCH", r#"{"name": "second"}"#);
        assert_eq!(same.header("etag"), Some(second.as_str()), "what changes nothing is no new version");
        assert_eq!(with("*", "DELETE", "").status, 204);
    }
    let rotated = stage.admin.send("POST", &format!("{}/rotate", key.path), &[JSON, ("if-match", "\"1\"")], "{}");
    assert!(matches!(rotated.status, 409 | 412), "{}", rotated.text());
}

on_both! {
    unfit: bodies_that_do_not_fit_are_told_every_fault_on_sqlite, bodies_that_do_not_fit_are_told_every_fault_on_postgresql;
    malformed: bodies_that_are_no_json_are_refused_on_sqlite, bodies_that_are_no_json_are_refused_on_postgresql;
    large: bodies_over_one_mebibyte_are_refused_on_sqlite, bodies_over_one_mebibyte_are_refused_on_postgresql;
    misdirected: wrong_paths_and_methods_are_told_so_on_sqlite, wrong_paths_and_methods_are_told_so_on_postgresql;
    declared: rows_of_the_file_are_read_only_on_sqlite, rows_of_the_file_are_read_only_on_postgresql;
    overtaken: a_change_to_another_version_is_refused_on_sqlite, a_change_to_another_version_is_refused_on_postgresql;
}
