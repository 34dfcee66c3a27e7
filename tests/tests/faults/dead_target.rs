//! One of two equal targets is dead: no client notices, and once it lives again it has its share.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use svc_tests::faulty::{Faulty, Place, Step, answers, closed_port, full_backlog};
use svc_tests::gateway::{Gateway, Options};
use svc_tests::raw::Connection;
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;
use svc_tests::wait;

use crate::provider;
use crate::view::looks_complete;

const REQUESTS: usize = 200;
const CLIENTS: usize = 8;
/// How long a connection is waited for.
const CONNECT: Duration = Duration::from_millis(300);
/// What any request may take besides, on a machine that is busy.
const NORMAL: Duration = Duration::from_secs(2);

/// How a target is dead: it refuses connections, or never answers.
const DEATHS: [fn() -> Place; 2] = [closed_port, full_backlog];

/// How a request was served.
struct Served {
    by_good: bool,
    attempts: usize,
}

/// Asks by several clients at once, on connections they keep. None may fail, nor take longer than one wait in vain.
fn ask_all(gateway: &Gateway) -> Vec<Served> {
    let served = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let served = &served;
            scope.spawn(move || {
                let mut connection = Connection::open(gateway.address);
                for number in 0..REQUESTS / CLIENTS {
                    let one = ask(&mut connection, Shape::ALL[(client + number) % 3], number % 2 == 0);
                    served.lock().expect("not poisoned").push(one);
                }
            });
        }
    });
    let served = served.into_inner().expect("not poisoned");
    assert_eq!(served.len(), REQUESTS);
    served
}

fn ask(connection: &mut Connection, shape: Shape, stream: bool) -> Served {
    let began = Instant::now();
    let answer = shape.ask(connection, "equal", "hi", stream);
    let (took, told) = (began.elapsed(), format!("{shape:?} {stream}: {}\n{}", answer.head, answer.text()));
    assert!(looks_complete(shape, &answer, stream), "{told}");
    assert!(took < CONNECT + NORMAL, "{took:?}: {told}");
    let attempts = answer.header("x-svc-attempts").and_then(|text| text.parse().ok()).expect("a number");
    Served { by_good: answer.header("x-svc-provider") == Some("chat"), attempts }
}

fn count(served: &[Served], is: fn(&Served) -> bool) -> usize {
    served.iter().filter(|one| is(one)).count()
}

fn start(dead: &Place, good: &Upstream, breaker: &str) -> Gateway {
    let models = "  - {name: equal, affinity: false, targets: [{provider: dead, model: m}, {provider: chat, model: demo-1}]}\n";
    let timeouts = format!(", timeouts: {{connect: {}ms}}", CONNECT.as_millis());
    let options = Options::standard(&good.url()).with_providers(&provider("dead", Shape::Chat, &dead.url(), &timeouts));
    Gateway::start(options.with_models(models).with(breaker))
}

#[test]
fn no_request_fails_while_one_of_two_equal_targets_is_dead() {
    let (dead, good) = (closed_port(), Upstream::start());
    let gateway = start(&dead, &good, "breaker: {enabled: false}\n");
    let served = ask_all(&gateway);
    assert_eq!(count(&served, |one| one.by_good), REQUESTS);
    let second = count(&served, |one| one.attempts == 2);
    assert!(second > REQUESTS / 5, "the dead one has its share of first tries: {second}");
}

#[test]
fn a_dead_target_is_passed_over_once_it_is_known() {
    for death in DEATHS {
        let (dead, good) = (death(), Upstream::start());
        let gateway = start(&dead, &good, "");
        let served = ask_all(&gateway);
        gateway.says("circuit open");
        assert_eq!(count(&served, |one| one.by_good), REQUESTS);
        let second = count(&served, |one| one.attempts == 2);
        assert!((1..=5 + CLIENTS).contains(&second), "five failures are enough, and those under way: {second}");
        let served = ask_all(&gateway);
        assert_eq!(count(&served, |one| one.by_good && one.attempts == 1), REQUESTS, "the dead one is not asked any more");
    }
}

#[test]
fn a_target_that_lives_again_has_its_share() {
    for death in DEATHS {
        let (dead, good) = (death(), Upstream::start());
        let gateway = start(&dead, &good, "breaker: {open: 500ms, max_open: 500ms}\n");
        assert_eq!(count(&ask_all(&gateway), |one| one.by_good), REQUESTS);
        gateway.says("circuit open");
        let alive: Faulty = dead.recover(|asked| {
            let (shape, stream) = answers::asked(asked);
            vec![Step::send(answers::sound(shape, stream))]
        });
        let mut connection = Connection::open(gateway.address);
        wait::until("the breaker to close", || {
            ask(&mut connection, Shape::Chat, false);
            gateway.log().contains("circuit closed").then_some(())
        });
        let before = alive.count();
        let served = ask_all(&gateway);
        assert_eq!(count(&served, |one| one.attempts == 1), REQUESTS);
        let returned = count(&served, |one| !one.by_good);
        assert!(returned > REQUESTS / 5, "{returned}");
        assert_eq!(alive.count() - before, returned);
    }
}
