//! What is read when somebody asks: requests under way, queues, and who is up.

use svc_tests::faulty::{Faulty, Step, answers, closed_port};
use svc_tests::gateway::KEY;
use svc_tests::raw::Connection;
use svc_tests::shapes::Shape;
use svc_tests::wait;

use crate::{STEADY, Stage, model, provider};

fn active(stage: &Stage, provider: &str, count: f64) {
    stage.prometheus.expect(&format!("svc_active_requests_by_provider{{provider=\"{provider}\"}}"), count);
}

fn begin(stage: &Stage, model: &str) -> Connection {
    let mut connection = Connection::open(stage.gateway.address);
    Shape::Chat.send(&mut connection, KEY, model, "hi", false);
    connection
}

#[test]
fn requests_under_way_are_told_until_their_client_leaves() {
    let hanging = Faulty::on_request(|_| vec![Step::Hang]);
    let failing = Faulty::on_request(|_| vec![Step::send("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n")]);
    let providers = provider("hanging", &hanging.url(), "") + &provider("failing", &failing.url(), "");
    let stage = Stage::start(&providers, &model("waits", &["failing", "hanging"]), STEADY);
    active(&stage, "hanging", 0.0);
    let clients = [begin(&stage, "waits"), begin(&stage, "waits")];
    active(&stage, "hanging", 2.0);
    active(&stage, "failing", 0.0);
    stage.prometheus.expect("svc_active_requests", 2.0);
    drop(clients);
    active(&stage, "hanging", 0.0);
    stage.prometheus.expect("svc_active_requests", 0.0);
    stage.prometheus.expect("svc_requests_total{provider=\"hanging\",model=\"waits\",status_code=\"499\"}", 2.0);
    stage.prometheus.expect("sum(svc_errors_total)", 0.0);
}

#[test]
fn a_provider_that_is_changed_goes_on_counting() {
    let hanging = Faulty::on_request(|_| vec![Step::Hang]);
    let stage = Stage::start(&provider("hanging", &hanging.url(), ""), &model("waits", &["hanging"]), STEADY);
    let client = begin(&stage, "waits");
    active(&stage, "hanging", 1.0);
    let database = svc_tests::request_log::Database::open(&stage.gateway.database_url());
    database.execute(&format!("UPDATE provider SET base_url = '{}' WHERE name = 'hanging'", hanging.url()));
    wait::until("another try to take the new address", || {
        drop(begin(&stage, "waits"));
        hanging.seen().iter().flat_map(|seen| &seen.asked).any(|asked| asked.target == "/chat/completions").then_some(())
    });
    active(&stage, "hanging", 1.0);
    drop(client);
    active(&stage, "hanging", 0.0);
}

#[test]
fn a_queue_tells_who_waited_and_who_is_under_way() {
    let hanging = Faulty::on_request(|request| match request.text().contains("first") {
        true => vec![Step::Hang],
        false => vec![Step::send(answers::sound(Shape::Chat, false))],
    });
    let narrow = provider("narrow", &hanging.url(), ", max_concurrency: 1, queue_timeout: 30s");
    let stage = Stage::start(&narrow, &model("queues", &["narrow"]), STEADY);
    let mut first = Connection::open(stage.gateway.address);
    Shape::Chat.send(&mut first, KEY, "queues", "first", false);
    hanging.wait_asked(1);
    let mut second = begin(&stage, "queues");
    stage.prometheus.expect("svc_active_requests", 2.0);
    active(&stage, "narrow", 1.0);
    drop(first);
    assert_eq!(second.answer().expect("its turn comes").status, 200);
    active(&stage, "narrow", 0.0);
    stage.prometheus.expect("svc_queue_duration_seconds_count{provider=\"narrow\"}", 2.0);
    stage.prometheus.expect("svc_queue_duration_seconds_bucket{provider=\"narrow\",le=\"0.001\"}", 1.0);
    stage.prometheus.expect("count(svc_queue_duration_seconds_count)", 1.0);
    let waited = stage.prometheus.value("svc_queue_duration_seconds_sum").expect("a value");
    assert!(waited > 0.05, "the second stood there until the first had left, for {waited} s");
}

#[test]
fn a_provider_is_up_until_its_breaker_opens() {
    let place = closed_port();
    let stage = Stage::start(
        &provider("dead", &place.url(), ""),
        &model("m", &["dead"]),
        "telemetry: {batch_timeout_ms: 20}\nbreaker: {consecutive_failures: 1, open: 4s}\n",
    );
    stage.prometheus.expect("sum(svc_provider_up)", 4.0);
    assert_eq!(stage.ask(Shape::Chat, "m", "hi", false), 503);
    stage.prometheus.expect("svc_provider_up{provider=\"dead\"}", 0.0);
    stage.prometheus.expect("sum(svc_provider_up)", 3.0);
    stage.prometheus.expect("svc_provider_up{provider=\"dead\"}", 1.0);
    let recovered = place.recover(|request| {
        let (shape, stream) = answers::asked(request);
        vec![Step::send(answers::sound(shape, stream))]
    });
    assert_eq!(stage.ask(Shape::Chat, "m", "hi", false), 200);
    assert_eq!(recovered.count(), 1);
    stage.prometheus.expect("svc_provider_up{provider=\"dead\"}", 1.0);
}

#[test]
fn a_provider_held_open_by_an_operator_is_down() {
    let stage = Stage::start("", "", STEADY);
    let database = svc_tests::request_log::Database::open(&stage.gateway.database_url());
    database.execute(
        "INSERT INTO breaker_override (id, provider_id, upstream_model, position, reason, created_by, created_at)
         SELECT 'held', id, NULL, 'open', 'because', 'ann', 0 FROM provider WHERE name = 'messages'",
    );
    stage.prometheus.expect("svc_provider_up{provider=\"messages\"}", 0.0);
    assert_eq!(stage.ask(Shape::Messages, "messages-model", "hi", false), 503);
    stage.prometheus.expect("svc_requests_total{provider=\"none\",model=\"messages-model\",status_code=\"503\"}", 1.0);
    stage.prometheus.expect("svc_errors_total{provider=\"none\",error_type=\"server_error\"}", 1.0);
    database.execute("DELETE FROM breaker_override");
    stage.prometheus.expect("svc_provider_up{provider=\"messages\"}", 1.0);
}
