//! The answer's body, piece by piece: edited where it must be, read for usage, and recorded before its last byte leaves.

use bytes::Bytes;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};
use svc_filters::canonical::{Failure, FailureClass};
use svc_filters::endpoint::Endpoint;
use svc_filters::filter::Event;
use svc_filters::passage::Cutoff;
use svc_filters::shape::Shape;
use svc_filters::verdict::Verdict;

use super::way::Way;
use super::{failing, failure, logging, response, screening};
use crate::edge::Connection;
use crate::exchange::Exchange;
use crate::rescue;
use crate::store::RequestOutcome;

/// The messages shape's own sign of life, once the answer has begun.
const PING: &str = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
/// What the record says of a provider that failed inside an answer.
const IN_BAND: &str = "in_band";

/// Takes one piece of the provider's body and leaves what the client gets in its place.
///
/// # Errors
/// When the provider's bytes are beyond all bounds, or a filter ends the answer.
pub fn piece(session: &mut Session, exchange: &mut Exchange, body: &mut Option<Bytes>, end: bool) -> Result<()> {
    let incoming = body.take().unwrap_or_default();
    let incoming = match exchange.answer.unwrapping.as_mut() {
        None => incoming,
        Some(unwrapping) => unwrapping.push(incoming, end),
    };
    let outgoing = pass(session, exchange, incoming, end)?;
    let outgoing = screening::screen(session, exchange, outgoing, end)?;
    begin(session, exchange, &outgoing)?;
    if outgoing.is_empty()
        && let Some(connection) = Connection::of(session)
    {
        connection.news();
    }
    show(exchange, &outgoing)?;
    exchange.answer.bytes += outgoing.len() as u64;
    finish(exchange, end);
    *body = Some(outgoing);
    Ok(())
}

fn pass(session: &mut Session, exchange: &mut Exchange, incoming: Bytes, end: bool) -> Result<Bytes> {
    if exchange.answer.replaced {
        return Ok(Bytes::new());
    }
    let stream = exchange.answer.stream;
    if matches!(exchange.answer.way, Some(Way::Failing(_))) {
        return failing::piece(session, exchange, incoming, end);
    }
    let Some(way) = exchange.answer.way.as_mut() else { return Ok(incoming) };
    let beyond = |fault| Error::because(ErrorType::InvalidHTTPHeader, "provider's body", fault).into_up();
    let mut out = way.push(incoming, end).map_err(beyond)?;
    if end && !way.terminal_seen() {
        let begun = stream && way.content_started();
        exchange.attempts.broke(&exchange.gateway, "truncated");
        if exchange.start_over(session) {
            return Err(failure::taken_back());
        }
        exchange.answer.failed_inside = true;
        if !begun && rescue::can_replace(session) {
            exchange.answer.failure = Some(Box::new(Failure::broken("The provider's answer ended before it was complete.")));
            return Err(Error::explain(ErrorType::ReadError, "the provider's answer ended before it was complete").into_up());
        }
        out = join(out, truncated(exchange));
    }
    let Some(way) = exchange.answer.way.as_ref() else { return Ok(out) };
    if let Some(failure) = way.instead(stream) {
        return instead(session, exchange, failure, out);
    }
    let begun = end || stream && (way.content_started() || way.terminal_seen());
    if end && !stream && way.has_failed() {
        exchange.attempts.broke(&exchange.gateway, IN_BAND);
        if exchange.start_over(session) {
            return Err(failure::taken_back());
        }
    }
    if begun && !exchange.answer.released {
        release(exchange);
    }
    Ok(out)
}

/// What ends an answer that broke off.
fn truncated(exchange: &mut Exchange) -> Bytes {
    let way = exchange.answer.way.as_mut();
    way.map(|way| way.truncated(Cutoff::Failed, "The provider's answer ended before it was complete.")).unwrap_or_default()
}

