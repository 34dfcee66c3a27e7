//! Failures of a try and of the request: the next candidate, an error in the client's shape, or one inside a started answer.

use log::Level;
use pingora::proxy::{FailToProxy, Session};
use pingora::{Error, ErrorSource, ErrorType};
use svc_filters::passage::Cutoff;
use svc_filters::verdict::{Code, Rejection};

use super::way::Way;
use super::{failing, logging, said, translation};
use crate::attempts::{GONE, STALE};
use crate::exchange::Exchange;
use crate::rescue;
use crate::store::RequestOutcome;

/// A connection could not be made: the next candidate, where there is one.
pub fn to_connect(exchange: &mut Exchange, mut error: Box<Error>) -> Box<Error> {
    exchange.attempts.conclude(&exchange.gateway, 0, kind(&error));
    exchange.attempts.skip_target();
    error.set_retry(exchange.has_next());
    error
}

/// A try failed after the connection was made. Nothing is tried again once an answer was chosen for the client.
pub fn while_proxying(session: &Session, exchange: &mut Exchange, mut error: Box<Error>, reused: bool) -> Box<Error> {
    if exchange.deadline_struck(session) {
        error = Error::explain(ErrorType::ReadTimedout, "the provider took too long").into_up();
    }
    if *error.esource() == ErrorSource::Downstream {
        exchange.attempts.broke(&exchange.gateway, GONE);
        error.set_retry(false);
        return error;
    }
    if exchange.answer.stopped.is_some() || exchange.answer.has_farewell() {
        // Not the provider's fault.
        error.set_retry(false);
        return error;
    }
    if exchange.answer.first_byte.is_some() {
        if error.retry() {
            // The answer was none, and has been taken back.
            return error;
        }
        if exchange.answer.failure.is_some() {
            // What was wrong is told already, and noted.
            error.set_retry(false);
            return error;
        }
        if !exchange.answer.passed_over {
            exchange.attempts.broke(&exchange.gateway, kind(&error));
        }
        if *error.esource() == ErrorSource::Upstream {
            let next = failing::cut_off(session, exchange).unwrap_or_else(|| exchange.start_over(session));
            error.set_retry(next);
        }
        return error;
    }
    if matches!(error.etype(), ErrorType::HTTPStatus(_)) {
        return error;
    }
    let stale = reused && matches!(error.etype(), ErrorType::ConnectionClosed | ErrorType::ReadError | ErrorType::WriteError);
    exchange.attempts.conclude(&exchange.gateway, 0, if stale { STALE } else { kind(&error) });
    if !stale {
        exchange.attempts.skip_target();
    }
    let again = if stale { exchange.attempts.repeat() } else { exchange.has_next() };
    error.set_retry(again);
    error
}

/// Ends a try whose answer was taken back, so that Pingora makes another.
pub fn taken_back() -> Box<Error> {
    let mut error = Error::explain(ErrorType::ReadError, "the provider failed before its answer began").into_up();
    error.set_retry(true);
    error
}

/// Nothing is left to try: the error the client gets.
pub async fn finally(session: &mut Session, exchange: &mut Exchange, error: &Error) -> FailToProxy {
    tell(exchange, error);
    let gone = *error.esource() == ErrorSource::Downstream;
    // Pingora closes the connection after this, so the head must not promise another exchange.
    session.set_keepalive(None);
    let started = session.response_written().is_some_and(|head| !head.status.is_informational());
    let sent = match (gone, started) {
        (true, _) => Ok(()),
        (false, true) => replace_or_break_off(session, exchange, error).await,
        (false, false) if exchange.answer.failure.is_some() => match exchange.answer.failure.take() {
            Some(failure) => rescue::answer_failure(session, exchange, *failure).await,
            None => Ok(()),
        },
        (false, false) if exchange.answer.stopped.is_none() && exchange.answer.has_farewell() => {
            let body = exchange.answer.take_farewell().unwrap_or_default();
            let array = translation::viewer(exchange, session.req_header().uri.query()).array;
            said::send(session, exchange, translation::content_type(true, array), body).await
        }
        (false, false) => {
            let rejection = rejection(exchange, error);
            rescue::answer(session, exchange, &rejection).await
        }
    };
    if let Err(error) = sent {
        log::debug!(request_id = exchange.id.as_str(), trace_id = exchange.trace_id(); "a client left before its error was sent: {error}");
    }
    FailToProxy { error_code: exchange.answer.status, can_reuse_downstream: false }
}

