//! The metrics themselves: counted from records, and shown.

use std::fmt::Write as _;
use std::time::Instant;

use parking_lot::Mutex;
use prometheus::core::{Metric, MetricVec, MetricVecBuilder};
use prometheus::{CounterVec, HistogramVec, IntCounterVec, IntGaugeVec, Registry, TextEncoder};
use svc_filters::translate::ProviderKind;
use svc_filters::usage::LARGEST;
use svc_filters::verdict::Code;

use super::labels::{Labels, NONE};
use super::table::{self, METRICS};
use crate::providers::Standing;
use crate::state::Gateway;
use crate::store::{Record, RequestOutcome, Snapshot};

/// What `status_code` says of a request whose client left before its end.
const CLIENT_GONE: u16 = 499;
/// The money aggregators reckon in.
const CURRENCY: &str = "USD";
/// What `error_type` may be.
const ERROR_TYPES: [&str; 5] = ["unauthorized", "forbidden", "rate_limited", "server_error", "client_error"];

/// The fifteen metrics of this process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    request_duration: HistogramVec,
    queue_duration: HistogramVec,
    active: IntGaugeVec,
    active_by_provider: IntGaugeVec,
    prompt_tokens: IntCounterVec,
    completion_tokens: IntCounterVec,
    vendor_input_tokens: IntCounterVec,
    vendor_output_tokens: IntCounterVec,
    cached_tokens: IntCounterVec,
    reasoning_tokens: IntCounterVec,
    cost: CounterVec,
    errors: IntCounterVec,
    rate_limit_hits: IntCounterVec,
    provider_up: IntGaugeVec,
    /// Also keeps two who ask at the same time apart: gauges are set when they are shown.
    labels: Mutex<Labels>,
}

impl Metrics {
    /// Metrics that have counted nothing.
    ///
    /// # Errors
    /// When the table does not fit together.
    pub fn new() -> prometheus::Result<Self> {
        let registry = Registry::new();
        Ok(Self {
            requests: table::REQUESTS.counter(&registry)?,
            request_duration: table::REQUEST_DURATION.histogram(&registry)?,
            queue_duration: table::QUEUE_DURATION.histogram(&registry)?,
            active: table::ACTIVE.gauge(&registry)?,
            active_by_provider: table::ACTIVE_BY_PROVIDER.gauge(&registry)?,
            prompt_tokens: table::PROMPT_TOKENS.counter(&registry)?,
            completion_tokens: table::COMPLETION_TOKENS.counter(&registry)?,
            vendor_input_tokens: table::VENDOR_INPUT_TOKENS.counter(&registry)?,
            vendor_output_tokens: table::VENDOR_OUTPUT_TOKENS.counter(&registry)?,
            cached_tokens: table::CACHED_TOKENS.counter(&registry)?,
            reasoning_tokens: table::REASONING_TOKENS.counter(&registry)?,
            cost: table::COST.amount(&registry)?,
            errors: table::ERRORS.counter(&registry)?,
            rate_limit_hits: table::RATE_LIMIT_HITS.counter(&registry)?,
            provider_up: table::PROVIDER_UP.gauge(&registry)?,
            labels: Mutex::default(),
            registry,
        })
    }

    /// Counts a request that has ended; to be called once for each.
    pub fn count(&self, record: &Record<&str>, snapshot: &Snapshot) {
        let mut labels = self.labels.lock();
        let provider = labels.provider(record.provider, snapshot);
        if let Some(error_type) = error_type(record) {
            with(&self.errors, &[error_type, provider], |errors| errors.inc());
        }
        for attempt in &record.attempts {
            let provider = labels.provider(Some(attempt.provider), snapshot);
            if attempt.status == 429 {
                with(&self.rate_limit_hits, &[provider], |hits| hits.inc());
            }
            if let Some(us) = attempt.queue_us {
                with(&self.queue_duration, &[provider], |duration| duration.observe(seconds(us)));
            }
        }
        if is_routed(record) {
            self.count_routed(record, snapshot, &mut labels);
        }
    }

