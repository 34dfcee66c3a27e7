//! A try: which provider, with which head and body.

use bytes::Bytes;
use pingora::http::RequestHeader;
use pingora::proxy::Session;
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, ErrorType, Result};
use svc_filters::shape::Shape;

use crate::exchange::Exchange;
use crate::providers::{Dispatch, request_header};

/// Chooses the next candidate and makes the body for it.
///
/// # Errors
/// When no candidate is left, or its host has no address (then marked for another try).
pub async fn peer(exchange: &mut Exchange) -> Result<Box<HttpPeer>> {
    let (Some(snapshot), Some(facts)) = (exchange.snapshot.clone(), exchange.facts.as_ref()) else {
        return Error::e_explain(ErrorType::InternalError, "a try before the request was understood");
    };
    let now = exchange.ticks;
    let Some((target, provider)) = exchange.attempts.begin(&snapshot, now) else {
        return Error::e_explain(ErrorType::ConnectNoRoute, "no provider is left to try");
    };
    let ask_for_usage = target.shape == Shape::ChatCompletions && facts.stream;
    exchange.upstream_body = facts.rewrite(&exchange.body, &target.upstream_model, ask_for_usage);
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
        headers: &client.headers,
        query: client.uri.query(),
        body_length: exchange.upstream_body.len(),
        key: exchange.attempts.key(),
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
