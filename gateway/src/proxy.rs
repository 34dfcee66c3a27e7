//! Pingora's phases, one line each.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::modules::http::HttpModules;
use pingora::protocols::Digest;
use pingora::proxy::{FailToProxy, ProxyHttp, Session};
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, Result};

use crate::edge;
use crate::exchange::Exchange;
use crate::phases::{failure, logging, request, response, status, stream, upstream};
use crate::socket::Socket;
use crate::state::Gateway;

/// The data plane as Pingora sees it.
pub struct Proxy {
    gateway: Arc<Gateway>,
}

impl Proxy {
    /// A proxy over the process's shared state.
    #[must_use]
    pub fn new(gateway: Arc<Gateway>) -> Self {
        Self { gateway }
    }
}

#[async_trait]
impl ProxyHttp for Proxy {
    // Pingora's future holds its context three times over, so it gets a pointer.
    type CTX = Box<Exchange>;

    fn new_ctx(&self) -> Self::CTX {
        Box::new(Exchange::new(self.gateway.clone()))
    }

    fn init_downstream_modules(&self, _: &mut HttpModules) {
        // By default every request carries a module that could compress its answer and never does.
    }

    async fn early_request_filter(&self, session: &mut Session, _: &mut Self::CTX) -> Result<()> {
        edge::head_received(session, &self.gateway.conf);
        Ok(())
    }

    async fn request_filter(&self, session: &mut Session, exchange: &mut Self::CTX) -> Result<bool> {
        request::run(session, exchange).await
    }

    async fn upstream_peer(&self, session: &mut Session, exchange: &mut Self::CTX) -> Result<Box<HttpPeer>> {
        upstream::peer(session, exchange).await
    }

    async fn connected_to_upstream(
        &self,
        _: &mut Session,
        reused: bool,
        peer: &HttpPeer,
        socket: RawFd,
        _: Option<&Digest>,
        exchange: &mut Self::CTX,
    ) -> Result<()> {
        upstream::connected(exchange, peer, Socket::new(socket), reused);
        Ok(())
    }

    async fn upstream_request_filter(&self, session: &mut Session, head: &mut RequestHeader, exchange: &mut Self::CTX) -> Result<()> {
        upstream::head(session, exchange, head)
    }

    async fn request_body_filter(&self, _: &mut Session, piece: &mut Option<Bytes>, end: bool, exchange: &mut Self::CTX) -> Result<()> {
        upstream::body(exchange, piece, end);
        Ok(())
    }

    async fn upstream_response_filter(&self, _: &mut Session, head: &mut ResponseHeader, exchange: &mut Self::CTX) -> Result<()> {
        status::run(exchange, head)
    }

    async fn response_filter(&self, session: &mut Session, head: &mut ResponseHeader, exchange: &mut Self::CTX) -> Result<()> {
        response::deliver(session, exchange, head)
    }

    fn response_body_filter(
        &self,
        session: &mut Session,
        body: &mut Option<Bytes>,
        end: bool,
        exchange: &mut Self::CTX,
    ) -> Result<Option<Duration>> {
        stream::piece(session, exchange, body, end).map(|()| None)
    }

    fn fail_to_connect(&self, _: &mut Session, _: &HttpPeer, exchange: &mut Self::CTX, error: Box<Error>) -> Box<Error> {
        failure::to_connect(exchange, error)
    }

    fn error_while_proxy(
        &self,
        _: &HttpPeer,
        session: &mut Session,
        error: Box<Error>,
        exchange: &mut Self::CTX,
        reused: bool,
    ) -> Box<Error> {
        failure::while_proxying(session, exchange, error, reused)
    }

    async fn fail_to_proxy(&self, session: &mut Session, error: &Error, exchange: &mut Self::CTX) -> FailToProxy {
        failure::finally(session, exchange, error).await
    }

    async fn logging(&self, session: &mut Session, error: Option<&Error>, exchange: &mut Self::CTX) {
        logging::run(session, exchange, error);
    }

    fn suppress_error_log(&self, _: &Session, _: &Self::CTX, _: &Error) -> bool {
        // `failure::finally` has told it, with the request's id.
        true
    }
}
