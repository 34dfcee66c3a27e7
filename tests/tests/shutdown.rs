//! SIGTERM: what runs may finish, nothing new begins, and the process ends as soon as it can.

use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use svc_entity::Outcome;
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::ports::free_address;
use svc_tests::raw::Connection;
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;
use svc_tests::wait;

#[test]
fn running_streams_finish_and_nothing_new_begins() {
    const STREAMS: usize = 20;
    let upstream = Upstream::start();
    let mut gateway = Gateway::start(Options::standard(&upstream.url()));
    let address = gateway.address;
    let open = |at: usize| {
        let shape = Shape::ALL[at % Shape::ALL.len()];
        let mut connection = Connection::open(address);
        shape.send(&mut connection, KEY, shape.model(), "demo:slow=30ms demo:chunks=60", true);
        let head = connection.begin().expect("a head");
        assert_eq!(head.status, 200, "{}", shape.name());
        (shape, connection, head)
    };
    let streams: Vec<_> = (0..STREAMS).map(open).collect();
    let mut idle = Connection::open(address);
    assert_eq!(Shape::Chat.ask(&mut idle, "chat-model", "hi", false).status, 200, "an idle connection is open too");

    let told = Instant::now();
    gateway.terminate();
    wait::within(Duration::from_secs(2), "new connections to be refused", || TcpStream::connect(address).is_err().then_some(()));

    let readers: Vec<_> = streams
        .into_iter()
        .map(|(shape, mut connection, head)| {
            thread::spawn(move || {
                let mut body = Vec::new();
                loop {
                    let piece =
                        connection.piece().unwrap_or_else(|| panic!("{} broke off: {}", shape.name(), String::from_utf8_lossy(&body)));
                    if piece.is_empty() {
                        return (head, String::from_utf8_lossy(&body).into_owned());
                    }
                    body.extend(piece);
                }
            })
        })
        .collect();
    let ended: Vec<_> = readers.into_iter().map(|reader| reader.join().expect("a stream that completes")).collect();
    let done = Instant::now();
    gateway.wait_ended(Duration::from_secs(5));
    assert!(done.elapsed() < Duration::from_secs(3), "it ends once the last stream has: {:?}", done.elapsed());
    assert!(told.elapsed() < Duration::from_secs(20), "it does not sleep through the grace period: {:?}", told.elapsed());

    let database = Database::open(&gateway.database_url());
    for (head, body) in ended {
        assert!(body.contains(" 59"), "the stream is whole: {body}");
        let id = head.header("x-svc-request-id").expect("an id");
        let rows = database.rows_of(id);
        assert_eq!(rows.len(), 1, "its row was written before the process ended");
        assert_eq!(rows[0].outcome, Outcome::Complete);
    }
    assert_eq!(database.count(), Some(STREAMS as u64 + 1), "and so was every other");
}

#[test]
fn an_idle_gateway_ends_at_once() {
    let upstream = Upstream::start();
    let mut gateway = Gateway::start(Options::standard(&upstream.url()));
    let mut kept = Connection::open(gateway.address);
    let answer = Shape::Chat.ask(&mut kept, "chat-model", "hi", false);
    assert_eq!(answer.status, 200);
    gateway.terminate();
    gateway.wait_ended(Duration::from_secs(2));
    let database = Database::open(&gateway.database_url());
    let rows = database.rows_of(answer.header("x-svc-request-id").expect("an id"));
    assert_eq!(rows.len(), 1, "what was not yet flushed is written at the end");
}

#[test]
fn the_grace_period_bounds_the_end() {
    let upstream = Upstream::start();
    let mut gateway = Gateway::start(Options::standard(&upstream.url()).with_server("  grace_period: 1s\n"));
    let mut stuck = Connection::open(gateway.address);
    Shape::Chat.send(&mut stuck, KEY, "chat-model", "demo:hang-after=2", true);
    let head = stuck.begin().expect("a head");
    gateway.terminate();
    gateway.wait_ended(Duration::from_secs(5));
    gateway.restart();
    let database = Database::open(&gateway.database_url());
    let row = database.row(head.header("x-svc-request-id").expect("an id"));
    assert_ne!(row.outcome, Outcome::Complete, "what was cut off is not told as complete: {row:?}");
}

#[test]
fn the_next_gateway_waits_for_the_address_and_says_so_when_it_stays_taken() {
    let upstream = Upstream::start();
    let options = Options::standard(&upstream.url());
    let stranger = TcpListener::bind(free_address()).expect("nobody listens there");
    let address = stranger.local_addr().expect("it is bound");
    let printed = Gateway::refuse_at(&options, address);
    assert!(printed.contains(&format!("server.listen: cannot listen on {address}")), "{printed}");
    let mut gateway = Gateway::start(options);
    gateway.kill();
    let stranger = TcpListener::bind(gateway.address).expect("it has ended");
    let leaving = thread::spawn(move || {
        thread::sleep(Duration::from_millis(500));
        drop(stranger);
    });
    gateway.restart();
    leaving.join().expect("it sleeps");
    gateway.says("listening on");
    wait::until("the gateway listens", || TcpStream::connect(gateway.address).ok());
    let answer = Shape::Chat.ask(&mut Connection::open(gateway.address), "chat-model", "hi", false);
    assert_eq!(answer.status, 200);
}

#[test]
fn whoever_is_let_in_while_a_gateway_starts_is_answered() {
    let upstream = Upstream::start();
    let mut gateway = Gateway::start(Options::standard(&upstream.url()));
    let address = gateway.address;
    for _ in 0..5 {
        gateway.kill();
        let callers: Vec<_> = (0..4)
            .map(|_| {
                thread::spawn(move || {
                    let mut connection = wait::until("the gateway listens", || {
                        (0..500).find_map(|_| Connection::try_open(address).filter(|connection| connection.port() != address.port()))
                    });
                    connection.send("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
                    connection.answer().map(|answer| answer.status)
                })
            })
            .collect();
        gateway.restart();
        for caller in callers {
            assert!(caller.join().expect("the gateway listens").is_some(), "it was let in and dropped");
        }
    }
}
