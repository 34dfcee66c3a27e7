//! Recorded streams of all shapes.

use std::path::PathBuf;

use bytes::Bytes;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::Value;

use super::answers::Shape;
use super::{mask, pass, rule, screen, set};
use crate::guardrails::{Action, Template};

fn samples(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/wire/answers").join(folder);
    let files = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let streams = files.filter(|path| path.extension().is_some_and(|extension| extension == "sse"));
    streams.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

const FOLDERS: [(Shape, &str); 4] = [
    (Shape::Chat, "chat_completions"),
    (Shape::Messages, "messages"),
    (Shape::Generate, "generate_content"),
    (Shape::Responses, "responses"),
];

/// Whether two values have the same form: what differs are strings, and numbers that became strings.
fn same_form(one: &Value, other: &Value) -> bool {
    match (one, other) {
        // Log probabilities of masked texts go.
        (Value::Array(one), Value::Array(other)) if other.is_empty() => one.iter().all(|element| element.get("token").is_some()),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same_form(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len() && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same_form(value, other)))
        }
        (Value::String(_) | Value::Number(_), Value::String(_)) => true,
        (Value::Object(one), Value::Null) => one.contains_key("content") || one.contains_key("topCandidates"),
        (one, other) => one == other,
    }
}

#[test]
fn recorded_streams_pass_byte_for_byte_where_nothing_matches() {
    let rules = set(vec![mask("never", "zzzz+y"), rule("nor", r"\bw\bw", Action::Block), mask("card", "card_number")]);
    for (shape, folder) in FOLDERS {
        for (path, stream) in samples(folder) {
            for size in [1, 7, 100, 100_000] {
                let pieces: Vec<&[u8]> = stream.chunks(size).collect();
                let out = pass(&mut screen(&rules, shape), &pieces);
                // An event that is cut short at the end does not leave.
                assert!(stream.starts_with(out.as_bytes()), "{} differs", path.display());
                let rest = &stream[out.len()..];
                assert!(rest.is_empty() || !rest.ends_with(b"\n\n"), "{} lost its end", path.display());
            }
        }
    }
}

#[test]
fn recorded_streams_keep_their_form_where_everything_is_masked() {
    let template = Template::parse("\"*\\").unwrap();
    let rules = set(vec![rule("all", r"[^\s*]+", Action::Mask(template))]);
    let mut masked = 0;
    for (shape, folder) in FOLDERS {
        for (path, stream) in samples(folder) {
            let out = pass(&mut screen(&rules, shape), &[&stream]);
            let came = String::from_utf8(stream).unwrap();
            let data = |stream: &str| -> Vec<Option<Value>> {
                stream.lines().filter_map(|line| line.strip_prefix("data:")).map(|data| serde_json::from_str(data).ok()).collect()
            };
            let (came, left) = (data(&came), data(&out));
            masked += out.matches('*').count();
            for (came, left) in came.iter().zip(&left) {
                match (came, left) {
                    (Some(came), Some(left)) => assert!(same_form(came, left), "{}: {came} became {left}", path.display()),
                    (came, left) => assert!(came.is_none() && left.is_none(), "{}: {came:?} became {left:?}", path.display()),
                }
            }
        }
    }
    assert!(masked > 300, "{masked}");
}

#[test]
fn broken_streams_are_read_without_harm() {
    let rules = set(vec![rule("some", r"[aeiou]+[a-z0-9]*", Action::Mask(Template::default())), rule("never", "zz|4111", Action::Block)]);
    let random = &mut StdRng::seed_from_u64(11);
    let pieces =
        [&b"\\"[..], b"\\u", b"\\ud83d", b"\"", b"{", b"}", b"[", b"]", b",", b"\n\n", b"\xff", b"\xe2\x82", b"null", b"4111", b"data: "];
    for (shape, folder) in FOLDERS {
        for (_, stream) in samples(folder) {
            for _ in 0..20 {
                let mut broken = stream.clone();
                for _ in 0..random.random_range(1..8) {
                    let at = random.random_range(0..broken.len());
                    let end = (at + random.random_range(0..4)).min(broken.len());
                    broken.splice(at..end, pieces[random.random_range(0..pieces.len())].iter().copied());
                }
                let mut screen = screen(&rules, shape);
                let size = random.random_range(1..400);
                for piece in broken.chunks(size) {
                    screen.push(Bytes::copy_from_slice(piece), false).unwrap();
                }
                screen.push(Bytes::new(), true).unwrap();
                assert_eq!(screen.held_back(), 0);
            }
        }
    }
}
