//! Traffic of every kind through a gateway: what release builds are optimised for.
//!
//! Clients of every shape ask providers of every shape, whole and streamed, in clear text and TLS, over both versions of HTTP. What is asked
//! is what applications ask: a conversation with instructions, tools, a picture.

use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::certificates::certify;
use crate::gateway::{Gateway, KEY, Options};
use crate::h2c::Http2;
use crate::raw::Connection;
use crate::shapes::Shape;
use crate::upstream::Upstream;

/// Connections at the same time.
const CONNECTIONS: usize = 4;
/// Bytes of a picture before base64.
const PICTURE: usize = 40_000;
/// How long the gateway may take to end.
const ENDED: Duration = Duration::from_secs(30);

const INSTRUCTIONS: &str = "You help the customers of a library. Answer briefly, say which shelf you mean, and ask back where a title is not clear. \
    Never tell who borrowed a book. If a book is lent, offer to reserve it and tell when it is due.";
const QUESTION: &str = "Good morning, I am looking for the second volume of the atlas that was on the table by the window last week. \
    The first one \u{2013} \"Rivers\" \u{2013} is due on Friday, and I'd like to have both for the weekend. Could you tell me whether it is in the house, \
    where I find it, and until when I may keep it? My daughter needs it for school. Thank you!";

const MODELS: &str = r#"
  - {name: secure-chat, targets: [{provider: secure-chat, model: demo-1}]}
  - {name: secure-messages, targets: [{provider: secure-messages, model: demo-1}]}
  - {name: secure-generate, targets: [{provider: secure-generate, model: demo-1}]}
"#;
const RULES: &str = r#"
rules:
  - {name: none, kind: deny, priority: 10, when: {models: [model-nobody-asks-for]}}
  - {name: lane, kind: custom, priority: 20, when: {cel: "headers['x-lane'] == 'other'"}, redirect: {model: chat-model}}
telemetry: {own_token_counts: all}
"#;
const GUARDRAILS: &str = r#"
guardrails:
  - {name: cards, kind: detector, detector: card_number, action: mask}
  - {name: keys, kind: detector, detector: api_key, action: block}
  - {name: mail, kind: detector, detector: email, action: log_only}
  - {name: iban, kind: detector, detector: iban, action: mask}
  - {name: phone, kind: detector, detector: phone, action: log_only}
  - {name: project, kind: regex, pattern: '(?i)project (?:heron|osprey)', action: block}
  - {name: staff, kind: regex, pattern: '\bstaff-\d{5}\b', action: mask}
"#;

/// Starts `program`, which is a gateway, and sends it all kinds of traffic, each `rounds` times over a few connections; then ends it as
/// an operator does. Once more with guardrails.
///
/// # Panics
/// When an answer is not 200, or the gateway does not end.
pub fn send(program: &Path, rounds: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    certify(folder.path(), "IP:127.0.0.1", 2);
    let upstream = Upstream::start();
    let secure = Upstream::start_tls(folder.path().join("leaf.pem"), folder.path().join("leaf.key"));
    let (url, ca) = (secure.url(), folder.path().join("ca.pem"));
    let rest = format!("ca: \"{}\", keys: [k]}}\n", ca.display());
    let providers = format!(
        "  - {{name: secure-chat, kind: openai, base_url: \"{url}/v1\", {rest}  - {{name: secure-messages, kind: anthropic, base_url: \"{url}\", {rest}  - {{name: secure-generate, kind: gemini, base_url: \"{url}\", http2: never, {rest}"
    );
    let program = program.display().to_string().leak();
    for guardrails in ["", GUARDRAILS] {
        let options = Options::standard(&upstream.url()).with_providers(&providers).with_models(MODELS).with(RULES).with(guardrails);
        let mut gateway = Gateway::start(Options { program, licence: None, ..options });
        thread::scope(|scope| {
            for connection in 0..CONNECTIONS {
                let address = gateway.address;
                scope.spawn(move || (0..rounds).for_each(|round| all(Client::open(address, connection + round))));
            }
        });
        gateway.terminate();
        gateway.wait_ended(ENDED);
    }
}

/// A client that does in turn what others do all the time.
struct Client {
    plain: Connection,
    multiplexed: Option<Http2>,
    compresses: bool,
}

impl Client {
    fn open(address: std::net::SocketAddr, turn: usize) -> Self {
        let multiplexed = (turn % 4 == 1).then(|| Http2::open(address));
        Self { plain: Connection::open(address), multiplexed, compresses: turn % 8 == 2 }
    }

    fn ask(&mut self, shape: Shape, model: &str, body: &Value, stream: bool) {
        let (name, key) = shape.credential(KEY);
        let mut headers =
            vec![(name, &*key), ("content-type", "application/json"), ("accept-encoding", "gzip"), ("user-agent", "library/3.1")];
        let mut bytes = body.to_string().into_bytes();
        if self.compresses {
            headers.push(("content-encoding", "gzip"));
            bytes = gzipped(&bytes);
        }
        let path = shape.path(model, stream);
        let answer = match &mut self.multiplexed {
            Some(connection) => connection.post(&path, &headers, &bytes, true),
            None => {
                self.plain.post(&path, &headers, &bytes);
                self.plain.answer().expect("an answer")
            }
        };
        assert!(answer.status == 200 && answer.complete, "{} to {model}, stream {stream}: {}", shape.name(), answer.text());
    }
}

