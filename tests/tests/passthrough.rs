//! Every endpoint reaches its provider at the right path with the provider's credential and nothing of the client's.

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::h2c::Http2;
use svc_tests::ports::free_address;
use svc_tests::raw::Connection;
use svc_tests::shapes::Shape;
use svc_tests::upstream::{Seen, Upstream};

type Headers = &'static [(&'static str, &'static str)];

const CANARY: &str = "canary-9f3b1c77-never-leaves";

/// One endpoint: what the client sends and what the provider gets.
struct Row {
    path: String,
    body: Vec<u8>,
    content_type: &'static str,
    target: String,
    credential: (&'static str, &'static str),
}

fn chat(endpoint: &str, body: &Value) -> Row {
    Row {
        path: format!("/v1{endpoint}"),
        body: body.to_string().into_bytes(),
        content_type: "application/json",
        target: format!("/v1{endpoint}"),
        credential: ("authorization", "Bearer upstream-key-chat"),
    }
}

fn form(endpoint: &str, file: &str) -> Row {
    let part = |name: &str, value: &str| format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    let file =
        format!("--b\r\nContent-Disposition: form-data; name=\"{file}\"; filename=\"a.bin\"\r\nContent-Type: image/png\r\n\r\nbytes\r\n");
    let body = [part("model", "chat-model"), part("prompt", "hi"), file, "--b--\r\n".to_owned()].concat();
    Row { body: body.into_bytes(), content_type: "multipart/form-data; boundary=b", ..chat(endpoint, &Value::Null) }
}

fn messages(path: &str, body: &Value, target: &str) -> Row {
    Row { path: path.to_owned(), target: target.to_owned(), credential: ("x-api-key", "upstream-key-messages"), ..chat("", body) }
}

fn generate(path: &str, body: &Value, target: &str) -> Row {
    Row { path: path.to_owned(), target: target.to_owned(), credential: ("x-goog-api-key", "upstream-key-generate"), ..chat("", body) }
}

fn rows() -> Vec<Row> {
    let turns = json!([{"role": "user", "content": "hi"}]);
    let contents = json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]});
    let content = json!({"content": {"parts": [{"text": "hi"}]}});
    let ask = json!({"model": "messages-model", "max_tokens": 5, "messages": turns});
    let count = json!({"model": "messages-model", "messages": turns});
    let mut rows = vec![
        chat("/chat/completions", &json!({"model": "chat-model", "messages": turns})),
        chat("/completions", &json!({"model": "chat-model", "prompt": "hi"})),
        chat("/responses", &json!({"model": "chat-model", "input": "hi"})),
        chat("/embeddings", &json!({"model": "chat-model", "input": "hi"})),
        chat("/moderations", &json!({"model": "chat-model", "input": "hi"})),
        chat("/images/generations", &json!({"model": "chat-model", "prompt": "hi"})),
        chat("/audio/speech", &json!({"model": "chat-model", "input": "hi", "voice": "alloy"})),
        form("/audio/transcriptions", "file"),
        form("/images/edits", "image"),
        messages("/v1/messages", &ask, "/v1/messages"),
        messages("/v1/messages?beta=true", &ask, "/v1/messages?beta=true"),
        messages("/v1/messages?beta=true&other=1", &ask, "/v1/messages?beta=true"),
        messages("/v1/messages/count_tokens", &count, "/v1/messages/count_tokens"),
        messages("/v1/messages/count_tokens?beta=true", &count, "/v1/messages/count_tokens?beta=true"),
        generate("/v1beta/models/generate-model:embedContent", &content, "/v1beta/models/demo-1:embedContent"),
        generate("/v1beta/models/generate-model:countTokens", &contents, "/v1beta/models/demo-1:countTokens"),
        generate(
            "/v1beta/models/generate-model:batchEmbedContents",
            &json!({"requests": [{"model": "models/generate-model", "content": {"parts": [{"text": "hi"}]}}]}),
            "/v1beta/models/demo-1:batchEmbedContents",
        ),
        generate("/v1beta/models/models%2Fgenerate-model:generateContent", &contents, "/v1beta/models/demo-1:generateContent"),
    ];
    for version in ["v1", "v1beta", "v1alpha"] {
        let at = |verb: &str, query: &str| {
            generate(&format!("/{version}/models/generate-model:{verb}{query}"), &contents, &format!("/v1beta/models/demo-1:{verb}{query}"))
        };
        rows.extend([at("generateContent", ""), at("streamGenerateContent", ""), at("streamGenerateContent", "?alt=sse")]);
    }
    rows
}

