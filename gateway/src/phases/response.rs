//! The provider's status and headers: deliver the answer, or go on to the next candidate.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};
use svc_filters::limits::Decision;
use svc_filters::passage::{Framing, Passage, PassageKind, PassageOptions};
use svc_filters::shape::Shape;

use crate::attempts::{Judgement, judge};
use crate::edge::Connection;
use crate::exchange::Exchange;
use crate::rescue::{ERROR_ORIGIN, SHOULD_RETRY};

const PROVIDER: HeaderName = HeaderName::from_static("x-svc-provider");
const MODEL: HeaderName = HeaderName::from_static("x-svc-model");
const ATTEMPTS: HeaderName = HeaderName::from_static("x-svc-attempts");
const UPSTREAM_REQUEST_ID: HeaderName = HeaderName::from_static("x-svc-upstream-request-id");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// Provider headers that clients see.
const PASSED: [HeaderName; 5] = [header::CONTENT_TYPE, header::RETRY_AFTER, RETRY_AFTER_MS, SHOULD_RETRY, header::CONTENT_DISPOSITION];

/// Where the vendors put their own request ids.
const VENDOR_IDS: [HeaderName; 5] = [
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("request-id"),
    HeaderName::from_static("apim-request-id"),
    HeaderName::from_static("x-goog-request-id"),
    HeaderName::from_static("x-amzn-requestid"),
];

/// Judges the provider's answer before anything of it is sent on.
///
/// # Errors
/// A retryable error where the next candidate is to be tried; a final one where the provider refused our credential and no
/// candidate is left.
pub fn judge_head(exchange: &mut Exchange, head: &ResponseHeader) -> Result<()> {
    if head.status.is_informational() {
        return Ok(());
    }
    let status = head.status.as_u16();
    if renewed(exchange, status, &head.headers) {
        let mut error = Error::explain(ErrorType::HTTPStatus(status), "the same credential is tried anew");
        error.set_retry(true);
        return Err(error);
    }
    let judgement = judge(status);
    rest_credential(exchange, judgement, &head.headers);
    if judgement == Judgement::Deliver {
        exchange.attempts.conclude(status, "");
        return Ok(());
    }
    let next = exchange.snapshot.as_ref().is_some_and(|snapshot| exchange.attempts.has_next(snapshot));
    if next {
        exchange.attempts.conclude(status, "status");
        let mut error = Error::explain(ErrorType::HTTPStatus(status), "the provider's answer leads to the next candidate");
        error.set_retry(true);
        return Err(error);
    }
    if judgement == Judgement::CredentialRefused {
        exchange.attempts.conclude(status, "credential");
        exchange.attempts.credential_refused();
        return Error::e_explain(ErrorType::HTTPStatus(502), "the provider refused our credential");
    }
    exchange.attempts.conclude(status, "");
    Ok(())
}

/// Whether the refused credential is to be used once more, after a token was dropped or the clock put right.
fn renewed(exchange: &mut Exchange, status: u16, headers: &HeaderMap) -> bool {
    let (Some(provider), Some(key), Some(used)) = (exchange.attempts.provider(), exchange.attempts.key(), &exchange.authorisation) else {
        return false;
    };
    (400..404).contains(&status) && provider.renew(key, used, status, headers) && exchange.attempts.renew(status)
}

