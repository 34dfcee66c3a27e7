//! What the gateway refuses, in which words, in each client shape.

use std::time::{Duration, Instant};

use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{Answer, Connection};
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;

const JSON: (&str, &str) = ("content-type", "application/json");
/// The bound this file's gateway has on bodies.
const MAX_BODY: usize = 1 << 20;

fn start(upstream: &Upstream) -> Gateway {
    Gateway::start(
        Options::standard(&upstream.url())
            .with_server("  max_body: 1MiB\n")
            .with_models("  - {name: secret-model, targets: [{provider: chat, model: demo-1}]}")
            .with("breaker: {enabled: false}\n"),
    )
}

/// One request that has to be refused.
struct Case {
    name: &'static str,
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    status: u16,
    code: &'static str,
}

impl Case {
    fn new(shape: Shape, name: &'static str, body: impl Into<Vec<u8>>, status: u16, code: &'static str) -> Self {
        let headers = vec![shape.credential(KEY), (JSON.0, JSON.1.to_owned())];
        Self { name, method: "POST", path: shape.path(shape.model(), false), headers, body: body.into(), status, code }
    }

    fn at(mut self, method: &'static str, path: impl Into<String>) -> Self {
        self.method = method;
        self.path = path.into();
        self
    }

    fn headers(mut self, headers: &[(&'static str, &str)]) -> Self {
        self.headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self
    }

    fn send(&self, connection: &mut Connection) -> Option<Answer> {
        let mut head = format!("{} {} HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n", self.method, self.path, self.body.len());
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        connection.send(format!("{head}\r\n"));
        connection.send(&self.body);
        connection.answer()
    }
}

fn sound(shape: Shape) -> String {
    shape.body(shape.model(), "hello", false).to_string()
}

/// A body with a member before the sound ones.
fn with_member(shape: Shape, member: &str) -> String {
    sound(shape).replacen('{', &format!("{{{member},"), 1)
}

/// An object whose deepest value lies at `depth`.
fn nested(shape: Shape, depth: usize) -> String {
    let arrays = depth - 1;
    with_member(shape, &format!("\"metadata\":{}{}", "[".repeat(arrays), "]".repeat(arrays)))
}

fn malformed(shape: Shape) -> Vec<Case> {
    let refused = |name, body: String| Case::new(shape, name, body, 400, "invalid_request");
    let model = shape.model();
    let twice = |second: &str| with_member(shape, &format!("\"model\":\"{model}\",\"{second}\":\"{model}\""));
    vec![
        refused("malformed JSON", sound(shape).replace('}', "")),
        refused("an empty body", String::new()),
        refused("an array", "[]".to_owned()),
        refused("trailing bytes", sound(shape) + "x"),
        refused("a second document", sound(shape) + &sound(shape)),
        refused("a duplicate model", twice("model")),
        refused("a duplicate model written with an escape", twice("mod\\u0065l")),
        refused("NaN", with_member(shape, "\"temperature\":NaN")),
        refused("a lone surrogate as model", with_member(shape, "\"model\":\"\\ud800\"")),
        refused("JSON of depth 129", nested(shape, 129)),
        refused("a body of 0xff", String::new()).with_body(vec![0xff, 0xfe]),
    ]
}

impl Case {
    fn with_body(mut self, body: Vec<u8>) -> Self {
        self.body = body;
        self
    }
}

fn misdirected(shape: Shape) -> Vec<Case> {
    let body = sound(shape);
    let unknown = shape.body("no-such-model", "hello", false).to_string();
    let missing = match shape {
        Shape::Generate => {
            Case::new(shape, "no model in the path", body.clone(), 400, "invalid_request").at("POST", "/v1beta/models/:generateContent")
        }
        _ => Case::new(shape, "no model", body.replace(&format!("\"model\":\"{}\",", shape.model()), ""), 400, "invalid_request"),
    };
    let nowhere = match shape {
        Shape::Chat => "/v1/chat/completion",
        Shape::Responses => "/v1/response",
        Shape::Messages => "/v1/messages/nothing",
        Shape::Generate => "/v1beta/models/generate-model:predict",
    };
    let text = shape.credential(KEY);
    let mut cases = vec![
        Case::new(shape, "a wrong content type", body.clone(), 415, "invalid_request")
            .headers(&[(text.0, &text.1), ("content-type", "text/plain")]),
        missing,
        Case::new(shape, "an unknown model", unknown, 404, "model_not_found").at("POST", shape.path("no-such-model", false)),
        Case::new(shape, "an unknown path", body.clone(), 404, "invalid_request").at("POST", nowhere),
        Case::new(shape, "a path in another case", body.clone(), 404, "invalid_request")
            .at("POST", shape.path(shape.model(), false).replacen("/v1", "/V1", 1)),
        Case::new(shape, "a wrong method", "", 405, "invalid_request").at("GET", shape.path(shape.model(), false)),
        Case::new(shape, "another wrong method", "", 405, "invalid_request").at("DELETE", shape.path(shape.model(), false)),
        Case::new(shape, "a body over the limit", vec![b' '; MAX_BODY + 1], 413, "invalid_request"),
    ];
    // A path in capitals says nothing of its shape.
    cases.retain(|case| case.name != "a path in another case" || shape == Shape::Chat);
    if shape == Shape::Generate {
        let other = with_member(shape, "\"model\":\"chat-model\"");
        cases.push(Case::new(shape, "a body that contradicts the path", other, 400, "invalid_request"));
        cases.push(
            Case::new(shape, "a path that leaves its place", body, 400, "invalid_request")
                .at("POST", "/v1beta/models/..%2fadmin:generateContent"),
        );
    }
    cases
}

fn unwelcome(shape: Shape) -> Vec<Case> {
    let case = |name, status, code, headers: &[(&'static str, &str)]| {
        let headers: Vec<(&'static str, &str)> = headers.iter().copied().chain([JSON]).collect();
        Case::new(shape, name, sound(shape), status, code).headers(&headers)
    };
    let forbidden = shape.body("secret-model", "hello", false).to_string();
    let limited = shape.credential("test-key-limited-01");
    let (own, limited) = (shape.credential(KEY).0, limited.1);
    let bearer = |key: &str| format!("Bearer {key}");
    vec![
        case("no key", 401, "key_not_found", &[]),
        case("an empty key", 401, "key_not_found", &[("x-api-key", "")]),
        case("an unknown key", 401, "key_not_found", &[("authorization", &bearer("test-key-nobody-000"))]),
        case(
            "a minted key with a wrong checksum",
            401,
            "key_not_found",
            &[("authorization", &bearer(&format!("sk-svc-{}-{}", "a".repeat(12), "b".repeat(49))))],
        ),
        case("a malformed key", 401, "key_not_found", &[("authorization", &bearer("sk-svc-nonsense"))]),
        case("another scheme", 401, "key_not_found", &[("authorization", "Basic dGVzdC1rZXktMDEyMzQ1Njc4OTo=")]),
        case("a key of other bytes", 401, "key_not_found", &[("x-api-key", "k\u{e9}y")]),
        case("two different keys", 401, "key_not_found", &[("authorization", &bearer(KEY)), ("x-api-key", "test-key-limited-01")]),
        case("a disabled key", 403, "key_disabled", &[("authorization", &bearer("test-key-disabled-1"))]),
        case("an expired key", 403, "key_disabled", &[("authorization", &bearer("test-key-expired-01"))]),
        case("a key of other models", 403, "model_not_allowed", &[(own, &limited)])
            .with_body(forbidden.into_bytes())
            .at("POST", shape.path("secret-model", false)),
    ]
}

#[test]
fn every_refusal_has_its_status_code_and_envelope_in_every_shape() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for shape in Shape::ALL {
        for case in malformed(shape).into_iter().chain(misdirected(shape)).chain(unwelcome(shape)) {
            let mut connection = Connection::open(gateway.address);
            let answer = case.send(&mut connection).unwrap_or_else(|| panic!("{} / {}: no answer", shape.name(), case.name));
            shape.expect_error(case.name, &answer, case.status, case.code);
            if case.status == 405 {
                assert_eq!(answer.header("allow"), Some("POST"), "a wrong method is told the right one: {}", case.name);
            }
        }
    }
    assert_eq!(upstream.count(), 0, "nothing that was refused reached the provider");
    for shape in Shape::ALL {
        let answer = shape.ask(&mut Connection::open(gateway.address), shape.model(), "still there?", false);
        assert_eq!(answer.status, 200, "the gateway serves on after all refusals: {}", answer.text());
        assert_eq!(shape.text(&answer.json()), "You said: still there?");
    }
}

#[test]
fn a_refusal_leaves_the_connection_usable_where_the_body_was_read() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for shape in Shape::ALL {
        let mut connection = Connection::open(gateway.address);
        for length in [0, 60_000, 70_000, 400_000] {
            let case = Case::new(shape, "malformed JSON", format!("{}{{", " ".repeat(length)), 400, "invalid_request");
            shape.expect_error(case.name, &case.send(&mut connection).expect("an answer"), 400, case.code);
        }
        let answer = shape.ask(&mut connection, shape.model(), "again", false);
        assert_eq!(answer.status, 200, "the next request of the connection is served: {}", answer.text());
    }
}

#[test]
fn json_of_depth_128_is_accepted() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for shape in Shape::ALL {
        let before = upstream.count();
        let case = Case::new(shape, "depth 128", nested(shape, 128), 200, "");
        let answer = case.send(&mut Connection::open(gateway.address)).expect("an answer");
        assert_ne!(answer.header("x-svc-error-origin"), Some("gateway"), "the bound itself is allowed: {}", answer.text());
        assert_eq!(upstream.count(), before + 1, "and the request reaches the provider");
    }
}

#[test]
fn a_chunked_body_over_the_limit_is_refused() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for shape in Shape::ALL {
        for size in [1_000, 65_536, 400_000] {
            let mut connection = Connection::open(gateway.address);
            let (name, value) = shape.credential(KEY);
            let body = vec![b' '; MAX_BODY + 1];
            connection.post_chunked(&shape.path(shape.model(), false), &[(name, &value), JSON], body, size);
            shape.expect_error("chunked", &connection.answer().expect("an answer"), 413, "invalid_request");
        }
    }
}

