//! Every request leaves one row with the right figures and no secret, on both databases.

use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};
use svc_entity::request_log::Model;
use svc_entity::{Outcome, OwnerKind};
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{Answer, Connection};
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;
use svc_tests::upstream::{Upstream, runtime};
use svc_tests::{postgres, raw, wait};

const FAST: &str = "telemetry: {batch_size: 64, batch_timeout_ms: 20}\nbreaker: {enabled: false}\n";
const JSON: (&str, &str) = ("content-type", "application/json");
const CANARY: &str = "canary-51d2-in-the-log";
/// What the emulator is told to have used, in each vendor's own terms.
const USED: &str = "demo:in=120 demo:cached=64 demo:cache-write=10 demo:cache-write-1h=5 demo:out=31 demo:reasoning=12";

fn on_sqlite(check: fn(&Gateway, &Upstream, &Database)) {
    run(check, None);
}

fn on_postgres(check: fn(&Gateway, &Upstream, &Database)) {
    let url = runtime().block_on(postgres::fresh_database()).expect("PostgreSQL");
    run(check, Some(url));
}

fn run(check: fn(&Gateway, &Upstream, &Database), url: Option<String>) {
    let upstream = Upstream::start();
    let mut options = Options::standard(&upstream.url())
        .with(&format!("  - {{name: canary, secret: {CANARY}, owner: {{agent: bird}}, tags: {{job: batch}}}}\n"))
        .with("  - {name: five, secret: test-key-five-a-minute, owner: {user: dev@example.com}, rpm_limit: 5}\n")
        .with("  - {name: five-more, secret: test-key-five-a-minute-2, owner: {user: dev@example.com}, rpm_limit: 5}\n")
        .with("  - {name: five-again, secret: test-key-five-a-minute-3, owner: {user: dev@example.com}, rpm_limit: 5}\n")
        .with("  - {name: none-at-all, secret: test-key-none-a-minute, owner: {user: dev@example.com}, rpm_limit: 0}\n")
        .with(FAST)
        .with_models("  - {name: retried, targets: [{provider: chat, model: \"demo-1;demo:error=503\"}, {provider: chat, model: demo-1, priority: 1}]}");
    options.database = url;
    let gateway = Gateway::start(options);
    let database = Database::open(&gateway.database_url());
    check(&gateway, &upstream, &database);
}

fn row(database: &Database, answer: &Answer) -> Model {
    let id = answer.header("x-svc-request-id").expect("every answer has an id");
    let row = database.row(id);
    assert_eq!(database.rows_of(id).len(), 1, "one request, one row");
    row
}

fn decision(row: &Model) -> Value {
    serde_json::from_str(row.decision.as_deref().expect("a decision record")).expect("JSON")
}

fn complete(gateway: &Gateway, _: &Upstream, database: &Database) {
    for shape in Shape::ALL {
        for stream in [false, true] {
            let answer = shape.ask(&mut Connection::open(gateway.address), shape.model(), USED, stream);
            assert_eq!(answer.status, 200, "{}", answer.text());
            let row = row(database, &answer);
            let told = format!("{} stream {stream}: {row:?}", shape.name());
            assert_eq!(row.outcome, Outcome::Complete, "{told}");
            assert_eq!((row.status, row.stream, row.attempts), (200, stream, 1), "{told}");
            assert_eq!((row.error_code.as_deref(), row.owner_kind), (None, Some(OwnerKind::User)), "{told}");
            assert!(row.key_id.is_some() && row.owner_id.is_some(), "{told}");
            assert_eq!((row.client_shape.as_str(), row.provider_shape.as_deref()), (shape.name(), Some(shape.name())), "{told}");
            assert_eq!(row.model_asked.as_deref(), Some(shape.model()), "{told}");
            assert_eq!(row.model_resolved.as_deref(), Some(shape.model()), "{told}");
            assert_eq!(row.model_upstream.as_deref(), Some("demo-1"), "{told}");
            assert_eq!(row.provider.as_deref(), shape.model().strip_suffix("-model"), "{told}");
            assert_eq!(row.path, shape.path(shape.model(), stream).split('?').next().unwrap_or_default(), "{told}");
            assert_eq!(row.response_bytes, i64::try_from(answer.body.len()).expect("small"), "{told}");
            assert_eq!(
                row.request_bytes,
                i64::try_from(shape.body(shape.model(), USED, stream).to_string().len()).expect("small"),
                "{told}"
            );
            assert_eq!(row.client_address.as_deref(), Some("127.0.0.1"), "{told}");
            assert!(row.total_us > 0 && row.first_byte_us.is_some_and(|us| us > 0 && us <= row.total_us), "{told}");
            assert!(row.overhead_us > 0 && row.overhead_us < row.total_us, "{told}");
            expect_usage(shape, &row, &told);
            let tries = &decision(&row)["attempts"];
            assert_eq!(tries.as_array().map(Vec::len), Some(1), "{told}");
            assert_eq!((&tries[0]["status"], &tries[0]["model"]), (&json!(200), &json!("demo-1")), "{told}");
        }
    }
}

