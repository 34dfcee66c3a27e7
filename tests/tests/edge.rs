//! The door: slow, large, ambiguous and malformed requests, bounds on connections.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{Connection, get, post};
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;
use svc_tests::wait;

const SOUND: &str = r#"{"model":"chat-model","messages":[{"role":"user","content":"hi"}]}"#;

fn chat(framing: &str, body: &str) -> String {
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {KEY}\r\ncontent-type: application/json\r\n{framing}\r\n{body}"
    )
}

fn sound() -> String {
    chat(&format!("content-length: {}\r\n", SOUND.len()), SOUND)
}

/// Sends bytes and returns everything that comes back until the server closes or falls silent.
fn reply(gateway: &Gateway, bytes: impl AsRef<[u8]>) -> String {
    let mut connection = Connection::open(gateway.address);
    connection.set_patience(Duration::from_millis(700));
    connection.send(bytes);
    while connection.fill() {}
    String::from_utf8_lossy(connection.pending()).into_owned()
}

/// Number of final answers in what came back.
fn answers(text: &str) -> usize {
    text.matches("HTTP/1.1 ").count() - text.matches("HTTP/1.1 100").count()
}

#[test]
fn a_head_that_trickles_is_cut_at_its_deadline() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_server("  limits: {header_deadline: 1s}\n"));
    let address = gateway.address;
    let slow: Vec<_> = (0..8)
        .map(|_| {
            thread::spawn(move || {
                let mut connection = Connection::open(address);
                connection.set_patience(Duration::from_millis(100));
                let opened = Instant::now();
                // One byte for every read that times out: a tenth of a second each.
                for byte in sound().into_bytes() {
                    connection.send([byte]);
                    let waited = Instant::now();
                    if !connection.fill() && waited.elapsed() < Duration::from_millis(90) {
                        break;
                    }
                    if opened.elapsed() > Duration::from_secs(8) {
                        break;
                    }
                }
                opened.elapsed()
            })
        })
        .collect();
    let mut served = 0;
    while slow.iter().any(|thread| !thread.is_finished()) {
        let asked = Instant::now();
        assert_eq!(post(address, "/v1/chat/completions", KEY, &serde_json::from_str(SOUND).expect("JSON")).status, 200);
        assert!(asked.elapsed() < Duration::from_secs(1), "others are not held up");
        served += 1;
    }
    assert!(served > 0);
    for thread in slow {
        let lasted = thread.join().expect("a client");
        assert!(lasted > Duration::from_millis(800) && lasted < Duration::from_millis(2_500), "cut after {lasted:?}, not after a second");
    }
}

#[test]
fn between_requests_the_next_has_to_begin_in_time_and_its_head_to_end_in_time() {
    let upstream = Upstream::start();
    let limits = "  limits: {keepalive_idle: 400ms, header_deadline: 1s}\n";
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_server(limits));
    let request = sound();
    let (begin, rest) = request.split_at(20);
    let answered = || {
        let mut connection = Connection::open(gateway.address);
        connection.send(&request);
        assert_eq!(connection.answer().map(|answer| answer.status), Some(200));
        connection.set_patience(Duration::from_secs(5));
        (connection, Instant::now())
    };
    let cut = |mut connection: Connection, since: Instant| {
        assert!(!connection.fill(), "nothing comes any more");
        since.elapsed().as_millis()
    };
    let (idle, since) = answered();
    let lasted = cut(idle, since);
    assert!((350..900).contains(&lasted), "cut after {lasted} ms without a request");
    let (mut stuck, since) = answered();
    stuck.send(begin);
    let lasted = cut(stuck, since);
    assert!((1_300..2_000).contains(&lasted), "cut after {lasted} ms with a part of a head");
    let (mut slow, _) = answered();
    for _ in 0..3 {
        slow.send(begin);
        thread::sleep(Duration::from_millis(700));
        slow.send(rest);
        assert_eq!(slow.answer().map(|answer| answer.status), Some(200));
    }
}