#[test]
fn a_body_of_exactly_the_limit_is_accepted() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for shape in Shape::ALL {
        let mut body = sound(shape).into_bytes();
        body.resize(MAX_BODY, b' ');
        let answer = Case::new(shape, "the limit", body, 200, "").send(&mut Connection::open(gateway.address)).expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

#[test]
fn an_unwelcome_client_is_answered_before_its_body_is_taken() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for shape in Shape::ALL {
        let (name, value) = shape.credential("test-key-nobody-000");
        let head = |extra: &str| {
            format!(
                "POST {} HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\ncontent-type: application/json\r\n{name}: {value}\r\n{extra}\r\n",
                shape.path(shape.model(), false),
                10 << 20
            )
        };
        let mut waiting = Connection::open(gateway.address);
        waiting.send(head("expect: 100-continue\r\n"));
        let first = waiting.read_head().expect("an answer");
        assert!(first.starts_with("HTTP/1.1 401"), "a client that asks first is not invited: {first}");

        let mut slow = Connection::open(gateway.address);
        slow.send(head(""));
        slow.send(vec![b' '; 1024]);
        let asked = Instant::now();
        shape.expect_error("a slow body", &slow.answer().expect("an answer"), 401, "key_not_found");
        assert!(asked.elapsed() < Duration::from_secs(1), "the answer does not wait for the body: {:?}", asked.elapsed());
    }
}

