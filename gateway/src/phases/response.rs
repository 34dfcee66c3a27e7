//! The provider's status and headers: deliver the answer, or go on to the next candidate.

use std::time::Duration;

use bytes::Bytes;
use http::header::InvalidHeaderValue;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::proxy::Session;
use pingora::{Error, ErrorType, OrErr, Result};
use pingora_core::protocols::http::v1::server::HttpSession;
use svc_filters::canonical::Failure;
use svc_filters::endpoint::Endpoint;
use svc_filters::limits::{self, Decision};
use svc_filters::passage::{Framing, Passage, PassageKind, PassageOptions};
use svc_filters::shape::Shape;
use svc_filters::translate::{self, Prepared, read_failure, write_failure, write_failure_as};

use super::bodiless;
use super::failing::Collected;
use super::failure;
use super::head::{fails, has_body, is_empty, is_json, is_page, vendor_id};
use super::screening;
use super::translation::{self, TRANSLATION};
use super::way::Way;
use crate::edge::Connection;
use crate::exchange::Exchange;
use crate::rescue::{self, ERROR_ORIGIN, SHOULD_RETRY};

const PROVIDER: HeaderName = HeaderName::from_static("x-svc-provider");
const MODEL: HeaderName = HeaderName::from_static("x-svc-model");
const ATTEMPTS: HeaderName = HeaderName::from_static("x-svc-attempts");
const UPSTREAM_REQUEST_ID: HeaderName = HeaderName::from_static("x-svc-upstream-request-id");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// Provider headers that clients see.
static PASSED: [HeaderName; 5] = [header::CONTENT_TYPE, header::RETRY_AFTER, RETRY_AFTER_MS, SHOULD_RETRY, header::CONTENT_DISPOSITION];

/// How the names begin of what the vendors say of their rate limits.
const RATE_LIMITS: [&str; 2] = ["x-ratelimit-", "anthropic-ratelimit-"];

/// Makes the head the client gets, and the way its body takes.
///
/// # Errors
/// When a header cannot be set, or an error of another dialect has no body to be translated.
pub fn deliver(session: &mut Session, exchange: &mut Exchange, upstream: &mut ResponseHeader) -> Result<()> {
    if upstream.status.is_informational() {
        return Ok(());
    }
    if upstream.version == Version::HTTP_2 {
        bodiless::refuse(session);
    }
    exchange.answer.unwrapping = match (exchange.attempts.provider(), &exchange.asking) {
        (Some(provider), Some(asking)) => provider.unwrapping(asking.endpoint, upstream)?.map(Box::new),
        _ => None,
    };
    if exchange.answer.passed_over {
        exchange.wait_for_reason(session)
    } else {
        exchange.answered(session)
    }
    exchange.answer.first_byte = Some(exchange.started.elapsed());
    exchange.answer.upstream_request_id = vendor_id(&upstream.headers).map(Box::new);
    exchange.answer.retry_after = upstream.headers.get(header::RETRY_AFTER).cloned().map(Box::new);
    exchange.answer.status = upstream.status.as_u16();
    let prepared = exchange.asking.as_ref().and_then(|asking| asking.prepared.clone());
    let (head, streams) = match prepared {
        Some(prepared) => translated(session, exchange, upstream, &prepared)?,
        None => passed(session, exchange, upstream)?,
    };
    let hearing = exchange.hearing();
    if matches!(exchange.answer.way, Some(Way::Passing(_) | Way::Translated(_))) {
        screening::watch(exchange);
    }
    match exchange.answer.way.as_mut() {
        Some(way) => way.listen(hearing),
        None => {
            exchange.attempts.vouch(&exchange.gateway);
            exchange.commit();
        }
    }
    *upstream = hand_over(session, head, streams)?;
    Ok(())
}