/// Everything once.
fn all(mut client: Client) {
    for shape in Shape::CLIENTS {
        for model in ["chat-model", "messages-model", "generate-model", "secure-chat", "secure-messages", "secure-generate"] {
            for stream in [false, true] {
                for _ in 0..4 {
                    client.ask(shape, model, &conversation(shape, model, stream), stream);
                }
                client.ask(shape, model, &with_tools(shape, model, stream), stream);
            }
            client.ask(shape, model, &with_picture(shape, model), false);
        }
    }
}

/// A question after a few turns, with instructions and settings.
fn conversation(shape: Shape, model: &str, stream: bool) -> Value {
    let said = [
        "Hello!",
        "Good morning, what can I do for you?",
        "Is the reading room open?",
        "Yes, until eight.",
        &format!("{QUESTION} demo:chunks=30"),
    ];
    let role = |turn: usize, own: &'static str| if turn.is_multiple_of(2) { "user" } else { own };
    let turns = |own| said.iter().enumerate().map(move |(turn, text)| json!({"role": role(turn, own), "content": text}));
    match shape {
        Shape::Chat => {
            let mut messages = vec![json!({"role": "system", "content": INSTRUCTIONS})];
            messages.extend(turns("assistant"));
            json!({"model": model, "messages": messages, "temperature": 0.2, "max_tokens": 800, "stream": stream, "user": "reader-7"})
        }
        Shape::Messages => json!({"model": model, "system": INSTRUCTIONS, "messages": turns("assistant").collect::<Vec<_>>(),
            "temperature": 0.2, "max_tokens": 800, "stream": stream, "metadata": {"user_id": "reader-7"}}),
        Shape::Responses => json!({"model": model, "instructions": INSTRUCTIONS, "input": turns("assistant").collect::<Vec<_>>(),
            "temperature": 0.2, "max_output_tokens": 800, "stream": stream, "store": false}),
        Shape::Generate => {
            let turn = |(turn, text): (usize, &&str)| json!({"role": role(turn, "model"), "parts": [{"text": text}]});
            json!({"systemInstruction": {"parts": [{"text": INSTRUCTIONS}]}, "contents": said.iter().enumerate().map(turn).collect::<Vec<_>>(),
                "generationConfig": {"temperature": 0.2, "maxOutputTokens": 800}})
        }
    }
}

/// A turn that goes on with what a tool said, and calls it again.
fn with_tools(shape: Shape, model: &str, stream: bool) -> Value {
    let schema =
        json!({"type": "object", "properties": {"title": {"type": "string"}, "volume": {"type": "integer"}}, "required": ["title"]});
    let (about, asked) = ("Looks a title up in the catalogue.", json!({"title": "atlas", "volume": 1}));
    let (found, go_on) = (json!({"shelf": "C4", "lent": true, "due": "Friday"}), "And the second volume? demo:tool=look_up");
    match shape {
        Shape::Chat => json!({"model": model, "stream": stream, "messages": [{"role": "user", "content": QUESTION},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": asked.to_string()}}]},
            {"role": "tool", "tool_call_id": "call_1", "content": found.to_string()}, {"role": "user", "content": go_on}],
            "tools": [{"type": "function", "function": {"name": "look_up", "description": about, "parameters": schema}}]}),
        Shape::Messages => json!({"model": model, "stream": stream, "max_tokens": 400, "messages": [{"role": "user", "content": QUESTION},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": asked}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": found.to_string()}, {"type": "text", "text": go_on}]}],
            "tools": [{"name": "look_up", "description": about, "input_schema": schema}]}),
        Shape::Responses => json!({"model": model, "stream": stream, "input": [{"role": "user", "content": QUESTION},
            {"type": "function_call", "call_id": "call_1", "name": "look_up", "arguments": asked.to_string()},
            {"type": "function_call_output", "call_id": "call_1", "output": found.to_string()}, {"role": "user", "content": go_on}],
            "tools": [{"type": "function", "name": "look_up", "description": about, "parameters": schema, "strict": false}]}),
        Shape::Generate => json!({"contents": [{"role": "user", "parts": [{"text": QUESTION}]},
            {"role": "model", "parts": [{"functionCall": {"name": "look_up", "args": asked}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "look_up", "response": found}}, {"text": go_on}]}],
            "tools": [{"functionDeclarations": [{"name": "look_up", "description": about, "parameters": schema}]}]}),
    }
}

/// A question about a picture.
fn with_picture(shape: Shape, model: &str) -> Value {
    let png = STANDARD.encode([&b"\x89PNG\r\n\x1a\n"[..], &noise(PICTURE)].concat());
    let address = format!("data:image/png;base64,{png}");
    let text = "Which book is this?";
    match shape {
        Shape::Chat => json!({"model": model, "messages": [{"role": "user", "content": [
            {"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": address}}]}]}),
        Shape::Messages => json!({"model": model, "max_tokens": 400, "messages": [{"role": "user", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png}}, {"type": "text", "text": text}]}]}),
        Shape::Responses => json!({"model": model, "input": [{"role": "user", "content": [
            {"type": "input_text", "text": text}, {"type": "input_image", "image_url": address}]}]}),
        Shape::Generate => json!({"contents": [{"role": "user", "parts": [
            {"inlineData": {"mimeType": "image/png", "data": png}}, {"text": text}]}]}),
    }
}

/// Bytes as compressed pictures have them: none is likelier than another, or the profile would take what is rare for impossible.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(length).collect()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}
