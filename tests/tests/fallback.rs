//! Which target serves when others fail: circuit breakers, queues, and failures inside answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{self, Answer};
use svc_tests::request_log::Database;
use svc_tests::stub::{Reply, Stub};
use svc_tests::upstream::Upstream;
use svc_tests::wait;

const GOOD: &str = r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#;

fn start(upstream: &Upstream, providers: &str, more: &str) -> Gateway {
    let models = "  - {name: pair, targets: [{provider: first, model: m}, {provider: chat, model: demo-1, priority: 1}]}\n  \
                    - {name: alone, targets: [{provider: first, model: m}]}\n";
    Gateway::start(Options::standard(&upstream.url()).with_providers(providers).with_models(models).with(more))
}

fn provider(stub: &Stub, more: &str) -> String {
    format!("  - {{name: first, kind: openai, base_url: \"{}/v1\", keys: [upstream-key-chat]{more}}}\n", stub.url())
}

fn ask(gateway: &Gateway, model: &str, stream: bool) -> Answer {
    let body = json!({"model": model, "messages": [{"role": "user", "content": "hi"}], "stream": stream});
    raw::post(gateway.address, "/v1/chat/completions", KEY, &body)
}

fn served_by(answer: &Answer) -> (u16, Option<&str>, Option<&str>) {
    (answer.status, answer.header("x-svc-provider"), answer.header("x-svc-attempts"))
}

#[test]
fn a_provider_that_fails_again_and_again_is_no_longer_asked_until_it_works() {
    let upstream = Upstream::start();
    let works = Arc::new(AtomicBool::new(false));
    let (asked, state) = (Arc::new(AtomicUsize::new(0)), works.clone());
    let count = asked.clone();
    let stub = Stub::start(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        if state.load(Ordering::SeqCst) { Reply::json(200, GOOD) } else { Reply::json(503, json!({"error": {"message": "busy"}})) }
    });
    let breaker = "breaker: {consecutive_failures: 3, open: 1s, max_open: 1s}\n";
    let gateway = start(&upstream, &provider(&stub, ""), breaker);
    for _ in 0..3 {
        assert_eq!(served_by(&ask(&gateway, "pair", false)), (200, Some("chat"), Some("2")));
    }
    gateway.says("circuit open");
    let before = asked.load(Ordering::SeqCst);
    assert_eq!(served_by(&ask(&gateway, "pair", false)), (200, Some("chat"), Some("1")), "it is passed over");
    assert_eq!(asked.load(Ordering::SeqCst), before);
    assert_eq!(ask(&gateway, "alone", false).status, 503, "where nothing else is left it is asked all the same");
    assert_eq!(asked.load(Ordering::SeqCst), before + 1);
    works.store(true, Ordering::SeqCst);
    wait::until("the circuit closes", || {
        let answer = ask(&gateway, "pair", false);
        assert_eq!(answer.status, 200);
        (answer.header("x-svc-provider") == Some("first") && gateway.log().contains("circuit closed")).then_some(())
    });
}

