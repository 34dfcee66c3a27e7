//! Streamed answers: nothing is held back, names are the client's, and no break looks like an end.

use serde_json::{Value, json};
use svc_entity::Outcome;
use svc_tests::gateway::{Gateway, Options};
use svc_tests::raw::{Answer, Connection};
use svc_tests::request_log::Database;
use svc_tests::shapes::events;
use svc_tests::upstream::Upstream;
use svc_tests::wait;

const JSON: (&str, &str) = ("content-type", "application/json");
const BEARER: &str = "Bearer test-key-0123456789";
const FAST_LOG: &str = "telemetry: {batch_size: 64, batch_timeout_ms: 20}\nbreaker: {enabled: false}\n";

/// A way to ask for a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Chat,
    Completions,
    Responses,
    Messages,
    GenerateEvents,
    GenerateArray,
}

const FORMS: [Form; 6] = [Form::Chat, Form::Completions, Form::Responses, Form::Messages, Form::GenerateEvents, Form::GenerateArray];

impl Form {
    /// The name a client uses that is not the provider's.
    fn alias(self) -> &'static str {
        match self {
            Self::Chat | Self::Completions | Self::Responses => "default",
            Self::Messages => "claude-alias",
            Self::GenerateEvents | Self::GenerateArray => "generate-model",
        }
    }

    fn path(self) -> String {
        match self {
            Self::Chat => "/v1/chat/completions".to_owned(),
            Self::Completions => "/v1/completions".to_owned(),
            Self::Responses => "/v1/responses".to_owned(),
            Self::Messages => "/v1/messages".to_owned(),
            Self::GenerateEvents => format!("/v1beta/models/{}:streamGenerateContent?alt=sse", self.alias()),
            Self::GenerateArray => format!("/v1beta/models/{}:streamGenerateContent", self.alias()),
        }
    }

    fn body(self, text: &str) -> Value {
        let (model, turns) = (self.alias(), json!([{"role": "user", "content": text}]));
        match self {
            Self::Chat => json!({"model": model, "stream": true, "messages": turns}),
            Self::Completions => json!({"model": model, "stream": true, "prompt": text}),
            Self::Responses => json!({"model": model, "stream": true, "input": text}),
            Self::Messages => json!({"model": model, "stream": true, "max_tokens": 1000, "messages": turns}),
            Self::GenerateEvents | Self::GenerateArray => json!({"contents": [{"role": "user", "parts": [{"text": text}]}]}),
        }
    }

    fn send(self, gateway: &Gateway, text: &str) -> Connection {
        let mut connection = Connection::open(gateway.address);
        connection.post(&self.path(), &[("authorization", BEARER), JSON], self.body(text).to_string());
        connection
    }

    fn read(self, gateway: &Gateway, text: &str) -> Answer {
        self.send(gateway, text).answer().expect("an answer")
    }

    /// The events or elements of a body.
    fn events(self, answer: &Answer) -> Vec<Value> {
        match self {
            Self::GenerateArray => serde_json::from_slice(&answer.body).unwrap_or_else(|error| panic!("{error}: {}", answer.text())),
            _ => events(&answer.text()),
        }
    }

    /// Every place of an event that names a model.
    fn models(self, event: &Value) -> Vec<&str> {
        let places: &[&str] = match self {
            Self::Chat | Self::Completions => &["/model"],
            Self::Responses => &["/response/model"],
            Self::Messages => &["/message/model"],
            Self::GenerateEvents | Self::GenerateArray => &["/modelVersion"],
        };
        places.iter().filter_map(|place| event.pointer(place)?.as_str()).collect()
    }

    fn text(self, event: &Value) -> &str {
        let place = match self {
            Self::Chat => "/choices/0/delta/content",
            Self::Completions => "/choices/0/text",
            Self::Responses if event["type"] == "response.output_text.delta" => "/delta",
            Self::Responses => "/none",
            Self::Messages => "/delta/text",
            Self::GenerateEvents | Self::GenerateArray => "/candidates/0/content/parts/0/text",
        };
        event.pointer(place).and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether a body ends the way the vendor ends a complete stream.
    fn ends_cleanly(self, body: &str) -> bool {
        match self {
            Self::Chat | Self::Completions => body.contains("[DONE]"),
            Self::Responses => body.contains("response.completed"),
            Self::Messages => body.contains("message_stop"),
            Self::GenerateEvents | Self::GenerateArray => body.contains("finishReason"),
        }
    }

    /// Whether an event is an error an SDK of this shape raises on.
    fn is_error(self, event: &Value) -> bool {
        match self {
            Self::Responses | Self::Messages => event["type"] == "error",
            Self::Chat | Self::Completions | Self::GenerateEvents | Self::GenerateArray => event["error"]["message"].is_string(),
        }
    }
}

