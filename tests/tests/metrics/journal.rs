//! Every record counts once, whatever becomes of the database and of the process.

use std::time::{Duration, Instant};

use svc_tests::gateway::{Gateway, Options};
use svc_tests::ports::free_address;
use svc_tests::postgres::dedicated::Dedicated;
use svc_tests::raw::{self, Connection};
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;
use svc_tests::wait;

use crate::enabled;

const SERIES: &str = "svc_requests_total{model=\"chat-model\",provider=\"chat\",status_code=\"200\"} ";

/// What the series of good answers shows; 0 where there is none yet.
fn counted(metrics: std::net::SocketAddr) -> u64 {
    let text = raw::get(metrics, "/metrics", &[]).text();
    text.lines().find_map(|line| line.strip_prefix(SERIES)).map_or(0, |value| value.parse().expect("a number"))
}

fn ask(gateway: &Gateway, times: usize) {
    let mut left = times;
    while left > 0 {
        // A connection serves only so many.
        let mut connection = Connection::open(gateway.address);
        for _ in 0..left.min(500) {
            assert_eq!(Shape::Chat.ask(&mut connection, "chat-model", "hi", false).status, 200);
        }
        left -= left.min(500);
    }
}

#[test]
fn counters_follow_within_the_time_of_a_batch() {
    let (upstream, metrics) = (Upstream::start(), free_address());
    let conf = "telemetry: {batch_size: 100000, batch_timeout_ms: 500}\n".to_owned() + &enabled(metrics);
    let gateway = Gateway::start(Options::standard(&upstream.url()).with(&conf));
    for round in 1..=3 {
        ask(&gateway, 1);
        let since = Instant::now();
        wait::until("the request to be counted", || (counted(metrics) == round).then_some(()));
        assert!(since.elapsed() < Duration::from_millis(1_000), "half a second, and room for a busy machine: {:?}", since.elapsed());
    }
}

#[test]
fn a_database_outage_neither_stops_the_count_nor_doubles_it() {
    let mut server = Dedicated::start().expect("PostgreSQL");
    let (upstream, metrics) = (Upstream::start(), free_address());
    let conf = "telemetry: {batch_size: 8, batch_timeout_ms: 20}\n".to_owned() + &enabled(metrics);
    let gateway = Gateway::start(Options::standard(&upstream.url()).with(&conf).with_database(&server.url()));
    ask(&gateway, 5);
    wait::until("what was asked to be counted", || (counted(metrics) == 5).then_some(()));
    server.stop().expect("it can be stopped");
    ask(&gateway, 2_000);
    wait::within(Duration::from_secs(60), "the count to go on", || (counted(metrics) == 2_005).then_some(()));
    // The worker has failed at its batch by now, more than once.
    wait::within(Duration::from_secs(60), "two tries to write", || {
        (gateway.log().matches("bytes wait in the journal").count() >= 2).then_some(())
    });
    ask(&gateway, 5);
    server.resume().expect("it can be started again");
    let database = Database::open(&server.url());
    wait::within(Duration::from_secs(60), "every row to be written", || (database.count()? == 2_010).then_some(()));
    assert_eq!(counted(metrics), 2_010, "each request once");
}

#[test]
fn what_a_killed_process_has_not_counted_is_counted_by_the_next_and_only_that() {
    let (upstream, metrics) = (Upstream::start(), free_address());
    // Nothing is written or counted until the end of the batch's time, or the next start.
    let conf = "telemetry: {batch_timeout_ms: 600000}\n".to_owned() + &enabled(metrics);
    let mut gateway = Gateway::start(Options::standard(&upstream.url()).with(&conf));
    ask(&gateway, 7);
    assert_eq!(counted(metrics), 0);
    gateway.kill();
    gateway.restart();
    wait::until("the rest to be counted", || (counted(metrics) == 7).then_some(()));
    let database = Database::open(&gateway.database_url());
    wait::until("every row", || (database.count() == Some(7)).then_some(()));
    gateway.kill();
    gateway.restart();
    ask(&gateway, 1);
    gateway.kill();
    gateway.restart();
    wait::until("one more row", || (database.count() == Some(8)).then_some(()));
    assert_eq!(counted(metrics), 1, "seven were counted before");
}

#[test]
fn a_long_stream_does_not_let_the_rest_count_again() {
    let (upstream, metrics) = (Upstream::start(), free_address());
    let conf = "telemetry: {batch_timeout_ms: 20}\n".to_owned() + &enabled(metrics);
    let mut gateway = Gateway::start(Options::standard(&upstream.url()).with(&conf));
    let mut stream = Connection::open(gateway.address);
    Shape::Chat.send(&mut stream, svc_tests::gateway::KEY, "chat-model", "demo:hang-after=2", true);
    stream.begin().expect("a head");
    ask(&gateway, 3);
    wait::until("three", || (counted(metrics) == 3).then_some(()));
    let database = Database::open(&gateway.database_url());
    wait::until("three rows", || (database.count() == Some(3)).then_some(()));
    gateway.kill();
    gateway.restart();
    wait::until("the interrupted one", || (database.count() == Some(4)).then_some(()));
    assert_eq!(counted(metrics), 0, "the journal is read again from where the stream began");
}
