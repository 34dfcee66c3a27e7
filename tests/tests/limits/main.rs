//! Caps on requests, tokens and requests at the same time, in one gateway and over several that share a Redis.

mod scripts;
mod tls;

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use serde_json::json;
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{Answer, Connection};
use svc_tests::redis::Redis;
use svc_tests::shapes::Shape;
use svc_tests::upstream::{Upstream, runtime};
use svc_tests::{postgres, wait};

const CAPPED: &str = "test-key-capped-0001";
/// Longer than a place of a running request is kept without news of its gateway.
const LEASE: Duration = Duration::from_secs(60);

/// The standard configuration with one more key, which has these caps.
fn capped(upstream: &Upstream, caps: &str) -> Options {
    let key = format!("  - {{name: capped, secret: {CAPPED}, owner: {{user: dev@example.com}}, {caps}}}\nbreaker: {{enabled: false}}\n");
    Options::standard(&upstream.url()).with(&key)
}

/// The same with counters in Redis. A busy machine must not make a test wait in vain, so the answer may take long.
fn shared(upstream: &Upstream, redis: &Redis, caps: &str) -> Options {
    capped(upstream, caps).with(&format!("redis: {{url: '{}', timeout: 10s}}\n", redis.url()))
}

/// Two gateways over one database and one Redis.
fn pair(upstream: &Upstream, redis: &Redis, caps: &str) -> [Gateway; 2] {
    let database = runtime().block_on(postgres::fresh_database()).expect("PostgreSQL");
    [(); 2].map(|()| Gateway::start(shared(upstream, redis, caps).with_database(&database)))
}

fn ask(gateway: &Gateway, shape: Shape, key: &str, text: &str) -> Answer {
    let mut connection = Connection::open(gateway.address);
    shape.send(&mut connection, key, shape.model(), text, false);
    connection.answer().expect("an answer")
}

fn number(answer: &Answer, header: &str) -> u64 {
    let value = answer.header(header).unwrap_or_else(|| panic!("no {header}: {}", answer.head));
    value.parse().unwrap_or_else(|_| panic!("{header}: {value}"))
}