#[test]
fn every_endpoint_reaches_its_provider_with_the_providers_credential_and_nothing_of_the_clients() {
    let upstream = Upstream::start();
    let options = Options::standard(&upstream.url()).with(&format!("  - {{name: canary, secret: {CANARY}, owner: {{agent: bird}}}}\n"));
    let gateway = Gateway::start(options);
    for row in rows() {
        let separator = if row.path.contains('?') { '&' } else { '?' };
        let places = [
            (row.path.clone(), format!("authorization: Bearer {CANARY}\r\n")),
            (row.path.clone(), format!("x-api-key: {CANARY}\r\nauthorization: Bearer {CANARY}\r\n")),
            (row.path.clone(), format!("api-key: {CANARY}\r\n")),
            (row.path.clone(), format!("x-goog-api-key: {CANARY}\r\nreferer: http://x/?key={CANARY}\r\n")),
            (format!("{}{separator}key={CANARY}", row.path), format!("cookie: session={CANARY}\r\nx-svc-anything: {CANARY}\r\n")),
        ];
        for (path, credential) in places {
            let mut connection = Connection::open(gateway.address);
            connection.send(format!(
                "POST {path} HTTP/1.1\r\nhost: {CANARY}\r\n{credential}content-type: {}\r\ncontent-length: {}\r\nx-forwarded-for: 10.1.2.3\r\nanthropic-dangerous-direct-browser-access: true\r\nuser-agent: {CANARY}\r\n\r\n",
                row.content_type,
                row.body.len()
            ));
            connection.send(&row.body);
            let answer = connection.answer().unwrap_or_else(|| panic!("{path}: no answer"));
            let told = format!("{path}: {}\n{}", answer.head, answer.text());
            assert_eq!(answer.status, 200, "{told}");
            let seen = upstream.newest();
            assert_eq!(seen.target(), row.target, "{told}");
            assert_eq!(seen.header(row.credential.0), Some(row.credential.1), "{told}");
            for name in ["x-svc-provider", "x-svc-model", "x-svc-request-id"] {
                assert!(answer.header(name).is_some_and(|value| !value.is_empty()), "{name} says who answered: {told}");
            }
            assert_eq!(answer.header("x-svc-attempts"), Some("1"), "{told}");
            assert_eq!(answer.header("x-svc-error-code"), None, "{told}");
        }
    }
    for seen in upstream.seen() {
        assert_clean(&seen);
    }
    assert!(!gateway.log().contains(CANARY), "no key is logged");
}

/// Looks for the client's key and for headers that are the client's own business.
fn assert_clean(seen: &Seen) {
    let text = seen.0.to_string();
    assert!(!text.contains(CANARY), "the client's key went to the provider: {text}");
    let credentials = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];
    let given = credentials.iter().filter(|name| seen.header(name).is_some()).count();
    assert_eq!(given, 1, "exactly one credential: {text}");
    for name in ["cookie", "referer", "x-svc-anything", "x-forwarded-for", "anthropic-dangerous-direct-browser-access", "connection", "te"]
    {
        assert_eq!(seen.header(name), None, "{name} is not for the provider: {text}");
    }
    assert!(seen.header("host").is_some_and(|host| host.starts_with("127.0.0.1:")), "the host is the provider's: {text}");
}

#[test]
fn the_messages_vendors_version_and_betas_go_through_unchanged() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    let body = Shape::Messages.body("messages-model", "hi", false).to_string();
    let rows: [(Headers, &str, Option<&str>); 4] = [
        (&[], "2023-06-01", None),
        (&[("anthropic-version", "2026-10-21")], "2026-10-21", None),
        (
            &[("anthropic-version", "2023-06-01"), ("anthropic-beta", "a-2025-01-01,b-2025-02-02")],
            "2023-06-01",
            Some("a-2025-01-01,b-2025-02-02"),
        ),
        (&[("anthropic-version", "1999-01-01")], "1999-01-01", None),
    ];
    for (headers, version, beta) in rows {
        let mut connection = Connection::open(gateway.address);
        let all: Vec<(&str, &str)> = headers.iter().copied().chain([("x-api-key", KEY), ("content-type", "application/json")]).collect();
        connection.post("/v1/messages", &all, &body);
        let answer = connection.answer().expect("an answer");
        let seen = upstream.newest();
        assert_eq!(seen.header("anthropic-version"), Some(version), "{}", answer.text());
        assert_eq!(seen.header("anthropic-beta"), beta);
    }
}