/// The head of an answer in the client's own dialect, and whether it streams.
fn passed(session: &Session, exchange: &mut Exchange, upstream: &ResponseHeader) -> Result<(ResponseHeader, bool)> {
    let status = upstream.status;
    let kind = passage_kind(exchange, status, &upstream.headers);
    let answers = status.is_success() && exchange.endpoint.is_some_and(Endpoint::translates);
    if answers && (is_page(upstream) || kind.is_some() && is_empty(upstream)) {
        return Err(empty(session, exchange, exchange.shape, status));
    }
    exchange.answer.way = if fails(status) {
        Some(Way::Failing(Collected::new(exchange.shape, status.as_u16(), true)))
    } else {
        kind.and_then(|kind| passage(exchange, kind)).map(|passage| Way::Passing(Box::new(passage)))
    };
    if fails(status) && is_empty(upstream) {
        return Err(empty(session, exchange, exchange.shape, status));
    }
    let streams = kind.is_some_and(|kind| matches!(kind.framing, Framing::Sse | Framing::JsonArray));
    // Room for what is set here and by Pingora, so that the map is made once.
    let mut headers = HeaderMap::with_capacity(16);
    for name in &PASSED {
        for value in upstream.headers.get_all(name) {
            headers.append(name.clone(), value.clone());
        }
    }
    if fails(status) && !is_json(upstream) {
        // Whatever comes, the client gets an error of its shape.
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    show_limits(exchange, &upstream.headers, &mut headers);
    if exchange.answer.way.is_some() && (!streams || exchange.answer.stream) {
        hold(session, streams);
    }
    let length = upstream.headers.get(header::CONTENT_LENGTH);
    let length = length.filter(|value| exchange.answer.way.is_none() || value.as_bytes() == b"0");
    frame(session, length, status, &mut headers, streams);
    describe(exchange, &mut headers)?;
    if fails(status) {
        headers.insert(ERROR_ORIGIN, HeaderValue::from_static("upstream"));
    }
    if streams {
        keep_alive(session, exchange, first_sign(exchange.shape, kind.is_some_and(|kind| kind.framing == Framing::JsonArray)));
    }
    Ok((head(status, headers), streams))
}

/// A head of headers that were put together without Pingora, which would make and allocate each name anew.
fn head(status: StatusCode, headers: HeaderMap) -> ResponseHeader {
    let mut parts = http::Response::new(()).into_parts().0;
    (parts.status, parts.headers) = (status, headers);
    parts.into()
}

/// Ends a try whose answer has no body, or none of use: another one, or a failure for the client.
fn empty(session: &Session, exchange: &mut Exchange, dialect: Shape, status: StatusCode) -> Box<Error> {
    if status.is_success() {
        exchange.attempts.broke(&exchange.gateway, "truncated");
        if exchange.start_over(session) {
            return failure::taken_back();
        }
    }
    let status = if status.is_success() { 502 } else { status.as_u16() };
    exchange.answer.failure = Some(Box::new(read_failure(dialect, status, b"")));
    Error::explain(ErrorType::HTTPStatus(status), "the provider's answer is none").into_up()
}

/// The head of an answer that is translated, and whether it streams. It is held: what the body says may yet make it another one.
fn translated(
    session: &Session,
    exchange: &mut Exchange,
    upstream: &ResponseHeader,
    prepared: &Prepared,
) -> Result<(ResponseHeader, bool)> {
    let mut status = upstream.status;
    let content_type = upstream.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let viewer = translation::viewer(exchange, session.req_header().uri.query());
    let streams = status.is_success() && prepared.stream;
    let array = viewer.array;
    let framing = translation::content_type(streams, array);
    if is_empty(upstream) {
        // Without a body there is nothing that could be translated when its turn comes.
        return Err(empty(session, exchange, prepared.shape, status));
    }
    exchange.answer.way = Some(if status.is_success() {
        Way::Translated(Box::new(translate::Answer::new(prepared, content_type, viewer)))
    } else {
        let failure = read_failure(prepared.shape, status.as_u16(), b"");
        // A head that leaves before its body is whole says what the status alone tells.
        status = StatusCode::from_u16(write_failure(exchange.shape, &failure, exchange.id.as_str()).0).unwrap_or(status);
        Way::Failing(Collected::new(prepared.shape, upstream.status.as_u16(), false))
    });
    hold(session, streams);
    let mut headers = HeaderMap::with_capacity(16);
    headers.insert(header::CONTENT_TYPE, framing);
    for name in &[header::RETRY_AFTER, RETRY_AFTER_MS, SHOULD_RETRY] {
        if let Some(value) = upstream.headers.get(name) {
            headers.insert(name.clone(), value.clone());
        }
    }
    frame(session, None, status, &mut headers, streams);
    describe(exchange, &mut headers)?;
    if !status.is_success() {
        headers.insert(ERROR_ORIGIN, HeaderValue::from_static("upstream"));
    }
    if streams {
        keep_alive(session, exchange, first_sign(exchange.shape, array));
    }
    Ok((head(status, headers), streams))
}

/// The head of a provider's failure, without anything that frames its body, and the body.
///
/// # Errors
/// When a header cannot be set.
pub fn failed(exchange: &mut Exchange, mut failure: Failure<'static>) -> Result<(ResponseHeader, Bytes)> {
    let seconds = exchange.answer.retry_after.as_ref().and_then(|value| value.to_str().ok()?.trim().parse().ok());
    failure.retry_after = failure.retry_after.or(seconds);
    let own = match &exchange.answer.way {
        Some(Way::Failing(error)) => error.own_status(),
        _ => None,
    };
    let id = exchange.id.as_str();
    let (status, body) = match own {
        Some(status) => (status, write_failure_as(exchange.shape, &failure, status, id)),
        None => write_failure(exchange.shape, &failure, id),
    };
    exchange.answer.status = status;
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ERROR_ORIGIN, HeaderValue::from_static("upstream"));
    let after = failure.retry_after.map(HeaderValue::from).or_else(|| exchange.answer.retry_after.as_deref().cloned());
    if let Some(after) = after {
        headers.insert(header::RETRY_AFTER, after);
    }
    describe(exchange, &mut headers)?;
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    Ok((head(status, headers), Bytes::from(body)))
}

