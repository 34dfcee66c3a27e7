//! Spans from a record: one for the request, and one for each try. Nothing of prompts and answers is in them.

use std::borrow::Cow;
use std::time::Duration;

use super::names::{self, operation};
use super::span::{Kind, Span, Value};
use super::try_span;
use crate::store::{AttemptRecord, Record, RequestOutcome, TraceRecord, TryRecord};

/// The spans of a record, that of the request first; none where its trace is not recorded.
pub(super) fn spans<'a>(record: &'a Record<&'a str>) -> Vec<Span<'a>> {
    let Some(trace) = &record.trace else { return Vec::new() };
    let tries = record.attempts.iter().zip(&trace.tries).enumerate();
    let tries = tries.map(|(index, (attempt, made))| client(record, trace, index + 1, (attempt, made)));
    std::iter::once(server(record, trace)).chain(tries).collect()
}

/// The request as the client sees it.
fn server<'a>(record: &'a Record<&'a str>, trace: &'a TraceRecord<&'a str>) -> Span<'a> {
    let operation = operation(record.endpoint);
    let error = error(record);
    let mut told = Attributes::default();
    told.text(names::OPERATION, operation);
    told.maybe(names::REQUEST_MODEL, record.model_asked);
    told.flag(names::REQUEST_STREAM, record.stream);
    told.text(names::METHOD, trace.method);
    told.text(names::URL_PATH, record.path);
    told.status(record.status);
    told.maybe(names::CLIENT_ADDRESS, record.client_address);
    told.maybe(names::USER_AGENT, record.user_agent);
    told.maybe(names::ERROR_TYPE, error.clone());
    told.text(names::OWN_REQUEST_ID, record.request_id);
    told.text(names::OWN_ENDPOINT, record.endpoint);
    told.text(names::OWN_OUTCOME, record.outcome.as_str());
    told.number(names::OWN_ATTEMPTS, record.attempts.len());
    for (name, value) in [
        (names::OWN_MODEL, record.model_resolved),
        (names::OWN_RULE, record.rule),
        (names::OWN_KEY_ID, record.key_id),
        (names::OWN_OWNER_KIND, record.owner_kind),
        (names::OWN_OWNER_ID, record.owner_id),
        (names::OWN_TEAM_ID, record.team_id),
        (names::OWN_APPLICATION_ID, record.application_id),
    ] {
        told.maybe(name, value.map(Cow::Borrowed));
    }
    Span {
        trace: trace.id,
        id: trace.span,
        parent: trace.parent,
        parent_is_remote: trace.parent != 0,
        flags: trace.flags,
        state: trace.state,
        name: named(operation, record.model_asked),
        kind: Kind::Server,
        start_ns: trace.started_ns,
        end_ns: after(trace.started_ns, record.total_us),
        attributes: told.0,
        failed: error.is_some(),
    }
}

/// A try at a provider. What the answer cost is told here, and only here, so that a sum over all spans counts it once.
fn client<'a>(
    record: &'a Record<&'a str>,
    trace: &'a TraceRecord<&'a str>,
    number: usize,
    (attempt, made): (&'a AttemptRecord<&'a str>, &'a TryRecord<&'a str>),
) -> Span<'a> {
    let operation = operation(record.endpoint);
    let error = failure(attempt);
    let mut told = Attributes::default();
    told.text(names::OPERATION, operation);
    told.text(names::PROVIDER, names::provider(made.kind));
    told.text(names::REQUEST_MODEL, attempt.model);
    told.flag(names::REQUEST_STREAM, record.stream);
    told.text(names::SERVER_ADDRESS, made.host);
    told.number(names::SERVER_PORT, usize::from(made.port));
    told.text(names::METHOD, "POST");
    if number > 1 {
        told.number(names::RESEND_COUNT, number - 1);
    }
    told.status(attempt.status);
    told.maybe(names::ERROR_TYPE, error.clone());
    told.text(names::OWN_PROVIDER, attempt.provider);
    if number == record.attempts.len() {
        answered(&mut told, record, made);
    }
    let start_ns = after(trace.started_ns, made.after_us);
    Span {
        trace: trace.id,
        id: try_span(trace.span, number),
        parent: trace.span,
        parent_is_remote: false,
        flags: trace.flags,
        state: trace.state,
        name: named(operation, Some(attempt.model)),
        kind: Kind::Client,
        start_ns,
        end_ns: after(start_ns, made.lasted_us),
        attributes: told.0,
        failed: error.is_some(),
    }
}

