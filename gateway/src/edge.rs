//! The listener's side: bounds on connections, and on the time and size of request heads.
//!
//! Pingora bounds each read but not a whole head, and neither counts connections nor bounds them.

mod connection;
mod deadline;
mod http2;
mod progress;
mod pulse;

use std::collections::HashMap;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, ready};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use pingora::apps::{HttpServerApp, ReusedHttpStream, ServerApp};
use pingora::protocols::http::ServerSession;
use pingora::protocols::{ALPN, Stream};
use pingora::proxy::{HttpProxy, Session};
use pingora::server::ShutdownWatch;
use svc_filters::verdict::Rejection;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

use crate::conf::{Conf, ServerLimits};
use crate::proxy::Proxy;

pub use connection::Connection;
use deadline::Alarm;
use progress::Progress;

/// The bytes an HTTP/2 connection in clear text begins with (RFC 9113 §3.4).
const H2_PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Keeps Pingora from bounding the time between two requests, which is done here.
const FOREVER: u64 = 0;
/// Answer to a connection over the bounds.
const OVERLOADED: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Connections in use.
#[derive(Debug)]
struct Connections {
    total: AtomicUsize,
    by_address: Mutex<HashMap<IpAddr, usize>>,
    most: usize,
    most_by_address: usize,
}

/// One counted connection.
struct Counted {
    connections: Arc<Connections>,
    address: Option<IpAddr>,
}

impl Connections {
    fn enter(self: &Arc<Self>, address: Option<IpAddr>) -> Option<Counted> {
        let counted = Counted { connections: self.clone(), address };
        let total = self.total.fetch_add(1, Ordering::Relaxed) + 1;
        let same = address.map_or(0, |address| {
            let mut by_address = self.by_address.lock();
            let count = by_address.entry(address).or_insert(0);
            *count += 1;
            *count
        });
        (total <= self.most && same <= self.most_by_address).then_some(counted)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.connections.total.fetch_sub(1, Ordering::Relaxed);
        let Some(address) = self.address else { return };
        let mut by_address = self.connections.by_address.lock();
        if let Some(count) = by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                by_address.remove(&address);
            }
        }
    }
}

/// Counts connections in front of the proxy.
pub struct Edge {
    connections: Arc<Connections>,
    heads: Arc<Heads>,
}

impl Edge {
    /// An edge in front of `proxy`.
    #[must_use]
    pub fn new(proxy: HttpProxy<Proxy>, conf: &Conf) -> Self {
        let limits = &conf.server.limits;
        let connections = Connections {
            total: AtomicUsize::new(0),
            by_address: Mutex::default(),
            most: limits.connections,
            most_by_address: limits.connections_per_address,
        };
        let heads =
            Heads { proxy: Arc::new(proxy), head: *limits.header_deadline, idle: *limits.keepalive_idle, http2: http2::Bounds::of(limits) };
        Self { connections: Arc::new(connections), heads: Arc::new(heads) }
    }
}

#[async_trait]
impl ServerApp for Edge {
    async fn process_new(self: &Arc<Self>, mut stream: Stream, shutdown: &ShutdownWatch) -> Option<Stream> {
        let address = stream.get_socket_digest().and_then(|digest| digest.peer_addr()?.as_inet().map(std::net::SocketAddr::ip));
        let Some(counted) = self.connections.enter(address) else {
            let _ = stream.write_all(OVERLOADED).await;
            let _ = stream.shutdown().await;
            return None;
        };
        let http2 = speaks_http2(&mut stream, self.heads.head).await?;
        // The task this runs in has room for a TLS handshake, for as long as it lives; serving goes on in a smaller one of its own.
        let (heads, shutdown) = (self.heads.clone(), shutdown.clone());
        tokio::spawn(async move {
            let _counted = counted;
            if http2 {
                let bounds = heads.http2;
                // Its future is large, and the task is as large as the largest of both.
                Box::pin(http2::serve(heads, stream, bounds, &shutdown)).await;
            } else {
                heads.serve(Box::new(Connection::new(stream)), &shutdown).await;
            }
        });
        None
    }

    async fn cleanup(&self) {
        self.heads.proxy.http_cleanup().await;
    }
}

/// Whether the client begins with HTTP/2; `None` where it does not begin in time. Pingora looks at the same bytes, but without end.
async fn speaks_http2(stream: &mut Stream, within: Duration) -> Option<bool> {
    if stream.get_ssl_digest().is_some() {
        return Some(matches!(stream.selected_alpn_proto(), Some(ALPN::H2)));
    }
    let mut preface = [0; H2_PREFACE.len()];
    let peeked = pingora_timeout::fast_timeout::fast_timeout(within, stream.try_peek(&mut preface)).await;
    Some(peeked.ok()?.ok()? && preface == *H2_PREFACE)
}

/// Bounds the time until a whole head has arrived.
struct Heads {
    proxy: Arc<HttpProxy<Proxy>>,
    /// The time a head may take.
    head: Duration,
    /// The time without a request after which a connection ends.
    idle: Duration,
    http2: http2::Bounds,
}