/// The vector counts every token once, whatever the vendor's own rule.
fn expect_usage(shape: Shape, row: &Model, told: &str) {
    assert_eq!(row.cache_read, Some(64), "{told}");
    assert_eq!((row.output, row.reasoning), (Some(31), Some(12)), "{told}");
    if shape == Shape::Messages {
        assert_eq!((row.input_uncached, row.cache_write_5m, row.cache_write_1h), (Some(41), Some(10), Some(5)), "{told}");
    } else {
        assert_eq!(row.input_uncached.unwrap_or(0) + row.cache_write_5m.unwrap_or(0) + row.cache_write_1h.unwrap_or(0), 56, "{told}");
    }
}

fn named_by_alias(gateway: &Gateway, _: &Upstream, database: &Database) {
    let answer = Shape::Chat.ask(&mut Connection::open(gateway.address), "default", "hi", false);
    let aliased = row(database, &answer);
    assert_eq!(aliased.model_asked.as_deref(), Some("default"), "what the client said");
    assert_eq!(aliased.model_resolved.as_deref(), Some("chat-model"), "what it means");

    let answer = Shape::Chat.ask(&mut Connection::open(gateway.address), "retried", "hi", false);
    let retried = row(database, &answer);
    assert_eq!((retried.status, retried.attempts, retried.outcome), (200, 2, Outcome::Complete));
    let tries = decision(&retried)["attempts"].clone();
    assert_eq!((&tries[0]["status"], &tries[1]["status"]), (&json!(503), &json!(200)), "both tries are told: {tries}");

    let answer = raw::get(gateway.address, "/v1/models", &[("x-api-key", KEY)]);
    let listed = row(database, &answer);
    assert_eq!((listed.status, listed.provider, listed.attempts), (200, None, 0), "discovery asks no provider");
}

fn failing(gateway: &Gateway, upstream: &Upstream, database: &Database) {
    for shape in Shape::ALL {
        for (text, status) in [("demo:error=400", 400), ("demo:error=500", 500), ("demo:reset", 503)] {
            let answer = shape.ask(&mut Connection::open(gateway.address), shape.model(), text, false);
            let row = row(database, &answer);
            let told = format!("{} {text}: {row:?}", shape.name());
            assert_eq!((row.status, row.outcome), (status, Outcome::UpstreamError), "{told}");
            let code = (status == 503).then_some("upstream_unavailable");
            assert_eq!(row.error_code.as_deref(), code, "{told}");
            assert!(row.attempts >= 1, "{told}");
        }
        let mut connection = Connection::open(gateway.address);
        shape.send(&mut connection, KEY, shape.model(), &format!("{USED} demo:slow=20ms demo:chunks=10000"), true);
        let head = connection.begin().expect("a head");
        for _ in 0..3 {
            assert!(connection.piece().is_some_and(|piece| !piece.is_empty()), "the stream runs");
        }
        let number = upstream.newest().number();
        drop(connection);
        upstream.wait_ended(number, "abandoned");
        let row = row(database, &head);
        assert_eq!((row.outcome, row.status, row.stream), (Outcome::ClientGone, 200, true), "{row:?}");
    }
}

fn refused(gateway: &Gateway, _: &Upstream, database: &Database) {
    for shape in Shape::ALL {
        for (key, model, status, code) in [
            ("test-key-nobody-000", shape.model(), 401, "key_not_found"),
            ("test-key-disabled-1", shape.model(), 403, "key_disabled"),
            ("test-key-limited-01", "retried", 403, "model_not_allowed"),
            ("test-key-none-a-minute", shape.model(), 429, "rate_limited"),
            (KEY, "no-such-model", 404, "model_not_found"),
        ] {
            let mut connection = Connection::open(gateway.address);
            shape.send(&mut connection, key, model, "hi", false);
            let answer = connection.answer().expect("an answer");
            let row = row(database, &answer);
            let told = format!("{} {code}: {row:?}", shape.name());
            assert_eq!((row.status, row.error_code.as_deref(), row.outcome), (status, Some(code), Outcome::Refused), "{told}");
            assert_eq!((row.client_shape.as_str(), row.provider.as_deref(), row.attempts), (shape.name(), None, 0), "{told}");
            assert_eq!(row.key_id.is_some(), !matches!(code, "key_not_found" | "key_disabled"), "{told}");
        }
        let (name, value) = shape.credential(KEY);
        let mut connection = Connection::open(gateway.address);
        connection.post(&shape.path(shape.model(), false), &[(name, &value), JSON], "{");
        let row = row(database, &connection.answer().expect("an answer"));
        assert_eq!((row.status, row.outcome, row.error_code.as_deref()), (400, Outcome::Refused, Some("invalid_request")), "{row:?}");
    }
}