const STATUSES: [u16; 16] = [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 501, 502, 503, 504, 529];

/// A provider and a model of each shape for every status, so that no credential rests for the sake of another row.
fn failing(upstream: &Upstream) -> Options {
    let (mut providers, mut models) = (String::new(), String::new());
    for status in STATUSES {
        for (kind, path, shape) in [("openai", "/v1", "chat"), ("anthropic", "", "messages"), ("gemini", "", "generate")] {
            let (name, url) = (format!("{shape}-{status}"), upstream.url());
            let _ =
                writeln!(providers, "  - {{name: {name}, kind: {kind}, base_url: \"{url}{path}\", keys: [upstream-key-secret-{status}]}}");
            let _ = writeln!(
                models,
                "  - {{name: {name}, targets: [{{provider: {name}, model: \"demo-1;demo:error={status};demo:retry-after=7\"}}]}}"
            );
        }
    }
    Options::standard(&upstream.url()).with_providers(&providers).with_models(&models)
}

#[test]
fn a_providers_error_passes_unless_it_speaks_of_our_credential() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(failing(&upstream));
    for status in STATUSES {
        for (shape, prefix) in [(Shape::Chat, "chat"), (Shape::Messages, "messages"), (Shape::Generate, "generate")] {
            for stream in [false, true] {
                let model = format!("{prefix}-{status}");
                if stream && matches!(status, 401..=403 | 429) {
                    // The credential rests after the first row.
                    continue;
                }
                let answer = shape.ask(&mut Connection::open(gateway.address), &model, "hi", stream);
                let told = format!("{model} stream {stream}: {}\n{}", answer.head, answer.text());
                if matches!(status, 401..=403) {
                    shape.expect_error(&model, &answer, 502, "upstream_unavailable");
                    assert!(!answer.text().contains("asked to be"), "the vendor's words are about our key: {told}");
                    assert!(!answer.text().contains("upstream-key"), "{told}");
                    continue;
                }
                assert_eq!(answer.status, status, "{told}");
                assert_eq!(answer.header("x-svc-error-origin"), Some("upstream"), "{told}");
                assert_eq!(answer.header("retry-after"), Some("7"), "{told}");
                for name in ["x-svc-provider", "x-svc-model", "x-svc-attempts", "x-svc-request-id"] {
                    assert!(answer.header(name).is_some(), "{name}: {told}");
                }
                let body = answer.json();
                let named = match shape {
                    Shape::Chat | Shape::Responses => body["error"]["message"].is_string() && body["error"].get("param").is_some(),
                    Shape::Messages => body["type"] == "error" && body["request_id"].as_str().is_some_and(|id| id.starts_with("req_demo")),
                    Shape::Generate => body["error"]["code"] == status,
                };
                assert!(named, "the body is the provider's own: {told}");
            }
        }
    }
    let log = gateway.log();
    assert!(!log.contains("upstream-key-secret"), "the log names no credential");
}

#[test]
fn a_provider_that_cannot_be_reached_is_told_as_unavailable() {
    let upstream = Upstream::start();
    let nobody = free_address();
    let providers = format!(
        "  - {{name: gone-chat, kind: openai, base_url: \"http://{nobody}/v1\", keys: [k]}}\n  - {{name: gone-messages, kind: anthropic, base_url: \"http://{nobody}\", keys: [k]}}\n  - {{name: gone-generate, kind: gemini, base_url: \"http://{nobody}\", keys: [k]}}"
    );
    let models = "  - {name: gone-chat, targets: [{provider: gone-chat, model: x}]}\n  - {name: gone-messages, targets: [{provider: gone-messages, model: x}]}\n  - {name: gone-generate, targets: [{provider: gone-generate, model: x}]}\n  - {name: rescued, targets: [{provider: gone-chat, model: x}, {provider: chat, model: demo-1, priority: 1}]}";
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_providers(&providers).with_models(models));
    for (shape, model) in [(Shape::Chat, "gone-chat"), (Shape::Messages, "gone-messages"), (Shape::Generate, "gone-generate")] {
        for stream in [false, true] {
            let answer = shape.ask(&mut Connection::open(gateway.address), model, "hi", stream);
            shape.expect_error("refused", &answer, 503, "upstream_unavailable");
            assert!(answer.header("retry-after").is_some(), "a client is told when to come again: {}", answer.head);
        }
    }
    let rescued = Shape::Chat.ask(&mut Connection::open(gateway.address), "rescued", "hi", false);
    assert_eq!(rescued.status, 200, "the next target answers: {}", rescued.text());
    assert_eq!(rescued.header("x-svc-attempts"), Some("2"));
    assert_eq!(rescued.header("x-svc-provider"), Some("chat"));
}

