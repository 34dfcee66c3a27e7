//! The answer's body, piece by piece: edited where it must be, read for usage, and recorded before its last byte leaves.

use bytes::Bytes;
use pingora::{Error, ErrorType, Result};
use svc_filters::filter::Event;
use svc_filters::passage::{Cutoff, Passage};
use svc_filters::shape::Shape;
use svc_filters::verdict::Verdict;

use super::logging;
use crate::exchange::Exchange;
use crate::store::RequestOutcome;

/// Takes one piece of the provider's body and leaves what the client gets in its place.
///
/// # Errors
/// When the provider's bytes are beyond all bounds, or a filter ends the answer.
pub fn piece(exchange: &mut Exchange, body: &mut Option<Bytes>, end: bool) -> Result<()> {
    let incoming = body.take().unwrap_or_default();
    let incoming = match exchange.answer.unwrapping.as_mut() {
        None => incoming,
        Some(unwrapping) => unwrapping.push(incoming, end),
    };
    let outgoing = match exchange.answer.passage.as_mut() {
        None => incoming,
        Some(passage) => {
            let mut out =
                passage.push(incoming, end).map_err(|fault| Error::because(ErrorType::InvalidHTTPHeader, "provider's body", fault))?;
            if end && !passage.terminal_seen() {
                exchange.answer.failed_inside = true;
                exchange.attempts.broke("truncated");
                let tail = passage.truncated(Cutoff::Failed, "The provider's answer ended before it was complete.");
                out = join(out, tail);
            }
            out
        }
    };
    show(exchange, &outgoing)?;
    exchange.answer.bytes += outgoing.len() as u64;
    finish(exchange, end);
    *body = Some(outgoing);
    Ok(())
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
    let terminal = exchange.shape != Shape::GenerateContent && exchange.answer.passage.as_ref().is_some_and(Passage::terminal_seen);
    if !(end || terminal) || exchange.settled {
        return;
    }
    let failed = exchange.answer.failed_inside
        || exchange.answer.status >= 400
        || exchange.answer.passage.as_ref().is_some_and(|passage| passage.in_band_error().is_some());
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
