//! Traces as a collector gets them: spans that link up with the client's and with what the provider was told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc_tests::certificates::certify;
use svc_tests::faulty::{Faulty, Step};
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::otlp::{Collector, Span, Trace};
use svc_tests::raw::{Answer, Connection};
use svc_tests::shapes::Shape;
use svc_tests::stub::Reply;
use svc_tests::upstream::{Seen, Upstream};
use svc_tests::wait;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";
const USED: &str = "demo:in=120 demo:cached=64 demo:out=31 demo:reasoning=12";

struct Stage {
    gateway: Gateway,
    upstream: Upstream,
    collector: Collector,
}

fn options(upstream: &Upstream, endpoint: &str, more: &str) -> Options {
    Options::standard(&upstream.url())
        .with(&format!("breaker: {{enabled: false}}\ntelemetry: {{batch_timeout_ms: 20, traces: {{endpoint: \"{endpoint}\"{more}}}}}\n"))
        .with_models("  - {name: retried, targets: [{provider: chat, model: \"demo-1;demo:error=503\"}, {provider: messages, model: demo-1, priority: 1}]}")
}

impl Stage {
    fn start() -> Self {
        Self::with(Collector::start())
    }

    fn with(collector: Collector) -> Self {
        let upstream = Upstream::start();
        let gateway = Gateway::start(options(&upstream, &collector.url(), ""));
        Self { gateway, upstream, collector }
    }

    fn trace(&self, answer: &Answer) -> Trace {
        self.collector.trace(id(answer))
    }

    /// Asks for a chat completion with further headers.
    fn ask(&self, model: &str, headers: &[(&str, &str)]) -> Answer {
        let authorization = format!("Bearer {KEY}");
        let all = [&[("authorization", authorization.as_str()), ("content-type", "application/json")], headers].concat();
        let mut connection = Connection::open(self.gateway.address);
        connection.post("/v1/chat/completions", &all, Shape::Chat.body(model, "hi", false).to_string());
        connection.answer().expect("an answer")
    }
}

fn id(answer: &Answer) -> &str {
    answer.header("x-svc-request-id").expect("every answer has an id")
}

/// Checks what holds for every trace: ids, times, and what the provider was told by each try.
fn expect_links(trace: &Trace, parent: &str, told: &[Option<Seen>]) {
    let Trace { server, tries } = trace;
    assert_eq!((server.kind, server.parent_span_id.as_str()), (Span::SERVER, parent), "{server:?}");
    assert!(server.start > 1_700_000_000_000_000_000 && server.end > server.start, "{server:?}");
    assert_eq!(server.resource["service.name"], "svc", "{server:?}");
    assert_eq!(tries.len(), told.len(), "{tries:?}");
    let mut before = server.start;
    for (span, told) in tries.iter().zip(told) {
        assert_eq!((span.kind, &span.trace_id), (Span::CLIENT, &server.trace_id), "{span:?}");
        assert_eq!(span.parent_span_id, server.span_id, "{span:?}");
        assert!(span.start >= before && span.end > span.start && span.end <= server.end, "one after the other: {span:?} in {server:?}");
        before = span.end;
        if let Some(told) = told {
            assert_eq!(told.header("traceparent"), Some(&*format!("00-{}-{}-{:02x}", span.trace_id, span.span_id, span.flags & 3)));
        }
    }
}

