//! What operators are told of: each event is one row of the outbox, whatever happens to the gateway.

use std::time::Duration;

use sea_orm::{EntityTrait, QueryOrder};
use serde_json::{Value, json};
use svc_entity::event_outbox::{Column, Entity, Model};
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{self, Answer, Connection};
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;
use svc_tests::upstream::{Upstream, runtime};
use svc_tests::{postgres, wait};

const FAST: &str = "telemetry: {batch_size: 64, batch_timeout_ms: 20}\n";
/// What the journal holds is written only at the next start.
const NEVER: &str = "telemetry: {batch_size: 64, batch_timeout_ms: 60000}\n";
const BREAKER: &str = "breaker: {consecutive_failures: 2, open: 200ms, max_open: 200ms}\n";
const MORE: &str = "  - {name: other, secret: test-key-other-0001, owner: {agent: crawler}}
rules:
  - {name: closed, kind: deny, when: {models: [messages-model]}}\n";

struct Stage {
    gateway: Gateway,
    database: Database,
    _upstream: Upstream,
}

impl Stage {
    fn start(database: Option<String>, telemetry: &str) -> Self {
        let upstream = Upstream::start();
        let mut options = Options::standard(&upstream.url()).with(MORE).with(BREAKER).with(telemetry);
        options.database = database;
        let gateway = Gateway::start(options);
        let database = Database::open(&gateway.database_url());
        Self { gateway, database, _upstream: upstream }
    }

    fn rows(&self) -> Vec<Model> {
        runtime().block_on(Entity::find().order_by_asc(Column::Id).all(self.database.connection())).expect("the outbox can be read")
    }

    /// The rows, once there are so many.
    fn expect(&self, count: usize) -> Vec<Model> {
        wait::until(&format!("{count} events"), || Some(self.rows()).filter(|rows| rows.len() >= count))
    }

    /// A chat completion on a connection of its own.
    fn ask(&self, text: &str) -> Answer {
        Shape::Chat.ask(&mut Connection::open(self.gateway.address), "chat-model", text, false)
    }

    /// Lets the circuit of the chat provider open, half-open and close.
    fn trip(&self) {
        for _ in 0..2 {
            assert_eq!(self.ask("demo:error=503").status, 503);
        }
        self.gateway.says("circuit open");
        // Every other target would be worse, so that requests pass at any time; only one after the pause is a real trial.
        wait::until("the circuit to close", || {
            assert_eq!(self.ask("hi").status, 200);
            self.gateway.log().contains("circuit closed").then_some(())
        });
    }
}

fn kinds(rows: &[Model]) -> Vec<&str> {
    rows.iter().map(|row| row.kind.as_str()).collect()
}

fn data(row: &Model) -> Value {
    serde_json::from_str(&row.data).expect("JSON")
}

const TURNS: [&str; 3] = ["circuit.opened", "circuit.half_opened", "circuit.closed"];

fn circuits(database: Option<String>) {
    let stage = Stage::start(database, FAST);
    stage.trip();
    let rows = stage.expect(3);
    assert_eq!(kinds(&rows), TURNS, "{rows:?}");
    let opened = json!({"provider": "chat", "model": "demo-1", "previous": "closed", "failure": "status", "status": 503});
    assert_eq!(data(&rows[0]), opened);
    assert_eq!(data(&rows[1]), json!({"provider": "chat", "model": "demo-1", "previous": "open"}));
    assert_eq!(data(&rows[2]), json!({"provider": "chat", "model": "demo-1", "previous": "half_open"}));
    assert!(rows.iter().all(|row| row.dispatched_at.is_none() && row.created_at > 1_700_000_000_000), "{rows:?}");
}

fn killed(database: Option<String>) {
    let mut stage = Stage::start(database, NEVER);
    stage.trip();
    stage.gateway.kill();
    assert_eq!(kinds(&stage.rows()), [""; 0], "nothing was written before the end");
    stage.gateway.restart();
    assert_eq!(kinds(&stage.expect(3)), TURNS);
    stage.gateway.kill();
    stage.gateway.restart();
    let id = stage.ask("hi").header("x-svc-request-id").expect("an id").to_owned();
    stage.gateway.terminate();
    stage.gateway.wait_ended(Duration::from_secs(30));
    assert_eq!(stage.database.row(&id).status, 200, "everything up to the end is written");
    assert_eq!(kinds(&stage.rows()), TURNS, "each once");
}

