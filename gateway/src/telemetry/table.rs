//! The metrics, declared once.

use prometheus::core::Collector;
use prometheus::{CounterVec, HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, Registry};

/// Where the duration of a request falls, in seconds.
const REQUEST_BUCKETS: &[f64] = &[0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0];
/// Where a wait in a queue falls, in seconds.
const QUEUE_BUCKETS: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A sum of events or tokens.
    Counter,
    /// A sum of fractions.
    Amount,
    /// A number of now.
    Gauge,
    /// How often a duration fell below each bound, in seconds.
    Histogram(&'static [f64]),
}

/// One metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// Its full name.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Names of its labels, in the order values are given.
    pub labels: &'static [&'static str],
    /// What it counts.
    pub help: &'static str,
}

const fn metric(name: &'static str, kind: Kind, labels: &'static [&'static str], help: &'static str) -> Metric {
    Metric { name, kind, labels, help }
}

const PAIR: &[&str] = &["provider", "model"];
const PROVIDER: &[&str] = &["provider"];

/// Every metric there is.
pub const METRICS: [Metric; 15] = [
    REQUESTS,
    REQUEST_DURATION,
    QUEUE_DURATION,
    ACTIVE,
    ACTIVE_BY_PROVIDER,
    PROMPT_TOKENS,
    COMPLETION_TOKENS,
    VENDOR_INPUT_TOKENS,
    VENDOR_OUTPUT_TOKENS,
    CACHED_TOKENS,
    REASONING_TOKENS,
    COST,
    ERRORS,
    RATE_LIMIT_HITS,
    PROVIDER_UP,
];

/// Routed requests.
pub const REQUESTS: Metric =
    metric("svc_requests_total", Kind::Counter, &["provider", "model", "status_code"], "Routed requests, by the status the client got.");
/// How long they took.
pub const REQUEST_DURATION: Metric =
    metric("svc_request_duration_seconds", Kind::Histogram(REQUEST_BUCKETS), PAIR, "Time of routed requests from head to last byte.");
/// How long they stood in queues.
pub const QUEUE_DURATION: Metric =
    metric("svc_queue_duration_seconds", Kind::Histogram(QUEUE_BUCKETS), PROVIDER, "Wait of tries in the queue of a provider.");
/// Requests under way.
pub const ACTIVE: Metric = metric("svc_active_requests", Kind::Gauge, &[], "Requests under way.");
/// Tries under way.
pub const ACTIVE_BY_PROVIDER: Metric =
    metric("svc_active_requests_by_provider", Kind::Gauge, PROVIDER, "Requests under way at a provider, those in its queue not counted.");
/// Own count of input.
pub const PROMPT_TOKENS: Metric =
    metric("svc_prompt_tokens_total", Kind::Counter, PAIR, "Tokens of requests, counted by the gateway's own tokeniser.");
/// Own count of output.
pub const COMPLETION_TOKENS: Metric =
    metric("svc_completion_tokens_total", Kind::Counter, PAIR, "Tokens of answers, counted by the gateway's own tokeniser.");
/// The provider's count of input.
pub const VENDOR_INPUT_TOKENS: Metric =
    metric("svc_vendor_input_tokens_total", Kind::Counter, PAIR, "Input tokens as providers report them, cached ones included.");
/// The provider's count of output.
pub const VENDOR_OUTPUT_TOKENS: Metric =
    metric("svc_vendor_output_tokens_total", Kind::Counter, PAIR, "Output tokens as providers report them, reasoning included.");
/// Input read from a cache.
pub const CACHED_TOKENS: Metric =
    metric("svc_cached_tokens_total", Kind::Counter, PAIR, "Input tokens that providers report as read from a cache.");
/// Output spent on reasoning.
pub const REASONING_TOKENS: Metric =
    metric("svc_reasoning_tokens_total", Kind::Counter, PAIR, "Reasoning tokens as providers of the chat-completions family report them.");
/// Money.
pub const COST: Metric =
    metric("svc_cost_dollars_total", Kind::Amount, &["provider", "model", "currency"], "Cost as aggregators report it in answers.");
/// Requests that ended in an error.
pub const ERRORS: Metric =
    metric("svc_errors_total", Kind::Counter, &["error_type", "provider"], "Requests that ended in an error, refused ones included.");
/// 429 of providers.
pub const RATE_LIMIT_HITS: Metric = metric("svc_rate_limit_hits_total", Kind::Counter, PROVIDER, "Answers of a provider with status 429.");
/// Who serves.
pub const PROVIDER_UP: Metric =
    metric("svc_provider_up", Kind::Gauge, PROVIDER, "Whether a provider takes requests: 1, or 0 while it is cut off.");

impl Metric {
    fn opts(&self) -> Opts {
        Opts::new(self.name, self.help)
    }

    pub(super) fn counter(&self, registry: &Registry) -> prometheus::Result<IntCounterVec> {
        registered(registry, IntCounterVec::new(self.opts(), self.labels)?)
    }

    pub(super) fn amount(&self, registry: &Registry) -> prometheus::Result<CounterVec> {
        registered(registry, CounterVec::new(self.opts(), self.labels)?)
    }

    pub(super) fn gauge(&self, registry: &Registry) -> prometheus::Result<IntGaugeVec> {
        registered(registry, IntGaugeVec::new(self.opts(), self.labels)?)
    }

    pub(super) fn histogram(&self, registry: &Registry) -> prometheus::Result<HistogramVec> {
        let Kind::Histogram(buckets) = self.kind else {
            return Err(prometheus::Error::Msg(format!("{} is no histogram", self.name)));
        };
        registered(registry, HistogramVec::new(HistogramOpts::from(self.opts()).buckets(buckets.to_vec()), self.labels)?)
    }

    /// The word of the text format.
    #[must_use]
    pub const fn type_word(&self) -> &'static str {
        match self.kind {
            Kind::Counter | Kind::Amount => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram(_) => "histogram",
        }
    }
}

fn registered<C: Collector + Clone + 'static>(registry: &Registry, made: C) -> prometheus::Result<C> {
    registry.register(Box::new(made.clone()))?;
    Ok(made)
}

#[cfg(test)]
mod tests;
