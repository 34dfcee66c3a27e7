//! Traces of requests for an OpenTelemetry collector.
//!
//! The request path decides whether a trace is recorded, gives it ids and tells them to the provider. Spans are made of the
//! records once these are in the database, by the flush worker, and sent by a task of their own: a collector that is slow or
//! away costs a bounded amount of memory and then spans, never a request.

mod build;
mod context;
mod export;
mod names;
mod proto;
mod queue;
mod span;

pub use context::pass_on;
pub use export::{Exporter, ExporterError};

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http::HeaderValue;
use pingora::http::RequestHeader;

use self::context::{Parent, SAMPLED, TRACEPARENT, TRACESTATE};
use self::queue::Queue;
use crate::attempts::Attempts;
use crate::request_id::random_bits;
use crate::store::{Record, TraceRecord};

/// Begins traces, and takes the records of those that are recorded.
#[derive(Debug)]
pub struct Traces {
    /// Of 2^63 trace ids that begin here, how many are recorded.
    recorded: u64,
    queue: Arc<Queue>,
}

/// The trace of one request.
#[derive(Debug)]
pub struct Trace {
    id: u128,
    span: u64,
    parent: u64,
    flags: u8,
    started_ns: u64,
    method: http::Method,
    state: Option<HeaderValue>,
}

impl Traces {
    fn new(ratio: f64, queue: Arc<Queue>) -> Self {
        Self { recorded: share(ratio), queue }
    }

    /// The trace of a request that began at `started`: the client's, where it names one, and recorded if the client records it.
    #[must_use]
    pub fn begin(&self, head: &RequestHeader, started: Instant) -> Box<Trace> {
        let parent = Parent::of(&head.headers);
        let state = parent.and_then(|_| context::state(&head.headers));
        let Parent { trace, span, flags } = parent.unwrap_or_else(|| self.fresh());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let started_ns = now.saturating_sub(started.elapsed()).as_nanos();
        Box::new(Trace {
            id: trace,
            span: random_bits().max(1),
            parent: span,
            flags,
            started_ns: u64::try_from(started_ns).unwrap_or(u64::MAX),
            method: head.method.clone(),
            state,
        })
    }

    /// A trace that begins here.
    fn fresh(&self) -> Parent {
        let trace = u128::from(random_bits()) << 64 | u128::from(random_bits().max(1));
        Parent { trace, span: 0, flags: Parent::fresh_flags(self.records(trace)) }
    }

    /// Whether a trace that begins here is recorded: SDKs that go by the same bits of its id decide alike.
    fn records(&self, trace: u128) -> bool {
        let low = u64::try_from(trace & u128::from(u64::MAX >> 1)).unwrap_or(u64::MAX);
        low < self.recorded
    }

    /// Makes the spans of records and leaves them to be sent. Spans that find no room are lost, and counted.
    pub fn hand_over(&self, records: &[Record<&str>]) {
        for record in records {
            for span in build::spans(record) {
                self.queue.push(span.encode());
            }
        }
    }

    /// Nothing more is handed over: what waits is sent as far as that is possible at once.
    pub fn close(&self) {
        self.queue.close();
    }
}

impl Trace {
    /// The trace's id, as it is written everywhere.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{:032x}", self.id)
    }

    /// Tells the provider of a try, counted from 1, which span it is asked by. The signatures of providers leave these headers out.
    ///
    /// # Errors
    /// Never for well-formed ids.
    pub fn mark(&self, number: usize, head: &mut RequestHeader) -> pingora::Result<()> {
        let parent = Parent { trace: self.id, span: try_span(self.span, number), flags: self.flags };
        if let Some(value) = parent.header_value() {
            head.insert_header(TRACEPARENT, value)?;
        }
        match &self.state {
            Some(state) => head.insert_header(TRACESTATE, state.clone()),
            None => Ok(()),
        }
    }

    /// What its spans will need, where it is recorded, of a request that began at `started` and lasted so long.
    #[must_use]
    pub fn record<'a>(&'a self, attempts: &'a Attempts, started: Instant, lasted: Duration) -> Option<TraceRecord<&'a str>> {
        (self.flags & SAMPLED != 0).then(|| TraceRecord {
            id: self.id,
            span: self.span,
            parent: self.parent,
            flags: self.flags,
            started_ns: self.started_ns,
            method: self.method.as_str(),
            state: self.state.as_ref().and_then(|state| state.to_str().ok()),
            tries: attempts.traced(started, started + lasted),
        })
    }
}

/// The id of a try's span: it follows from that of the request, so that nobody has to keep it. (The finalizer of SplitMix64 gives
/// every number another result.)
fn try_span(request: u64, number: usize) -> u64 {
    let number = u64::try_from(number).unwrap_or(u64::MAX);
    let mut bits = request.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits ^ (bits >> 31)).max(1)
}

/// A share of 2^63.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 2^63 lies within, and `as` saturates")]
fn share(ratio: f64) -> u64 {
    const ALL: f64 = 9_223_372_036_854_775_808.0;
    (ratio.clamp(0.0, 1.0) * ALL) as u64
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    fn traces(ratio: f64) -> Traces {
        Traces::new(ratio, Arc::new(Queue::default()))
    }

    fn begun(ratio: f64, parent: Option<&str>) -> Box<Trace> {
        let mut head = RequestHeader::build(Method::POST, b"/", None).unwrap();
        if let Some(parent) = parent {
            head.insert_header(TRACEPARENT, parent).unwrap();
            head.insert_header(TRACESTATE, "a=b").unwrap();
        }
        traces(ratio).begin(&head, Instant::now())
    }

    fn is_recorded(trace: &Trace) -> bool {
        trace.record(&Attempts::default(), Instant::now(), Duration::ZERO).is_some()
    }

    #[test]
    fn what_the_client_decided_stands() {
        for ratio in [0.0, 0.5, 1.0] {
            assert!(is_recorded(&begun(ratio, Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))), "{ratio}");
            assert!(!is_recorded(&begun(ratio, Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"))), "{ratio}");
        }
        assert!(is_recorded(&begun(1.0, None)) && !is_recorded(&begun(0.0, None)));
    }

    #[test]
    fn the_share_is_one_of_trace_ids() {
        let half = traces(0.5);
        assert!(half.records(0x3fff_ffff_ffff_ffff) && !half.records(0x4000_0000_0000_0000));
        assert!(half.records(0xffff_ffff_ffff_ffff_8000_0000_0000_0000), "the other bits make no difference");
        assert!(traces(1.0).records(0x7fff_ffff_ffff_ffff) && !traces(0.0).records(0));
        let recorded = (0..10_000).filter(|_| half.records(half.fresh().trace)).count();
        assert!((4_500..5_500).contains(&recorded), "{recorded}");
    }

    #[test]
    fn a_trace_goes_on_to_the_provider_with_a_span_for_each_try() {
        let trace = begun(1.0, Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
        let mut seen = Vec::new();
        for number in 1..=12 {
            let mut head = RequestHeader::build(Method::POST, b"/", None).unwrap();
            trace.mark(number, &mut head).unwrap();
            let parent = Parent::of(&head.headers).unwrap();
            assert_eq!((parent.trace, parent.flags), (0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736, 1));
            assert_eq!(head.headers.get(TRACESTATE).unwrap(), "a=b");
            seen.push(parent.span);
        }
        seen.extend([trace.span, 0x00f0_67aa_0ba9_02b7]);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 14, "no two spans have the same id");
    }
}
