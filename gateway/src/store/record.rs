//! The one record a request leaves behind, as the journal stores it and the request log shows it.

use serde::{Deserialize, Serialize};

use svc_filters::usage::Usage;

use super::counting::OwnCounts;

/// How a request ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequestOutcome {
    /// The answer reached its end.
    Complete,
    /// A provider failed or answered with an error.
    UpstreamError,
    /// The gateway refused the request.
    Refused,
    /// The client went away first.
    ClientGone,
    /// The gateway ended before the request did; found when the journal is replayed.
    #[default]
    Interrupted,
}

impl RequestOutcome {
    /// The text of the request log's column.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::UpstreamError => "upstream_error",
            Self::Refused => "refused",
            Self::ClientGone => "client_gone",
            Self::Interrupted => "interrupted",
        }
    }
}

/// One attempt at a target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord<S = String> {
    /// Provider name.
    pub provider: S,
    /// Model name at the provider.
    pub model: S,
    /// HTTP status; 0 where none came.
    pub status: u16,
    /// Why it was not delivered; empty where it was.
    pub failure: S,
    /// Microseconds from its start to the status or failure.
    pub us: u64,
    /// Microseconds of these in the provider's queue; none where the provider has no queue.
    pub queue_us: Option<u64>,
}

/// What the trace of a request needs beside its record. Kept only where the trace is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceRecord<S = String> {
    /// The trace's id.
    pub id: u128,
    /// Id of the request's span.
    pub span: u64,
    /// Id of the client's span; 0 where it sent none.
    pub parent: u64,
    /// The flags of `traceparent`.
    pub flags: u8,
    /// Unix nanoseconds.
    pub started_ns: u64,
    /// Method of the request.
    pub method: S,
    /// The client's `tracestate`.
    pub state: Option<S>,
    /// What the attempts of the record lack, in the same order.
    pub tries: Vec<TryRecord<S>>,
}

/// What the span of an attempt needs beside [`AttemptRecord`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TryRecord<S = String> {
    /// Microseconds from the request's start to that of the attempt.
    pub after_us: u64,
    /// Microseconds to its end; for an answer that is delivered, to the answer's.
    pub lasted_us: u64,
    /// Kind of the provider.
    pub kind: S,
    /// The provider's host.
    pub host: S,
    /// The provider's port.
    pub port: u16,
}

/// Everything the request log keeps about one request. Texts are empty where the log has null; they are `&str` where they point
/// into a journal entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record<S = String> {
    /// Unique request id: a UUID of 36 characters.
    pub request_id: S,
    /// Unix milliseconds.
    pub started_at: i64,
    /// Key id.
    pub key_id: Option<S>,
    /// `user` or `agent`.
    pub owner_kind: Option<S>,
    /// User or agent id.
    pub owner_id: Option<S>,
    /// Team id.
    pub team_id: Option<S>,
    /// Application id.
    pub application_id: Option<S>,
    /// Shape of the client.
    pub client_shape: S,
    /// Endpoint name.
    pub endpoint: S,
    /// Path without query.
    pub path: S,
    /// Provider that answered.
    pub provider: Option<S>,
    /// Its shape.
    pub provider_shape: Option<S>,
    /// Model the client asked for.
    pub model_asked: Option<S>,
    /// Canonical model.
    pub model_resolved: Option<S>,
    /// Model name sent to the provider.
    pub model_upstream: Option<S>,
    /// Routing rule that decided.
    pub rule: Option<S>,
    /// HTTP status sent to the client.
    pub status: u16,
    /// `x-svc-error-code` sent to the client.
    pub error_code: Option<S>,
    /// How it ended.
    pub outcome: RequestOutcome,
    /// Whether the answer was streamed.
    pub stream: bool,
    /// Microseconds from first request byte parsed to the end.
    pub total_us: u64,
    /// Microseconds to the provider's first answer byte.
    pub first_byte_us: Option<u64>,
    /// Microseconds spent in the queues of providers.
    pub queue_us: u64,
    /// Microseconds spent in the gateway before the provider was asked.
    pub overhead_us: u64,
    /// What the provider says was used.
    pub usage: Option<Usage>,
    /// Bytes of the request body.
    pub request_bytes: u64,
    /// Bytes of the answer body.
    pub response_bytes: u64,
    /// Address of the client.
    pub client_address: Option<S>,
    /// User agent of the client.
    pub user_agent: Option<S>,
    /// Tags as a JSON object.
    pub tags: Option<S>,
    /// Attempts in order.
    pub attempts: Vec<AttemptRecord<S>>,
    /// Notes of the filters.
    pub notes: Vec<(S, S)>,
    /// Provider's own request id.
    pub upstream_request_id: Option<S>,
    /// Finish reason in the provider's words.
    pub finish_reason: Option<S>,
    /// What its trace needs.
    pub trace: Option<TraceRecord<S>>,
    /// What the flush worker counts; not part of the journal.
    #[serde(skip)]
    pub own: OwnCounts,
}