impl Heads {
    /// Serves the requests of an HTTP/1.1 connection, one after the other.
    async fn serve(self: &Arc<Self>, connection: Box<Connection>, shutdown: &ShutdownWatch) {
        let progress = connection.progress().clone();
        // One for all requests: they come and go more often than timers should.
        let mut alarm = Alarm::default();
        let mut serving = self.first(connection, shutdown);
        while let Some(reused) = serving.finish(&progress, &mut alarm).await {
            progress.begin_anew();
            serving = self.next(reused, shutdown);
        }
    }

    // None of these is asynchronous: a future keeps everything it is given for as long as it lives, and sessions are large.

    fn first<'a>(self: &'a Arc<Self>, stream: Stream, shutdown: &'a ShutdownWatch) -> Serving<'a> {
        let mut session = ServerSession::new_http1(stream);
        session.set_keepalive(if *shutdown.borrow() { None } else { Some(FOREVER) });
        session.set_keepalive_reuses_remaining(
            HttpServerApp::server_options(&*self.proxy).and_then(|options| options.keepalive_request_limit),
        );
        let within = self.head.saturating_sub(age(&session));
        self.serving(session, shutdown, within, Duration::ZERO)
    }

    fn next<'a>(self: &'a Arc<Self>, reused: ReusedHttpStream, shutdown: &'a ShutdownWatch) -> Serving<'a> {
        let (stream, settings) = reused.consume();
        let mut session = ServerSession::new_http1(stream);
        if let Some(settings) = settings {
            settings.apply_to_session(&mut session);
        }
        if session.get_keepalive().is_some() {
            session.set_keepalive(Some(FOREVER));
        }
        self.serving(session, shutdown, self.idle, self.head)
    }

    fn serving<'a>(
        self: &'a Arc<Self>,
        mut session: ServerSession,
        shutdown: &'a ShutdownWatch,
        within: Duration,
        more: Duration,
    ) -> Serving<'a> {
        session.set_read_timeout(Some(self.head));
        Serving { request: self.proxy.process_new_http(session, shutdown), within, more }
    }
}

/// A request that is served, and the time its head may take.
struct Serving<'a> {
    request: Pin<Box<dyn Future<Output = Option<ReusedHttpStream>> + Send + 'a>>,
    within: Duration,
    /// The time it has beyond that once it has begun.
    more: Duration,
}

impl Serving<'_> {
    /// Serves it to its end; `None` where the connection ends with it.
    async fn finish(&mut self, progress: &Progress, alarm: &mut Alarm) -> Option<ReusedHttpStream> {
        let mut until = Instant::now() + self.within;
        poll_fn(|cx| match self.request.as_mut().poll(cx) {
            Poll::Ready(reused) => Poll::Ready(reused),
            Poll::Pending => loop {
                // A request wakes many times after its head.
                if progress.is_whole() {
                    return Poll::Pending;
                }
                ready!(alarm.poll(until, cx));
                if !progress.has_begun() || self.more.is_zero() {
                    return Poll::Ready(None);
                }
                until += std::mem::take(&mut self.more);
            },
        })
        .await
    }
}

/// How long ago the connection was made.
fn age(session: &ServerSession) -> Duration {
    let made = session.digest().and_then(|digest| Some(digest.timing_digest.first()?.as_ref()?.established_ts));
    made.and_then(|made| made.elapsed().ok()).unwrap_or_default()
}

/// Ends the time of a head that has arrived, and sets the time-outs of its connection.
pub fn head_received(session: &mut Session, conf: &Conf) {
    if let Some(connection) = Connection::of(session) {
        connection.progress().complete();
    }
    session.set_read_timeout(Some(*conf.server.limits.body_idle));
    session.set_write_timeout(Some(*conf.timeouts.idle));
}

/// Checks the bounds on a head, and that its framing has one meaning only.
///
/// # Errors
/// A rejection that says which bound was passed.
pub fn check_head(session: &Session, limits: &ServerLimits) -> Result<(), Rejection> {
    let head = session.req_header();
    let bytes: usize = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if bytes + head.raw_path().len() > limits.header_bytes.as_usize() || head.headers.len() > limits.header_count {
        return Err(Rejection::invalid("The request's headers are larger than the gateway takes.").with_status(431));
    }
    if !head.raw_path().iter().all(u8::is_ascii_graphic) {
        return Err(Rejection::invalid("The request's path holds characters that have to be percent-encoded."));
    }
    if head.headers.contains_key(http::header::TRANSFER_ENCODING) && declares_length(session) {
        return Err(Rejection::invalid("The request has both a Content-Length and a Transfer-Encoding."));
    }
    Ok(())
}

/// Whether the head as received declares a length; Pingora has removed it where a transfer encoding is present too.
fn declares_length(session: &Session) -> bool {
    session.as_ref().as_http1().is_some_and(|http1| {
        let raw = http1.get_headers_raw_bytes();
        raw.split(|byte| *byte == b'\n').any(|line| {
            line.split(|byte| *byte == b':').next().is_some_and(|name| name.trim_ascii().eq_ignore_ascii_case(b"content-length"))
        })
    })
}
