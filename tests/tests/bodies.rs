//! Request bodies of every size and framing arrive at the provider as the client sent them, but for the model's name.

use std::io::Write;

use sha2::{Digest, Sha256};
use svc_tests::gateway::{Gateway, Options};
use svc_tests::h2c::Http2;
use svc_tests::raw::{Answer, Connection};
use svc_tests::shapes::Shape;
use svc_tests::upstream::{Seen, Upstream};

const SIZES: [usize; 8] = [512, 63 << 10, 64 << 10, 65 << 10, 128 << 10, 1 << 20, 3 << 20, 20 << 20];
const JSON: (&str, &str) = ("content-type", "application/json");
const BEARER: &str = "Bearer test-key-0123456789";

/// A body of exactly `size` bytes whose filler is not in the text that is repeated.
fn body(shape: Shape, size: usize) -> Vec<u8> {
    let (before, after) = match shape {
        Shape::Chat => (r#"{"messages":[{"role":"system","content":""#, r#""},{"role":"user","content":"hello"}],"model":"chat-model"}"#),
        Shape::Responses => (r#"{"instructions":""#, r#"","input":"hello","model":"chat-model"}"#),
        Shape::Messages => {
            (r#"{"system":""#, r#"","max_tokens":64,"messages":[{"role":"user","content":"hello"}],"model":"messages-model"}"#)
        }
        Shape::Generate => {
            (r#"{"systemInstruction":{"parts":[{"text":""#, r#""}]},"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#)
        }
    };
    let filler = size - before.len() - after.len();
    let text: String = (0..filler).map(|at| char::from(b'a' + u8::try_from(at % 23).unwrap_or(0))).collect();
    [before, &text, after].concat().into_bytes()
}

/// What the provider has to receive.
fn expected(shape: Shape, body: &[u8], model: &str) -> Vec<u8> {
    match shape {
        Shape::Generate => body.to_vec(),
        _ => replace(body, &format!("\"model\":\"{}\"", shape.model()), &format!("\"model\":\"{model}\"")),
    }
}

/// Replaces the one place that holds `from`.
fn replace(body: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = body.windows(from.len()).rposition(|window| window == from.as_bytes()).expect("it is there");
    [&body[..at], to.as_bytes(), &body[at + from.len()..]].concat()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn expect_same(case: &str, seen: &Seen, expected: &[u8]) {
    assert_eq!(seen.bytes(), expected.len() as u64, "{case}: the length is right");
    assert_eq!(
        seen.text("body_sha256"),
        sha256(expected),
        "{case}: the bytes are the client's; the provider got {:.300}",
        seen.text("body")
    );
}

fn chunk_sizes(size: usize) -> Vec<usize> {
    match size {
        0..=0x400 => vec![1, 100, 1000],
        0x401..=0x2_0000 => vec![1000, 16 << 10, 64 << 10, 1 << 20],
        0x2_0001..=0x30_0000 => vec![16 << 10, 100_000],
        _ => vec![64 << 10],
    }
}

#[test]
fn every_size_and_framing_of_http_1_1_arrives_byte_for_byte() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    for shape in Shape::ALL {
        for size in SIZES {
            if shape != Shape::Chat && size > 3 << 20 {
                continue;
            }
            let sent = body(shape, size);
            let wanted = expected(shape, &sent, "demo-1");
            let framings: Vec<Option<usize>> = [None].into_iter().chain(chunk_sizes(size).into_iter().map(Some)).collect();
            for framing in framings {
                let case = format!("{} {size} {framing:?}", shape.name());
                let mut connection = Connection::open(gateway.address);
                for turn in 1..=2 {
                    let answer = send(&mut connection, shape, &sent, framing);
                    assert_eq!(answer.status, 200, "{case}, request {turn}: {}", answer.text());
                    assert_eq!(shape.text(&answer.json()), "You said: hello", "{case}");
                    expect_same(&case, &upstream.newest(), &wanted);
                }
            }
        }
    }
}

#[test]
fn wherever_the_model_stands_the_rest_of_a_large_body_stays() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    let message = |length: usize| format!(r#"{{"role":"user","content":"{}"}}"#, "é!".repeat(length / 3));
    let mut connection = Connection::open(gateway.address);
    for length in [70_000, 1 << 20] {
        for (before, after) in [(10, length), (length, 10), (length, length), (length, 2 * length)] {
            let written = |model: &str| {
                format!(r#"{{"messages":[{}],"model":"{model}","tools":null,"prediction":{}}}"#, message(before), message(after))
                    .into_bytes()
            };
            let case = format!("{before} bytes before and {after} after");
            for framing in [None, Some(50_000)] {
                let answer = send(&mut connection, Shape::Chat, &written("chat-model"), framing);
                assert_eq!(answer.status, 200, "{case}: {}", answer.text());
                expect_same(&case, &upstream.newest(), &written("demo-1"));
            }
        }
    }
}

fn send(connection: &mut Connection, shape: Shape, body: &[u8], framing: Option<usize>) -> Answer {
    let path = shape.path(shape.model(), false);
    let headers = [("authorization", BEARER), JSON];
    match framing {
        None => connection.post(&path, &headers, body),
        Some(chunk) => connection.post_chunked(&path, &headers, body, chunk),
    }
    connection.answer().expect("an answer")
}

#[test]
fn every_size_of_http_2_arrives_whether_or_not_its_length_is_declared() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    for shape in Shape::ALL {
        let mut connection = Http2::open(gateway.address);
        let path = shape.path(shape.model(), false);
        for size in SIZES {
            let sent = body(shape, size);
            let wanted = expected(shape, &sent, "demo-1");
            for length in [true, false] {
                let case = format!("{} {size} bytes, length declared: {length}", shape.name());
                let answer = connection.post(&path, &[("authorization", BEARER), JSON], &sent, length);
                assert_eq!(answer.status, 200, "{case}: {}", answer.text());
                expect_same(&case, &upstream.newest(), &wanted);
            }
        }
    }
}

#[test]
fn a_client_that_asks_before_sending_is_invited() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    for shape in Shape::ALL {
        for size in [512, 128 << 10] {
            let sent = body(shape, size);
            let mut connection = Connection::open(gateway.address);
            let path = shape.path(shape.model(), false);
            connection.send(format!(
                "POST {path} HTTP/1.1\r\nhost: test\r\nauthorization: {BEARER}\r\ncontent-type: application/json\r\ncontent-length: {size}\r\nexpect: 100-continue\r\n\r\n"
            ));
            let interim = connection.read_head().expect("an interim answer");
            assert!(interim.starts_with("HTTP/1.1 100"), "a welcome client may go on: {interim}");
            connection.send(&sent);
            let answer = connection.answer().expect("an answer");
            assert_eq!(answer.status, 200, "{}", answer.text());
            expect_same("expect", &upstream.newest(), &expected(shape, &sent, "demo-1"));
            let closes = answer.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
            if closes {
                assert!(connection.is_closed());
            } else {
                assert_eq!(send(&mut connection, shape, &sent, None).status, 200, "a connection that is not closed goes on");
            }
        }
    }
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).expect("in memory");
    encoder.finish().expect("in memory")
}

#[test]
fn compressed_bodies_are_unpacked_within_bounds() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_server("  max_body: 4MiB\n"));
    let zstd = |body: &[u8]| zstd::encode_all(body, 3).expect("in memory");
    for shape in Shape::ALL {
        let path = shape.path(shape.model(), false);
        let post = |encoding: &str, body: &[u8]| {
            let mut connection = Connection::open(gateway.address);
            connection.post(&path, &[("authorization", BEARER), JSON, ("content-encoding", encoding)], body);
            connection.answer().expect("an answer")
        };
        for size in [512, 128 << 10, 3 << 20] {
            let plain = body(shape, size);
            for (encoding, packed) in [("gzip", gzip(&plain)), ("zstd", zstd(&plain)), ("identity", plain.clone())] {
                let answer = post(encoding, &packed);
                assert_eq!(answer.status, 200, "{encoding} {size}: {}", answer.text());
                let seen = upstream.newest();
                expect_same(encoding, &seen, &expected(shape, &plain, "demo-1"));
                assert_eq!(seen.header("content-encoding"), None, "the provider gets it unpacked");
            }
        }
        let bomb = vec![b' '; 64 << 20];
        let before = upstream.count();
        shape.expect_error("a gzip bomb", &post("gzip", &gzip(&bomb)), 413, "invalid_request");
        shape.expect_error("a zstd bomb", &post("zstd", &zstd(&bomb)), 413, "invalid_request");
        shape.expect_error("no gzip", &post("gzip", b"{\"model\":1}"), 400, "invalid_request");
        shape.expect_error("no zstd", &post("zstd", b"{\"model\":1}"), 400, "invalid_request");
        shape.expect_error("half a gzip", &post("gzip", &gzip(&bomb)[..1000]), 400, "invalid_request");
        shape.expect_error("brotli", &post("br", b"{}"), 415, "invalid_request");
        shape.expect_error("two codings", &post("gzip, gzip", b"{}"), 415, "invalid_request");
        assert_eq!(upstream.count(), before, "nothing of it reaches the provider");
    }
}

