//! The request log has token counts of the gateway's own where the provider did not tell, or everywhere if that is wanted, on
//! both databases.

use serde_json::Value;
use svc_entity::Outcome;
use svc_entity::request_log::Model;
use svc_filters::tokens;
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::postgres;
use svc_tests::raw::{self, Answer, Connection};
use svc_tests::request_log::Database;
use svc_tests::shapes::{Shape, events};
use svc_tests::upstream::{Upstream, runtime};

const JSON: (&str, &str) = ("content-type", "application/json");
/// Enough of it that a stream keeps no more than a sample, of request and of answer.
const LONG: &str = include_str!("../../LICENSE");
const SHORT: &str = "Grüße aus Köln: the quick brown fox jumps over the lazy dog, and 敏捷的棕色狐狸跳过懒狗.";

fn fast(counted: &str) -> String {
    format!("telemetry: {{batch_size: 64, batch_timeout_ms: 20, own_token_counts: {counted}}}\nbreaker: {{enabled: false}}\n")
}

struct Stage {
    gateway: Gateway,
    database: Database,
    _upstream: Upstream,
}

impl Stage {
    fn start(conf: &str, url: Option<String>) -> Self {
        let upstream = Upstream::start();
        let mut options = Options::standard(&upstream.url()).with(conf);
        options.database = url;
        let gateway = Gateway::start(options);
        let database = Database::open(&gateway.database_url());
        Self { gateway, database, _upstream: upstream }
    }

    fn row(&self, answer: &Answer) -> Model {
        self.database.row(answer.header("x-svc-request-id").expect("every answer has an id"))
    }
}

fn on_sqlite(check: fn(&Stage), counted: &str) {
    check(&Stage::start(&fast(counted), None));
}

fn on_postgres(check: fn(&Stage), counted: &str) {
    let url = runtime().block_on(postgres::fresh_database()).expect("PostgreSQL");
    check(&Stage::start(&fast(counted), Some(url)));
}

/// A request that leaves room for a long answer.
fn body(shape: Shape, model: &str, text: &str, stream: bool) -> String {
    let mut body = shape.body(model, text, stream);
    if shape == Shape::Messages {
        body["max_tokens"] = 100_000.into();
    }
    body.to_string()
}

fn send(stage: &Stage, shape: Shape, model: &str, body: &str, stream: bool) -> Connection {
    let mut connection = Connection::open(stage.gateway.address);
    let (name, key) = shape.credential(KEY);
    connection.post(&shape.path(model, stream), &[(name, &key), JSON], body);
    connection
}

/// What the model wrote, out of a whole answer or its events.
fn words(shape: Shape, value: &Value) -> String {
    let list = |at: &str| value.pointer(at).and_then(Value::as_array).into_iter().flatten();
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    match shape {
        Shape::Chat => ["/choices/0/message/content", "/choices/0/delta/content"].map(|at| text(value.pointer(at))).concat(),
        Shape::Messages => list("/content").map(|block| text(block.get("text"))).chain([text(value.pointer("/delta/text"))]).collect(),
        Shape::Responses => list("/output/0/content").map(|part| text(part.get("text"))).chain([text(value.pointer("/delta"))]).collect(),
        Shape::Generate => list("/candidates/0/content/parts").map(|part| text(part.get("text"))).collect(),
    }
}

fn all_words(shape: Shape, answer: &str, stream: bool) -> String {
    if !stream {
        return words(shape, &serde_json::from_str(answer).expect("JSON"));
    }
    events(answer).iter().map(|event| words(shape, event)).collect()
}

fn close(counted: Option<i64>, truly: u64, percent: u64, told: &str) {
    let counted = counted.and_then(|count| u64::try_from(count).ok()).unwrap_or_else(|| panic!("counted: {told}"));
    assert!(counted.abs_diff(truly) * 100 <= truly * percent, "{counted} counted, {truly} truly: {told}");
}

fn own(row: &Model) -> (Option<i64>, Option<i64>) {
    (row.own_prompt_tokens, row.own_completion_tokens)
}

