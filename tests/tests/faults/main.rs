//! Everything a provider can do wrong, over real processes: what the client sees, who serves instead, and what is recorded.

mod bodies;
mod connecting;
mod dead_target;
mod error_bodies;
mod http2;
mod leaving;
mod matrix;
mod queue;
mod retry_after;
mod statuses;
mod streams;
mod view;
mod waiting;

use svc_tests::faulty::Step;
use svc_tests::shapes::Shape;

/// Settings under which a row of the request log is there at once and no failure changes what comes after it.
const STEADY: &str = "telemetry: {batch_size: 64, batch_timeout_ms: 20}\nbreaker: {enabled: false}\n";

/// A provider of a shape, as a line of configuration. `url` has no slash at its end.
fn provider(name: &str, shape: Shape, url: &str, more: &str) -> String {
    let (kind, base) = match shape {
        Shape::Chat => ("openai", "/v1"),
        Shape::Messages => ("anthropic", ""),
        Shape::Generate => ("gemini", ""),
        Shape::Responses => ("openai", "/v1"),
    };
    let more = if shape == Shape::Responses { format!(", compatibility: {{vendor: true}}{more}") } else { more.to_owned() };
    format!("  - {{name: {name}, kind: {kind}, base_url: \"{url}{base}\", keys: [upstream-key-of-{name}]{more}}}\n")
}

/// Steps that send text and do something else then.
fn send_then(text: impl AsRef<[u8]>, then: Step) -> Vec<Step> {
    vec![Step::send(text), then]
}
