//! Answers that are a fixed text of a guardrail: no provider is asked.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};
use pingora::Result;
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use svc_filters::translate;

use super::{logging, translation};
use crate::exchange::Exchange;
use crate::rescue;
use crate::store::RequestOutcome;

/// Tells that the answer, or the rest of it, is a guardrail's.
const GUARDRAIL: HeaderName = HeaderName::from_static("x-svc-guardrail");

/// Answers with a text as a model would, as a stream where one was asked for.
///
/// # Errors
/// When the client is gone.
pub async fn answer(session: &mut Session, exchange: &mut Exchange, text: &str) -> Result<()> {
    let viewer = translation::viewer(exchange, session.req_header().uri.query());
    let (stream, array) = (exchange.answer.stream, viewer.array);
    let asks_usage = exchange.facts.as_ref().is_some_and(|facts| facts.asks_usage);
    let body = translate::said(viewer, stream, asks_usage, text);
    // Nobody was asked.
    exchange.attempts.follow(Vec::new());
    send(session, exchange, translation::content_type(stream, array), body).await
}

/// Answers with a body that is ready to be sent.
///
/// # Errors
/// When the client is gone.
pub async fn send(session: &mut Session, exchange: &mut Exchange, content_type: HeaderValue, body: Bytes) -> Result<()> {
    exchange.answer.status = 200;
    exchange.answer.bytes = body.len() as u64;
    logging::settle(exchange, RequestOutcome::Complete);
    let mut head = ResponseHeader::build(StatusCode::OK, Some(6))?;
    head.insert_header(header::CONTENT_TYPE, content_type)?;
    head.insert_header(header::CONTENT_LENGTH, HeaderValue::from(body.len()))?;
    head.insert_header(GUARDRAIL, HeaderValue::from_static("redirect"))?;
    exchange.identify(&mut head)?;
    rescue::respond(session, head, body).await
}