/// Sends a thousand requests, fifty at a time, to the gateways in turn, and counts those that are served.
fn thousand(gateways: &[Gateway]) -> usize {
    let gate = Barrier::new(50);
    thread::scope(|scope| {
        let callers: Vec<_> = (0..50)
            .map(|caller| {
                let (gate, gateway) = (&gate, &gateways[caller % gateways.len()]);
                scope.spawn(move || {
                    let mut connection = Connection::open(gateway.address);
                    gate.wait();
                    let mut served = 0;
                    for _ in 0..20 {
                        Shape::Chat.send(&mut connection, CAPPED, "chat-model", "hi", false);
                        let answer = connection.answer().expect("an answer");
                        match answer.status {
                            200 => served += 1,
                            _ => Shape::Chat.expect_error("over the cap", &answer, 429, "rate_limited"),
                        }
                    }
                    served
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().expect("a caller")).sum()
    })
}

#[test]
fn of_a_thousand_requests_one_gateway_admits_exactly_its_cap() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(capped(&upstream, "rpm_limit: 100"));
    assert_eq!(thousand(&[gateway]), 100);
    assert_eq!(upstream.count(), 100, "what is refused costs nothing");
}

#[test]
fn of_a_thousand_requests_two_gateways_together_admit_exactly_the_cap() {
    let (upstream, redis) = (Upstream::start(), Redis::start());
    let gateways = pair(&upstream, &redis, "rpm_limit: 100");
    assert_eq!(thousand(&gateways), 100);
    for gateway in &gateways {
        assert!(!gateway.log().contains("cannot be reached"), "Redis answered all along: {}", gateway.log());
    }
}

#[test]
fn without_redis_a_gateway_goes_on_by_its_own_count() {
    let (upstream, mut redis) = (Upstream::start(), Redis::start());
    let gateway = Gateway::start(shared(&upstream, &redis, "rpm_limit: 5"));
    let left: Vec<u64> = (0..2).map(|_| number(&ask(&gateway, Shape::Chat, CAPPED, "hi"), "x-ratelimit-remaining-requests")).collect();
    assert_eq!(left, [4, 3]);
    redis.stop();
    let served = (0..10).filter(|_| ask(&gateway, Shape::Chat, CAPPED, "hi").status == 200).count();
    assert_eq!(served, 3, "what was counted before the outage stays counted");
    gateway.says("cannot be reached");
    redis.resume();
    gateway.says("are back");
    assert_eq!(gateway.log().matches("cannot be reached").count(), 1, "an outage is told once: {}", gateway.log());
    let answer = ask(&gateway, Shape::Chat, CAPPED, "hi");
    assert_eq!(answer.status, 429, "a server that has forgotten everything gives nothing away");
}

#[test]
fn without_redis_capped_keys_are_refused_where_the_configuration_says_so() {
    let (upstream, mut redis) = (Upstream::start(), Redis::start());
    let gateway = Gateway::start(shared(&upstream, &redis, "rpm_limit: 5").with("limits: {on_limiter_error: deny}\n"));
    assert_eq!(ask(&gateway, Shape::Chat, CAPPED, "hi").status, 200);
    redis.stop();
    for shape in Shape::ALL {
        let answer = ask(&gateway, shape, CAPPED, "hi");
        shape.expect_error("nobody can count", &answer, 429, "rate_limited");
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert_eq!(ask(&gateway, shape, KEY, "hi").status, 200, "a key without caps needs no count");
    }
    redis.resume();
    wait::until("Redis to be asked again", || (ask(&gateway, Shape::Chat, CAPPED, "hi").status == 200).then_some(()));
}

#[test]
fn a_gateway_starts_without_redis_and_finds_it_later() {
    let upstream = Upstream::start();
    let mut redis = Redis::start();
    redis.stop();
    let gateway = Gateway::start(shared(&upstream, &redis, "rpm_limit: 5"));
    assert_eq!(ask(&gateway, Shape::Chat, CAPPED, "hi").status, 200);
    redis.resume();
    gateway.says("are back");
    assert_eq!(ask(&gateway, Shape::Chat, CAPPED, "hi").status, 200);
    assert!(redis.ask("KEYS *requests").is_some_and(|keys| keys.contains("svc:{limits}:key:")), "it is counted there");
}

#[test]
fn a_redis_url_that_makes_no_sense_is_refused() {
    let upstream = Upstream::start();
    let log = Gateway::refuse(&capped(&upstream, "rpm_limit: 5").with("redis: {url: 'redis://user:hunter2@host:port:1'}\n"));
    assert!(log.contains("redis.url") && !log.contains("hunter2"), "{log}");
}

/// What a request with these figures leaves of a cap of 1,000, once its usage is known.
fn tokens_of(gateway: &Gateway, settled: impl Fn(u64)) {
    let used = "demo:in=400 demo:out=100";
    let first = ask(gateway, Shape::Chat, CAPPED, used);
    assert_eq!((first.status, number(&first, "x-ratelimit-limit-tokens")), (200, 1_000));
    let estimated = 1_000 - number(&first, "x-ratelimit-remaining-tokens");
    assert!((5..100).contains(&estimated), "a short prompt: {estimated}");
    settled(500);
    let failed = ask(gateway, Shape::Chat, CAPPED, "demo:error=400 and something");
    assert_eq!(failed.status, 400);
    settled(500);
    let second = ask(gateway, Shape::Chat, CAPPED, used);
    assert_eq!(number(&second, "x-ratelimit-remaining-tokens"), 500 - estimated, "the usage that was told counts; an error took none");
    settled(1_000);
    for shape in Shape::ALL {
        let refused = ask(gateway, shape, CAPPED, "hi");
        shape.expect_error("no token is left", &refused, 429, "rate_limited");
        assert!(refused.text().contains("1000 tokens per minute"), "{}", refused.text());
        assert!((1..=60).contains(&number(&refused, "retry-after")));
    }
}

#[test]
fn tokens_are_counted_by_what_the_provider_tells() {
    let upstream = Upstream::start();
    tokens_of(&Gateway::start(capped(&upstream, "tpm_limit: 1000")), |_| {});
}

#[test]
fn tokens_are_settled_in_redis_too() {
    let (upstream, redis) = (Upstream::start(), Redis::start());
    let options = shared(&upstream, &redis, "status: active").with("limits: {global_tpm: 1000}\n");
    tokens_of(&Gateway::start(options), |used| {
        let told = || redis.ask("HGET svc:{limits}:global:tokens used").filter(|answer| answer.contains(&format!("\n{used}\r")));
        wait::until(&format!("{used} tokens to be used"), told);
    });
}

#[test]
fn one_request_larger_than_the_cap_passes_where_nothing_else_was_used() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(capped(&upstream, "tpm_limit: 50"));
    // The body asks for 64 tokens of output.
    let first = ask(&gateway, Shape::Messages, CAPPED, "demo:in=40 demo:out=5");
    assert_eq!((first.status, number(&first, "anthropic-ratelimit-tokens-remaining")), (200, 0));
    assert_eq!(ask(&gateway, Shape::Messages, CAPPED, "hi").status, 429, "its estimate does not fit beside the 45");
    assert_eq!(ask(&gateway, Shape::Generate, CAPPED, "x").status, 200, "a small one does");
}

/// Opens a stream that does not end by itself.
fn endless(gateway: &Gateway, shape: Shape) -> Connection {
    let mut connection = Connection::open(gateway.address);
    shape.send(&mut connection, CAPPED, shape.model(), "demo:slow=20ms demo:chunks=100000", true);
    assert_eq!(connection.begin().expect("a head").status, 200);
    connection
}

fn wait_served(patience: Duration, gateway: &Gateway, shape: Shape) {
    wait::within(patience, "a place to be free", || (ask(gateway, shape, CAPPED, "hi").status == 200).then_some(()));
}

#[test]
fn a_place_is_free_again_however_the_request_ends() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(capped(&upstream, "max_parallel: 1"));
    for shape in Shape::ALL {
        let stream = endless(&gateway, shape);
        let refused = ask(&gateway, shape, CAPPED, "hi");
        shape.expect_error("one runs", &refused, 429, "rate_limited");
        assert!(refused.text().contains("1 requests at the same time"), "{}", refused.text());
        drop(stream);
        wait_served(wait::PATIENCE, &gateway, shape);
        let mut connection = Connection::open(gateway.address);
        for text in ["hi", "demo:error=400", "demo:error=500", "hi"] {
            shape.send(&mut connection, CAPPED, shape.model(), text, false);
            let answer = connection.answer().expect("an answer");
            assert_ne!(answer.status, 429, "who has the whole answer may ask again at once: {text}");
        }
        assert_ne!(ask(&gateway, shape, CAPPED, "demo:reset").status, 429);
        assert_ne!(ask(&gateway, shape, CAPPED, "demo:cut").status, 429);
        shape.send(&mut connection, CAPPED, "no-such-model", "hi", false);
        assert_eq!(connection.answer().expect("an answer").status, 404, "refused by a later filter");
        assert_eq!(ask(&gateway, shape, CAPPED, "hi").status, 200);
    }
}

