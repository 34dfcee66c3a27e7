//! One of two equal targets is dead: no client notices.

use std::sync::Mutex;
use std::thread;

use svc_tests::faulty::closed_port;
use svc_tests::gateway::{Gateway, Options};
use svc_tests::raw::Connection;
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;

use crate::provider;
use crate::view::looks_complete;

const REQUESTS: usize = 200;
const CLIENTS: usize = 8;

/// Asks by several clients at once, on connections they keep, and returns how many requests took how many attempts.
fn ask_all(gateway: &Gateway) -> Vec<usize> {
    let attempts = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let attempts = &attempts;
            scope.spawn(move || {
                let mut connection = Connection::open(gateway.address);
                for number in 0..REQUESTS / CLIENTS {
                    let (shape, stream) = (Shape::ALL[(client + number) % 3], number % 2 == 0);
                    let answer = shape.ask(&mut connection, "equal", "hi", stream);
                    let told = format!("{shape:?} {stream}: {}\n{}", answer.head, answer.text());
                    assert!(looks_complete(shape, &answer, stream), "{told}");
                    assert_eq!(answer.header("x-svc-provider"), Some("chat"), "{told}");
                    let taken = answer.header("x-svc-attempts").and_then(|text| text.parse().ok()).expect("a number");
                    attempts.lock().expect("not poisoned").push(taken);
                }
            });
        }
    });
    attempts.into_inner().expect("not poisoned")
}

fn start(dead: &str, good: &Upstream, breaker: &str) -> Gateway {
    let models = "  - {name: equal, affinity: false, targets: [{provider: dead, model: m}, {provider: chat, model: demo-1}]}\n";
    Gateway::start(
        Options::standard(&good.url()).with_providers(&provider("dead", Shape::Chat, dead, "")).with_models(models).with(breaker),
    )
}

#[test]
fn no_request_fails_while_one_of_two_equal_targets_is_dead() {
    let (dead, good) = (closed_port(), Upstream::start());
    let gateway = start(&dead.url(), &good, "breaker: {enabled: false}\n");
    let attempts = ask_all(&gateway);
    assert_eq!(attempts.len(), REQUESTS);
    let second = attempts.iter().filter(|count| **count == 2).count();
    assert!(second > REQUESTS / 5, "the dead one has its share of first tries: {second}");
}

#[test]
fn a_dead_target_is_passed_over_once_it_is_known() {
    let (dead, good) = (closed_port(), Upstream::start());
    let gateway = start(&dead.url(), &good, "");
    let attempts = ask_all(&gateway);
    gateway.says("circuit open");
    let second = attempts.iter().filter(|count| **count == 2).count();
    assert!((1..=5 + CLIENTS).contains(&second), "five failures are enough, and those under way: {second}");
}