#[test]
fn a_body_that_stops_is_cut() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_server("  limits: {body_idle: 500ms}\n"));
    for framing in ["content-length: 1000\r\n", "transfer-encoding: chunked\r\n"] {
        let mut connection = Connection::open(gateway.address);
        let begun = Instant::now();
        connection.send(chat(framing, if framing.starts_with('c') { "{\"model\"" } else { "8\r\n{\"model\"\r\n" }));
        let answer = connection.answer();
        assert!(begun.elapsed() < Duration::from_secs(3), "{framing}: it does not wait for ever");
        if let Some(answer) = answer {
            assert!(matches!(answer.status, 400 | 408), "{framing}: {}", answer.head);
        }
        assert!(connection.is_closed(), "the connection is of no further use");
    }
    assert_eq!(upstream.count(), 0, "half a request does not reach the provider");
}

#[test]
fn a_large_body_that_stops_is_cut_with_an_answer() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_server("  limits: {body_idle: 500ms}\n"));
    for sent in [10, 70_000, 600_000] {
        let mut connection = Connection::open(gateway.address);
        let begun = Instant::now();
        connection.send(chat("content-length: 1000000\r\n", &" ".repeat(sent)));
        let answer = connection.answer().expect("an answer");
        assert!(begun.elapsed() < Duration::from_secs(3), "{sent}: it does not wait for ever");
        assert!(matches!(answer.status, 400 | 408), "{sent}: {}", answer.head);
        assert_eq!(answer.header("connection"), Some("close"), "{sent}: what is left of the body is no request");
    }
}

#[test]
fn a_head_beyond_its_bounds_is_refused() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    let with = |headers: String| chat(&format!("content-length: {}\r\n{headers}", SOUND.len()), SOUND);
    let many = |count: usize| with((0..count).map(|at| format!("x-h{at}: 1\r\n")).collect());
    let long = |bytes: usize| with(format!("x-long: {}\r\n", "a".repeat(bytes)));
    for (name, request, status) in [
        ("90 headers", many(90), "200"),
        ("101 headers", many(101), "431"),
        ("200 headers", many(200), "431"),
        ("60 KB", long(60_000), "200"),
        ("66 KB", long(66_000), "431"),
        ("500 KB", long(500_000), "431"),
        ("a long path", sound().replace("/v1/chat/completions", &format!("/v1/chat/completions?{}", "q".repeat(66_000))), "4"),
    ] {
        let reply = reply(&gateway, request);
        assert!(reply.starts_with(&format!("HTTP/1.1 {status}")), "{name}: {:.200}", reply);
    }
    for (name, request) in [("300 headers", many(300)), ("2 MB", long(2 << 20))] {
        let reply = reply(&gateway, request);
        assert!(reply.is_empty() || reply.starts_with("HTTP/1.1 4"), "{name} is not served: {:.200}", reply);
    }
    assert_eq!(post(gateway.address, "/v1/chat/completions", KEY, &serde_json::from_str(SOUND).expect("JSON")).status, 200);
}

