//! Nothing that a client saw completed is lost: not by `kill -9`, not by a database that is away. And what changes in the
//! database takes effect within a second.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, Set};
use svc_entity::{KeyStatus, Outcome, api_key};
use svc_filters::auth::Pepper;
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::postgres::dedicated::Dedicated;
use svc_tests::raw::Connection;
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;
use svc_tests::upstream::{Upstream, runtime};
use svc_tests::{postgres, wait};

const ROUNDS: usize = 50;
const CLIENTS: usize = 6;
const FAST: &str = "telemetry: {batch_size: 32, batch_timeout_ms: 20}\n";
/// What the test harness gives the gateway as its pepper.
const PEPPER: &[u8] = b"p0123456789abcdefghijklmnopqrstuvwxyz";

/// What clients saw, by request id: whether the answer was complete.
#[derive(Default)]
struct Truth {
    seen: HashMap<String, bool>,
    failed: Vec<String>,
}

/// Clients that ask until they are told to stop, in turn streaming and not.
struct Load {
    stop: Arc<AtomicBool>,
    clients: Vec<thread::JoinHandle<()>>,
    truth: Arc<Mutex<Truth>>,
}

impl Load {
    fn start(gateway: &Gateway) -> Self {
        let (stop, truth) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Truth::default())));
        let address = gateway.address;
        let client = |at: usize| {
            let (stop, truth) = (stop.clone(), truth.clone());
            thread::spawn(move || {
                let mut turn = at;
                while !stop.load(Ordering::Relaxed) {
                    let Some(mut connection) = Connection::try_open(address) else {
                        thread::yield_now();
                        continue;
                    };
                    while !stop.load(Ordering::Relaxed) && ask(&mut connection, turn, &truth) {
                        turn += 1;
                    }
                    turn += 1;
                }
            })
        };
        Self { clients: (0..CLIENTS).map(client).collect(), stop, truth }
    }

    fn complete(&self) -> usize {
        self.truth.lock().expect("not poisoned").seen.values().filter(|complete| **complete).count()
    }

    fn end(self) -> Truth {
        self.stop.store(true, Ordering::Relaxed);
        for client in self.clients {
            client.join().expect("a client");
        }
        std::mem::take(&mut *self.truth.lock().expect("not poisoned"))
    }
}

/// One request; `false` when the connection is of no further use.
fn ask(connection: &mut Connection, turn: usize, truth: &Mutex<Truth>) -> bool {
    let shape = Shape::ALL[turn % Shape::ALL.len()];
    let stream = turn.is_multiple_of(2);
    let text = if turn % 8 == 4 { "demo:slow=2ms demo:chunks=20" } else { "hi" };
    shape.send(connection, KEY, shape.model(), text, stream);
    let Some(answer) = connection.answer() else {
        truth.lock().expect("not poisoned").failed.push("no answer".to_owned());
        return false;
    };
    let id = answer.header("x-svc-request-id").expect("every answer has an id").to_owned();
    let mut truth = truth.lock().expect("not poisoned");
    if answer.status != 200 {
        truth.failed.push(format!("{} {}", answer.status, answer.text()));
    }
    if !answer.complete {
        truth.failed.push("a broken answer".to_owned());
    }
    truth.seen.insert(id, answer.complete && answer.status == 200);
    answer.complete
}

/// Checks the log against what clients saw.
fn expect_all(database: &Database, truth: &HashMap<String, bool>) {
    let missing = || {
        let mut rows: HashMap<String, Outcome> = HashMap::new();
        for row in database.rows() {
            assert_eq!(rows.insert(row.request_id.clone(), row.outcome), None, "request {} has two rows", row.request_id);
        }
        let missing: Vec<&String> = truth.iter().filter(|(id, complete)| **complete && !rows.contains_key(*id)).map(|(id, _)| id).collect();
        (missing.len(), rows)
    };
    let rows = wait::within(Duration::from_secs(30), "every row to be written", || {
        let (missing, rows) = missing();
        (missing == 0).then_some(rows)
    });
    for (id, complete) in truth {
        if *complete {
            assert_eq!(rows.get(id), Some(&Outcome::Complete), "request {id}, seen complete, is told otherwise");
        }
    }
}