/// Every client on every provider, streaming and not.
fn every_pair() -> impl Iterator<Item = (Shape, Shape, bool)> {
    Shape::ALL
        .into_iter()
        .flat_map(|client| Shape::ALL.into_iter().flat_map(move |provider| [false, true].map(|stream| (client, provider, stream))))
}

fn count_all(stage: &Stage, marker: &str, percent: u64) -> Vec<Model> {
    let mut rows = Vec::new();
    for (client, provider, stream) in every_pair() {
        for text in [SHORT, LONG] {
            let body = body(client, provider.model(), &format!("{marker}{text}"), stream);
            let answer = send(stage, client, provider.model(), &body, stream).answer().expect("an answer");
            assert_eq!((answer.status, answer.complete), (200, true), "{}", answer.text());
            let row = stage.row(&answer);
            let told = format!("{} on {}, stream {stream}: {row:?}", client.name(), provider.name());
            let said = all_words(client, &answer.text(), stream);
            assert!(said.len() > text.len(), "the emulator repeats what it is told: {told}");
            close(row.own_completion_tokens, tokens::count("demo-1", &said), percent, &told);
            close(row.own_prompt_tokens, tokens::of_request("demo-1", body.as_bytes()), percent, &told);
            rows.push(row);
        }
    }
    rows
}

fn untold(stage: &Stage) {
    for row in count_all(stage, "demo:usage=none ", 10) {
        assert_eq!((row.outcome, row.input_uncached, row.output), (Outcome::Complete, None, None), "the provider told nothing: {row:?}");
    }
}

fn told(stage: &Stage) {
    for (client, provider, stream) in every_pair() {
        let body = body(client, provider.model(), LONG, stream);
        let row = stage.row(&send(stage, client, provider.model(), &body, stream).answer().expect("an answer"));
        assert!(row.output.is_some_and(|count| count > 0), "the provider told: {row:?}");
        assert_eq!(own(&row), (None, None), "nothing is left to count: {row:?}");
    }
}

fn everything(stage: &Stage) {
    for row in count_all(stage, "", 5) {
        assert!(row.output.is_some_and(|count| count > 0), "the provider's own counts stay: {row:?}");
    }
}

/// The client leaves while the provider, after a number of events, says nothing more: what was sent is known.
fn cut_off(stage: &Stage) {
    for (client, provider) in Shape::ALL.into_iter().flat_map(|client| Shape::ALL.map(|provider| (client, provider))) {
        let body = body(client, provider.model(), &format!("demo:hang-after=300 demo:chunks=1000 {SHORT}"), true);
        let mut connection = send(stage, client, provider.model(), &body, true);
        let head = connection.begin().expect("a head");
        let mut received = Vec::new();
        let mut said = String::new();
        // Of the events a few frame the text.
        while said.split_whitespace().count() < 290 {
            received.extend(connection.piece().expect("the stream runs"));
            said = all_words(client, &String::from_utf8_lossy(&received), true);
        }
        drop(connection);
        let row = stage.row(&head);
        let told = format!("{} on {}: {row:?}", client.name(), provider.name());
        assert_eq!(row.outcome, Outcome::ClientGone, "{told}");
        close(row.own_completion_tokens, tokens::count("demo-1", &said), 10, &told);
        if provider != Shape::Messages {
            close(row.own_prompt_tokens, tokens::of_request("demo-1", body.as_bytes()), 10, &told);
        } else {
            assert!(row.own_prompt_tokens.is_none() && row.input_uncached.is_some_and(|count| count > 0), "that was told first: {told}");
        }
    }
}

/// The provider leaves.
fn broken_off(stage: &Stage) {
    for (client, provider) in Shape::ALL.into_iter().flat_map(|client| Shape::ALL.map(|provider| (client, provider))) {
        let body = body(client, provider.model(), &format!("demo:cut=300 {LONG}"), true);
        let answer = send(stage, client, provider.model(), &body, true).answer().expect("an answer");
        let row = stage.row(&answer);
        let told = format!("{} on {}: {row:?}", client.name(), provider.name());
        assert_eq!(row.outcome, Outcome::UpstreamError, "{told}");
        close(row.own_completion_tokens, tokens::count("demo-1", &all_words(client, &answer.text(), true)), 10, &told);
    }
}

