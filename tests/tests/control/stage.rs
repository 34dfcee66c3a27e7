//! A gateway, its operator and its database.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc_tests::admin::Admin;
use svc_tests::gateway::{Gateway, Options};
use svc_tests::raw::{Answer, Connection};
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;
use svc_tests::upstream::{Upstream, runtime};
use svc_tests::{postgres, wait};

/// A second, and what a busy machine adds to it.
const SOON: Duration = Duration::from_millis(1_200);
/// An id no row has.
pub(crate) const NOBODY: &str = "01940000-0000-7000-8000-000000000000";

pub(crate) struct Stage {
    pub(crate) admin: Admin,
    pub(crate) database: Database,
    pub(crate) gateway: Gateway,
    pub(crate) upstream: Upstream,
}

pub(crate) fn on_sqlite(case: fn(&Stage)) {
    case(&Stage::start(None));
}

pub(crate) fn on_postgres(case: fn(&Stage)) {
    case(&Stage::start(Some(fresh_postgres())));
}

/// The address of a new database of PostgreSQL.
pub(crate) fn fresh_postgres() -> String {
    runtime().block_on(postgres::fresh_database()).expect("PostgreSQL")
}

impl Stage {
    pub(crate) fn start(database: Option<String>) -> Self {
        Self::with(database, |options| options)
    }

    /// The same over a configuration with something more in it.
    pub(crate) fn with(database: Option<String>, more: impl FnOnce(Options) -> Options) -> Self {
        let upstream = Upstream::start();
        let mut options = more(Options::standard(&upstream.url())).with("telemetry: {batch_size: 32, batch_timeout_ms: 20}\n");
        options.database = database;
        options.env.push(("RUST_LOG".to_owned(), "trace".to_owned()));
        let gateway = Gateway::start(options);
        let database = Database::open(&gateway.database_url());
        Self { admin: Admin::new(gateway.address), database, gateway, upstream }
    }

    /// Creates a user and returns the row as shown.
    pub(crate) fn user(&self, email: &str) -> Value {
        let answer = self.admin.call("POST", "/admin/users", &json!({"email": email, "name": "Ada"}));
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()
    }

    /// Creates a key of a user and returns it with its secret.
    pub(crate) fn key(&self, owner: &str, more: &Value) -> Key {
        let mut body = json!({"name": "laptop", "owner": {"user": owner}});
        for (name, value) in more.as_object().expect("an object") {
            body[name] = value.clone();
        }
        let answer = self.admin.call("POST", "/admin/keys", &body);
        assert_eq!(answer.status, 201, "{}", answer.text());
        Key::new(&answer.json())
    }

    /// A chat completion with a key.
    pub(crate) fn ask(&self, secret: &str) -> Answer {
        let mut connection = Connection::open(self.gateway.address);
        Shape::Chat.send(&mut connection, secret, "chat-model", "hi", false);
        connection.answer().expect("an answer")
    }

    /// Waits until a key is answered so, and checks that a second was enough since `changed`. `code` is empty for success.
    pub(crate) fn expect_soon(&self, what: &str, changed: Instant, secret: &str, status: u16, code: &str) {
        let mut last = String::new();
        wait::within(Duration::from_secs(5), &format!("{what} to be answered {status} {code}"), || {
            let answer = self.ask(secret);
            last = answer.head.clone();
            (answer.status == status && answer.header("x-svc-error-code").unwrap_or_default() == code).then_some(())
        });
        assert!(changed.elapsed() < SOON, "{what} takes effect within a second, not {:?}: {last}", changed.elapsed());
    }

    /// The same for a key that works.
    pub(crate) fn expect_works_soon(&self, what: &str, changed: Instant, secret: &str) {
        self.expect_soon(what, changed, secret, 200, "");
    }
}

/// A key as it was answered when made.
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) secret: String,
    pub(crate) made: Instant,
}

impl Key {
    fn new(shown: &Value) -> Self {
        let id = shown["id"].as_str().expect("an id").to_owned();
        let secret = shown["secret"].as_str().expect("its secret, this once").to_owned();
        Self { path: format!("/admin/keys/{id}"), id, secret, made: Instant::now() }
    }
}

/// The ids of the rows of a page.
pub(crate) fn ids(page: &Value) -> Vec<String> {
    let rows = page["data"].as_array().expect("a page has rows");
    rows.iter().map(|row| row["id"].as_str().expect("a row has an id").to_owned()).collect()
}