/// Puts a clean error in place of an answer the client has not seen any of; else ends it with an error inside.
async fn replace_or_break_off(session: &mut Session, exchange: &mut Exchange, error: &Error) -> pingora::Result<()> {
    if let Some(failure) = exchange.answer.failure.take()
        && rescue::replace_by_failure(session, exchange, *failure)
    {
        session.set_keepalive(None);
        logging::settle(exchange, RequestOutcome::UpstreamError);
        return session.write_response_body(None, true).await;
    }
    if exchange.answer.stopped.is_none() && exchange.answer.has_farewell() {
        rescue::release(session);
        return break_off(session, exchange, error).await;
    }
    let broken = exchange
        .answer
        .stopped
        .as_deref()
        .cloned()
        .unwrap_or_else(|| Rejection::new(Code::UpstreamUnavailable, "The provider's answer broke off.").with_status(502));
    if !rescue::replace(session, exchange, &broken) {
        return break_off(session, exchange, error).await;
    }
    session.set_keepalive(None);
    let refused = exchange.answer.stopped.is_some();
    logging::settle(exchange, if refused { RequestOutcome::Refused } else { RequestOutcome::UpstreamError });
    session.write_response_body(None, true).await
}

/// Ends a started answer with the shape's own error inside it.
async fn break_off(session: &mut Session, exchange: &mut Exchange, error: &Error) -> pingora::Result<()> {
    session.set_keepalive(None);
    let stopped = exchange.answer.stopped.take();
    if let Some(rejection) = &stopped {
        exchange.answer.error_code = Some(rejection.code);
    }
    let message = stopped.as_ref().map_or("The provider's answer broke off.", |rejection| &rejection.message);
    let cutoff = if kind(error) == "timeout" { Cutoff::TimedOut } else { Cutoff::Failed };
    let farewell = exchange.answer.take_farewell();
    let said = farewell.is_some() && stopped.is_none();
    let tail = match exchange.answer.way.as_mut() {
        _ if farewell.is_some() => farewell,
        Some(Way::Failing(error)) if error.own_status().is_some() => Some(error.told(exchange.id.as_str())),
        way => way.map(|way| way.truncated(cutoff, message)),
    };
    let outcome = match (&stopped, said) {
        (Some(_), _) => RequestOutcome::Refused,
        (None, true) => RequestOutcome::Complete,
        (None, false) => RequestOutcome::UpstreamError,
    };
    logging::settle(exchange, outcome);
    match tail {
        Some(tail) if !tail.is_empty() => session.write_response_body(Some(tail), true).await,
        _ => Ok(()),
    }
}

fn rejection(exchange: &mut Exchange, error: &Error) -> Rejection {
    if let Some(rejection) = exchange.answer.stopped.take() {
        return *rejection;
    }
    if exchange.attempts.was_refused() {
        let message = "The provider did not accept this service's own credentials. The operator has been told.";
        return Rejection::new(Code::UpstreamUnavailable, message).with_status(502);
    }
    if *error.esource() == ErrorSource::Internal {
        return Rejection::new(Code::UpstreamUnavailable, "The gateway failed to process this request.").with_status(500);
    }
    let rejection = Rejection::new(Code::UpstreamUnavailable, "No provider of this model could be reached.")
        .with_retry_after(std::time::Duration::from_secs(1));
    if exchange.attempts.all_failed_by("timeout") { rejection.with_status(504) } else { rejection }
}

/// One word for the record.
fn kind(error: &Error) -> &'static str {
    match error.etype() {
        ErrorType::ConnectTimedout | ErrorType::TLSHandshakeTimedout | ErrorType::ReadTimedout | ErrorType::WriteTimedout => "timeout",
        ErrorType::ConnectRefused => "refused",
        ErrorType::TLSHandshakeFailure | ErrorType::InvalidCert => "tls",
        ErrorType::ConnectNoRoute | ErrorType::ConnectError | ErrorType::ConnectProxyFailure => "connect",
        ErrorType::ConnectionClosed | ErrorType::ReadError | ErrorType::WriteError => "closed",
        ErrorType::HTTPStatus(_) => "status",
        _ => "error",
    }
}

/// Says once in the log what ended the request; what the client did itself is no news.
fn tell(exchange: &Exchange, error: &Error) {
    let id = exchange.id.as_str();
    let (level, what) = match error.esource() {
        ErrorSource::Downstream => (Level::Debug, ": the client left"),
        ErrorSource::Upstream => (Level::Warn, ": the provider failed"),
        ErrorSource::Internal | ErrorSource::Unset => (Level::Warn, " ended early"),
    };
    log::log!(level, request_id = id, trace_id = exchange.trace_id(); "request {id}{what}: {error}");
}
