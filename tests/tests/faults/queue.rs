//! Providers that take only so many requests at the same time.

use std::fs;
use std::sync::{Arc, Condvar, Mutex};

use serde_json::Value;
use svc_entity::Outcome;
use svc_tests::faulty::{Faulty, Step, answers};
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::Connection;
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;
use svc_tests::wait;

use crate::{STEADY, provider};

const REQUESTS: usize = 100;
const MOST: usize = 4;

/// Lets requests through one by one.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    opened: Condvar,
}

#[derive(Clone, Default)]
struct State {
    leave: usize,
    running: usize,
    most: usize,
    arrived: Vec<String>,
}

impl Gate {
    fn pass(&self, name: &str) {
        let mut state = self.state.lock().expect("not poisoned");
        state.running += 1;
        state.most = state.most.max(state.running);
        state.arrived.push(name.to_owned());
        let mut state = self.opened.wait_while(state, |state| state.leave == 0).expect("not poisoned");
        state.leave -= 1;
        state.running -= 1;
    }

    fn open(&self, count: usize) {
        self.state.lock().expect("not poisoned").leave += count;
        self.opened.notify_all();
    }

    fn wait_arrived(&self, count: usize) {
        wait::until(&format!("request {count} at the provider"), || (self.now().arrived.len() >= count).then_some(()));
    }

    fn now(&self) -> State {
        self.state.lock().expect("not poisoned").clone()
    }
}

/// A provider behind a gate, and a gateway before it.
struct Setup {
    gate: Arc<Gate>,
    gateway: Gateway,
    faulty: Faulty,
    _good: Upstream,
}

fn start(more: &str) -> Setup {
    let gate = Arc::new(Gate::default());
    let inside = gate.clone();
    let faulty = Faulty::on_request(move |request| {
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        inside.pass(body["messages"][0]["content"].as_str().unwrap_or_default());
        let (shape, stream) = answers::asked(request);
        vec![Step::send(answers::sound(shape, stream))]
    });
    let good = Upstream::start();
    let models = "  - {name: alone, targets: [{provider: narrow, model: m}]}\n  \
                    - {name: pair, targets: [{provider: narrow, model: m}, {provider: chat, model: demo-1, priority: 1}]}\n";
    let options = Options::standard(&good.url()).with_providers(&provider("narrow", Shape::Chat, &faulty.url(), more));
    let gateway = Gateway::start(options.with_models(models).with(STEADY));
    Setup { gate, gateway, faulty, _good: good }
}

/// Whether the gateway has read all that was sent to it: the kernel tells.
fn is_read(gateway: &Gateway, connection: &Connection) -> bool {
    let (own, its) = (format!(":{:04X}", gateway.address.port()), format!(":{:04X}", connection.port()));
    let table = fs::read_to_string("/proc/net/tcp").expect("Linux tells it");
    table.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.len() > 4 && words[1].ends_with(&own) && words[2].ends_with(&its) && words[4].ends_with(":00000000")
    })
}

fn ask(setup: &Setup, model: &str, text: &str, stream: bool) -> Connection {
    let mut connection = Connection::open(setup.gateway.address);
    Shape::Chat.send(&mut connection, KEY, model, text, stream);
    wait::until("the gateway to read the request", || is_read(&setup.gateway, &connection).then_some(()));
    connection
}

#[test]
fn requests_wait_their_turn_and_none_fails() {
    let setup = start(", max_concurrency: 4, queue_timeout: 120s, timeouts: {first_byte: 120s}");
    let waiting: Vec<Connection> = (0..REQUESTS).map(|number| ask(&setup, "alone", &number.to_string(), number % 2 == 0)).collect();
    for served in 0..=REQUESTS {
        // One leaves, one comes.
        setup.gate.wait_arrived((MOST + served).min(REQUESTS));
        setup.gate.open(1);
    }
    for mut connection in waiting {
        let answer = connection.answer().expect("an answer");
        assert_eq!(answer.status, 200, "{}\n{}", answer.head, answer.text());
        assert_eq!(answer.header("x-svc-attempts"), Some("1"), "{}", answer.head);
    }
    let state = setup.gate.now();
    assert_eq!((state.most, state.arrived.len()), (MOST, REQUESTS));
    let places = state.arrived.iter().enumerate().map(|(place, name)| name.parse::<usize>().expect("a number").abs_diff(place));
    // Two threads may read requests sent one right after the other the other way round, and four begin together.
    assert!(places.max() < Some(2 * MOST), "they are served in the order they came: {:?}", state.arrived);
}

#[test]
fn a_queue_that_takes_too_long_leads_to_the_next_target_or_to_an_error() {
    let setup = start(", max_concurrency: 1, queue_timeout: 200ms");
    let database = Database::open(&setup.gateway.database_url());
    let mut first = ask(&setup, "alone", "first", false);
    setup.gate.wait_arrived(1);
    for stream in [false, true] {
        let answer = ask(&setup, "pair", "second", stream).answer().expect("an answer");
        let told = format!("{}\n{}", answer.head, answer.text());
        assert_eq!(
            (answer.status, answer.header("x-svc-provider"), answer.header("x-svc-attempts")),
            (200, Some("chat"), Some("2")),
            "{told}"
        );
        let row = database.row(answer.header("x-svc-request-id").expect("an id"));
        assert_eq!(row.outcome, Outcome::Complete);
        let decision: Value = serde_json::from_str(&row.decision.expect("a decision")).expect("JSON");
        assert_eq!(decision["attempts"][0]["failure"], "queue", "{decision}");
    }
    let answer = ask(&setup, "alone", "third", false).answer().expect("an answer");
    assert!(matches!(answer.status, 503 | 504), "{}\n{}", answer.head, answer.text());
    Shape::Chat.expect_error("a full queue", &answer, answer.status, "upstream_unavailable");
    setup.gate.open(1);
    assert_eq!(first.answer().expect("an answer").status, 200);
    assert_eq!(setup.faulty.count(), 1, "whoever waited in vain never reached the provider");
}

#[test]
fn a_client_that_leaves_the_queue_leaves_its_turn_to_the_next() {
    let setup = start(", max_concurrency: 1, queue_timeout: 60s");
    let database = Database::open(&setup.gateway.database_url());
    let mut first = ask(&setup, "alone", "first", false);
    setup.gate.wait_arrived(1);
    let second = ask(&setup, "alone", "second", false);
    let mut third = ask(&setup, "alone", "third", false);
    drop(second);
    wait::until("the record of the one that left", || database.rows().into_iter().find(|row| row.outcome == Outcome::ClientGone));
    setup.gate.open(2);
    assert_eq!(first.answer().expect("an answer").status, 200);
    assert_eq!(third.answer().expect("an answer").status, 200);
    assert_eq!(setup.gate.now().arrived, ["first", "third"]);
}

#[test]
fn the_record_tells_how_long_a_request_waited_its_turn() {
    let setup = start(", max_concurrency: 1, queue_timeout: 200ms");
    let database = Database::open(&setup.gateway.database_url());
    let _first = ask(&setup, "alone", "first", false);
    setup.gate.wait_arrived(1);
    let answer = ask(&setup, "pair", "second", false).answer().expect("an answer");
    let row = database.row(answer.header("x-svc-request-id").expect("an id"));
    assert!(row.queue_us >= 200_000, "{}", row.queue_us);
}