fn start(upstream: &Upstream) -> Gateway {
    Gateway::start(Options::standard(&upstream.url()).with(FAST_LOG))
}

#[test]
fn a_client_of_a_silent_stream_is_kept_in_touch_in_a_form_its_sdks_survive() {
    let upstream = Upstream::start();
    let gateway = Gateway::start(Options::standard(&upstream.url()).with(FAST_LOG).with("client_keepalive: 100ms\n"));
    for form in FORMS {
        let answer = form.read(&gateway, "demo:slow=300ms demo:chunks=2");
        let (told, body) = (format!("{form:?}: {}", answer.text()), answer.text());
        assert!(form.ends_cleanly(&body), "{told}");
        let signs = match form {
            Form::Messages => body.matches("event: ping\n").count(),
            Form::GenerateEvents => body.matches(r#""parts":[{"text":""}]"#).count(),
            Form::GenerateArray => body.matches("\n,").count(),
            Form::Chat | Form::Completions | Form::Responses => body.matches(": keep-alive\n").count(),
        };
        assert!(signs > 0, "{told}");
        assert!(!body.contains(": keep-alive\n\n"), "{told}");
        assert!(!form.events(&answer).is_empty(), "{told}");
    }
}

#[test]
fn an_event_arrives_before_the_next_is_made() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for form in FORMS {
        for count in [1, 3] {
            let mut connection = form.send(&gateway, &format!("demo:hang-after={count} demo:chunks=10"));
            let head = connection.begin().expect("a head");
            assert_eq!(head.status, 200, "{form:?}");
            let mut got = Vec::new();
            // The provider falls silent for ever: whatever is held back would never come.
            let marker: &[u8] = if form == Form::GenerateArray { b"responseId" } else { b"data:" };
            while got.windows(marker.len()).filter(|window| *window == marker).count() < count {
                got.extend(connection.piece().unwrap_or_else(|| panic!("{form:?}: event {count} of the stream is held back")));
            }
        }
    }
}

#[test]
fn a_stream_passes_complete_under_the_name_the_client_used() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for form in FORMS {
        for split in ["", "demo:split=1", "demo:split=7", "demo:split=1000"] {
            let text = format!("demo:chunks=20 {split}");
            let answer = form.read(&gateway, &text);
            assert!(answer.complete, "{form:?} {split}: the stream ends cleanly");
            let body = answer.text();
            assert!(form.ends_cleanly(&body), "{form:?} {split}: {body}");
            let events = form.events(&answer);
            let said: String = events.iter().map(|event| form.text(event)).collect();
            assert!(said.starts_with(&format!("You said: {text}")), "{form:?} {split}: {said}");
            let named: Vec<&str> = events.iter().flat_map(|event| form.models(event)).collect();
            assert!(!named.is_empty() && named.iter().all(|name| *name == form.alias()), "{form:?} {split}: {named:?}");
            assert!(!body.contains("demo-1"), "{form:?} {split}: the provider's name of the model stays inside");
            let kind = answer.header("content-type").unwrap_or_default();
            assert_eq!(kind.starts_with("text/event-stream"), form != Form::GenerateArray, "{form:?}: {kind}");
        }
    }
}