/// Hands the head to the connection that holds it and leaves Pingora only what frames the body: Pingora keeps its copy as long as
/// an answer streams, and where it has written the head of an earlier try it writes no other.
fn hand_over(session: &Session, mut head: ResponseHeader, streams: bool) -> Result<ResponseHeader> {
    let written = session.response_written().is_some_and(|written| !written.status.is_informational());
    let chunked = head.headers.contains_key(header::TRANSFER_ENCODING);
    if !(written || streams && chunked) {
        return Ok(head);
    }
    let framing = head.remove_header(&header::TRANSFER_ENCODING);
    if written {
        // The body goes on as the earlier head said: in chunks.
        head.remove_header(&header::CONTENT_LENGTH);
    }
    let mut left = if rescue::replace_head(session, &head) { ResponseHeader::build_no_case(head.status, Some(3))? } else { head };
    if let Some(framing) = framing {
        left.insert_header(header::TRANSFER_ENCODING, framing)?;
    }
    Ok(left)
}

/// Lets go of the client's headers, which only another try would need: Pingora keeps them as long as the answer streams.
///
/// # Errors
/// When the client's path cannot be written again.
pub fn forget_headers(session: &mut Session) -> Result<()> {
    if session.as_ref().as_http1().is_none_or(HttpSession::is_upgrade_req) {
        return Ok(());
    }
    let head = session.req_header();
    let mut bare = RequestHeader::build_no_case(head.method.clone(), head.raw_path(), Some(0))?;
    bare.set_version(head.version);
    *session.req_header_mut() = bare;
    Ok(())
}

/// How long the head of a stream waits for the first content, so that a failure before it is one of the whole answer.
const HEAD_WAITS: Duration = Duration::from_secs(5);