/// The answer is one: no other try is made.
fn release(exchange: &mut Exchange) {
    exchange.answer.released = true;
    if !exchange.answer.failed_inside {
        exchange.attempts.vouch(&exchange.gateway);
    }
    exchange.commit();
}

/// Lets a stream leave with its first piece.
fn begin(session: &mut Session, exchange: &mut Exchange, outgoing: &Bytes) -> Result<()> {
    if exchange.answer.begun || !exchange.answer.released || outgoing.is_empty() || !exchange.answer.stream {
        return Ok(());
    }
    exchange.answer.begun = true;
    rescue::release(session);
    response::forget_headers(session)?;
    if exchange.endpoint == Some(Endpoint::Messages) {
        response::keep_alive(session, exchange, PING);
    }
    Ok(())
}

/// Puts the provider's failure in place of an answer the client has seen nothing of. Where its head has left already, the body
/// says what it can.
fn instead(session: &Session, exchange: &mut Exchange, failure: Failure<'static>, inside: Bytes) -> Result<Bytes> {
    exchange.attempts.broke(&exchange.gateway, IN_BAND);
    if is_elsewhere_better(failure.class) && exchange.start_over(session) {
        return Err(failure::taken_back());
    }
    exchange.answer.failed_inside = true;
    let whole = exchange.answer.way.as_ref().is_some_and(Way::is_whole);
    if whole {
        // Nothing of a body was written yet: only the head is another one, and the connection goes on.
        let before = exchange.answer.status;
        let (head, body) = response::failed(exchange, failure.clone())?;
        if rescue::replace_head(session, &head) {
            exchange.answer.replaced = true;
            return Ok(body);
        }
        exchange.answer.status = before;
    }
    if whole || rescue::can_replace(session) {
        exchange.answer.failure = Some(Box::new(failure));
        return Err(Error::explain(ErrorType::ReadError, "the provider failed before its answer began").into_up());
    }
    Ok(inside)
}

/// Whether another provider may do better: the request itself is not to blame.
const fn is_elsewhere_better(class: FailureClass) -> bool {
    match class {
        FailureClass::BadRequest
        | FailureClass::ContextTooLong
        | FailureClass::TooLarge
        | FailureClass::NotFound
        | FailureClass::Conflict
        | FailureClass::RefusedInput => false,
        FailureClass::Auth
        | FailureClass::Billing
        | FailureClass::Permission
        | FailureClass::Rate
        | FailureClass::Overloaded
        | FailureClass::Timeout
        | FailureClass::Server => true,
    }
}

/// Lets the filters see what is about to leave.
fn show(exchange: &mut Exchange, bytes: &Bytes) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let mut event = Event { shape: exchange.shape, key: exchange.key.as_deref(), bytes };
    match exchange.gateway.chain.on_event(&mut event) {
        Verdict::Continue => Ok(()),
        Verdict::Reject(rejection) => {
            exchange.answer.stopped = Some(rejection);
            Error::e_explain(ErrorType::InternalError, "a filter ended the answer")
        }
    }
}

/// Records the request as soon as its end is known, which is before the client can know it.
fn finish(exchange: &mut Exchange, end: bool) {
    // A generate-content stream has no last event: its client waits for the end of the body, and usage may follow the finish.
    let terminal = exchange.shape != Shape::GenerateContent && exchange.answer.way.as_ref().is_some_and(Way::terminal_seen);
    if !(end || terminal || exchange.answer.replaced) || exchange.settled {
        return;
    }
    let failed =
        exchange.answer.failed_inside || exchange.answer.status >= 400 || exchange.answer.way.as_ref().is_some_and(Way::has_failed);
    logging::settle(exchange, if failed { RequestOutcome::UpstreamError } else { RequestOutcome::Complete });
}

fn join(first: Bytes, second: Bytes) -> Bytes {
    if first.is_empty() {
        return second;
    }
    if second.is_empty() {
        return first;
    }
    [first, second].concat().into()
}
