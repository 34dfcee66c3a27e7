//! Requests whose client and provider speak different shapes, over real processes.

mod counting;
mod dialects;
mod errors;
mod http2;
mod pairs;
mod pictures;
mod policy;
mod refused;

use serde_json::{Value, json};
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{self, Answer, Connection};
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;

/// Settings under which a row of the request log is there at once.
const FAST_LOG: &str = "telemetry: {batch_size: 64, batch_timeout_ms: 20}\nbreaker: {enabled: false}\n";

fn start(upstream: &Upstream) -> Gateway {
    Gateway::start(Options::standard(&upstream.url()).with(FAST_LOG))
}

/// Sends a body to a path with the key that may do everything.
fn post(gateway: &Gateway, path: &str, body: &Value) -> Answer {
    let mut connection = Connection::open(gateway.address);
    let bearer = format!("Bearer {KEY}");
    connection.post(path, &[("authorization", &bearer), ("content-type", "application/json")], body.to_string());
    connection.answer().expect("an answer")
}

/// One request on a connection of its own.
fn ask(gateway: &Gateway, shape: Shape, model: &str, text: &str, stream: bool) -> Answer {
    shape.ask(&mut Connection::open(gateway.address), model, text, stream)
}

/// A GET with the key.
fn get(gateway: &Gateway, path: &str) -> Answer {
    let bearer = format!("Bearer {KEY}");
    raw::get(gateway.address, path, &[("authorization", &bearer), ("connection", "close")])
}

/// A turn of the messages shape.
fn turn(content: &Value) -> Value {
    json!([{"role": "user", "content": content}])
}

/// The error's message in a body of any shape.
fn message(answer: &Answer) -> String {
    answer.json().pointer("/error/message").and_then(Value::as_str).unwrap_or_default().to_owned()
}