fn secretless(gateway: &Gateway, _: &Upstream, database: &Database) {
    let body = Shape::Generate.body("generate-model", "hi", false).to_string();
    let paths = ["/v1beta/models/generate-model:generateContent", "/v1beta/models/nobody:generateContent", "/v1beta/nothing", "/v1/models"];
    let mut answers = Vec::new();
    for path in paths {
        let mut connection = Connection::open(gateway.address);
        connection.post(&format!("{path}?key={CANARY}"), &[JSON], &body);
        answers.push(connection.answer().expect("an answer"));
        let mut connection = Connection::open(gateway.address);
        connection.post(path, &[JSON, ("authorization", &format!("Bearer {CANARY}"))], &body);
        answers.push(connection.answer().expect("an answer"));
    }
    let mut connection = Connection::open(gateway.address);
    connection.send(format!("GET http://user:{CANARY}@test/v1/models?key={CANARY} HTTP/1.1\r\nhost: test\r\n\r\n"));
    // A target with user information is no request for this gateway; where it is not understood at all there is no row either.
    answers.extend(connection.answer().filter(|answer| answer.header("x-svc-request-id").is_some()));
    for answer in &answers {
        let row = row(database, answer);
        let text = format!("{row:?}");
        assert!(!text.contains(CANARY), "no column holds a secret: {text}");
        assert!(!text.contains("upstream-key"), "nor the provider's: {text}");
    }
    let tagged = database.rows().into_iter().find(|row| row.tags.is_some()).expect("the key has tags");
    let tags: Value = serde_json::from_str(tagged.tags.as_deref().unwrap_or_default()).expect("JSON");
    assert_eq!((tags["job"].as_str(), tagged.owner_kind), (Some("batch"), Some(OwnerKind::Agent)));
    assert!(!gateway.log().contains(CANARY), "nor does the log");
}

fn capped(gateway: &Gateway, upstream: &Upstream, database: &Database) {
    let address = gateway.address;
    for (shape, key) in Shape::ALL.into_iter().zip(["test-key-five-a-minute", "test-key-five-a-minute-2", "test-key-five-a-minute-3"]) {
        let before = upstream.count();
        let gate = Arc::new(std::sync::Barrier::new(20));
        let callers: Vec<_> = (0..20)
            .map(|_| {
                let gate = gate.clone();
                thread::spawn(move || {
                    let mut connection = Connection::open(address);
                    gate.wait();
                    shape.send(&mut connection, key, shape.model(), "hi", false);
                    connection.answer().expect("an answer")
                })
            })
            .collect();
        let answers: Vec<Answer> = callers.into_iter().map(|caller| caller.join().expect("a caller")).collect();
        let (served, refused): (Vec<&Answer>, Vec<&Answer>) = answers.iter().partition(|answer| answer.status == 200);
        assert_eq!(served.len(), 5, "{}: exactly the cap is admitted", shape.name());
        let names = match shape {
            Shape::Messages => ["limit", "remaining", "reset"].map(|what| format!("anthropic-ratelimit-requests-{what}")),
            Shape::Chat | Shape::Generate | Shape::Responses => {
                ["limit", "remaining", "reset"].map(|what| format!("x-ratelimit-{what}-requests"))
            }
        };
        let [limit, remaining, reset] = &names;
        let mut left: Vec<&str> = served.iter().filter_map(|answer| answer.header(remaining)).collect();
        left.sort_unstable();
        assert_eq!(left, ["0", "1", "2", "3", "4"], "{}: each is told what is left", shape.name());
        for answer in refused {
            shape.expect_error("over the cap", answer, 429, "rate_limited");
            let after: u64 = answer.header("retry-after").and_then(|text| text.parse().ok()).expect("when to come again");
            assert!((1..=61).contains(&after), "retry-after is within the minute: {after}");
            assert_eq!(answer.header(limit), Some("5"));
            assert_eq!(answer.header(remaining), Some("0"));
            assert!(answer.header(reset).is_some());
            assert_eq!(row(database, answer).outcome, Outcome::Refused);
        }
        assert_eq!(upstream.count(), before + 5, "{}: what is refused costs nothing", shape.name());
    }
    wait::until("the rows of all sixty, for refusals are logged too", || database.count().filter(|count| *count == 60));
}

/// Each case as a test on both databases.
macro_rules! on_both {
    ($($case:ident: $sqlite:ident, $postgres:ident;)+) => {$(
        #[test]
        fn $sqlite() {
            on_sqlite($case);
        }

        #[test]
        fn $postgres() {
            on_postgres($case);
        }
    )+};
}

on_both! {
    complete: a_complete_answer_leaves_its_row_on_sqlite, a_complete_answer_leaves_its_row_on_postgresql;
    named_by_alias: names_and_tries_are_kept_on_sqlite, names_and_tries_are_kept_on_postgresql;
    failing: failures_and_lost_clients_leave_their_rows_on_sqlite, failures_and_lost_clients_leave_their_rows_on_postgresql;
    refused: refusals_leave_their_rows_on_sqlite, refusals_leave_their_rows_on_postgresql;
    secretless: no_row_holds_a_secret_on_sqlite, no_row_holds_a_secret_on_postgresql;
    capped: a_cap_admits_exactly_its_number_on_sqlite, a_cap_admits_exactly_its_number_on_postgresql;
}