#[test]
fn a_client_that_sends_its_whole_body_first_still_reads_the_refusal() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for shape in Shape::ALL {
        let mut connection = Connection::open(gateway.address);
        let (name, value) = shape.credential("test-key-nobody-000");
        connection.post(&shape.path(shape.model(), false), &[(name, &value), JSON], vec![b' '; 10 << 20]);
        shape.expect_error("10 MiB", &connection.answer().expect("the answer is not cut off"), 401, "key_not_found");
    }
}

#[test]
fn a_key_is_found_wherever_sdks_put_it() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for shape in Shape::ALL {
        let path = shape.path(shape.model(), false);
        let bearer = format!("Bearer {KEY}");
        let places: [(String, Vec<(&str, &str)>); 7] = [
            (path.clone(), vec![("authorization", &bearer)]),
            (path.clone(), vec![("x-api-key", KEY)]),
            (path.clone(), vec![("api-key", KEY)]),
            (path.clone(), vec![("x-goog-api-key", KEY)]),
            (format!("{path}?key={KEY}"), vec![]),
            (format!("{path}?key="), vec![("x-api-key", KEY)]),
            (path.clone(), vec![("authorization", &bearer), ("x-api-key", KEY)]),
        ];
        for (path, headers) in places {
            let mut connection = Connection::open(gateway.address);
            let headers: Vec<(&str, &str)> = headers.into_iter().chain([JSON]).collect();
            connection.post(&path, &headers, sound(shape));
            let answer = connection.answer().expect("an answer");
            assert_eq!(answer.status, 200, "{path} {headers:?}: {}", answer.text());
        }
    }
}