/// Requests whose framing means two things, with a second request hidden where only one of the meanings sees it.
fn smuggling() -> Vec<(String, String)> {
    let hidden = "GET /v1/models HTTP/1.1\r\nhost: hidden\r\nx-api-key: test-key-0123456789\r\n\r\n";
    let length = SOUND.len();
    let whole = format!("content-length: {length}\r\n");
    let chunked = |size: &str| format!("{size}\r\n{SOUND}\r\n0\r\n\r\n{hidden}");
    let hex = format!("{length:x}");
    let mut cases = vec![
        (
            "CL and TE".to_owned(),
            chat(&format!("{whole}transfer-encoding: chunked\r\n"), &format!("{hex}\r\n{SOUND}\r\n0\r\n\r\n{hidden}")),
        ),
        ("TE and CL".to_owned(), chat(&format!("transfer-encoding: chunked\r\n{whole}"), &format!("0\r\n\r\n{hidden}"))),
        ("CL 0 and TE".to_owned(), chat("content-length: 0\r\ntransfer-encoding: chunked\r\n", &chunked(&hex))),
        ("two lengths".to_owned(), chat(&format!("{whole}content-length: {}\r\n", length + hidden.len()), &format!("{SOUND}{hidden}"))),
        ("a list of lengths".to_owned(), chat(&format!("content-length: {length}, {}\r\n", length + 5), &format!("{SOUND}{hidden}"))),
        ("a signed length".to_owned(), chat(&format!("content-length: +{length}\r\n"), &format!("{SOUND}{hidden}"))),
        ("a negative length".to_owned(), chat("content-length: -1\r\n", &format!("{SOUND}{hidden}"))),
        ("a hexadecimal length".to_owned(), chat(&format!("content-length: 0x{hex}\r\n"), &format!("{SOUND}{hidden}"))),
        ("a length too large for any integer".to_owned(), chat("content-length: 99999999999999999999999\r\n", &format!("{SOUND}{hidden}"))),
        ("a folded header".to_owned(), chat(&format!("{whole}x-a: b\r\n transfer-encoding: chunked\r\n"), &format!("{SOUND}{hidden}"))),
        ("a folded transfer encoding".to_owned(), chat(&format!("{whole}transfer-encoding:\r\n chunked\r\n"), &format!("{SOUND}{hidden}"))),
        ("a space before the colon".to_owned(), chat(&format!("{whole}transfer-encoding : chunked\r\n"), &format!("{SOUND}{hidden}"))),
        ("a bare CR in a value".to_owned(), chat(&format!("{whole}x-a: b\rtransfer-encoding: chunked\r\n"), &format!("{SOUND}{hidden}"))),
        ("a zero byte in a value".to_owned(), chat(&format!("{whole}x-a: b\0c\r\n"), &format!("{SOUND}{hidden}"))),
        ("chunked under HTTP/1.0".to_owned(), chat("transfer-encoding: chunked\r\n", &chunked(&hex)).replacen("HTTP/1.1", "HTTP/1.0", 1)),
        ("HTTP/1.2".to_owned(), chat(&whole, &format!("{SOUND}{hidden}")).replacen("HTTP/1.1", "HTTP/1.2", 1)),
        ("HTTP/0.9".to_owned(), format!("GET /v1/models\r\n\r\n{hidden}")),
    ];
    for coding in
        ["xchunked", "chunked, identity", "identity", "chunked, chunked", "gzip", "gzip, chunked", "\u{b}chunked", "chunk", "\"chunked\""]
    {
        cases.push((format!("transfer-encoding {coding:?}"), chat(&format!("transfer-encoding: {coding}\r\n"), &chunked(&hex))));
        cases.push((
            format!("transfer-encoding {coding:?} and a length"),
            chat(&format!("{whole}transfer-encoding: {coding}\r\n"), &format!("{SOUND}{hidden}")),
        ));
    }
    for size in ["", "g", "-1", "+4", "0x10", " 10", "fffffffffffffffff", "ffffffffffffffff", "1 0", "\u{ff11}"] {
        cases.push((format!("a chunk of size {size:?}"), chat("transfer-encoding: chunked\r\n", &chunked(size))));
    }
    cases.push((
        "a chunk longer than its size".to_owned(),
        chat("transfer-encoding: chunked\r\n", &format!("2\r\n{SOUND}\r\n0\r\n\r\n{hidden}")),
    ));
    cases.push(("a chunk ended by LF".to_owned(), chat("transfer-encoding: chunked\r\n", &format!("{hex}\n{SOUND}\n0\n\n{hidden}"))));
    cases
}