/// A request that does not end keeps the journal's checkpoint before the events, so that the next start reads them again.
fn read_again(database: Option<String>) {
    let mut stage = Stage::start(database, FAST);
    let mut open = Connection::open(stage.gateway.address);
    Shape::Generate.send(&mut open, KEY, "generate-model", "demo:hang-after=2", true);
    let head = open.begin().expect("a head");
    stage.trip();
    let before = stage.expect(3);
    stage.gateway.kill();
    stage.gateway.restart();
    let id = head.header("x-svc-request-id").expect("an id");
    assert_eq!(stage.database.row(id).outcome, svc_entity::Outcome::Interrupted, "the journal was read from there");
    stage.trip();
    let after = stage.expect(6);
    assert_eq!(after[..3], before[..], "rows stay as they were");
    assert_eq!((after.len(), kinds(&after[3..])), (6, TURNS.to_vec()));
}

fn denied(database: Option<String>) {
    let stage = Stage::start(database, FAST);
    let body = json!({"model": "messages-model", "messages": [{"role": "user", "content": "hi"}]});
    let ask = |key: &str| {
        let answer = raw::post(stage.gateway.address, "/v1/chat/completions", key, &body);
        assert_eq!(answer.header("x-svc-error-code"), Some("routing_denied"), "{}", answer.text());
        answer.header("x-svc-request-id").expect("an id").to_owned()
    };
    let first = ask(KEY);
    let mut last = String::new();
    for _ in 0..50 {
        last = ask(KEY);
    }
    let other = ask("test-key-other-0001");
    for id in [&first, &last, &other] {
        assert_eq!(stage.database.row(id).rule.as_deref(), Some("closed"));
    }
    let rows = stage.rows();
    assert_eq!(kinds(&rows), ["routing.denied", "routing.denied"], "one for each key: {rows:?}");
    let key_of = |id: &str| stage.database.row(id).key_id.expect("a key");
    for (row, id) in rows.iter().zip([&first, &other]) {
        let expected = json!({"request_id": id, "key_id": key_of(id), "rule": "closed", "model": "messages-model", "suppressed": 0});
        assert_eq!(data(row), expected);
    }
}

fn quarantined(database: Option<String>) {
    let stage = Stage::start(database, FAST);
    for _ in 0..3 {
        assert_eq!(stage.ask("demo:error=401").status, 502);
    }
    let id = stage.ask("hi").header("x-svc-request-id").expect("an id").to_owned();
    assert_eq!(stage.database.row(&id).status, 200, "the last one left is used all the same");
    let rows = stage.rows();
    assert_eq!(kinds(&rows), ["provider_key.quarantined"], "told once while it rests: {rows:?}");
    assert_eq!(data(&rows[0]), json!({"provider": "chat", "position": 0, "name": null, "last_four": "chat"}));
    assert!(!rows[0].data.contains("upstream-key"), "never the key");
}

/// Each case as a test on both databases.
macro_rules! on_both {
    ($($case:ident: $sqlite:ident, $postgres:ident;)+) => {$(
        #[test]
        fn $sqlite() {
            $case(None);
        }

        #[test]
        fn $postgres() {
            $case(Some(runtime().block_on(postgres::fresh_database()).expect("PostgreSQL")));
        }
    )+};
}

on_both! {
    circuits: a_circuit_that_turns_is_told_in_order_on_sqlite, a_circuit_that_turns_is_told_in_order_on_postgresql;
    killed: events_survive_a_kill_and_are_written_once_on_sqlite, events_survive_a_kill_and_are_written_once_on_postgresql;
    read_again: events_that_are_read_again_are_written_once_on_sqlite, events_that_are_read_again_are_written_once_on_postgresql;
    denied: refusals_by_a_rule_are_told_once_a_minute_on_sqlite, refusals_by_a_rule_are_told_once_a_minute_on_postgresql;
    quarantined: a_refused_credential_is_told_of_on_sqlite, a_refused_credential_is_told_of_on_postgresql;
}
