//! What recovery mode lets be created.

use std::thread;

use serde_json::{Value, json};
use svc_tests::admin::Admin;
use svc_tests::gateway::{Gateway, Options};
use svc_tests::licence;
use svc_tests::postgres;
use svc_tests::raw::Answer;
use svc_tests::upstream::{Upstream, runtime};

use crate::stage::Stage;

/// Callers at the same time.
const CALLERS: usize = 40;
/// Keys and users of the configuration.
const DECLARED: (usize, usize) = (4, 1);

/// Creates from many threads at once, the gateways by turns, and returns the answers.
fn at_once(gateways: &[Admin], path: &str, body: impl Fn(usize) -> Value + Sync) -> Vec<Answer> {
    thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|number| {
                let (admin, body) = (&gateways[number % gateways.len()], &body);
                scope.spawn(move || admin.call("POST", path, &body(number)))
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().expect("it answers")).collect()
    })
}

fn expect_capped(answers: &[Answer], made: usize, limit: usize) {
    let refused: Vec<&Answer> = answers.iter().filter(|answer| answer.status != 201).collect();
    assert_eq!(answers.len() - refused.len(), made, "exactly so many are made");
    for answer in refused {
        Admin::expect_problem("one too many", answer, 403, "cap_exceeded");
        let body = answer.json();
        assert_eq!((&body["limit"], &body["current"]), (&json!(limit), &json!(limit)), "{body}");
    }
}

fn expect_caps(gateways: &[Admin]) {
    // Users first, while their table has one row only.
    let users = at_once(gateways, "/admin/users", |number| json!({"email": format!("u{number}@example.com"), "name": "U"}));
    expect_capped(&users, 5 - DECLARED.1, 5);
    let keys = at_once(gateways, "/admin/keys", |number| json!({"name": format!("k{number}"), "owner": {"user": "dev@example.com"}}));
    expect_capped(&keys, 25 - DECLARED.0, 25);
    let caps = gateways[0].get("/admin/licence")["caps"].clone();
    assert_eq!(caps, json!({"api_keys": {"count": 25, "cap": 25}, "users": {"count": 5, "cap": 5}}));
}

#[test]
fn recovery_mode_caps_exactly_on_sqlite() {
    let stage = Stage::start(None);
    expect_caps(&[Admin::new(stage.gateway.address)]);
}

#[test]
fn two_gateways_in_recovery_mode_cap_together_on_postgresql() {
    let upstream = Upstream::start();
    let database = runtime().block_on(postgres::fresh_database()).expect("PostgreSQL");
    let start = || Gateway::start(Options::standard(&upstream.url()).with_database(&database).with_licence(None));
    let gateways = [start(), start()];
    expect_caps(&gateways.each_ref().map(|gateway| Admin::new(gateway.address)));
}

#[test]
fn what_is_wrong_with_a_body_is_told_before_the_cap() {
    let stage = Stage::start(None);
    for number in 0..4 {
        let made = stage.admin.call("POST", "/admin/users", &json!({"email": format!("u{number}@example.com"), "name": "U"}));
        assert_eq!(made.status, 201, "{}", made.text());
    }
    Admin::expect_problem("no name", &stage.admin.call("POST", "/admin/users", &json!({"email": "x@example.com"})), 422, "invalid");
    let full = stage.admin.call("POST", "/admin/users", &json!({"email": "x@example.com", "name": "X"}));
    Admin::expect_problem("a whole one", &full, 403, "cap_exceeded");
}

#[test]
fn declared_keys_and_users_are_never_refused() {
    let mut more = String::new();
    for number in 0..30 {
        more.push_str(&format!("  - {{name: d{number}, secret: test-declared-{number:04}, owner: {{user: \"d{number}@example.com\"}}}}\n"));
    }
    let stage = Stage::with(|options| options.with(&more).with_licence(None));
    let caps = stage.licence()["caps"].clone();
    assert_eq!(caps, json!({"api_keys": {"count": 34, "cap": 25}, "users": {"count": 31, "cap": 5}}));
    let refused = stage.create_key("one more");
    assert_eq!(refused.json()["current"], 34);
}

#[test]
fn an_edition_that_is_licensed_has_no_caps() {
    let stage = Stage::start(Some(licence::expiring("community", licence::now() + 90 * licence::DAY)));
    let shown = stage.shown();
    assert_eq!((shown.tier.as_str(), shown.edition.as_str(), shown.banner), ("community", "community", None));
    for number in 0..30 {
        assert_eq!(stage.create_key(&format!("k{number}")).status, 201);
    }
    assert_eq!(stage.licence()["caps"]["api_keys"], json!({"count": 34, "cap": null}));
}