    fn count_routed(&self, record: &Record<&str>, snapshot: &Snapshot, labels: &mut Labels) {
        let (provider, model) = labels.pair(record.provider, record.model_resolved, snapshot);
        let status = labels.status(if record.outcome == RequestOutcome::ClientGone { CLIENT_GONE } else { record.status });
        let pair = [provider, model];
        with(&self.requests, &[provider, model, &status], |requests| requests.inc());
        with(&self.request_duration, &pair, |duration| duration.observe(seconds(record.total_us)));
        let add = |counter: &IntCounterVec, tokens: Option<u64>| {
            // A count that no provider can mean would spoil the sum for good.
            if let Some(tokens) = tokens.filter(|tokens| *tokens < LARGEST) {
                with(counter, &pair, |counter| counter.inc_by(tokens));
            }
        };
        add(&self.prompt_tokens, record.own.prompt);
        add(&self.completion_tokens, record.own.completion);
        let Some(usage) = &record.usage else { return };
        add(&self.vendor_input_tokens, Some(usage.input()));
        add(&self.vendor_output_tokens, Some(usage.output));
        add(&self.cached_tokens, Some(usage.cache_read));
        let kind = record.provider.and_then(|name| snapshot.providers.get(name)).map(|provider| provider.kind());
        if matches!(kind, Some(ProviderKind::Openai | ProviderKind::AzureOpenai)) {
            add(&self.reasoning_tokens, usage.reasoning);
        }
        if let Some(nano) = usage.cost_nano {
            // The first rounding of the amount.
            with(&self.cost, &[provider, model, CURRENCY], |cost| cost.inc_by(nano as f64 / 1e9));
        }
    }

    /// All metrics in the text format, version 0.0.4.
    ///
    /// # Errors
    /// When they cannot be put into words.
    pub fn show(&self, gateway: &Gateway) -> prometheus::Result<String> {
        let snapshot = gateway.live.hold();
        let standings = Standing::all(&snapshot, Instant::now(), gateway.clock.ticks());
        let families = {
            let mut labels = self.labels.lock();
            self.active_by_provider.reset();
            self.provider_up.reset();
            with(&self.active, &[], |active| active.set(whole(gateway.active.count())));
            for standing in &standings {
                let name = &**standing.provider.name();
                let active = whole(standing.provider.in_flight().count());
                with(&self.active_by_provider, &[name], |gauge| gauge.set(active));
                with(&self.provider_up, &[name], |gauge| gauge.set(i64::from(standing.up)));
                self.begin_at_zero(labels.provider(Some(name), &snapshot));
            }
            self.begin_errors_at_zero(NONE);
            self.registry.gather()
        };
        let mut text = TextEncoder::new().encode_to_string(&families)?;
        for metric in METRICS.iter().filter(|metric| families.iter().all(|family| family.name() != metric.name)) {
            let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {}", metric.help, metric.type_word(), name = metric.name);
        }
        Ok(text)
    }

    /// Shows a provider's counters before there is anything to count, so that the first event is an increase.
    fn begin_at_zero(&self, provider: &str) {
        with(&self.rate_limit_hits, &[provider], |_| {});
        self.begin_errors_at_zero(provider);
    }

    fn begin_errors_at_zero(&self, provider: &str) {
        for error_type in ERROR_TYPES {
            with(&self.errors, &[error_type, provider], |_| {});
        }
    }
}

/// Does something to one series.
fn with<M: Metric, B: MetricVecBuilder<M = M>>(metric: &MetricVec<B>, labels: &[&str], change: impl FnOnce(&M)) {
    match metric.get_metric_with_label_values(labels) {
        Ok(series) => change(&series),
        Err(error) => log::error!("a metric is not counted: {error}"),
    }
}

/// Whether a request was to go to a provider: one was tried, or none was left to be tried.
fn is_routed(record: &Record<&str>) -> bool {
    let none_left = || record.model_resolved.is_some() && record.error_code == Some(Code::UpstreamUnavailable.as_str());
    record.provider.is_some() || none_left()
}

/// What kind of error the client got; none where it got an answer, or left.
fn error_type(record: &Record<&str>) -> Option<&'static str> {
    match (record.outcome, record.status) {
        (RequestOutcome::ClientGone | RequestOutcome::Interrupted, _) => None,
        (_, 401) => Some("unauthorized"),
        (_, 403) => Some("forbidden"),
        (_, 429) => Some("rate_limited"),
        (_, 400..=499) => Some("client_error"),
        (_, 500..) => Some("server_error"),
        // The head had left before.
        (RequestOutcome::UpstreamError, _) => Some("server_error"),
        (RequestOutcome::Refused, _) => Some("client_error"),
        (RequestOutcome::Complete, _) => None,
    }
}

fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