#[test]
fn a_provider_that_stays_silent_or_hangs_up_is_told_as_unavailable() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(
        Options::standard(&upstream.url()).with("timeouts: {connect: 1s, first_byte: 300ms, idle: 300ms}\nbreaker: {enabled: false}\n"),
    );
    for shape in Shape::ALL {
        for stream in [false, true] {
            let asked = Instant::now();
            let silent = shape.ask(&mut Connection::open(gateway.address), shape.model(), "demo:hang", stream);
            assert!(asked.elapsed() < Duration::from_millis(1_500), "the time-out is kept: {:?}", asked.elapsed());
            shape.expect_error("silent", &silent, 504, "upstream_unavailable");
            let reset = shape.ask(&mut Connection::open(gateway.address), shape.model(), "demo:reset", stream);
            shape.expect_error("reset", &reset, 503, "upstream_unavailable");
        }
        let sound = shape.ask(&mut Connection::open(gateway.address), shape.model(), "hi", false);
        assert_eq!(sound.status, 200, "the next request is served: {}", sound.text());
    }
}

#[test]
fn the_first_byte_has_a_deadline_of_its_own() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(
        Options::standard(&upstream.url()).with("timeouts: {connect: 1s, first_byte: 300ms, idle: 10s}\nbreaker: {enabled: false}\n"),
    );
    for shape in Shape::ALL {
        let asked = Instant::now();
        let silent = shape.ask(&mut Connection::open(gateway.address), shape.model(), "demo:hang", false);
        shape.expect_error("silent", &silent, 504, "upstream_unavailable");
        assert!(asked.elapsed() < Duration::from_millis(1_300), "not after {:?}", asked.elapsed());
    }
}

#[test]
fn a_refused_credential_leads_to_the_next_one() {
    let upstream = Upstream::start();
    let providers = format!("  - {{name: two-keys, kind: openai, base_url: \"{}/v1\", keys: [bad-key, good-key]}}", upstream.url());
    let models = "  - {name: two-keys, targets: [{provider: two-keys, model: \"demo-1;demo:error=401;demo:for-key=bad-key\"}]}";
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_providers(&providers).with_models(models));
    for turn in 0..6 {
        let answer = Shape::Chat.ask(&mut Connection::open(gateway.address), "two-keys", "hi", false);
        assert_eq!(answer.status, 200, "request {turn}: the good key serves: {}", answer.text());
    }
    let bad = upstream.seen().iter().filter(|seen| seen.header("authorization") == Some("Bearer bad-key")).count();
    assert!(bad <= 1, "a refused credential rests: {bad} tries");
}

#[test]
fn a_whole_answer_that_breaks_off_becomes_an_error_of_the_shape() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    for shape in Shape::ALL {
        let broken = shape.ask(&mut Connection::open(gateway.address), shape.model(), "demo:cut", false);
        shape.expect_error("cut", &broken, 502, "upstream_unavailable");
        assert!(broken.complete, "{}: nothing of the broken answer is left: {}", shape.name(), broken.text());
    }
}

#[test]
fn a_whole_exchange_has_a_deadline() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()).with("timeouts: {total: 600ms}\n"));
    let endless = "hi demo:chunks=100 demo:slow=100ms";
    for shape in Shape::ALL {
        for http2 in [false, true] {
            let asked = Instant::now();
            let answer = match http2 {
                false => shape.ask(&mut Connection::open(gateway.address), shape.model(), endless, true),
                true => Http2::open(gateway.address).ask(shape, shape.model(), endless, true),
            };
            let case = format!("{} over HTTP/2: {http2}", shape.name());
            assert_eq!(answer.status, 200, "{case}: it begins in time: {}", answer.text());
            assert!(asked.elapsed() < Duration::from_secs(3), "{case}: it does not go on for ever: {:?}", asked.elapsed());
            assert!(answer.text().contains("\"error\""), "{case}: the client is told: {}", answer.text());
        }
    }
}