fn nothing_to_count(stage: &Stage) {
    for (client, provider, stream) in every_pair() {
        let failures = ["demo:error=400", "demo:error=500", "demo:reset"];
        let before_content = ["demo:cut=0", "demo:inband-error=0", "demo:end-after=0"];
        for text in failures.into_iter().chain(before_content.into_iter().filter(|_| stream)) {
            let body = body(client, provider.model(), text, stream);
            let answer = send(stage, client, provider.model(), &body, stream).answer().expect("an answer");
            let row = stage.row(&answer);
            assert_eq!((row.outcome, own(&row)), (Outcome::UpstreamError, (None, None)), "{text}: {row:?}");
        }
        let mut connection = Connection::open(stage.gateway.address);
        client.send(&mut connection, "test-key-nobody-000", provider.model(), "hi", stream);
        let row = stage.row(&connection.answer().expect("an answer"));
        assert_eq!((row.outcome, own(&row)), (Outcome::Refused, (None, None)), "{row:?}");
    }
    let others = [
        ("/v1/embeddings", serde_json::json!({"model": "chat-model", "input": "hello"})),
        ("/v1/messages/count_tokens", serde_json::json!({"model": "messages-model", "messages": [{"role": "user", "content": "hi"}]})),
    ];
    for (path, body) in others {
        let answer = raw::post(stage.gateway.address, path, KEY, &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(own(&stage.row(&answer)), (None, None), "no model writes an answer at {path}");
    }
}

#[test]
fn what_a_killed_gateway_had_not_counted_stays_empty() {
    // The rows of the first run are written by the second: the batch would have waited longer than the process lives.
    let mut stage = Stage::start("telemetry: {batch_timeout_ms: 3600000, own_token_counts: all}\n", None);
    let body = body(Shape::Chat, "chat-model", "demo:hang-after=5 a few words", true);
    let mut running = send(&stage, Shape::Chat, "chat-model", &body, true);
    let interrupted = running.begin().expect("a head");
    let whole: Vec<Answer> =
        Shape::ALL.map(|shape| shape.ask(&mut Connection::open(stage.gateway.address), shape.model(), "demo:usage=none hi", true)).into();
    stage.gateway.kill();
    stage.gateway.restart();
    let row = stage.row(&interrupted);
    assert_eq!((row.outcome, own(&row)), (Outcome::Interrupted, (None, None)), "{row:?}");
    for answer in &whole {
        let row = stage.row(answer);
        assert_eq!((row.outcome, own(&row)), (Outcome::Complete, (None, None)), "{row:?}");
    }
}

/// Each case as a test on both databases.
macro_rules! on_both {
    ($($case:ident, $counted:literal: $sqlite:ident, $postgres:ident;)+) => {$(
        #[test]
        fn $sqlite() {
            on_sqlite($case, $counted);
        }

        #[test]
        fn $postgres() {
            on_postgres($case, $counted);
        }
    )+};
}

on_both! {
    untold, "missing": what_no_provider_told_is_counted_on_sqlite, what_no_provider_told_is_counted_on_postgresql;
    told, "missing": what_a_provider_told_is_not_counted_on_sqlite, what_a_provider_told_is_not_counted_on_postgresql;
    cut_off, "missing": a_stream_its_client_left_is_counted_on_sqlite, a_stream_its_client_left_is_counted_on_postgresql;
    broken_off, "missing": a_stream_its_provider_left_is_counted_on_sqlite, a_stream_its_provider_left_is_counted_on_postgresql;
    everything, "all": every_answer_is_counted_if_wanted_on_sqlite, every_answer_is_counted_if_wanted_on_postgresql;
    nothing_to_count, "all": failures_and_refusals_are_not_counted_on_sqlite, failures_and_refusals_are_not_counted_on_postgresql;
}