/// What is known of the answer.
fn answered<'a>(told: &mut Attributes<'a>, record: &'a Record<&'a str>, made: &TryRecord<&str>) {
    if let Some(reason) = record.finish_reason {
        told.0.push((names::FINISH_REASONS, Value::Texts(vec![reason])));
    }
    if let Some(first) = record.first_byte_us.filter(|_| record.stream) {
        let waited = Duration::from_micros(first.saturating_sub(made.after_us));
        told.0.push((names::FIRST_CHUNK, Value::Real(waited.as_secs_f64())));
    }
    if let Some(usage) = &record.usage {
        for (name, tokens) in [
            (names::INPUT_TOKENS, Some(usage.input())),
            (names::OUTPUT_TOKENS, Some(usage.output)),
            (names::CACHE_READ_TOKENS, Some(usage.cache_read).filter(|tokens| *tokens > 0)),
            (names::CACHE_WRITE_TOKENS, Some(usage.cache_write()).filter(|tokens| *tokens > 0)),
            (names::REASONING_TOKENS, usage.reasoning),
        ] {
            told.0.extend(tokens.map(|tokens| (name, Value::Number(tokens))));
        }
    }
    told.maybe(names::OWN_VENDOR_ID, record.upstream_request_id);
}

/// Why a request failed, as far as the client can tell: the gateway's own code, else what became of the last try.
fn error<'a>(record: &Record<&'a str>) -> Option<Cow<'a, str>> {
    let code = record.error_code.map(Cow::Borrowed);
    let last = || record.attempts.last().and_then(failure);
    let by_status = || by_status(record.status);
    match record.outcome {
        RequestOutcome::Complete => code.or_else(by_status),
        RequestOutcome::UpstreamError => code.or_else(last).or_else(by_status).or(Some(Cow::Borrowed(record.outcome.as_str()))),
        RequestOutcome::Refused => code.or_else(by_status).or(Some(Cow::Borrowed(record.outcome.as_str()))),
        RequestOutcome::ClientGone | RequestOutcome::Interrupted => Some(Cow::Borrowed(record.outcome.as_str())),
    }
}

/// Why a try failed, if it did: the status where one came that says so.
fn failure<'a>(attempt: &AttemptRecord<&'a str>) -> Option<Cow<'a, str>> {
    by_status(attempt.status).or_else(|| (!attempt.failure.is_empty()).then_some(Cow::Borrowed(attempt.failure)))
}

fn by_status<'a>(status: u16) -> Option<Cow<'a, str>> {
    (status >= 400).then(|| Cow::Owned(status.to_string()))
}

fn named(operation: &str, model: Option<&str>) -> String {
    model.map_or_else(|| operation.to_owned(), |model| format!("{operation} {model}"))
}

fn after(start_ns: u64, us: u64) -> u64 {
    start_ns.saturating_add(us.saturating_mul(1000))
}

/// Attributes being gathered; what is empty is left out.
#[derive(Default)]
struct Attributes<'a>(Vec<(&'static str, Value<'a>)>);

impl<'a> Attributes<'a> {
    fn text(&mut self, name: &'static str, text: &'a str) {
        self.maybe(name, Some(text).filter(|text| !text.is_empty()));
    }

    fn maybe(&mut self, name: &'static str, text: Option<impl Into<Cow<'a, str>>>) {
        self.0.extend(text.map(|text| (name, Value::Text(text.into()))));
    }

    fn number(&mut self, name: &'static str, number: usize) {
        self.0.push((name, Value::Number(u64::try_from(number).unwrap_or(u64::MAX))));
    }

    fn flag(&mut self, name: &'static str, set: bool) {
        self.0.extend(set.then_some((name, Value::Bool(true))));
    }

    fn status(&mut self, status: u16) {
        self.0.extend((status > 0).then(|| (names::STATUS_CODE, Value::Number(u64::from(status)))));
    }
}

#[cfg(test)]
mod tests;
