//! A try: which provider, with which head and body.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Version};
use pingora::http::RequestHeader;
use pingora::protocols::http::compression::ResponseCompressionCtx;
use pingora::proxy::Session;
use pingora::upstreams::peer::{HttpPeer, Peer};
use pingora::{Error, ErrorSource, ErrorType, Result};
use svc_filters::endpoint::Endpoint;
use svc_filters::routing::Target;
use svc_filters::shape::Shape;
use svc_filters::translate::{without_foreign_history, without_signatures};
use svc_filters::verdict::{Code, Rejection};
use svc_filters::wire::pieces::Pieces;

use super::outgoing::Outgoing;
use super::translation::{self, Asking};
use crate::attempts::{CREDENTIAL, QUEUE, UNSENDABLE};
use crate::exchange::Exchange;
use crate::pictures;
use crate::providers::{Dispatch, Draft, Provider, request_header};
use crate::socket::Socket;
use crate::store::Snapshot;
use crate::traces;

/// Chooses the next candidate and makes the body for it.
///
/// # Errors
/// When no candidate is left, or its host has no address (then marked for another try).
pub async fn peer(session: &mut Session, exchange: &mut Exchange) -> Result<Box<HttpPeer>> {
    let Some(snapshot) = exchange.snapshot.clone() else {
        return Error::e_explain(ErrorType::InternalError, "a try before the request was understood");
    };
    // Answers come uncompressed. What unpacked that of an earlier try has to go: Pingora panics where it meets another one.
    session.upstream_compression = ResponseCompressionCtx::new(0, true, false);
    let (target, provider) = admitted(session, exchange, &snapshot).await?;
    if let Err(rejection) = prepare(session, exchange, &target, &provider).await {
        return Err(unsendable(exchange, rejection));
    }
    authorise(exchange, &provider).await?;
    let timeouts = exchange.own_timeouts().and_then(|_| exchange.timeouts());
    match provider.peer(exchange.attempts.count() - 1, timeouts).await {
        Ok(peer) => Ok(Box::new(peer)),
        Err(error) => {
            log::warn!(request_id = exchange.id.as_str(), trace_id = exchange.trace_id(); "failed to {error}");
            exchange.attempts.conclude(&exchange.gateway, 0, "dns");
            exchange.attempts.skip_target();
            let mut failure = Error::explain(ErrorType::ConnectNoRoute, "the provider's host has no address");
            failure.set_retry(exchange.has_next());
            Err(failure)
        }
    }
}

/// The next candidate, with a place at it. A provider whose queue takes too long is left for the next target.
async fn admitted(session: &mut Session, exchange: &mut Exchange, snapshot: &Snapshot) -> Result<(Arc<Target>, Arc<Provider>)> {
    loop {
        let now = exchange.now();
        let Some((target, provider)) = exchange.attempts.begin(&exchange.gateway, snapshot, now) else {
            return Error::e_explain(ErrorType::ConnectNoRoute, "no provider is left to try");
        };
        let Some(queue) = provider.queue() else { return Ok((target, provider)) };
        let mut slot = queue.pass();
        let mut time = Duration::ZERO;
        let mut left = false;
        if slot.is_none() {
            let began = Instant::now();
            tokio::select! {
                place = queue.wait() => slot = place,
                _ = session.as_mut().read_body_or_idle(true) => left = true,
            }
            time = began.elapsed();
        }
        exchange.attempts.queued(time);
        if left {
            return Err(Error::explain(ErrorType::ConnectionClosed, "the client left the queue").into_down());
        }
        if let Some(slot) = slot {
            exchange.attempts.take_place(slot);
            return Ok((target, provider));
        }
        exchange.attempts.conclude(&exchange.gateway, 0, QUEUE);
        exchange.attempts.skip_target();
    }
}

/// Makes the body for the provider and notes what it does not take.
async fn prepare(session: &Session, exchange: &mut Exchange, target: &Target, provider: &Provider) -> Result<(), Rejection> {
    let (Some(endpoint), Some(facts)) = (exchange.endpoint, exchange.facts.as_deref()) else { return Ok(()) };
    let stream = exchange.answer.stream;
    if endpoint.translates() {
        translation::refuse_threads(&exchange.body, exchange.shape, target)?;
    }
    let (asking, body) = if translation::passes(exchange.shape, endpoint, facts, &exchange.body, target) {
        let ask_for_usage = endpoint.shape() == Shape::ChatCompletions && facts.stream && provider.takes_stream_options();
        let body = facts.rewrite(&exchange.body, &target.upstream_model, ask_for_usage);
        let fitted = match (endpoint.translates(), exchange.attempts.is_bare()) {
            (false, _) => None,
            (true, true) => without_signatures(endpoint.shape(), &body.whole(), &target.translated()),
            (true, false) => without_foreign_history(endpoint.shape(), &body, facts.traces, &target.translated()),
        };
        let body = fitted.map_or(body, |fitted| Pieces::from(Bytes::from(fitted)));
        (Asking { endpoint, dialect: endpoint.shape(), prepared: None }, body)
    } else {
        translate(exchange, target).await?
    };
    let empty = HeaderMap::new();
    let headers = if asking.prepared.is_some() { &empty } else { &session.req_header().headers };
    let prepared = provider.prepare(&Draft { endpoint: asking.endpoint, model: &target.upstream_model, stream, headers, body: &body })?;
    exchange.asking = Some(asking);
    exchange.upstream_body = Some(Box::new(Outgoing::new(prepared.body)));
    if !prepared.omitted.is_empty() {
        let note = ("omitted".to_owned(), format!("{}: {}", target.provider, prepared.omitted.join(", ")));
        if !exchange.notes.contains(&note) {
            exchange.notes.push(note);
        }
    }
    Ok(())
}