#[test]
fn places_are_shared_and_those_of_a_killed_gateway_come_free() {
    let (upstream, redis) = (Upstream::start(), Redis::start());
    let [mut first, second] = pair(&upstream, &redis, "max_parallel: 1");
    let stream = endless(&first, Shape::Chat);
    assert_eq!(ask(&second, Shape::Chat, CAPPED, "hi").status, 429, "it runs on the other gateway");
    drop(stream);
    wait_served(wait::PATIENCE, &second, Shape::Chat);
    let stream = wait::until("the last place to be told free", || {
        let mut connection = Connection::open(first.address);
        Shape::Chat.send(&mut connection, CAPPED, "chat-model", "demo:slow=20ms demo:chunks=100000", true);
        connection.begin().filter(|head| head.status == 200).map(|_| connection)
    });
    assert_eq!(ask(&second, Shape::Chat, CAPPED, "hi").status, 429);
    first.kill();
    wait_served(LEASE, &second, Shape::Chat);
    drop(stream);
}

#[test]
fn each_shape_is_told_its_limits_in_its_own_headers() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(capped(&upstream, "rpm_limit: 8, tpm_limit: 90000"));
    let chat = ["x-ratelimit-limit-", "x-ratelimit-remaining-", "x-ratelimit-reset-"];
    for round in 0..2 {
        for shape in Shape::ALL {
            let answer = ask(&gateway, shape, CAPPED, "hi");
            for what in ["requests", "tokens"] {
                let names = match shape {
                    Shape::Messages => ["limit", "remaining", "reset"].map(|name| format!("anthropic-ratelimit-{what}-{name}")),
                    _ => chat.map(|name| format!("{name}{what}")),
                };
                let [limit, remaining, reset] = names.map(|name| answer.header(&name).unwrap_or_else(|| panic!("{name}: {}", answer.head)));
                assert_eq!(limit, if what == "requests" { "8" } else { "90000" });
                assert!(remaining.parse::<u64>().is_ok_and(|left| left < 90_000), "{remaining}");
                let well_formed = if shape == Shape::Messages { reset.len() == 20 && reset.ends_with('Z') } else { reset == "1m0s" };
                assert!(well_formed, "{shape:?}: {reset}");
            }
            let foreign = if shape == Shape::Messages { "x-ratelimit-" } else { "anthropic-ratelimit-" };
            assert!(!answer.head.contains(foreign), "round {round}: {}", answer.head);
        }
    }
    let body = json!({"model": "chat-model", "input": "hi"});
    for status in [200, 200, 429] {
        let answer = svc_tests::raw::post(gateway.address, "/v1/responses", CAPPED, &body);
        assert_eq!((answer.status, answer.header("x-ratelimit-limit-requests")), (status, Some("8")), "{}", answer.text());
    }
    for shape in Shape::ALL {
        let refused = ask(&gateway, shape, CAPPED, "hi");
        let name = if shape == Shape::Messages { "anthropic-ratelimit-requests-remaining" } else { "x-ratelimit-remaining-requests" };
        assert_eq!((refused.status, refused.header(name)), (429, Some("0")));
        assert!((1..=60).contains(&number(&refused, "retry-after")));
        let free = ask(&gateway, shape, KEY, "hi");
        assert_eq!((free.status, free.header(name).filter(|left| *left == "0")), (200, None), "a key without caps is told none of ours");
    }
}

#[test]
fn caps_of_the_whole_service_hold_for_every_key() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(capped(&upstream, "rpm_limit: 2").with("limits: {global_rpm: 3, global_max_parallel: 2}\n"));
    let statuses: Vec<u16> = [CAPPED, CAPPED, CAPPED, KEY, KEY].map(|key| ask(&gateway, Shape::Chat, key, "hi").status).to_vec();
    assert_eq!(statuses, [200, 200, 429, 200, 429]);
    assert!(ask(&gateway, Shape::Chat, KEY, "hi").text().contains("of this service of 3 requests"), "the first cap met is told");
}