/// Lets a document leave in one send once it is whole, and a stream with its first content.
fn hold(session: &Session, streams: bool) {
    let Some(connection) = Connection::of(session) else { return };
    if streams {
        connection.hold_until(tokio::time::Instant::now() + HEAD_WAITS);
    } else {
        connection.hold();
    }
}

/// Keeps a client in touch whose stream is silent, in the form its SDKs survive. Only a chunked body can be added to.
pub fn keep_alive(session: &Session, exchange: &Exchange, words: &'static str) {
    let every = exchange.gateway.conf.client_keepalive.get();
    let chunked = session.req_header().version == Version::HTTP_11;
    if let Some(connection) = Connection::of(session).filter(|_| chunked && !every.is_zero()) {
        connection.keep_alive(every, words);
    }
}

/// A sign of life before anything of the answer was sent. A blank line after a comment would be an event to some readers;
/// generate-content's stumble over comments.
const fn first_sign(shape: Shape, array: bool) -> &'static str {
    match shape {
        Shape::GenerateContent if array => "\n",
        Shape::GenerateContent => "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"index\":0}]}\n\n",
        Shape::ChatCompletions | Shape::Messages | Shape::Responses => ": keep-alive\n",
    }
}

/// Length or chunks, and what streams need on their way.
fn frame(session: &Session, length: Option<&HeaderValue>, status: StatusCode, headers: &mut HeaderMap, streams: bool) {
    if streams {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    }
    if let Some(length) = length {
        headers.insert(header::CONTENT_LENGTH, length.clone());
    } else if session.req_header().version == Version::HTTP_11 && has_body(status) {
        headers.insert(header::TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
}

/// Passes on what the provider says of its own rate limits, where the caller has none of ours that it could be taken for.
fn show_limits(exchange: &Exchange, upstream: &HeaderMap, headers: &mut HeaderMap) {
    let capped = matches!(exchange.limit, Some(Decision::Admitted(standing)) if !standing.is_empty());
    if capped || !exchange.attempts.provider().is_some_and(|provider| provider.shows_limits()) {
        return;
    }
    for (name, value) in upstream {
        if RATE_LIMITS.iter().any(|prefix| name.as_str().starts_with(prefix)) {
            headers.append(name.clone(), value.clone());
        }
    }
}

/// Who answered, and what is left of the caps.
fn describe(exchange: &Exchange, headers: &mut HeaderMap) -> Result<()> {
    headers.extend(exchange.identity());
    if let Some(provider) = exchange.attempts.provider() {
        headers.insert(PROVIDER, provider.name_header().clone());
    }
    if let Some(model) = &exchange.resolved {
        headers.insert(MODEL, value(&*model.name)?);
    }
    let count = match exchange.attempts.count() {
        1 => HeaderValue::from_static("1"),
        count => HeaderValue::from(count),
    };
    headers.insert(ATTEMPTS, count);
    if let Some(told) = exchange.asking.as_ref().and_then(|asking| asking.told(exchange.shape)) {
        headers.insert(TRANSLATION, value(told)?);
    }
    if let Some(id) = &exchange.answer.upstream_request_id {
        headers.insert(UPSTREAM_REQUEST_ID, (**id).clone());
    }
    if let Some(Decision::Admitted(standing)) = &exchange.limit {
        for (name, left) in limits::headers(exchange.shape, standing, exchange.gateway.clock.unix_ms()) {
            headers.insert(name, value(left)?);
        }
    }
    Ok(())
}

fn value(text: impl TryInto<HeaderValue, Error = InvalidHeaderValue>) -> Result<HeaderValue> {
    text.try_into().or_err(ErrorType::InvalidHTTPHeader, "a header of the answer")
}

/// What the body is; `None` where it goes through untouched and unread.
fn passage_kind(exchange: &Exchange, status: StatusCode, headers: &HeaderMap) -> Option<PassageKind> {
    if !status.is_success() {
        return None;
    }
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = PassageKind::of(exchange.endpoint?.body_kind(), content_type, exchange.answer.stream);
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