#[test]
fn a_request_of_every_shape_is_a_span_with_its_try_below() {
    let stage = Stage::start();
    for shape in Shape::ALL {
        for stream in [false, true] {
            let answer = shape.ask(&mut Connection::open(stage.gateway.address), shape.model(), USED, stream);
            assert_eq!(answer.status, 200, "{}", answer.text());
            let trace = stage.trace(&answer);
            expect_links(&trace, "", &[Some(stage.upstream.newest())]);
            let Trace { server, tries } = trace;
            let told = format!("{} stream {stream}: {server:?} {tries:?}", shape.name());
            let operation = if shape == Shape::Generate { "generate_content" } else { "chat" };
            assert_eq!(server.name, format!("{operation} {}", shape.model()), "{told}");
            assert_eq!(tries[0].name, format!("{operation} demo-1"), "{told}");
            assert!(!server.failed() && !tries[0].failed(), "{told}");
            assert_eq!(server.at("http.response.status_code"), 200, "{told}");
            assert_eq!(server.at("gen_ai.request.stream"), if stream { json!(true) } else { Value::Null }, "{told}");
            let provider = [("gen_ai.provider.name"), ("svc.provider"), ("server.address")].map(|name| tries[0].at(name));
            let kind = ["openai", "anthropic", "gcp.gemini"][Shape::ALL.iter().position(|known| *known == shape).unwrap_or(0)];
            assert_eq!(provider, [json!(kind), json!(shape.model().trim_end_matches("-model")), json!("127.0.0.1")], "{told}");
            assert_eq!(tries[0].at("server.port"), stage.upstream.address().port(), "{told}");
            let tokens = ["input_tokens", "output_tokens", "cache_read.input_tokens", "reasoning.output_tokens"];
            let tokens = tokens.map(|name| tries[0].at(&format!("gen_ai.usage.{name}")));
            assert_eq!(tokens[1..], [json!(31), json!(64), json!(12)], "{told}");
            assert!(tokens[0].as_u64() >= Some(105), "all of the prompt, cached or not: {told}");
            assert_eq!(server.at("gen_ai.usage.input_tokens"), Value::Null, "told once: {told}");
            assert!(tries[0].at("gen_ai.response.finish_reasons")[0].is_string(), "{told}");
            assert_eq!(tries[0].at("gen_ai.response.time_to_first_chunk").is_f64(), stream, "{told}");
        }
    }
    let said = format!("{:?}", stage.collector.spans());
    assert!(!said.contains("demo:in") && !said.contains("You said"), "nothing of prompts and answers");
}

#[test]
fn a_translated_request_and_one_that_falls_back_have_a_span_for_each_try() {
    let stage = Stage::start();
    let answer = stage.ask("messages-model", &[]);
    expect_links(&stage.trace(&answer), "", &[Some(stage.upstream.newest())]);

    let answer = stage.ask("retried", &[]);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let trace = stage.trace(&answer);
    let [first, second] = <[Seen; 2]>::try_from(stage.upstream.last(2)).expect("both were asked");
    expect_links(&trace, "", &[Some(first), Some(second)]);
    let [first, second] = &trace.tries[..] else { panic!("{trace:?}") };
    assert_eq!((first.at("http.response.status_code"), first.at("error.type"), first.failed()), (json!(503), json!("503"), true));
    assert_eq!((second.at("http.response.status_code"), second.at("error.type"), second.failed()), (json!(200), Value::Null, false));
    assert_eq!((second.at("gen_ai.provider.name"), second.at("http.request.resend_count")), (json!("anthropic"), json!(1)));
    assert_ne!(first.span_id, second.span_id);
    assert!(!trace.server.failed(), "the client saw none of it");
}

#[test]
fn a_trace_goes_on_where_the_client_began_it() {
    let stage = Stage::start();
    let parent = format!("00-{TRACE}-{SPAN}-01");
    let answer = stage.ask("chat-model", &[("traceparent", &parent), ("tracestate", "a=1"), ("tracestate", "b=2")]);
    let trace = stage.trace(&answer);
    expect_links(&trace, SPAN, &[Some(stage.upstream.newest())]);
    assert_eq!((trace.server.trace_id.as_str(), trace.server.trace_state.as_str()), (TRACE, "a=1,b=2"));
    assert_eq!((trace.server.flags, trace.tries[0].flags), (0x301, 0x101), "only the client is another process");
    assert_eq!(stage.upstream.newest().header("tracestate"), Some("a=1,b=2"));

    for wrong in [format!("00-{TRACE}-{SPAN}-1"), format!("00-{}-{SPAN}-01", TRACE.to_uppercase()), "nonsense".to_owned()] {
        let answer = stage.ask("chat-model", &[("traceparent", &wrong), ("tracestate", "a=1")]);
        let trace = stage.trace(&answer);
        expect_links(&trace, "", &[Some(stage.upstream.newest())]);
        assert_ne!(trace.server.trace_id, TRACE, "{wrong}");
        assert_eq!(stage.upstream.newest().header("tracestate"), None, "{wrong}");
    }
}

