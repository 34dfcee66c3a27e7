//! A try: which provider, with which head and body.

use bytes::Bytes;
use pingora::http::RequestHeader;
use pingora::proxy::Session;
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, ErrorType, Result};
use svc_filters::routing::Target;
use svc_filters::shape::Shape;
use svc_filters::verdict::Rejection;

use crate::exchange::Exchange;
use crate::providers::{Dispatch, Draft, Provider, request_header};
use crate::store::Snapshot;

/// Chooses the next candidate and makes the body for it.
///
/// # Errors
/// When no candidate is left, or its host has no address (then marked for another try).
pub async fn peer(session: &Session, exchange: &mut Exchange) -> Result<Box<HttpPeer>> {
    let Some(snapshot) = exchange.snapshot.clone() else {
        return Error::e_explain(ErrorType::InternalError, "a try before the request was understood");
    };
    let now = exchange.ticks;
    let Some((target, provider)) = exchange.attempts.begin(&snapshot, now) else {
        return Error::e_explain(ErrorType::ConnectNoRoute, "no provider is left to try");
    };
    if let Err(rejection) = prepare(session, exchange, &target, &provider) {
        return Err(unsendable(exchange, &snapshot, rejection));
    }
    authorise(exchange, &snapshot, &provider).await?;
    match provider.peer(exchange.attempts.count() - 1).await {
        Ok(peer) => Ok(Box::new(peer)),
        Err(error) => {
            log::warn!("failed to {error}");
            exchange.attempts.conclude(0, "dns");
            exchange.attempts.skip_target();
            let mut failure = Error::explain(ErrorType::ConnectNoRoute, "the provider's host has no address");
            failure.set_retry(exchange.attempts.has_next(&snapshot));
            Err(failure)
        }
    }
}

/// Makes the body for the provider and notes what it does not take.
fn prepare(session: &Session, exchange: &mut Exchange, target: &Target, provider: &Provider) -> Result<(), Rejection> {
    let (Some(endpoint), Some(facts)) = (exchange.endpoint, exchange.facts.as_ref()) else { return Ok(()) };
    let ask_for_usage = target.shape == Shape::ChatCompletions && facts.stream && provider.takes_stream_options();
    let body = facts.rewrite(&exchange.body, &target.upstream_model, ask_for_usage);
    let headers = &session.req_header().headers;
    let stream = exchange.answer.stream;
    let prepared = provider.prepare(&Draft { endpoint, model: &target.upstream_model, stream, headers, body: &body })?;
    exchange.upstream_body = prepared.body;
    if !prepared.omitted.is_empty() {
        let note = ("omitted".to_owned(), format!("{}: {}", target.provider, prepared.omitted.join(", ")));
        if !exchange.notes.contains(&note) {
            exchange.notes.push(note);
        }
    }
    Ok(())
}

/// Leaves a target that the request cannot be sent to; the last of them tells the client why.
fn unsendable(exchange: &mut Exchange, snapshot: &Snapshot, rejection: Rejection) -> Box<Error> {
    exchange.attempts.conclude(0, "unsendable");
    exchange.attempts.skip_target();
    let next = exchange.attempts.has_next(snapshot);
    if !next {
        exchange.answer.stopped = Some(Box::new(rejection));
    }
    let mut failure = Error::explain(ErrorType::InternalError, "the request cannot be sent to this provider");
    failure.set_retry(next);
    failure
}

/// Gets what authorises the try. A credential that cannot be had rests, and the next candidate is tried.
async fn authorise(exchange: &mut Exchange, snapshot: &Snapshot, provider: &Provider) -> Result<()> {
    exchange.authorisation = None;
    let Some(key) = exchange.attempts.key() else { return Ok(()) };
    let error = match provider.authorise(key).await {
        Ok(authorisation) => {
            exchange.authorisation = Some(authorisation);
            return Ok(());
        }
        Err(error) => error,
    };
    log::error!("the provider `{}` goes without its credential number {}: failed to {error}", provider.name(), key.index + 1);
    if error.is_refusal() {
        provider.keys().refuse(key.index, exchange.ticks);
    } else {
        provider.keys().limit(key.index, exchange.ticks, None);
    }
    exchange.attempts.conclude(0, "credential");
    let next = exchange.attempts.has_next(snapshot);
    if !next {
        exchange.attempts.credential_refused();
    }
    let mut failure = Error::explain(ErrorType::ConnectNoRoute, "the provider's credential cannot be had").into_up();
    failure.set_retry(next);
    Err(failure)
}

/// Replaces the head Pingora would forward by one made for the provider.
///
/// # Errors
/// When the model name makes no valid path.
pub fn head(session: &Session, exchange: &mut Exchange, head: &mut RequestHeader) -> Result<()> {
    exchange.wait_for_answer(session);
    let (Some(provider), Some(target), Some(endpoint)) = (exchange.attempts.provider(), exchange.attempts.current(), exchange.endpoint)
    else {
        return Error::e_explain(ErrorType::InternalError, "a head before a try");
    };
    let client = session.req_header();
    let dispatch = Dispatch {
        endpoint,
        model: &target.upstream_model,
        stream: exchange.answer.stream,
        headers: &client.headers,
        query: client.uri.query(),
        body: &exchange.upstream_body,
        authorisation: exchange.authorisation.as_ref(),
    };
    let version = head.version;
    *head = request_header(provider, &dispatch)?;
    // Pingora has chosen it by what the connection speaks.
    head.set_version(version);
    Ok(())
}

/// Puts the whole body made for the provider in place of the last piece of the client's.
pub fn body(exchange: &Exchange, piece: &mut Option<Bytes>, end: bool) {
    *piece = if end { Some(exchange.upstream_body.clone()) } else { Some(Bytes::new()) };
}