fn rest_credential(exchange: &Exchange, judgement: Judgement, headers: &HeaderMap) {
    let (Some(provider), Some(key)) = (exchange.attempts.provider(), exchange.attempts.key()) else { return };
    let now = exchange.ticks;
    match judgement {
        Judgement::CredentialRefused => {
            log::error!("the provider `{}` refused its credential number {}", provider.name(), key.index + 1);
            provider.keys().refuse(key.index, now);
        }
        Judgement::Limited => provider.keys().limit(key.index, now, retry_after(headers)),
        Judgement::Deliver | Judgement::Next => {}
    }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Makes the head the client gets, and the passage its body takes.
///
/// # Errors
/// When a header cannot be set.
pub fn deliver(session: &Session, exchange: &mut Exchange, upstream: &mut ResponseHeader) -> Result<()> {
    if upstream.status.is_informational() {
        return Ok(());
    }
    exchange.answer.unwrapping = match (exchange.attempts.provider(), exchange.endpoint) {
        (Some(provider), Some(endpoint)) => provider.unwrapping(endpoint, upstream)?,
        _ => None,
    };
    let status = upstream.status;
    exchange.answered(session);
    exchange.answer.status = status.as_u16();
    exchange.answer.first_byte = Some(exchange.started.elapsed());
    exchange.answer.upstream_request_id = vendor_id(&upstream.headers);
    let kind = passage_kind(exchange, status, &upstream.headers);
    exchange.answer.passage = kind.and_then(|kind| passage(exchange, kind));
    let streams = kind.is_some_and(|kind| matches!(kind.framing, Framing::Sse | Framing::JsonArray));

    let mut head = ResponseHeader::build_no_case(status, Some(12))?;
    for name in &PASSED {
        for value in upstream.headers.get_all(name) {
            head.append_header(name.clone(), value.clone())?;
        }
    }
    if !streams && exchange.answer.passage.is_some() {
        hold(session);
    }
    frame(session, upstream, &mut head, streams, exchange.answer.passage.is_none())?;
    describe(exchange, &mut head)?;
    if status.is_client_error() || status.is_server_error() {
        head.insert_header(ERROR_ORIGIN, HeaderValue::from_static("upstream"))?;
    }
    *upstream = head;
    Ok(())
}

/// Lets the answer leave in one send once it is whole.
fn hold(session: &Session) {
    if let Some(connection) = session.stream().and_then(Connection::of) {
        connection.hold();
    }
}

/// Length or chunks, and what streams need on their way.
fn frame(session: &Session, upstream: &ResponseHeader, head: &mut ResponseHeader, streams: bool, keeps_length: bool) -> Result<()> {
    if streams {
        head.insert_header(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"))?;
        head.insert_header(ACCEL_BUFFERING, HeaderValue::from_static("no"))?;
    }
    let length = upstream.headers.get(header::CONTENT_LENGTH);
    match length.filter(|value| keeps_length || value.as_bytes() == b"0") {
        Some(length) => head.insert_header(header::CONTENT_LENGTH, length.clone()),
        None if session.req_header().version == Version::HTTP_11 && has_body(upstream.status) => {
            head.insert_header(header::TRANSFER_ENCODING, HeaderValue::from_static("chunked"))
        }
        None => Ok(()),
    }
}

fn has_body(status: StatusCode) -> bool {
    !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// Who answered, and what is left of the caps.
fn describe(exchange: &Exchange, head: &mut ResponseHeader) -> Result<()> {
    exchange.identify(head)?;
    if let Some(provider) = exchange.attempts.provider() {
        head.insert_header(PROVIDER, provider.name_header().clone())?;
    }
    if let Some(model) = &exchange.resolved {
        head.insert_header(MODEL, &*model.name)?;
    }
    head.insert_header(ATTEMPTS, HeaderValue::from(exchange.attempts.count()))?;
    if let Some(id) = &exchange.answer.upstream_request_id {
        head.insert_header(UPSTREAM_REQUEST_ID, id.clone())?;
    }
    if let Some(Decision::Admitted { limit, remaining }) = exchange.limit {
        head.insert_header(HeaderName::from_static("x-ratelimit-limit-requests"), HeaderValue::from(limit))?;
        head.insert_header(HeaderName::from_static("x-ratelimit-remaining-requests"), HeaderValue::from(remaining))?;
    }
    Ok(())
}

fn vendor_id(headers: &HeaderMap) -> Option<HeaderValue> {
    VENDOR_IDS.iter().find_map(|name| headers.get(name)).cloned()
}

/// What the body is; `None` where it goes through untouched and unread.
fn passage_kind(exchange: &Exchange, status: StatusCode, headers: &HeaderMap) -> Option<PassageKind> {
    if !status.is_success() {
        return None;
    }
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = PassageKind::of(super::request::body_kind(exchange.endpoint?), content_type, exchange.answer.stream);
    (kind.framing != Framing::Opaque).then_some(kind)
}

/// The passage a body of that kind takes.
fn passage(exchange: &Exchange, kind: PassageKind) -> Option<Passage> {
    let facts = exchange.facts.as_ref()?;
    let options = PassageOptions {
        answer_model: exchange.model_asked.clone(),
        hide_usage: facts.stream && !facts.asks_usage && exchange.shape == Shape::ChatCompletions,
        request_id: exchange.id.as_str().into(),
    };
    Some(Passage::new(kind, options))
}
