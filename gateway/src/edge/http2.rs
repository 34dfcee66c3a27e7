//! Clients over HTTP/2. Each of their requests is served as one over an HTTP/1.1 connection of its own, inside the process: so an
//! answer is held, a silent stream kept alive and a wait ended for them in the same way, by the same code. It costs them a copy.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::HOST;
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri, Version};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use pingora::protocols::{SocketDigest, Stream};
use pingora::server::ShutdownWatch;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{Connection, Heads};
use crate::conf::ServerLimits;

/// Bytes under way in each direction of a request.
const PIPE: usize = 64 * 1024;
/// How long a client is given to take note of an end.
const FAREWELL: Duration = Duration::from_secs(1);

/// Bounds on a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    streams: u32,
    header_bytes: u32,
    /// How long it may be without a request.
    idle: Duration,
}

impl Bounds {
    pub(super) fn of(limits: &ServerLimits) -> Self {
        let header_bytes = u32::try_from(limits.header_bytes.bytes()).unwrap_or(u32::MAX);
        Self { streams: limits.h2_streams, header_bytes, idle: *limits.keepalive_idle }
    }
}

/// Serves a connection to its end. Requests that run when the gateway ends are served to theirs.
pub(super) async fn serve(heads: Arc<Heads>, stream: Stream, bounds: Bounds, shutdown: &ShutdownWatch) {
    let mut ending = shutdown.clone();
    let (running, mut count) = watch::channel(0_usize);
    let (running, client, shutdown) = (Arc::new(running), stream.get_socket_digest(), shutdown.clone());
    let service = service_fn(move |request| {
        let (running, pipe) = (Running::enter(&running), Pipe::open(heads.clone(), client.clone(), shutdown.clone()));
        async move { pipe.ask(request, running).await }
    });
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.timer(TokioTimer::new()).max_concurrent_streams(bounds.streams).max_header_list_size(bounds.header_bytes);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = idle(&mut count, bounds.idle) => {
            connection.as_mut().graceful_shutdown();
            // A request may just have come; a client that does not take note is not waited for.
            tokio::select! {
                ended = connection => ended,
                () = idle(&mut count, FAREWELL) => Ok(()),
            }
        }
        () = ends(&mut ending) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        log::debug!("an HTTP/2 connection ended: {error}");
    }
}

/// Ends once no request has been running for so long.
async fn idle(count: &mut watch::Receiver<usize>, within: Duration) {
    while count.wait_for(|running| *running == 0).await.is_ok() {
        if tokio::time::timeout(within, count.wait_for(|running| *running > 0)).await.is_err() {
            return;
        }
    }
}

/// Ends once the gateway is to end.
async fn ends(shutdown: &mut ShutdownWatch) {
    let _gone = shutdown.wait_for(|ends| *ends).await.is_err();
}

/// A request that runs.
struct Running(Arc<watch::Sender<usize>>);

impl Running {
    fn enter(running: &Arc<watch::Sender<usize>>) -> Self {
        running.send_modify(|count| *count += 1);
        Self(running.clone())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// The HTTP/1.1 connection of one request, seen from its client's side. Who has refused a request closes without having read all of
/// it: what is written from then on goes nowhere, so that the refusal is read all the same.
struct Pipe(DuplexStream);

impl Pipe {
    /// Begins to serve the other side.
    fn open(heads: Arc<Heads>, client: Option<Arc<SocketDigest>>, shutdown: ShutdownWatch) -> Self {
        let (near, far) = tokio::io::duplex(PIPE);
        tokio::spawn(async move { heads.serve(Box::new(Connection::of_client(Box::new(far), client)), &shutdown).await });
        Self(near)
    }

    /// Sends the request and gives the answer's head. A client that leaves takes the pipe with it, as the other side will notice.
    async fn ask(self, request: Request<Incoming>, running: Running) -> hyper::Result<Response<Answer>> {
        if request.method() == Method::CONNECT {
            let mut refusal = Response::new(Answer { body: None, _driven: None, _running: running });
            *refusal.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            return Ok(refusal);
        }
        let (mut sender, connection) = http1::Builder::new().handshake(TokioIo::new(self)).await?;
        let driven = Driven(tokio::spawn(async move {
            if let Err(error) = connection.await {
                log::debug!("a request over HTTP/2 ended: {error}");
            }
        }));
        let answer = sender.send_request(as_http1(request)).await?;
        Ok(answer.map(|body| Answer { body: Some(body), _driven: Some(driven), _running: running }))
    }
}

impl AsyncRead for Pipe {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.0).poll_write(cx, bytes) {
            Poll::Ready(Err(closed)) if closed.kind() == io::ErrorKind::BrokenPipe => Poll::Ready(Ok(bytes.len())),
            written => written,
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// The same request as HTTP/1.1 writes it.
fn as_http1(mut request: Request<Incoming>) -> Request<Question> {
    let authority = request.uri().authority().and_then(|authority| HeaderValue::from_str(authority.as_str()).ok());
    let target = request.uri().path_and_query().map_or_else(|| Uri::from_static("/"), |path| Uri::from(path.clone()));
    if let Some(authority) = authority {
        request.headers_mut().entry(HOST).or_insert(authority);
    }
    *request.uri_mut() = target;
    *request.version_mut() = Version::HTTP_11;
    request.map(|body| Question(Some(body)))
}

/// The body of a request. What is left of one that was refused is taken in for a moment: clients read the refusal while they may
/// still send, and some take the reset of a stream for a failure even after its answer.
struct Question(Option<Incoming>);

impl Drop for Question {
    fn drop(&mut self) {
        let Some(mut rest) = self.0.take().filter(|body| !body.is_end_stream()) else { return };
        tokio::spawn(async move {
            let ends = async { while poll_fn(|cx| Pin::new(&mut rest).poll_frame(cx)).await.is_some_and(|frame| frame.is_ok()) {} };
            let _in_time = tokio::time::timeout(FAREWELL, ends).await.is_ok();
        });
    }
}

impl Body for Question {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        self.0.as_mut().map_or(Poll::Ready(None), |body| Pin::new(body).poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

/// What moves a request's bytes; it ends with its answer.
struct Driven(JoinHandle<()>);

impl Drop for Driven {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The body of an answer, and what runs as long as it does.
struct Answer {
    body: Option<Incoming>,
    _driven: Option<Driven>,
    _running: Running,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        self.body.as_mut().map_or(Poll::Ready(None), |body| Pin::new(body).poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}