/// Translates the request, pictures included.
async fn translate(exchange: &mut Exchange, target: &Target) -> Result<(Asking, Pieces), Rejection> {
    let to = target.translated();
    pictures::fetch(exchange, &to).await?;
    let prepared = translation::translated(exchange, &to)?;
    translation::note(exchange, &target.provider, &prepared);
    let dialect = prepared.shape;
    let unsigned = exchange.attempts.is_bare().then(|| without_signatures(dialect, &prepared.body, &to)).flatten();
    let body = unsigned.map_or_else(|| prepared.body.clone(), Bytes::from);
    let endpoint = Endpoint::of_shape(dialect, prepared.stream);
    Ok((Asking { endpoint, dialect, prepared: Some(Arc::new(prepared)) }, Pieces::from(body)))
}

/// Leaves a target that the request cannot be sent to. The last of them tells the client why, unless another could have taken it
/// and failed: then asking again may help. A request that is wrong in itself ends here.
fn unsendable(exchange: &mut Exchange, rejection: Rejection) -> Box<Error> {
    exchange.attempts.conclude(&exchange.gateway, 0, UNSENDABLE);
    exchange.attempts.skip_target();
    let wrong = rejection.code == Code::InvalidRequest;
    let next = !wrong && exchange.has_next();
    let refused = wrong || exchange.attempts.all_failed_by(UNSENDABLE);
    if !next && refused {
        exchange.answer.stopped = Some(Box::new(rejection));
    }
    let (etype, source) =
        if refused { (ErrorType::InternalError, ErrorSource::Unset) } else { (ErrorType::ConnectNoRoute, ErrorSource::Upstream) };
    let mut failure = Error::explain(etype, "the request cannot be sent to this provider");
    failure.esource = source;
    failure.set_retry(next);
    failure
}

/// Gets what authorises the try. A credential that cannot be had rests, and the next candidate is tried.
async fn authorise(exchange: &mut Exchange, provider: &Provider) -> Result<()> {
    exchange.authorisation = None;
    let Some(key) = exchange.attempts.key() else { return Ok(()) };
    let error = match provider.authorise(key).await {
        Ok(authorisation) => {
            exchange.authorisation = Some(Box::new(authorisation));
            return Ok(());
        }
        Err(error) => error,
    };
    log::error!(
        request_id = exchange.id.as_str(), trace_id = exchange.trace_id();
        "the provider `{}` goes without its credential number {}: failed to {error}", provider.name(), key.index + 1
    );
    if error.is_refusal() {
        exchange.quarantine(provider, key);
    } else {
        provider.keys().limit(key.index, exchange.now(), None);
    }
    exchange.attempts.conclude(&exchange.gateway, 0, CREDENTIAL);
    let next = exchange.has_next();
    if !next {
        exchange.attempts.credential_refused();
    }
    let mut failure = Error::explain(ErrorType::ConnectNoRoute, "the provider's credential cannot be had").into_up();
    failure.set_retry(next);
    Err(failure)
}

/// Keeps the connection of the try until the request is sent. A new one to a provider on this host sends without pace.
pub fn connected(exchange: &mut Exchange, peer: &HttpPeer, socket: Socket, reused: bool) {
    if !reused && peer.address().as_inet().is_some_and(|address| address.ip().is_loopback()) {
        socket.send_unpaced();
    }
    exchange.socket = Some(socket);
}

/// Replaces the head Pingora would forward by one made for the provider.
///
/// # Errors
/// When the model name makes no valid path.
pub fn head(session: &Session, exchange: &mut Exchange, head: &mut RequestHeader) -> Result<()> {
    exchange.wait_for_answer(session);
    let (Some(provider), Some(target), Some(asking), Some(outgoing)) =
        (exchange.attempts.provider(), exchange.attempts.current(), &exchange.asking, &exchange.upstream_body)
    else {
        return Error::e_explain(ErrorType::InternalError, "a head before a try");
    };
    let client = session.req_header();
    let empty = HeaderMap::new();
    let translated = asking.prepared.is_some();
    let dispatch = Dispatch {
        endpoint: asking.endpoint,
        model: &target.upstream_model,
        stream: exchange.answer.stream,
        headers: if translated { &empty } else { &client.headers },
        query: if translated { asking.query() } else { client.uri.query() },
        body: outgoing.body(),
        authorisation: exchange.authorisation.as_deref(),
    };
    let version = head.version;
    *head = request_header(provider, &dispatch)?;
    // No signature of a provider covers these headers.
    match &exchange.trace {
        Some(trace) => trace.mark(exchange.attempts.count(), head)?,
        None => traces::pass_on(&client.headers, head)?,
    }
    // Pingora has chosen it by what the connection speaks.
    head.set_version(version);
    exchange.socket = exchange.socket.take().filter(|_| version == Version::HTTP_11);
    if let Some(socket) = exchange.socket {
        socket.gather();
    }
    Ok(())
}

/// Puts the body made for the provider in place of what is handed on of the client's: all that is left of it at the end.
pub fn body(exchange: &mut Exchange, piece: &mut Option<Bytes>, end: bool) {
    *piece = Some(exchange.upstream_body.as_mut().map(|outgoing| outgoing.give(end)).unwrap_or_default());
    if end && let Some(socket) = exchange.socket.take() {
        socket.send_soon();
    }
}
