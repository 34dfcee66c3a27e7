//! Providers that say when to come again, each in its own way: until then they are left alone.

use std::thread;
use std::time::{Duration, Instant};

use svc_tests::faulty::{Faulty, Step, answers};
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::h2c::Http2;
use svc_tests::raw::{Answer, Connection};
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;
use svc_tests::wait;
use time::format_description::well_known::{Rfc2822, Rfc3339};
use time::{OffsetDateTime, UtcOffset};

use crate::view::{is_error_body, looks_complete};
use crate::{STEADY, provider};

/// How long a credential rests that was told no time, and some room.
const UNTOLD: Duration = Duration::from_millis(1_500);
const RETRY_INFO: &str = r#"{"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [
    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "5s"}]}}"#;

const WORDS: &str = r#"{"error": {"message": "Rate limit reached. Please try again in 4.2s.", "type": "tokens", "param": null, "code": "rate_limit_exceeded"}}"#;

/// A provider that answers every request with 429, and what comes after it.
struct Setup {
    gateway: Gateway,
    busy: Faulty,
    _good: Upstream,
}

impl Setup {
    /// With headers, each ended by a line break, or a body.
    fn start(shape: Shape, headers: &str, body: Option<&'static str>) -> Self {
        let headers = headers.to_owned();
        let busy = Faulty::on_request(move |_| {
            let own = answers::error(shape, 429);
            vec![Step::send(answers::document(429, "application/json", &headers, body.unwrap_or(&own)))]
        });
        Self::with(shape, busy)
    }

    fn with(shape: Shape, busy: Faulty) -> Self {
        let good = Upstream::start();
        let models = "  - {name: pair, targets: [{provider: busy, model: m}, {provider: chat, model: demo-1, priority: 1}]}\n  \
                        - {name: alone, targets: [{provider: busy, model: m}]}\n";
        let options = Options::standard(&good.url()).with_providers(&provider("busy", shape, &busy.url(), ""));
        let gateway = Gateway::start(options.with_models(models).with(STEADY));
        Self { gateway, busy, _good: good }
    }

    fn ask(&self, client: Shape, model: &str) -> Answer {
        client.ask(&mut Connection::open(self.gateway.address), model, "hi", false)
    }

    /// Asks and returns whether the busy provider was asked before the other served.
    fn asks_the_busy_one(&self) -> bool {
        let before = self.busy.count();
        let answer = self.ask(Shape::Chat, "pair");
        let told = format!("{}\n{}\n{}", answer.head, answer.text(), self.gateway.log());
        assert_eq!((answer.status, answer.header("x-svc-provider")), (200, Some("chat")), "{told}");
        let asked = self.busy.count() > before;
        assert_eq!(answer.header("x-svc-attempts"), Some(if asked { "2" } else { "1" }), "{told}");
        asked
    }

    fn stays_alone(&self, form: &str) {
        assert!(self.asks_the_busy_one(), "{form}: the first request goes to the first target");
        let told = Instant::now();
        wait::until("the time for which a credential rests unasked", || {
            assert!(!self.asks_the_busy_one(), "{form}: asked again after {:?}", told.elapsed());
            (told.elapsed() > UNTOLD).then_some(())
        });
    }
}

/// An HTTP date some time from now.
fn date(after: Duration) -> String {
    let at = (OffsetDateTime::now_utc() + after).to_offset(UtcOffset::UTC);
    at.format(&Rfc2822).expect("a date").replace("+0000", "GMT")
}

fn instant(after: Duration) -> String {
    (OffsetDateTime::now_utc() + after).format(&Rfc3339).expect("a date")
}

#[test]
fn a_provider_is_left_alone_as_long_as_it_asks_for() {
    let far = Duration::from_secs(30);
    let forms = [
        (Shape::Chat, "retry-after: 5\r\n".to_owned()),
        (Shape::Messages, "retry-after: 5\r\n".to_owned()),
        (Shape::Generate, "retry-after: 5\r\n".to_owned()),
        (Shape::Chat, format!("retry-after: {}\r\n", date(far))),
        (Shape::Chat, "retry-after-ms: 5000\r\n".to_owned()),
        (Shape::Chat, "retry-after: 1\r\nretry-after-ms: 5000\r\n".to_owned()),
        (Shape::Chat, "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 1m30s\r\n".to_owned()),
        (Shape::Chat, "x-ratelimit-remaining-tokens: 0\r\nx-ratelimit-reset-tokens: 6m0s\r\n".to_owned()),
        (Shape::Chat, "x-ratelimit-remaining-tokens: 0\r\nx-ratelimit-reset-tokens: 5.25s\r\n".to_owned()),
        (Shape::Messages, format!("anthropic-ratelimit-tokens-remaining: 0\r\nanthropic-ratelimit-tokens-reset: {}\r\n", instant(far))),
    ];
    thread::scope(|scope| {
        for (shape, headers) in forms {
            scope.spawn(move || Setup::start(shape, &headers, None).stays_alone(&headers));
        }
    });
}

#[test]
fn a_provider_that_tells_the_time_in_the_body_is_left_alone_as_long() {
    let array: &str = format!("[{RETRY_INFO}]").leak();
    let forms = [(Shape::Generate, RETRY_INFO), (Shape::Generate, array), (Shape::Chat, WORDS)];
    thread::scope(|scope| {
        for (shape, body) in forms {
            scope.spawn(move || Setup::start(shape, "", Some(body)).stays_alone(body));
        }
    });
}