#[test]
fn a_request_with_two_meanings_never_yields_a_second_answer() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    let (address, cases) = (gateway.address, smuggling());
    let gateway = &gateway;
    thread::scope(|scope| {
        for share in cases.chunks(cases.len().div_ceil(16)) {
            scope.spawn(move || {
                for (name, bytes) in share {
                    let reply = reply(gateway, bytes);
                    assert!(answers(&reply) <= 1, "{name}: the hidden request was answered:\n{reply}");
                    assert!(!reply.contains("\"object\":\"list\""), "{name}: the hidden request was answered:\n{reply}");
                }
            });
        }
    });
    for (name, bytes) in cases.iter().take(6) {
        let mut connection = Connection::open(address);
        connection.send(bytes);
        if let Some(answer) = connection.answer() {
            assert_eq!(answer.status, 400, "{name}: {}", answer.head);
        }
        assert!(connection.is_closed(), "{name}: the connection ends with it");
    }
    let seen = upstream.seen();
    assert!(seen.iter().all(|seen| !seen.0.to_string().contains("hidden")), "nothing hidden reached the provider");
    assert_eq!(reply(gateway, sound()).lines().next(), Some("HTTP/1.1 200 OK"), "a sound request is served after all of it");
}

#[test]
fn a_both_framed_request_is_refused_in_the_clients_shape() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    for shape in Shape::ALL {
        let mut connection = Connection::open(gateway.address);
        let (name, value) = shape.credential(KEY);
        let path = shape.path(shape.model(), false);
        connection.send(format!(
            "POST {path} HTTP/1.1\r\nhost: t\r\n{name}: {value}\r\ncontent-type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
        ));
        shape.expect_error("CL and TE", &connection.answer().expect("an answer"), 400, "invalid_request");
        assert!(connection.is_closed(), "what follows cannot be trusted");
    }
    assert_eq!(upstream.count(), 0);
}

#[test]
fn odd_request_lines_are_refused_or_mean_what_they_say() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    let list = |target: &str, extra: &str| format!("GET {target} HTTP/1.1\r\nhost: test\r\nx-api-key: {KEY}\r\n{extra}\r\n");
    for (name, request, statuses) in [
        ("origin form", list("/v1/models", ""), &["200"][..]),
        ("absolute form", list("http://elsewhere.example/v1/models", ""), &["200", "400", "404"]),
        ("absolute form of another path", list("http://elsewhere.example/v1/nothing", ""), &["400", "404"]),
        ("authority form", list("elsewhere.example:443", ""), &["400", "404"]),
        ("CONNECT", list("/v1/models", "").replacen("GET /v1/models", "CONNECT elsewhere.example:443", 1), &["400", "404", "405"]),
        ("asterisk form", list("*", ""), &["400", "404"]),
        ("a path with a control byte", list("/v1/mod\u{1}els", ""), &["400", "404"]),
        ("a path with a tab", list("/v1/mod\tels", ""), &["400", "404"]),
        ("a path with raw UTF-8", list("/v1/models/\u{e9}", ""), &["400", "404"]),
        ("a path with a delete byte", list("/v1/models/\u{7f}", ""), &["400", "404"]),
        ("a path with two slashes", list("//v1/models", ""), &["400", "404"]),
        ("a path with dots", list("/v1/../v1/models", ""), &["400", "404"]),
        ("a path with encoded dots", list("/v1/%2e%2e/admin/health", ""), &["400", "404"]),
        ("an encoded path", list("/%76%31/models", ""), &["400", "404"]),
        ("a fragment", list("/v1/models#x", ""), &["200", "400", "404"]),
        ("an upgrade", list("/v1/models", "connection: upgrade\r\nupgrade: websocket\r\n"), &["200", "400"]),
        (
            "an h2c upgrade",
            list("/v1/models", "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n"),
            &["200", "400"],
        ),
        ("no host", format!("GET /v1/models HTTP/1.1\r\nx-api-key: {KEY}\r\n\r\n"), &["200", "400"]),
        ("two hosts", list("/v1/models", "host: other\r\n"), &["200", "400"]),
        ("LF only", list("/v1/models", "").replace("\r\n", "\n"), &["200", "400"]),
        ("an unknown method", list("/v1/models", "").replacen("GET", "BREW", 1), &["400", "405"]),
        ("garbage", "\u{1}\u{2}\u{3}\u{4}\r\n\r\n".to_owned(), &["400"]),
        ("a TLS hello", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\u{3}\u{3}\r\n\r\n".to_owned(), &["400"]),
    ] {
        let reply = reply(&gateway, request);
        let served = statuses
            .iter()
            .any(|status| reply.starts_with(&format!("HTTP/1.1 {status}")) || reply.starts_with(&format!("HTTP/1.0 {status}")));
        let closed = reply.is_empty() && !statuses.contains(&"200");
        assert!(served || closed, "{name}: {:.300}", reply);
        assert!(answers(&reply) <= 1, "{name}: {reply}");
    }
    assert_eq!(upstream.count(), 0);
}

