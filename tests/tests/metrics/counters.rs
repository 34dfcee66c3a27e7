//! Counters and durations over a scripted run.

use svc_tests::gateway::KEY;
use svc_tests::raw::Connection;
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;
use svc_tests::stub::{Reply, Stub};

use crate::{STEADY, Stage, model, provider};

const LIMITED: &str = "
  - {name: once, secret: test-key-only-once-1, owner: {user: dev@example.com}, rpm_limit: 1}
";

/// A provider that always answers with a status.
fn always(status: u16) -> Stub {
    Stub::start(move |_| Reply::json(status, r#"{"error":{"message":"no","type":"error"}}"#).with("retry-after", "1000"))
}

fn stage(busy: &Stub, broken: &Stub) -> Stage {
    let providers =
        provider("busy", &busy.url(), "") + &provider("broken", &broken.url(), "") + &provider("idle", "http://127.0.0.1:1", "");
    let models = model("falls-back", &["busy", "chat"]) + &model("fails", &["broken"]) + &model("rests", &["busy"]);
    Stage::start(&providers, &models, &(LIMITED.trim_start_matches('\n').to_owned() + STEADY))
}

fn ask_as(stage: &Stage, key: &str, model: &str) -> u16 {
    let mut connection = Connection::open(stage.gateway.address);
    Shape::Chat.send(&mut connection, key, model, "hi", false);
    connection.answer().expect("an answer").status
}

/// What the gateway decided, refused, tried and was told in the run.
fn run(stage: &Stage) {
    let told = "demo:in=100 demo:out=20 demo:cached=40 demo:reasoning=5";
    for stream in [false, true] {
        assert_eq!(stage.ask(Shape::Chat, "default", told, stream), 200);
        assert_eq!(stage.ask(Shape::Messages, "chat-model", told, stream), 200);
        assert_eq!(stage.ask(Shape::Messages, "messages-model", "demo:in=7 demo:out=3 demo:cached=2 demo:reasoning=1", stream), 200);
        assert_eq!(stage.ask(Shape::Generate, "generate-model", "demo:in=11 demo:out=9 demo:reasoning=4", stream), 200);
    }
    assert_eq!(stage.ask(Shape::Chat, "falls-back", "demo:in=1 demo:out=1", false), 200, "the second provider answers");
    assert_eq!(stage.ask(Shape::Chat, "falls-back", "demo:in=1 demo:out=1", false), 200, "the first one rests");
    assert_eq!(stage.ask(Shape::Chat, "rests", "hi", false), 429, "nobody else serves this model");
    assert_eq!(stage.ask(Shape::Chat, "fails", "hi", false), 500);
    assert_eq!(stage.ask(Shape::Chat, "chat-model", "demo:error=404", false), 404);
    assert_eq!(ask_as(stage, "test-key-nobody-knows", "chat-model"), 401);
    assert_eq!(ask_as(stage, "test-key-disabled-1", "chat-model"), 403);
    assert_eq!(ask_as(stage, "test-key-limited-01", "messages-model"), 403);
    assert_eq!(ask_as(stage, KEY, "no-such-model"), 404);
    assert_eq!(ask_as(stage, "test-key-only-once-1", "chat-model"), 200);
    assert_eq!(ask_as(stage, "test-key-only-once-1", "chat-model"), 429);
}

#[test]
fn every_counter_tells_what_happened() {
    let (busy, broken) = (always(429), always(500));
    let stage = stage(&busy, &broken);
    run(&stage);
    let prometheus = &stage.prometheus;
    prometheus.expect("sum(svc_requests_total)", 14.0);
    requests(&stage);
    errors(&stage);
    vendor_tokens(&stage);
    own_tokens(&stage);
    assert_eq!(busy.asked().len(), 2, "it rests after its first refusal, unless nobody else is left");
    assert_eq!(prometheus.query("svc_rate_limit_hits_total > 0"), told(&[("provider=busy", 2.0)]), "a try counts, not the request");
    prometheus.expect("svc_rate_limit_hits_total{provider=\"idle\"}", 0.0);
    let hidden = ["test-key", "dev@example.com", "upstream-key"];
    let shown = stage.shown();
    assert!(hidden.iter().all(|name| !shown.contains(name)), "nobody is named: {shown}");
}

fn told(expected: &[(&str, f64)]) -> Result<std::collections::BTreeMap<String, f64>, String> {
    Ok(expected.iter().map(|(labels, value)| ((*labels).to_owned(), *value)).collect())
}

fn requests(stage: &Stage) {
    let expected = told(&[
        ("model=chat-model,provider=chat,status_code=200", 5.0),
        ("model=chat-model,provider=chat,status_code=404", 1.0),
        ("model=falls-back,provider=chat,status_code=200", 2.0),
        ("model=fails,provider=broken,status_code=500", 1.0),
        ("model=generate-model,provider=generate,status_code=200", 2.0),
        ("model=messages-model,provider=messages,status_code=200", 2.0),
        ("model=rests,provider=busy,status_code=429", 1.0),
    ]);
    assert_eq!(stage.prometheus.query("svc_requests_total"), expected, "refused requests went to nobody");
    let counts = "sum without (status_code) (svc_requests_total) - svc_request_duration_seconds_count";
    let found = stage.prometheus.query(counts).expect("a query");
    assert_eq!((found.len(), found.values().all(|difference| *difference == 0.0)), (6, true), "{found:?}");
    let bounds = stage.prometheus.query("svc_request_duration_seconds_bucket{model=\"fails\"}").expect("a query");
    let bounds: Vec<&str> = bounds.keys().filter_map(|labels| labels.split(',').next()).collect();
    for bound in ["le=+Inf", "le=0.1", "le=60.0"] {
        assert!(bounds.contains(&bound) || bounds.contains(&bound.trim_end_matches(".0")), "{bound} is none of {bounds:?}");
    }
    let seconds = stage.prometheus.value("sum(svc_request_duration_seconds_sum)").expect("a value");
    let database = Database::open(&stage.gateway.database_url());
    let logged: i64 = database.rows().iter().filter(|row| row.provider.is_some()).map(|row| row.total_us).sum();
    assert!((seconds - logged as f64 / 1e6).abs() < 1e-6, "{seconds} s, {logged} us in the log");
}

fn errors(stage: &Stage) {
    let expected = told(&[
        ("error_type=client_error,provider=chat", 1.0),
        ("error_type=client_error,provider=none", 1.0),
        ("error_type=forbidden,provider=none", 2.0),
        ("error_type=rate_limited,provider=busy", 1.0),
        ("error_type=rate_limited,provider=none", 1.0),
        ("error_type=server_error,provider=broken", 1.0),
        ("error_type=unauthorized,provider=none", 1.0),
    ]);
    assert_eq!(stage.prometheus.query("svc_errors_total > 0"), expected);
    assert_eq!(stage.prometheus.value("count(svc_errors_total)"), Some(35.0), "five of each of six providers and of none, from the start");
}

fn vendor_tokens(stage: &Stage) {
    let pairs = |values: [f64; 4]| {
        let names = [
            "chat-model,provider=chat",
            "falls-back,provider=chat",
            "generate-model,provider=generate",
            "messages-model,provider=messages",
        ];
        names.iter().zip(values).map(|(name, value)| (format!("model={name}"), value)).collect::<std::collections::BTreeMap<_, _>>()
    };
    let ask = |query: &str| stage.prometheus.query(query).expect("a query");
    // The two requests of one token of `falls-back`; of `chat-model` four that set their usage, and one that says hi.
    let plain = |column: fn(&svc_entity::request_log::Model) -> Option<i64>| {
        let rows = Database::open(&stage.gateway.database_url()).rows();
        let hi = rows.iter().find(|row| {
            row.status == 200 && row.input_uncached.is_some_and(|count| count < 60) && row.model_resolved.as_deref() == Some("chat-model")
        });
        hi.and_then(column).expect("what the emulator says") as f64
    };
    assert_eq!(
        ask("svc_vendor_input_tokens_total"),
        pairs([400.0 + plain(|row| row.input_uncached), 2.0, 22.0, 14.0]),
        "cached ones included"
    );
    assert_eq!(ask("svc_vendor_output_tokens_total"), pairs([80.0 + plain(|row| row.output), 2.0, 18.0, 6.0]));
    assert_eq!(ask("svc_cached_tokens_total"), pairs([160.0, 0.0, 0.0, 4.0]));
    let reasoning = ask("svc_reasoning_tokens_total > 0");
    assert_eq!(reasoning, [("model=chat-model,provider=chat".to_owned(), 20.0)].into(), "of one family only");
}

fn own_tokens(stage: &Stage) {
    let database = Database::open(&stage.gateway.database_url());
    let sum = |model: &str, column: fn(&svc_entity::request_log::Model) -> Option<i64>| {
        let rows = database.rows();
        let rows = rows.iter().filter(|row| row.status == 200 && row.model_resolved.as_deref() == Some(model) && row.provider.is_some());
        rows.map(|row| column(row).expect("every answer of a model is counted")).sum::<i64>() as f64
    };
    for model in ["chat-model", "messages-model", "generate-model", "falls-back"] {
        let (prompt, completion) = (sum(model, |row| row.own_prompt_tokens), sum(model, |row| row.own_completion_tokens));
        assert!(prompt > 0.0 && completion > 0.0);
        assert_eq!(stage.prometheus.value(&format!("svc_prompt_tokens_total{{model=\"{model}\"}}")), Some(prompt), "{model}");
        assert_eq!(stage.prometheus.value(&format!("svc_completion_tokens_total{{model=\"{model}\"}}")), Some(completion), "{model}");
    }
}
