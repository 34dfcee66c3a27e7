//! The fifteen metrics as a real Prometheus server sees them.

mod costs;
mod counters;
mod gauges;
mod journal;
mod listener;
mod rules;

use std::net::SocketAddr;

use svc_tests::gateway::{Gateway, Options};
use svc_tests::ports::free_address;
use svc_tests::prometheus::Prometheus;
use svc_tests::raw::{self, Connection};
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;

/// Settings under which a sample is there at once and no failure changes what comes after it.
const STEADY: &str = "telemetry: {batch_size: 64, batch_timeout_ms: 20}\nbreaker: {enabled: false}\n";

/// A gateway with its metrics on, a provider that works, and a server that asks.
struct Stage {
    gateway: Gateway,
    metrics: SocketAddr,
    prometheus: Prometheus,
    _upstream: Upstream,
}

impl Stage {
    /// Starts all over the standard configuration with more providers and models, a line each, and more sections.
    fn start(providers: &str, models: &str, more: &str) -> Self {
        let upstream = Upstream::start();
        let metrics = free_address();
        let options = Options::standard(&upstream.url()).with_providers(providers).with_models(models).with(more).with(&enabled(metrics));
        let gateway = Gateway::start(options);
        Self { prometheus: Prometheus::start(metrics), gateway, metrics, _upstream: upstream }
    }

    /// One request on a connection of its own; returns the status.
    fn ask(&self, shape: Shape, model: &str, text: &str, stream: bool) -> u16 {
        let answer = shape.ask(&mut Connection::open(self.gateway.address), model, text, stream);
        assert!(answer.complete, "{}", answer.text());
        answer.status
    }

    /// What the listener shows.
    fn shown(&self) -> String {
        raw::get(self.metrics, "/metrics", &[]).text()
    }
}

/// The section that opens the listener.
fn enabled(address: SocketAddr) -> String {
    format!("metrics: {{enabled: true, port: {}, bind: {}}}\n", address.port(), address.ip())
}

/// A provider of the chat-completions family, as a line of configuration.
fn provider(name: &str, url: &str, more: &str) -> String {
    format!("  - {{name: {name}, kind: openai, base_url: \"{url}/v1\", keys: [upstream-key-of-{name}]{more}}}\n")
}

/// A model with targets, in order of priority.
fn model(name: &str, providers: &[&str]) -> String {
    let target = |(priority, provider): (usize, &&str)| format!("{{provider: {provider}, model: demo-1, priority: {priority}}}");
    let targets: Vec<String> = providers.iter().enumerate().map(target).collect();
    format!("  - {{name: {name}, targets: [{}]}}\n", targets.join(", "))
}