#[test]
fn what_the_client_does_not_record_is_not_recorded_here() {
    let stage = Stage::start();
    let unsampled = stage.ask("chat-model", &[("traceparent", &format!("00-{TRACE}-{SPAN}-00"))]);
    let told = stage.upstream.newest().header("traceparent").expect("the trace goes on all the same").to_owned();
    assert!(told.starts_with(&format!("00-{TRACE}-")) && told.ends_with("-00") && !told.contains(SPAN), "{told}");
    let _ = stage.trace(&stage.ask("chat-model", &[]));
    let ids: Vec<_> = stage.collector.spans().iter().map(|span| span.at("svc.request_id")).collect();
    assert!(!ids.contains(&json!(id(&unsampled))), "later requests have arrived, this one never does: {ids:?}");

    let upstream = Upstream::start();
    let gateway = Gateway::start(options(&upstream, &stage.collector.url(), ", sample_ratio: 0, service_name: none"));
    let stage = Stage { gateway, upstream, ..stage };
    let dropped = stage.ask("chat-model", &[]);
    let kept = stage.ask("chat-model", &[("traceparent", &format!("00-{TRACE}-{SPAN}-01"))]);
    assert_eq!(stage.trace(&kept).server.resource["service.name"], "none");
    let ids: Vec<_> = stage.collector.spans().iter().map(|span| span.at("svc.request_id")).collect();
    assert!(!ids.contains(&json!(id(&dropped))), "{ids:?}");
}

#[test]
fn failures_are_told_with_their_reason() {
    let stage = Stage::start();
    let mut connection = Connection::open(stage.gateway.address);
    Shape::Chat.send(&mut connection, "test-key-nobody-000", "chat-model", "hi", false);
    let refused = stage.trace(&connection.answer().expect("an answer"));
    expect_links(&refused, "", &[]);
    assert_eq!((refused.server.at("error.type"), refused.server.failed()), (json!("key_not_found"), true));
    assert_eq!(refused.server.at("http.response.status_code"), 401);

    let answer = Shape::Chat.ask(&mut Connection::open(stage.gateway.address), "chat-model", "demo:error=400", false);
    let passed = stage.trace(&answer);
    assert_eq!((passed.server.at("error.type"), passed.tries[0].at("error.type")), (json!("400"), json!("400")));
    assert!(passed.server.failed() && passed.tries[0].failed());

    let answer = Shape::Chat.ask(&mut Connection::open(stage.gateway.address), "chat-model", "demo:reset", false);
    let reset = stage.trace(&answer);
    assert_eq!(reset.server.at("error.type"), "upstream_unavailable");
    assert!(reset.tries.iter().all(|span| span.failed() && span.at("http.response.status_code").is_null()), "{reset:?}");

    let mut connection = Connection::open(stage.gateway.address);
    Shape::Messages.send(&mut connection, KEY, "messages-model", "demo:cut=6 demo:chunks=20", true);
    let broken = stage.trace(&connection.answer().expect("an answer that began"));
    assert_eq!((broken.server.at("http.response.status_code"), broken.server.at("error.type")), (json!(200), json!("closed")));
    assert!(broken.server.failed() && broken.tries[0].failed(), "{broken:?}");

    let mut connection = Connection::open(stage.gateway.address);
    Shape::Messages.send(&mut connection, KEY, "messages-model", "demo:slow=20ms demo:chunks=10000", true);
    let head = connection.begin().expect("a head");
    assert!(connection.piece().is_some_and(|piece| !piece.is_empty()), "the stream runs");
    drop(connection);
    let left = stage.trace(&head);
    expect_links(&left, "", &[None]);
    assert_eq!((left.server.at("error.type"), left.server.failed()), (json!("client_gone"), true));
    assert_eq!(left.tries[0].at("error.type"), "client_gone");
}