#[test]
fn a_whole_answer_names_the_model_the_client_used() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for (form, path) in [
        (Form::Chat, "/v1/chat/completions".to_owned()),
        (Form::Completions, "/v1/completions".to_owned()),
        (Form::Responses, "/v1/responses".to_owned()),
        (Form::Messages, "/v1/messages".to_owned()),
        (Form::GenerateEvents, "/v1beta/models/generate-model:generateContent".to_owned()),
    ] {
        let mut body = form.body("hello");
        body.as_object_mut().expect("an object").remove("stream");
        let mut connection = Connection::open(gateway.address);
        connection.post(&path, &[("authorization", BEARER), JSON], body.to_string());
        let answer = connection.answer().expect("an answer").json();
        let named = if form == Form::GenerateEvents { &answer["modelVersion"] } else { &answer["model"] };
        assert_eq!(named, form.alias(), "{form:?}");
    }
}

#[test]
fn usage_is_shown_only_to_a_client_that_asked() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let database = Database::open(&gateway.database_url());
    for form in [Form::Chat, Form::Completions] {
        for asked in [None, Some(false), Some(true)] {
            let mut body = form.body("demo:in=50 demo:out=7");
            if let Some(asked) = asked {
                body["stream_options"] = json!({"include_usage": asked});
            }
            let mut connection = Connection::open(gateway.address);
            connection.post(&form.path(), &[("authorization", BEARER), JSON], body.to_string());
            let answer = connection.answer().expect("an answer");
            let events = form.events(&answer);
            let shown = events.iter().any(|event| event["usage"].is_object());
            assert_eq!(shown, asked == Some(true), "{form:?} {asked:?}: {}", answer.text());
            let empty = events.iter().any(|event| event["choices"].as_array().is_some_and(Vec::is_empty));
            assert_eq!(empty, asked == Some(true), "{form:?} {asked:?}: SDKs stumble over a chunk without choices");
            assert!(form.ends_cleanly(&answer.text()));
            let row = database.row(answer.header("x-svc-request-id").expect("an id"));
            assert_eq!((row.input_uncached, row.output), (Some(50), Some(7)), "{form:?} {asked:?}: the log has the usage anyway");
        }
    }
}

#[test]
fn two_hundred_thousand_events_pass_without_being_kept() {
    const EVENTS: usize = 200_000;
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    assert_eq!(Form::Chat.read(&gateway, "demo:chunks=100").status, 200, "the first request warms everything up");
    let before = gateway.resident_kib();
    let mut connection = Form::Chat.send(&gateway, &format!("demo:chunks={EVENTS}"));
    assert_eq!(connection.begin().expect("a head").status, 200);
    let (mut events, mut most, mut pieces, mut tail) = (0, before, 0_usize, Vec::new());
    loop {
        let piece = connection.piece().expect("the stream does not break");
        if piece.is_empty() {
            break;
        }
        events += piece.windows(7).filter(|window| window == b"\"delta\"").count();
        tail = piece;
        pieces += 1;
        if pieces.is_multiple_of(5_000) {
            most = most.max(gateway.resident_kib());
        }
    }
    most = most.max(gateway.resident_kib());
    assert!(events >= EVENTS, "every event arrives: {events}");
    assert!(String::from_utf8_lossy(&tail).contains("[DONE]"), "and so does the end");
    assert!(most < before + 20 * 1024, "memory grew from {before} KiB to {most} KiB");
}