/// [`AttemptRecord`] as the request path writes it: borrowed, with the same fields in the same order.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the fields are those of the owned form")]
pub struct AttemptView<'a> {
    pub provider: &'a str,
    pub model: &'a str,
    pub status: u16,
    pub failure: &'a str,
    pub us: u64,
    pub queue_us: Option<u64>,
}

/// [`Record`] as the request path writes it: borrowed, with the same fields in the same order.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the fields are those of the owned form")]
pub struct RecordView<'a> {
    pub request_id: &'a str,
    pub started_at: i64,
    pub key_id: Option<&'a str>,
    pub owner_kind: Option<&'a str>,
    pub owner_id: Option<&'a str>,
    pub team_id: Option<&'a str>,
    pub application_id: Option<&'a str>,
    pub client_shape: &'a str,
    pub endpoint: &'a str,
    pub path: &'a str,
    pub provider: Option<&'a str>,
    pub provider_shape: Option<&'a str>,
    pub model_asked: Option<&'a str>,
    pub model_resolved: Option<&'a str>,
    pub model_upstream: Option<&'a str>,
    pub rule: Option<&'a str>,
    pub status: u16,
    pub error_code: Option<&'a str>,
    pub outcome: RequestOutcome,
    pub stream: bool,
    pub total_us: u64,
    pub first_byte_us: Option<u64>,
    pub queue_us: u64,
    pub overhead_us: u64,
    pub usage: Option<Usage>,
    pub request_bytes: u64,
    pub response_bytes: u64,
    pub client_address: Option<&'a str>,
    pub user_agent: Option<&'a str>,
    pub tags: Option<&'a str>,
    pub attempts: Vec<AttemptView<'a>>,
    pub notes: &'a [(String, String)],
    pub upstream_request_id: Option<&'a str>,
    pub finish_reason: Option<&'a str>,
    pub trace: Option<TraceRecord<&'a str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_borrowed_is_read_owned() {
        let notes = vec![("tenant".to_owned(), "blue".to_owned())];
        let attempt = AttemptView { provider: "p", model: "m", status: 500, failure: "status", us: 7, queue_us: Some(8) };
        let view = RecordView {
            request_id: "id",
            started_at: 1,
            key_id: Some("k"),
            owner_kind: Some("user"),
            owner_id: Some("u"),
            team_id: Some("t"),
            application_id: Some("a"),
            client_shape: "messages",
            endpoint: "messages",
            path: "/v1/messages",
            provider: Some("p"),
            provider_shape: Some("messages"),
            model_asked: Some("asked"),
            model_resolved: Some("resolved"),
            model_upstream: Some("upstream"),
            rule: Some("rule"),
            status: 200,
            error_code: Some("code"),
            outcome: RequestOutcome::Complete,
            stream: true,
            total_us: 2,
            first_byte_us: Some(3),
            queue_us: 8,
            overhead_us: 4,
            usage: Some(Usage { output: 5, ..Usage::default() }),
            request_bytes: 6,
            response_bytes: 7,
            client_address: Some("127.0.0.1"),
            user_agent: Some("agent"),
            tags: Some("{}"),
            attempts: vec![attempt],
            notes: &notes,
            upstream_request_id: Some("theirs"),
            finish_reason: Some("stop"),
            trace: Some(TraceRecord {
                id: 8,
                state: Some("a=b"),
                tries: vec![TryRecord { port: 443, ..TryRecord::default() }],
                ..TraceRecord::default()
            }),
        };
        let read: Record = postcard::from_bytes(&postcard::to_allocvec(&view).expect("encodes")).expect("decodes");
        assert_eq!((read.request_id.as_str(), read.trace.as_ref().map(|trace| trace.id)), ("id", Some(8)), "first and last field");
        assert_eq!(read.attempts.first().map(|attempt| (attempt.failure.as_str(), attempt.us)), Some(("status", 7)));
        assert_eq!(read.attempts.first().and_then(|attempt| attempt.queue_us), Some(8), "the last field of a try");
        assert_eq!(postcard::to_allocvec(&read).expect("encodes"), postcard::to_allocvec(&view).expect("encodes"), "field by field");
    }
}