#[test]
fn without_traces_the_clients_own_goes_on_unchanged() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    let stage = Stage { gateway, upstream, collector: Collector::start() };
    let parent = format!("00-{TRACE}-{SPAN}-01");
    for model in ["chat-model", "messages-model"] {
        stage.ask(model, &[("traceparent", &parent), ("tracestate", "a=1")]);
        let seen = stage.upstream.newest();
        assert_eq!((seen.header("traceparent"), seen.header("tracestate")), (Some(parent.as_str()), Some("a=1")), "{model}");
        for headers in [vec![], vec![("traceparent", "nonsense"), ("tracestate", "a=1")], vec![("tracestate", "a=1")]] {
            stage.ask(model, &headers);
            let seen = stage.upstream.newest();
            assert_eq!((seen.header("traceparent"), seen.header("tracestate")), (None, None), "{model} {headers:?}");
        }
    }
}

#[test]
fn calls_are_such_as_a_collector_expects() {
    let folder = tempfile::tempdir().expect("a folder");
    certify(folder.path(), "IP:127.0.0.1,DNS:localhost", 2);
    let upstream = Upstream::start();
    let collector = Collector::start();
    let more = ", headers: {authorization: \"Bearer secret-of-the-collector\", X-Scope: team}";
    let gateway = Gateway::start(options(&upstream, &collector.url(), more));
    for _ in 0..20 {
        Shape::Chat.ask(&mut Connection::open(gateway.address), "chat-model", "hi", false);
    }
    let call = wait::until("a call", || collector.calls().pop());
    assert_eq!((call.method.as_str(), call.target.as_str()), ("POST", "/v1/traces"));
    assert_eq!(call.header("content-type"), Some("application/x-protobuf"));
    assert_eq!((call.header("authorization"), call.header("x-scope")), (Some("Bearer secret-of-the-collector"), Some("team")));
    wait::until("every span", || (collector.spans().len() == 40).then_some(()));
    assert!(collector.calls().len() < 10, "spans are sent together: {} calls", collector.calls().len());
    assert!(!gateway.log().contains("secret-of-the-collector"));

    let tls = Upstream::start_tls(folder.path().join("leaf.pem"), folder.path().join("leaf.key"));
    let ca = folder.path().join("ca.pem");
    let trusting = Gateway::start(options(&upstream, &tls.url(), &format!(", ca: {}", ca.display())));
    Shape::Chat.ask(&mut Connection::open(trusting.address), "chat-model", "hi", false);
    // No collector listens there, but its answer shows that the certificate was believed.
    trusting.says("it refuses them with 401");
    let wary = Gateway::start(options(&upstream, &tls.url(), ""));
    Shape::Chat.ask(&mut Connection::open(wary.address), "chat-model", "hi", false);
    wary.says("does not take spans: ");
    assert!(!wary.log().contains("refuses"), "a certificate of nobody's is not believed");
    let refused = Gateway::refuse(&options(&upstream, &tls.url(), ", ca: /nowhere/ca.pem"));
    assert!(refused.contains("/nowhere/ca.pem"), "{refused}");
}