#[test]
fn a_broken_stream_never_looks_like_a_complete_one() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let database = Database::open(&gateway.database_url());
    for form in FORMS {
        for how in ["demo:cut=6", "demo:end-after=6"] {
            let answer = form.read(&gateway, &format!("{how} demo:chunks=10"));
            let told = format!("{form:?} {how}: {}", answer.text());
            assert_eq!(answer.status, 200, "{told}");
            assert!(!form.ends_cleanly(&answer.text()), "no clean end: {told}");
            let events = form.events(&answer);
            assert!(events.len() >= 3, "what came before the break is delivered: {told}");
            assert!(events.last().is_some_and(|event| form.is_error(event)), "the last event is an error of the shape: {told}");
            let row = database.row(answer.header("x-svc-request-id").expect("an id"));
            assert_eq!(row.outcome, Outcome::UpstreamError, "{told}");
        }
    }
}

#[test]
fn an_error_inside_a_stream_passes_in_the_providers_words() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let database = Database::open(&gateway.database_url());
    for form in FORMS {
        let answer = form.read(&gateway, "demo:inband-error=6 demo:chunks=10");
        let told = format!("{form:?}: {}", answer.text());
        let events = form.events(&answer);
        let errors: Vec<&Value> = events.iter().filter(|event| event.get("error").is_some() || event["type"] == "error").collect();
        assert_eq!(errors.len(), 1, "one error, not the provider's and the gateway's: {told}");
        assert!(errors[0].to_string().to_lowercase().contains("overloaded"), "the provider's words pass: {told}");
        assert!(!form.ends_cleanly(&answer.text()), "{told}");
        let row = database.row(answer.header("x-svc-request-id").expect("an id"));
        assert_eq!(row.outcome, Outcome::UpstreamError, "{told}");
    }
}

#[test]
fn an_answer_that_breaks_off_whole_is_not_passed_as_complete() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for form in [Form::Chat, Form::Messages] {
        let mut body = form.body("demo:cut demo:bytes=3000");
        body.as_object_mut().expect("an object").remove("stream");
        let mut connection = Connection::open(gateway.address);
        connection.post(&form.path(), &[("authorization", BEARER), JSON], body.to_string());
        if let Some(answer) = connection.answer() {
            let sound = answer.complete && answer.status == 200 && serde_json::from_slice::<Value>(&answer.body).is_ok();
            assert!(!sound, "{form:?}: half an answer is no answer: {}\n{}", answer.head, answer.text());
        }
    }
}

#[test]
fn a_client_that_leaves_stops_the_provider_and_is_recorded() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let database = Database::open(&gateway.database_url());
    for form in FORMS {
        let mut connection = form.send(&gateway, "demo:in=40 demo:slow=20ms demo:chunks=100000");
        let head = connection.begin().expect("a head");
        for _ in 0..3 {
            let piece = connection.piece().expect("a piece");
            assert!(!piece.is_empty(), "{form:?}: the stream goes on");
        }
        let number = upstream.newest().number();
        drop(connection);
        let left = std::time::Instant::now();
        upstream.wait_ended(number, "abandoned");
        assert!(left.elapsed().as_secs() < 2, "{form:?}: the provider is let go soon, not after {:?}", left.elapsed());
        let row = database.row(head.header("x-svc-request-id").expect("an id"));
        assert_eq!(row.outcome, Outcome::ClientGone, "{form:?}");
        assert_eq!(row.status, 200, "{form:?}: the client got a head");
        assert!(row.response_bytes > 0, "{form:?}");
        if form == Form::Messages {
            assert_eq!(row.input_uncached, Some(40), "the usage told at the start of a messages stream is kept");
        }
    }
}

#[test]
fn a_client_that_leaves_before_the_answer_is_recorded_too() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let database = Database::open(&gateway.database_url());
    for form in FORMS {
        let before = upstream.count();
        let known = database.rows().len();
        let connection = form.send(&gateway, "demo:hang");
        let number = wait::until("the provider to be asked", || Some(upstream.count()).filter(|count| *count > before));
        drop(connection);
        upstream.wait_ended(number, "abandoned");
        let row = wait::until("the row", || database.rows().into_iter().nth(known));
        assert_eq!(row.outcome, Outcome::ClientGone, "{form:?}");
    }
}
