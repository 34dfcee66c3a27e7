//! Lists by page, and what `HEAD` says of them.

use std::collections::BTreeSet;

use serde_json::json;
use svc_tests::admin::Admin;
use svc_tests::gateway::ADMIN_SECRET;
use svc_tests::raw::Connection;

use crate::stage::{Stage, ids};

fn paged(stage: &Stage) {
    for number in 0..5 {
        let email = format!("user-{number}@example.com");
        stage.user(&email);
        stage.key(&email, &json!({}));
    }
    for list in ["/admin/keys", "/admin/users"] {
        let all = ids(&stage.admin.get(&format!("{list}?limit=200")));
        assert!(all.len() >= 6, "those of the file and those made here: {all:?}");
        for limit in [1, 2, all.len(), 200] {
            let (mut seen, mut next) = (Vec::new(), format!("{list}?limit={limit}"));
            for turn in 0.. {
                let page = stage.admin.get(&next);
                assert!(ids(&page).len() <= limit, "a page is no longer than asked for");
                seen.extend(ids(&page));
                let Some(cursor) = page["next_cursor"].as_str() else { break };
                assert!(turn <= all.len(), "the pages come to an end");
                next = format!("{list}?limit={limit}&cursor={cursor}");
                if turn == 0 {
                    // A row that comes meanwhile repeats none and hides none.
                    stage.user(&format!("late-{}-{limit}@example.com", list.len()));
                    stage.key("user-0@example.com", &json!({}));
                }
            }
            let distinct: BTreeSet<&String> = seen.iter().collect();
            assert_eq!(distinct.len(), seen.len(), "{list} by {limit}: no row is seen twice");
            assert!(all.iter().all(|id| distinct.contains(id)), "{list} by {limit}: no row is missed");
        }
    }
    let default = stage.admin.get("/admin/keys");
    assert!(default["data"].as_array().is_some_and(|rows| rows.len() <= 50) && default.get("next_cursor").is_some());
}

fn asked_wrongly(stage: &Stage) {
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=-1", "limit"),
        ("limit=many", "limit"),
        ("cursor=%21", "cursor"),
        ("cursor=AA", "cursor"),
        ("order=name", "order"),
        ("status=gone", "status"),
    ] {
        for list in ["/admin/keys", "/admin/users"] {
            let answer = stage.admin.bare("GET", &format!("{list}?{query}"));
            Admin::expect_problem(&format!("{list}?{query}"), &answer, 422, "invalid");
            assert_eq!(answer.json()["errors"][0]["field"], field, "{}", answer.text());
        }
    }
    for query in ["/admin/keys?owner=%00", "/admin/users?email=a%00b", "/admin/keys?status=%00", "/admin/users?email=%ff"] {
        let answer = stage.admin.bare("GET", query);
        assert!(answer.status == 422 || answer.json()["data"] == json!([]), "{query} finds nothing: {}", answer.text());
    }
}

fn headed(stage: &Stage) {
    let user = stage.user("ada@example.com");
    let user = format!("/admin/users/{}", user["id"].as_str().expect("an id"));
    let bearer = format!("authorization: Bearer {ADMIN_SECRET}");
    for path in ["/admin/keys", "/admin/users", "/admin/health", "/admin/licence", &user] {
        let mut connection = Connection::open(stage.gateway.address);
        connection.send(format!("HEAD {path} HTTP/1.1\r\nhost: test\r\n{bearer}\r\n\r\n"));
        let head = connection.begin().expect("a head");
        assert_eq!(head.status, 200, "{path}: {}", head.head);
        assert_eq!(head.header("content-type"), Some("application/json"), "{path}");
        assert!(head.header("content-length").is_some_and(|length| length != "0"), "{path} has the length of its body: {}", head.head);
        assert_eq!(head.header("etag").is_some(), path == user, "{path}: {}", head.head);
        connection.send(format!("GET {path} HTTP/1.1\r\nhost: test\r\n{bearer}\r\n\r\n"));
        let answer = connection.answer().expect("no body came before the next head");
        assert_eq!((answer.status, answer.complete), (200, true), "{path}: {}", answer.head);
    }
    let mut connection = Connection::open(stage.gateway.address);
    connection.send("HEAD /admin/keys HTTP/1.1\r\nhost: test\r\n\r\n");
    assert_eq!(connection.begin().map(|head| head.status), Some(401), "HEAD needs the secret too");
}

on_both! {
    paged: every_row_is_seen_once_page_by_page_on_sqlite, every_row_is_seen_once_page_by_page_on_postgresql;
    asked_wrongly: unknown_and_malformed_parameters_are_refused_on_sqlite, unknown_and_malformed_parameters_are_refused_on_postgresql;
    headed: head_says_what_get_would_without_a_body_on_sqlite, head_says_what_get_would_without_a_body_on_postgresql;
}
