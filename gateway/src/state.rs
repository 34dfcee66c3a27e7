//! What all requests of the process share.

use std::sync::atomic::{AtomicUsize, Ordering};

use svc_filters::chain::Chain;

use crate::clock::Clock;
use crate::conf::Conf;
use crate::control::Control;
use crate::events::{Event, Events};
use crate::guardrail_models::GuardrailModels;
use crate::licence::Licence;
use crate::limiter;
use crate::phases::body::BodyMemory;
use crate::store::{Counting, Journal, Live};
use crate::telemetry::Metrics;
use crate::traces::Traces;

/// Shared state of the data plane.
pub struct Gateway {
    /// The configuration file.
    pub conf: Conf,
    /// The filter chain.
    pub chain: Chain,
    /// Configuration from the database.
    pub live: Live,
    /// Records on their way to the database.
    pub journal: Journal,
    /// Ids and bounds of what operators are told of.
    pub events: Events,
    /// What the flush worker is to count.
    pub counting: Counting,
    /// What the flush worker counts for Prometheus; `None` where nobody may ask.
    pub metrics: Option<Metrics>,
    /// Traces of requests; `None` where none are made.
    pub traces: Option<Traces>,
    /// Time.
    pub clock: Clock,
    /// Memory all request bodies share.
    pub body_memory: BodyMemory,
    /// Limits shared with other gateways; `None` where this one counts alone.
    pub shared: Option<Box<dyn limiter::Store>>,
    /// The models of guardrails.
    pub guardrail_models: GuardrailModels,
    /// Requests being served.
    pub active: Active,
    /// Which edition's functions are there.
    pub licence: Licence,
    /// The `/admin` endpoints.
    pub control: Control,
}

impl Gateway {
    /// Tells operators of an event. Costs a copy into the journal.
    pub fn tell(&self, event: &Event<'_>) {
        self.events.tell(&self.journal, &self.clock, event);
    }
}

/// Counts requests being served.
#[derive(Debug, Default)]
pub struct Active {
    count: AtomicUsize,
}

impl Active {
    /// A request begins.
    pub fn enter(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// A request ends.
    pub fn leave(&self) {
        self.count.fetch_sub(1, Ordering::Release);
    }

    /// Requests being served.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }
}