#[test]
fn the_body_is_read_for_it_also_where_no_other_target_is_left() {
    let setup = Setup::start(Shape::Generate, "", Some(RETRY_INFO));
    for client in [Shape::Generate, Shape::Chat] {
        assert_eq!(setup.ask(client, "alone").status, 429);
    }
    let told = Instant::now();
    wait::until("the time for which a credential rests unasked twice", || {
        assert!(!setup.asks_the_busy_one(), "asked again after {:?}", told.elapsed());
        (told.elapsed() > UNTOLD * 2).then_some(())
    });
}

#[test]
fn a_client_over_http_2_gets_the_answer_of_the_next_target() {
    let busy = Faulty::on_request(|_| {
        let head = format!("HTTP/1.1 429 Busy\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", RETRY_INFO.len());
        // The head arrives long before the body tells how long to wait.
        vec![Step::send(head), Step::Pause(Duration::from_millis(200)), Step::send(RETRY_INFO)]
    });
    let setup = Setup::with(Shape::Generate, busy);
    for (client, stream) in [(Shape::Generate, false), (Shape::Chat, true), (Shape::Messages, false)] {
        let before = setup.busy.count();
        let (name, value) = client.credential(KEY);
        let body = client.body("pair", "hi", stream).to_string();
        let answer = Http2::open(setup.gateway.address).post(&client.path("pair", stream), &[(name, &value)], body.as_bytes(), true);
        let told = format!("{client:?}: {}\n{}", answer.head, answer.text());
        assert!(looks_complete(client, &answer, stream), "{told}");
        let asked = setup.busy.count() > before;
        assert_eq!(
            (answer.header("x-svc-attempts"), asked),
            if client == Shape::Generate { (Some("2"), true) } else { (Some("1"), false) },
            "{told}"
        );
    }
    let (name, value) = Shape::Chat.credential(KEY);
    let body = Shape::Chat.body("alone", "hi", false).to_string();
    let answer = Http2::open(setup.gateway.address).post(&Shape::Chat.path("alone", false), &[(name, &value)], body.as_bytes(), true);
    assert!(answer.status == 429 && is_error_body(Shape::Chat, &answer.json()), "{}\n{}", answer.head, answer.text());
}

#[test]
fn a_provider_that_asks_for_less_is_asked_again_sooner() {
    let forms = ["retry-after-ms: 200\r\n", "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 200ms\r\n"];
    for form in forms {
        let setup = Setup::start(Shape::Chat, form, None);
        assert!(setup.asks_the_busy_one());
        let told = Instant::now();
        wait::until(form, || setup.asks_the_busy_one().then_some(()));
        let after = told.elapsed();
        assert!(after >= Duration::from_millis(150), "{form}: not before its time: {after:?}");
        assert!(after < Duration::from_millis(950), "{form}: and not as late as where it had told nothing: {after:?}");
    }
}

#[test]
fn the_next_key_is_asked_before_the_next_target() {
    let busy = Faulty::on_request(|request| {
        let own = request.header("authorization").unwrap_or_default().to_owned();
        if own.ends_with("second") {
            return vec![Step::send(answers::sound(Shape::Chat, false))];
        }
        vec![Step::send(answers::document(429, "application/json", "retry-after: 30\r\n", &answers::error(Shape::Chat, 429)))]
    });
    let good = Upstream::start();
    let first =
        provider("busy", Shape::Chat, &busy.url(), "").replace("[upstream-key-of-busy]", "[upstream-key-first, upstream-key-second]");
    let models = "  - {name: pair, targets: [{provider: busy, model: m}, {provider: chat, model: demo-1, priority: 1}]}\n";
    let gateway = Gateway::start(Options::standard(&good.url()).with_providers(&first).with_models(models).with(STEADY));
    for _ in 0..6 {
        let answer = Shape::Chat.ask(&mut Connection::open(gateway.address), "pair", "hi", false);
        assert_eq!((answer.status, answer.header("x-svc-provider")), (200, Some("busy")), "{}", answer.head);
    }
    let first = |seen: &svc_tests::stub::Asked| seen.header("authorization").is_some_and(|key| key.ends_with("first"));
    let asked: Vec<_> = busy.seen().into_iter().flat_map(|seen| seen.asked).collect();
    assert_eq!((asked.len(), asked.iter().filter(|seen| first(seen)).count()), (7, 1), "the limited key rests");
}

#[test]
fn clients_of_every_shape_learn_when_to_come_again() {
    for shape in Shape::ALL {
        let setup = Setup::start(shape, "retry-after: 5\r\n", None);
        for client in Shape::ALL {
            let answer = setup.ask(client, "alone");
            assert_eq!((answer.status, answer.header("retry-after")), (429, Some("5")), "{client:?} > {shape:?}: {}", answer.head);
        }
    }
    let setup = Setup::start(Shape::Generate, "", Some(RETRY_INFO));
    for client in [Shape::Chat, Shape::Messages] {
        let answer = setup.ask(client, "alone");
        assert_eq!((answer.status, answer.header("retry-after")), (429, Some("5")), "{client:?}: {}", answer.head);
    }
    assert!(setup.ask(Shape::Generate, "alone").text().contains("RetryInfo"), "the vendor's own words pass");
}