#[test]
fn what_follows_a_request_is_a_request_of_its_own_or_ends_the_connection() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    for (name, bytes, most) in [
        ("garbage after a request", format!("{}\u{0}\u{1}garbage\r\n\r\n", sound()), 2),
        ("two requests at once", sound() + &sound(), 2),
        ("a request and a refusal", sound() + "GET /v1/models HTTP/1.1\r\nhost: test\r\n\r\n", 2),
        ("a request behind a refused one", chat("content-length: 1\r\n", "{") + &sound(), 2),
    ] {
        let reply = reply(&gateway, bytes);
        let count = answers(&reply);
        assert!(count >= 1 && count <= most, "{name}: {reply}");
        if name.starts_with("garbage") {
            assert!(reply.starts_with("HTTP/1.1 200"), "{name}: the sound request is served: {reply}");
            assert!(count == 1 || reply.contains("HTTP/1.1 400"), "{name}: {reply}");
        }
    }
}

#[test]
fn a_connection_serves_many_requests_up_to_its_bound() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_server("  limits: {keepalive_requests: 50}\n"));
    let mut connection = Connection::open(gateway.address);
    let mut served = 0;
    loop {
        let shape = Shape::ALL[served % 3];
        shape.send(&mut connection, KEY, shape.model(), "hi", served % 2 == 0);
        let Some(answer) = connection.answer() else { break };
        assert_eq!(answer.status, 200, "{}", answer.text());
        served += 1;
        if answer.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
            break;
        }
        assert!(served <= 60, "the bound holds");
    }
    assert!((49..=51).contains(&served), "{served} requests on one connection, 50 allowed");
}

#[test]
fn connections_over_the_bound_are_turned_away_and_come_free_again() {
    let upstream = Upstream::start();
    for (name, limits) in [("in all", "connections: 4"), ("of one address", "connections_per_address: 4")] {
        let gateway = Gateway::start(Options::standard(&upstream.url()).with_server(&format!("  limits: {{{limits}}}\n")));
        let open = || {
            let mut connection = Connection::open(gateway.address);
            let answer = Shape::Chat.ask(&mut connection, "chat-model", "hi", false);
            (connection, answer.status)
        };
        let held: Vec<_> = wait::until("four connections", || {
            let held: Vec<_> = (0..4).map(|_| open()).collect();
            held.iter().all(|(_, status)| *status == 200).then_some(held)
        });
        let mut turned_away = Connection::open(gateway.address);
        turned_away.send(sound());
        let answer = turned_away.answer().expect("the fifth is told");
        assert_eq!(answer.status, 503, "connections {name}: {}", answer.head);
        assert!(answer.header("retry-after").is_some(), "{}", answer.head);
        drop(held);
        wait::until("a connection to come free", || (open().1 == 200).then_some(()));
    }
}

#[test]
fn a_head_request_of_anything_has_no_body() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    for path in ["/", "/v1/models", "/v1/chat/completions", "/nothing"] {
        let reply = reply(&gateway, format!("HEAD {path} HTTP/1.1\r\nhost: t\r\nx-api-key: {KEY}\r\n\r\n"));
        assert!(reply.starts_with("HTTP/1.1 "), "{path}: {reply}");
        assert!(reply.ends_with("\r\n\r\n"), "{path}: a body here would be read as the next answer: {reply}");
    }
    let listed: Value = get(gateway.address, "/v1/models", &[("x-api-key", KEY)]).json();
    assert_eq!(listed["object"], "list");
}