#[test]
fn fifty_kills_under_load_lose_no_row_and_write_none_twice() {
    let rounds = std::env::var("SVC_KILL_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let upstream = Upstream::start();
    let mut gateway = Gateway::start(Options::standard(&upstream.url()).with(FAST));
    let mut truth: HashMap<String, bool> = HashMap::new();
    let mut slowest = Duration::ZERO;
    for round in 0..rounds {
        let load = Load::start(&gateway);
        // The moment differs from round to round, so that every part of a request's life is met.
        wait::until("some answers", || (load.complete() >= 10 + round % 17).then_some(()));
        gateway.kill();
        truth.extend(load.end().seen);
        let begun = Instant::now();
        gateway.restart();
        slowest = slowest.max(begun.elapsed());
    }
    assert!(slowest < Duration::from_secs(5), "a start after a crash takes {slowest:?}");
    assert!(truth.values().filter(|complete| **complete).count() >= rounds * 10, "there was load");
    let database = Database::open(&gateway.database_url());
    expect_all(&database, &truth);
    let answer = Shape::Chat.ask(&mut Connection::open(gateway.address), "chat-model", "hi", false);
    assert_eq!(database.row(answer.header("x-svc-request-id").expect("an id")).outcome, Outcome::Complete, "and it logs on");
}

#[test]
fn a_request_that_was_interrupted_is_told_so() {
    let upstream = Upstream::start();
    let mut gateway = Gateway::start(Options::standard(&upstream.url()).with(FAST));
    let heads: Vec<_> = Shape::ALL
        .into_iter()
        .map(|shape| {
            let mut connection = Connection::open(gateway.address);
            shape.send(&mut connection, KEY, shape.model(), "demo:hang-after=2", true);
            let head = connection.begin().expect("a head");
            (connection, head)
        })
        .collect();
    gateway.kill();
    gateway.restart();
    let database = Database::open(&gateway.database_url());
    for (_, head) in &heads {
        let id = head.header("x-svc-request-id").expect("an id");
        assert_eq!(database.row(id).outcome, Outcome::Interrupted);
        assert_eq!(database.rows_of(id).len(), 1);
    }
    gateway.kill();
    gateway.restart();
    assert_eq!(database.count(), Some(3), "a second start writes nothing again");
}

#[test]
fn a_database_outage_fails_no_request_and_loses_no_row() {
    let mut server = Dedicated::start().expect("PostgreSQL");
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()).with(FAST).with_database(&server.url()));
    let load = Load::start(&gateway);
    wait::until("load", || (load.complete() > 50).then_some(()));
    server.stop().expect("it can be stopped");
    let begun = Instant::now();
    let before = load.complete();
    wait::within(Duration::from_secs(30), "three seconds of load without a database", || {
        (begun.elapsed() > Duration::from_secs(3) && load.complete() > before + 50).then_some(())
    });
    server.resume().expect("it can be started again");
    let back = load.complete();
    wait::until("load afterwards", || (load.complete() > back + 50).then_some(()));
    let truth = load.end();
    assert!(truth.failed.is_empty(), "no request fails for want of a database: {:?}", truth.failed);
    let database = Database::open(&server.url());
    expect_all(&database, &truth.seen);
}

fn status_of(gateway: &Gateway, key: &str) -> u16 {
    let mut connection = Connection::open(gateway.address);
    Shape::Chat.send(&mut connection, key, "chat-model", "hi", false);
    connection.answer().expect("an answer").status
}

/// Waits for a change to be felt and checks how long it took.
fn expect_soon(what: &str, since: Instant, gateway: &Gateway, key: &str, status: u16) {
    wait::within(Duration::from_secs(5), what, || (status_of(gateway, key) == status).then_some(()));
    assert!(since.elapsed() < Duration::from_millis(1_200), "{what} takes effect within a second, not {:?}", since.elapsed());
}

fn changes_take_effect(url: Option<String>) {
    let upstream = Upstream::start();
    let mut options = Options::standard(&upstream.url()).with(FAST);
    options.database = url;
    let gateway = Gateway::start(options);
    let database = Database::open(&gateway.database_url());
    let find = api_key::Entity::find().filter(api_key::Column::Name.eq("all")).one(database.connection());
    let known = runtime().block_on(find).expect("a query").expect("the declared key");
    assert_eq!(status_of(&gateway, KEY), 200);

    let mut disabled = known.clone().into_active_model();
    disabled.status = Set(KeyStatus::Disabled);
    let since = Instant::now();
    runtime().block_on(disabled.update(database.connection())).expect("an update");
    expect_soon("disabling a key", since, &gateway, KEY, 403);

    let mut enabled = known.clone().into_active_model();
    enabled.status = Set(KeyStatus::Active);
    let since = Instant::now();
    runtime().block_on(enabled.update(database.connection())).expect("an update");
    expect_soon("enabling a key", since, &gateway, KEY, 200);

    let secret = "test-key-added-later";
    assert_eq!(status_of(&gateway, secret), 401, "nobody knows it yet");
    let mut added = known.clone().into_active_model();
    added.id = Set("01940000-0000-7000-8000-000000000001".to_owned());
    added.name = Set("added".to_owned());
    added.public_id = Set(None);
    added.secret_hash = Set(Pepper::new(PEPPER).hash(secret).to_hex());
    let since = Instant::now();
    runtime().block_on(added.insert(database.connection())).expect("an insert");
    expect_soon("adding a key", since, &gateway, secret, 200);

    let row = api_key::Entity::find_by_id("01940000-0000-7000-8000-000000000001").one(database.connection());
    let mut revoked = runtime().block_on(row).expect("a query").expect("the new key").into_active_model();
    revoked.status = Set(KeyStatus::Revoked);
    let since = Instant::now();
    runtime().block_on(revoked.update(database.connection())).expect("an update");
    expect_soon("revoking a key", since, &gateway, secret, 403);
    assert_eq!(status_of(&gateway, KEY), 200, "other keys are as they were");
}

#[test]
fn a_changed_key_takes_effect_within_a_second_on_sqlite() {
    changes_take_effect(None);
}

#[test]
fn a_changed_key_takes_effect_within_a_second_on_postgresql() {
    changes_take_effect(Some(runtime().block_on(postgres::fresh_database()).expect("PostgreSQL")));
}