#[test]
fn what_the_gateway_does_not_know_passes_byte_for_byte() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    let rest = concat!(
        r#" "zeta" : 123456789012345678901234567890, "alpha":-0.0,"#,
        "\n\t\"exp\":1E+2,\r\n \"text\":\"h\\u00e9llo \\ud83d\\ude00 / \\/ \u{1f600}\",",
        r#""dup":{"a":1,"a":2},"empty":"","deep":{"model":"inner","nested":[{"model":"x"}]},"nul":"\u0000","MODEL":"chat-model""#
    );
    for shape in Shape::ALL {
        let model = shape.model();
        let turns = r#""messages":[ {"role":"user","content":"hi"} ]"#;
        let variants = [
            format!("{{ \"model\" : \"{model}\" ,{rest},{turns}}}"),
            format!("\n {{{turns},{rest} , \"model\":\"{model}\"}}\r\n"),
            format!("{{{rest},\"mod\\u0065l\":\"{model}\",{turns}}}"),
        ];
        for sent in variants {
            let mut connection = Connection::open(gateway.address);
            connection.post(&shape.path(model, false), &[("authorization", BEARER), JSON], &sent);
            let answer = connection.answer().expect("an answer");
            assert_ne!(
                answer.header("x-svc-error-origin"),
                Some("gateway"),
                "unknown fields are the provider's business: {}",
                answer.text()
            );
            let quoted = format!("\"{model}\"");
            let place = sent
                .match_indices(&quoted)
                .map(|(at, _)| at)
                .find(|at| sent[..*at].trim_end().ends_with(':') && !sent[..*at].ends_with("\"MODEL\":"));
            let at = place.expect("the model is named");
            let wanted = format!("{}\"demo-1\"{}", &sent[..at], &sent[at + quoted.len()..]);
            let seen = upstream.newest();
            let got = seen.text("body");
            let untouched = shape == Shape::Generate && got == sent;
            assert!(untouched || got == wanted, "{}:\n sent {sent:?}\n  got {got:?}", shape.name());
        }
    }
}