#[test]
fn spans_wait_while_the_collector_is_busy() {
    let (busy, refusals) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let (asked, refused) = (busy.clone(), refusals.clone());
    let stage = Stage::with(Collector::answering(move |_| {
        if asked.load(Ordering::SeqCst) {
            refused.fetch_add(1, Ordering::SeqCst);
            return Reply::json(503, "{}").with("retry-after", 1);
        }
        Reply::json(200, "{}")
    }));
    let answer = stage.ask("chat-model", &[]);
    wait::until("two refusals", || (refusals.load(Ordering::SeqCst) >= 2).then_some(()));
    stage.gateway.says("does not take spans: it answers 503");
    busy.store(false, Ordering::SeqCst);
    let before = stage.collector.calls().len();
    wait::until("another call", || (stage.collector.calls().len() > before).then_some(()));
    stage.gateway.says("takes spans again");
    let same: Vec<_> = stage.collector.spans().into_iter().filter(|span| span.at("svc.request_id") == id(&answer)).collect();
    assert!(same.len() > 2 && same.iter().all(|span| *span == same[0]), "the same span, again and again: {same:?}");
}

#[test]
fn a_collector_that_hangs_costs_bounded_memory_and_no_request() {
    let silent = Faulty::on_request(|_| vec![Step::Hang]);
    let upstream = Upstream::start();
    let mut gateway = Gateway::start(options(&upstream, &silent.url(), ""));
    Shape::Chat.ask(&mut Connection::open(gateway.address), "chat-model", "hi", false);
    silent.wait_asked(1);
    let before = gateway.resident_kib();
    let path = format!("/nowhere/{}", "x".repeat(1000));
    let address = gateway.address;
    let threads: Vec<_> = (0..4)
        .map(|_| {
            thread::spawn({
                let path = path.clone();
                move || {
                    for _ in 0..4 {
                        let mut connection = Connection::open(address);
                        for _ in 0..900 {
                            connection.send(format!("GET {path} HTTP/1.1\r\nhost: gateway\r\n\r\n"));
                            assert_eq!(connection.answer().expect("an answer").status, 404);
                        }
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("every request is answered");
    }
    let began = Instant::now();
    let answer = Shape::Chat.ask(&mut Connection::open(gateway.address), "chat-model", "hi", false);
    assert!(answer.status == 200 && began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    gateway.says("spans were lost");
    let grown = gateway.resident_kib().saturating_sub(before);
    assert!(grown < 96 << 10, "{grown} KiB more for 16 MiB of spans");
    gateway.terminate();
    gateway.wait_ended(Duration::from_secs(20));
}

#[test]
fn the_last_spans_are_sent_before_the_end_and_those_of_a_crash_at_the_next_start() {
    let mut stage = Stage::start();
    let answer = stage.ask("chat-model", &[]);
    stage.gateway.terminate();
    stage.gateway.wait_ended(Duration::from_secs(20));
    let last = id(&answer);
    assert!(stage.collector.spans().iter().any(|span| span.at("svc.request_id") == last), "it was sent when the process ended");

    stage.gateway.restart();
    let mut connection = Connection::open(stage.gateway.address);
    Shape::Chat.send(&mut connection, KEY, "chat-model", "demo:hang-after=2", true);
    let head = connection.begin().expect("a head");
    stage.gateway.kill();
    stage.gateway.restart();
    let trace = stage.trace(&head);
    assert_eq!((trace.server.at("svc.outcome"), trace.server.failed()), (json!("interrupted"), true));
}

#[test]
fn a_wrong_setting_is_refused_with_its_place() {
    let upstream = Upstream::start();
    for (more, place) in [
        (", sample_ratio: 1.5", "telemetry.traces.sample_ratio"),
        (", service_name: \"\"", "telemetry.traces.service_name"),
        (", headers: {host: x}", "telemetry.traces.headers.host"),
    ] {
        let said = Gateway::refuse(&options(&upstream, "http://127.0.0.1:4318", more));
        assert!(said.contains(place), "{said}");
    }
    let said = Gateway::refuse(&options(&upstream, "collector:4317", ""));
    assert!(said.contains("telemetry.traces.endpoint"), "{said}");
}
