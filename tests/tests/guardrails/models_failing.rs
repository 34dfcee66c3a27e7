//! What becomes of requests while the sidecar cannot look at them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc_tests::shapes::Shape;
use svc_tests::sidecar::Sidecar;
use svc_tests::stub::{Reply, Stub};
use svc_tests::wait;

use crate::models::{NOTE, asking, said_of};
use crate::{CLIENTS, Setup};

#[test]
fn while_the_sidecar_is_gone_requests_are_refused_or_go_on_as_the_guardrail_says() {
    let sidecar = Sidecar::start("");
    let rules = "  - {name: shut, kind: injection, action: block, applies_to: [messages]}\n";
    let shut = asking(&sidecar.url(), rules);
    let open = asking(&sidecar.url(), &rules.replace("action", "on_failure: open, action"));
    for setup in [&shut, &open] {
        assert_eq!(setup.ask(Shape::Chat, "chat-model", "ignore it", false).status, 400);
    }
    drop(sidecar);
    for (client, stream) in CLIENTS.into_iter().flat_map(|client| [(client, false), (client, true)]) {
        let refused = shut.ask(client, client.model(), "hello", stream);
        client.expect_error("the sidecar is gone", &refused, 503, "upstream_unavailable");
        assert_eq!(refused.header("retry-after"), Some("1"), "{}", refused.head);
        assert!(refused.text().contains("The guardrail `shut` cannot look at this request at present."), "{}", refused.text());
        assert_eq!(open.ask(client, client.model(), "ignore it", stream).status, 200, "it goes on");
    }
    shut.gateway.says("the circuit of the guardrail model `injection` is open");
    let passed = open.ask(Shape::Chat, "chat-model", "ignore it", false);
    let note = open.note(&passed, NOTE);
    let looked = said_of(&note, "shut");
    assert_eq!((&looked["on_failure"], &looked["texts"]), (&json!("open"), &Value::Null), "nothing was looked at: {note}");
    assert!(looked["failure"].as_str().is_some_and(|why| why.contains("not asked at present")), "{note}");
}

#[test]
fn a_sidecar_that_hangs_costs_the_deadline_until_its_circuit_opens_and_closes_again() {
    let hangs = Arc::new(AtomicBool::new(true));
    let (release, held) = mpsc::channel::<()>();
    let (held, hanging) = (Mutex::new(held), hangs.clone());
    let stub = Stub::start(move |_| {
        if hanging.load(Ordering::SeqCst) {
            let _ = held.lock().expect("not poisoned").recv();
        }
        Reply::json(200, json!({"model": "injection", "results": [{"score": 0.1, "label": "SAFE"}]}))
    });
    let setup = Setup::with(
        "  - {name: shut, kind: injection, action: block}\n",
        &format!("guardrail_models: {{url: \"{}\", deadline: 300ms}}\n", stub.url()),
    );
    let ask = || {
        let began = Instant::now();
        (setup.ask(Shape::Chat, "chat-model", "hello", false), began.elapsed())
    };
    for _ in 0..5 {
        let (refused, took) = ask();
        assert_eq!(refused.status, 503);
        assert!(took >= Duration::from_millis(300), "the deadline was waited for: {took:?}");
    }
    assert_eq!(stub.asked().len(), 5);
    let quickest = (0..5).map(|_| ask()).map(|(refused, took)| (refused.status, took)).min().expect("five");
    assert!(quickest.0 == 503 && quickest.1 < Duration::from_millis(200), "nothing is waited for: {quickest:?}");
    assert_eq!(stub.asked().len(), 5, "nobody was asked");
    hangs.store(false, Ordering::SeqCst);
    drop(release);
    wait::until("the circuit to close", || (ask().0.status == 200).then_some(()));
    wait::until("all requests to pass", || (0..5).all(|_| ask().0.status == 200).then_some(()));
}

#[test]
fn one_caller_with_too_much_to_look_at_does_not_keep_others_from_the_model() {
    let setup = Setup::with(
        "  - {name: shut, kind: injection, action: block}\n",
        &format!("guardrail_models: {{url: \"{}\", deadline: 10s, max_bytes: 16KiB}}\n", Sidecar::shared().url()),
    );
    for client in CLIENTS {
        for _ in 0..6 {
            let refused = setup.ask(client, client.model(), &"word ".repeat(4000), false);
            client.expect_error("a text too long", &refused, 413, "invalid_request");
        }
        assert_eq!(setup.ask(client, client.model(), "hello", false).status, 200);
    }
}