#[test]
fn a_failure_inside_an_answer_is_made_good_by_the_next_target() {
    let error = r#"{"error":{"message":"overloaded","type":"server_error","code":"server_error"}}"#;
    let event = format!("data: {error}\n\n");
    let begun = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
    for (stream, content_type, body) in [
        (true, "text/event-stream", event.clone()),
        (true, "text/event-stream", format!("{begun}{event}")),
        (true, "text/event-stream", begun.to_owned()),
        (true, "text/event-stream", String::new()),
        (false, "application/json", error.to_owned()),
        (false, "application/json", GOOD[..60].to_owned()),
    ] {
        let upstream = Upstream::start();
        let told = body.clone();
        let stub = Stub::start(move |_| Reply {
            status: 200,
            headers: vec![("content-type", content_type.to_owned())],
            body: told.clone().into_bytes(),
        });
        let gateway = start(&upstream, &provider(&stub, ""), "");
        for client in ["/v1/chat/completions", "/v1/messages"] {
            let body_asked = json!({"model": "pair", "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}], "stream": stream});
            let answer = raw::post(gateway.address, client, KEY, &body_asked);
            let told = format!("{client} {body}: {}\n{}", answer.head, answer.text());
            assert_eq!(served_by(&answer), (200, Some("chat"), Some("2")), "{told}");
            assert!(!answer.text().contains("overloaded") && !answer.text().is_empty(), "{told}");
            if !stream {
                assert!(answer.json().is_object(), "{told}");
            }
        }
    }
}

#[test]
fn no_more_requests_than_a_provider_takes_are_there_at_once() {
    let upstream = Upstream::start();
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (running, peak) = (now, most.clone());
    let stub = Stub::start(move |_| {
        peak.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(20));
        running.fetch_sub(1, Ordering::SeqCst);
        Reply::json(200, GOOD)
    });
    let gateway = start(&upstream, &provider(&stub, ", max_concurrency: 3, queue_timeout: 30s"), "");
    thread::scope(|scope| {
        let all: Vec<_> = (0..40).map(|_| scope.spawn(|| ask(&gateway, "alone", false).status)).collect();
        assert!(all.into_iter().all(|one| one.join().expect("it ends") == 200));
    });
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

#[test]
fn a_queue_that_takes_too_long_leads_to_the_next_target() {
    let upstream = Upstream::start();
    let (hold, release) = (Arc::new(AtomicBool::new(true)), Duration::from_millis(5));
    let held = hold.clone();
    let stub = Stub::start(move |_| {
        while held.load(Ordering::SeqCst) {
            thread::sleep(release);
        }
        Reply::json(200, GOOD)
    });
    let gateway = start(&upstream, &provider(&stub, ", max_concurrency: 1, queue_timeout: 200ms"), "");
    thread::scope(|scope| {
        let first = scope.spawn(|| ask(&gateway, "alone", false).status);
        wait::until("the provider is asked", || (stub.asked().len() == 1).then_some(()));
        let second = ask(&gateway, "pair", false);
        assert_eq!(served_by(&second), (200, Some("chat"), Some("2")), "{}", second.text());
        hold.store(false, Ordering::SeqCst);
        assert_eq!(first.join().expect("it ends"), 200);
    });
    let third: Value = ask(&gateway, "pair", false).json();
    assert_eq!(third["choices"][0]["message"]["content"], "hi", "the place is free again");
}

#[test]
fn a_breaker_is_held_as_an_operator_orders() {
    let upstream = Upstream::start();
    let stub = Stub::start(|_| Reply::json(200, GOOD));
    let gateway = start(&upstream, &provider(&stub, ""), "");
    assert_eq!(served_by(&ask(&gateway, "pair", false)), (200, Some("first"), Some("1")));
    let database = Database::open(&gateway.database_url());
    database.execute(
        "INSERT INTO breaker_override (id, provider_id, upstream_model, position, reason, created_by, created_at) \
         SELECT 'held', id, 'm', 'open', 'maintenance', 'test', 0 FROM provider WHERE name = 'first'",
    );
    wait::until("the order is heeded", || (served_by(&ask(&gateway, "pair", false)).1 == Some("chat")).then_some(()));
    let refused = ask(&gateway, "alone", false);
    assert_eq!((refused.status, refused.header("x-svc-error-code")), (503, Some("upstream_unavailable")), "it is not asked at all");
    database.execute("DELETE FROM breaker_override");
    wait::until("the order is over", || (served_by(&ask(&gateway, "pair", false)).1 == Some("first")).then_some(()));
}

#[test]
fn a_models_own_time_outs_go_before_those_of_its_provider() {
    let upstream = Upstream::start();
    let hold = Arc::new(AtomicBool::new(true));
    let held = hold.clone();
    let stub = Stub::start(move |_| {
        while held.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
        Reply::json(200, GOOD)
    });
    let models = "  - {name: hasty, timeouts: {first_byte: 200ms}, targets: [{provider: first, model: m}, {provider: chat, model: demo-1, priority: 1}]}\n";
    let options = Options::standard(&upstream.url()).with_providers(&provider(&stub, "")).with_models(models);
    let gateway = Gateway::start(options);
    assert_eq!(served_by(&ask(&gateway, "hasty", false)), (200, Some("chat"), Some("2")), "the provider has a minute");
    hold.store(false, Ordering::SeqCst);
}
