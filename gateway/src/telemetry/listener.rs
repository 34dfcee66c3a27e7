//! The listener a Prometheus server asks: `/metrics` and `/health`, in clear text and for everybody who reaches it.
//!
//! Each connection is one request and ends within seconds, and there are only so many, so that scrapers that stall cannot pile up.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::state::Gateway;

/// Connections at the same time; the next ones wait.
const CONNECTIONS: usize = 16;
/// How long a connection may take, from its first byte to its last.
const DEADLINE: Duration = Duration::from_secs(15);
/// How long a head may take.
const HEAD_DEADLINE: Duration = Duration::from_secs(5);
/// The largest head, in bytes.
const HEAD_BYTES: usize = 16 << 10;
/// Pause after a connection could not be taken, such as for want of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Takes the address.
///
/// # Errors
/// When somebody else has it, or it may not be used.
pub async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address).await
}

/// Answers until the process ends.
pub async fn serve(listener: TcpListener, gateway: Arc<Gateway>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let gateway = gateway.clone();
                // Ends by itself in time.
                tokio::spawn(async move {
                    let _ = timeout(DEADLINE, converse(stream, gateway)).await;
                    drop(place);
                });
            }
            Err(error) => {
                log::warn!("failed to take a connection for metrics: {error}");
                sleep(PAUSE).await;
            }
        }
    }
}

async fn converse(stream: TcpStream, gateway: Arc<Gateway>) {
    let service = service_fn(move |request| {
        let answer = answer(&request, &gateway);
        async move { Ok::<_, Infallible>(answer) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_DEADLINE).max_buf_size(HEAD_BYTES).keep_alive(false);
    if let Err(error) = builder.serve_connection(TokioIo::new(stream), service).await {
        log::debug!("a connection for metrics failed: {error}");
    }
}

fn answer(request: &Request<Incoming>, gateway: &Gateway) -> Response<Full<Bytes>> {
    let known = matches!(request.uri().path(), "/metrics" | "/health");
    if !known {
        return plain(StatusCode::NOT_FOUND, "There are /metrics and /health.\n");
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "GET and HEAD only.\n");
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return answer;
    }
    if request.uri().path() == "/health" {
        return with_type(StatusCode::OK, JSON, r#"{"status":"healthy"}"#.into());
    }
    let shown = gateway.metrics.as_ref().map(|metrics| metrics.show(gateway));
    match shown {
        Some(Ok(text)) => with_type(StatusCode::OK, TEXT, text.into()),
        Some(Err(error)) => {
            log::error!("failed to show the metrics: {error}");
            plain(StatusCode::INTERNAL_SERVER_ERROR, "The metrics cannot be shown; the log says why.\n")
        }
        None => plain(StatusCode::NOT_FOUND, "Metrics are off.\n"),
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    with_type(status, HeaderValue::from_static("text/plain; charset=utf-8"), text.into())
}

fn with_type(status: StatusCode, content_type: HeaderValue, body: Bytes) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, content_type);
    answer
}
