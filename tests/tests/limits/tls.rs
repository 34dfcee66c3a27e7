//! Limits shared over TLS.

use std::path::Path;

use svc_tests::certificates::certify;
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::redis::Redis;
use svc_tests::shapes::Shape;
use svc_tests::upstream::{Upstream, runtime};
use svc_tests::{postgres, wait};

use crate::{CAPPED, ask, capped, thousand};

/// Counters in Redis over TLS, by a gateway that trusts the authority in a file.
fn shared(upstream: &Upstream, redis: &Redis, authority: &Path) -> Options {
    let mut options = capped(upstream, "rpm_limit: 100").with(&format!("redis: {{url: '{}', timeout: 10s}}\n", redis.tls_url()));
    options.env.push(("SSL_CERT_FILE".to_owned(), authority.display().to_string()));
    options
}

#[test]
fn caps_hold_over_tls() {
    let (upstream, redis) = (Upstream::start(), Redis::start_tls());
    let database = runtime().block_on(postgres::fresh_database()).expect("PostgreSQL");
    let gateways = [(); 2].map(|()| Gateway::start(shared(&upstream, &redis, &redis.authority()).with_database(&database)));
    assert_eq!(thousand(&gateways), 100);
    for gateway in &gateways {
        gateway.says("limits are shared at");
        assert!(!gateway.log().contains("cannot be reached"), "Redis answered all along: {}", gateway.log());
    }
    assert!(redis.ask("KEYS *requests").is_some_and(|keys| keys.contains("svc:{limits}:key:")), "it was counted there");
}

#[test]
fn a_redis_of_a_foreign_authority_is_not_trusted() {
    let (upstream, redis) = (Upstream::start(), Redis::start_tls());
    let other = tempfile::tempdir().expect("a temporary folder");
    certify(other.path(), "IP:127.0.0.1", 2);
    let local = Gateway::start(shared(&upstream, &redis, &other.path().join("ca.pem")));
    assert_eq!(ask(&local, Shape::Chat, CAPPED, "hi").status, 200, "it goes on by its own count");
    let deny = shared(&upstream, &redis, &other.path().join("ca.pem")).with("limits: {on_limiter_error: deny}\n");
    let deny = Gateway::start(deny);
    Shape::Chat.expect_error("nobody can count", &ask(&deny, Shape::Chat, CAPPED, "hi"), 429, "rate_limited");
    assert_eq!(ask(&deny, Shape::Chat, KEY, "hi").status, 200, "a key without caps needs no count");
    for gateway in [&local, &deny] {
        let told = wait::until("the outage to be told", || {
            gateway.log().lines().find(|line| line.contains("cannot be reached")).map(str::to_owned)
        });
        assert!(told.contains("certificate") && told.contains("127.0.0.1"), "it says what is wrong: {told}");
    }
    assert!(redis.ask("KEYS *").is_some_and(|keys| !keys.contains("svc:")), "nothing was told to it");
}
