//! Providers on the clouds: addresses, signatures, tokens and frames, against strict emulators.

mod azure;
mod bedrock;
mod bedrock_keys;
mod vertex;

use std::thread;

use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{Answer, Connection};
use svc_tests::shapes::Shape;

/// A configuration with these providers and models, one line each, and a key that may call everything.
fn options(providers: &str, models: &str) -> Options {
    let conf = format!(
        "providers:\n{providers}\nmodels:\n{models}\nkeys:\n  - {{name: all, secret: {KEY}, owner: {{user: dev@example.com}}}}\nbreaker: {{enabled: false}}\n"
    );
    Options { conf, ..Options::standard("") }
}

/// One request on a connection of its own.
fn ask(gateway: &Gateway, shape: Shape, model: &str, text: &str, stream: bool) -> Answer {
    shape.ask(&mut Connection::open(gateway.address), model, text, stream)
}

/// Many requests at once; all have to be answered with 200.
fn ask_at_once(gateway: &Gateway, shape: Shape, model: &str, count: usize) {
    thread::scope(|scope| {
        let asked: Vec<_> = (0..count).map(|_| scope.spawn(|| ask(gateway, shape, model, "Hello", false))).collect();
        for answer in asked {
            let answer = answer.join().expect("no panic");
            assert_eq!(answer.status, 200, "{}\n{}", answer.head, answer.text());
        }
    });
}

/// Checks that nothing secret reached the log or an answer.
fn expect_silence(gateway: &Gateway, answer: &Answer, secrets: &[&str]) {
    for secret in secrets {
        assert!(!gateway.log().contains(secret), "a secret is in the log:\n{}", gateway.log());
        assert!(!format!("{}{}", answer.head, answer.text()).contains(secret), "a secret is in an answer: {}", answer.text());
    }
}
