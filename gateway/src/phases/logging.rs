//! The end of a request, however it came: one record in the journal.

use pingora::proxy::Session;
use pingora::{Error, ErrorSource};
use svc_filters::filter::Outcome;

use super::screening;
use crate::exchange::Exchange;
use crate::store::RequestOutcome;

/// Runs the phase: records what no earlier phase could.
pub fn run(session: &Session, exchange: &mut Exchange, error: Option<&Error>) {
    exchange.over(session);
    let outcome = match error {
        Some(error) if *error.esource() == ErrorSource::Downstream => RequestOutcome::ClientGone,
        Some(_) => RequestOutcome::UpstreamError,
        None => RequestOutcome::Complete,
    };
    settle(exchange, outcome);
}

/// Writes the request's record, once.
pub fn settle(exchange: &mut Exchange, outcome: RequestOutcome) {
    if exchange.settled {
        return;
    }
    exchange.settled = true;
    screening::note(exchange);
    release(exchange);
    let Some(endpoint) = exchange.endpoint else {
        record(exchange, outcome);
        return;
    };
    exchange.gateway.chain.on_complete(&Outcome {
        endpoint,
        key: exchange.key.as_deref(),
        status: exchange.answer.status,
        complete: outcome == RequestOutcome::Complete,
        usage: exchange.answer.usage().as_ref(),
    });
    if let Some(uncounted) = exchange.uncounted(outcome) {
        exchange.gateway.counting.leave(uncounted);
    }
    record(exchange, outcome);
}

/// Lets the next request run, and counts the tokens that were used. An answer whose provider told none keeps its estimate; an
/// error took none.
fn release(exchange: &mut Exchange) {
    let Some(ticket) = exchange.ticket.take() else { return };
    let told = exchange.answer.usage().map(|usage| usage.total()).filter(|total| *total > 0);
    let took = told.or_else(|| (exchange.answer.status >= 400).then_some(0));
    ticket.end(took, exchange.gateway.clock.ticks());
}

fn record(exchange: &Exchange, outcome: RequestOutcome) {
    if let Err(error) = exchange.gateway.journal.end(&exchange.record(outcome), exchange.begun) {
        let id = exchange.id.as_str();
        log::error!(request_id = id, trace_id = exchange.trace_id(); "the record of request {id} is lost: failed to {error}");
    }
}