#[test]
fn a_form_passes_with_only_the_model_replaced() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    for size in [100, 70_000, 2 << 20] {
        let sound: Vec<u8> = (0..size).map(|at: usize| u8::try_from(at * 7 % 256).unwrap_or(0)).collect();
        let form = |model: &str| {
            let mut form = b"--a-boundary\r\nContent-Disposition: form-data; name=\"file\"; filename=\"model.mp3\"\r\nContent-Type: audio/mpeg\r\n\r\n".to_vec();
            form.extend(&sound);
            form.extend(b"\r\n--a-boundary\r\ncontent-disposition: form-data; name=model\r\n\r\n");
            form.extend(model.as_bytes());
            form.extend(b"\r\n--a-boundary\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\nchat-model\r\n--a-boundary--\r\n");
            form
        };
        for chunk in [None, Some(10_000)] {
            let mut connection = Connection::open(gateway.address);
            let headers = [("authorization", BEARER), ("content-type", "multipart/form-data; boundary=a-boundary")];
            match chunk {
                None => connection.post("/v1/audio/transcriptions", &headers, form("chat-model")),
                Some(chunk) => connection.post_chunked("/v1/audio/transcriptions", &headers, form("chat-model"), chunk),
            }
            let answer = connection.answer().expect("an answer");
            assert_eq!(answer.status, 200, "{size} {chunk:?}: {}", answer.text());
            let seen = upstream.newest();
            expect_same("form", &seen, &form("demo-1"));
            assert_eq!(seen.header("content-type"), Some("multipart/form-data; boundary=a-boundary"), "the boundary has to go along");
        }
    }
}

#[test]
fn every_try_gets_the_whole_body() {
    let upstream = Upstream::start();
    let failing = |provider: &str, name: &str| {
        format!(
            "  - {{name: {name}, targets: [{{provider: {provider}, model: \"demo-1;demo:error=500\"}}, {{provider: {provider}, model: demo-1, priority: 1}}]}}\n"
        )
    };
    let models = [("chat", "chat-retry"), ("messages", "messages-retry"), ("generate", "generate-retry")]
        .map(|(provider, name)| failing(provider, name));
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_models(&models.concat()).with("breaker: {enabled: false}\n"));
    for (shape, name) in [(Shape::Chat, "chat-retry"), (Shape::Messages, "messages-retry"), (Shape::Generate, "generate-retry")] {
        let mut second = Http2::open(gateway.address);
        for size in [512, 64 << 10, 128 << 10, 3 << 20] {
            let standard = body(shape, size);
            let sent = if shape == Shape::Generate { standard } else { expected(shape, &standard, name) };
            let from = format!("\"model\":\"{name}\"");
            let wanted = |model: &str| {
                if shape == Shape::Generate { sent.clone() } else { replace(&sent, &from, &format!("\"model\":\"{model}\"")) }
            };
            for framing in ["length", "chunks", "http/2"] {
                let case = format!("{} {size} {framing}", shape.name());
                let (path, headers) = (shape.path(name, false), [("authorization", BEARER), JSON]);
                let mut connection = Connection::open(gateway.address);
                let answer = match framing {
                    "http/2" => second.post(&path, &headers, &sent, true),
                    "chunks" => {
                        connection.post_chunked(&path, &headers, &sent, 20_000);
                        connection.answer().expect("an answer")
                    }
                    _ => {
                        connection.post(&path, &headers, &sent);
                        connection.answer().expect("an answer")
                    }
                };
                assert_eq!(answer.status, 200, "{case}: the second target answers: {}", answer.text());
                assert_eq!(answer.header("x-svc-attempts"), Some("2"), "{case}");
                let [first, second] = &upstream.last(2)[..] else { panic!("{case}: two tries reach the provider") };
                expect_same(&format!("{case}, first try"), first, &wanted("demo-1;demo:error=500"));
                expect_same(&format!("{case}, second try"), second, &wanted("demo-1"));
            }
        }
    }
}
