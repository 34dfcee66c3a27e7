//! HTTP/2 in clear text with prior knowledge, with or without a content length.

use std::net::SocketAddr;

use bytes::Bytes;
use h2::RecvStream;
use h2::client::SendRequest;
use http::{HeaderMap, Request};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::gateway::KEY;
use crate::raw::Answer;
use crate::shapes::Shape;
use crate::upstream::runtime;
use crate::wait::PATIENCE;

/// An HTTP/2 connection.
pub struct Http2 {
    sender: SendRequest<Bytes>,
    connection: JoinHandle<Result<(), h2::Error>>,
}

impl Http2 {
    /// Connects.
    ///
    /// # Panics
    /// When the server does not speak HTTP/2.
    #[must_use]
    pub fn open(address: SocketAddr) -> Self {
        let (sender, connection) = runtime().block_on(async {
            let stream = TcpStream::connect(address).await.expect("the server listens");
            stream.set_nodelay(true).expect("a TCP socket");
            let (sender, connection) = h2::client::handshake(stream).await.expect("the server speaks HTTP/2");
            (sender, tokio::spawn(connection))
        });
        Self { sender, connection }
    }

    /// Sends a `POST` and reads its answer; `length` tells whether the request declares one.
    ///
    /// # Panics
    /// When the exchange breaks off.
    pub fn post(&mut self, path: &str, headers: &[(&str, &str)], body: &[u8], length: bool) -> Answer {
        let request = post(path, headers, length.then_some(body.len()));
        let body = Bytes::copy_from_slice(body);
        runtime().block_on(exchange(&mut self.sender, request, body))
    }

    /// Asks as a client of a shape does, with a key that may call everything.
    ///
    /// # Panics
    /// When the exchange breaks off.
    pub fn ask(&mut self, shape: Shape, model: &str, text: &str, stream: bool) -> Answer {
        let body = shape.body(model, text, stream).to_string();
        self.post(&shape.path(model, stream), &headers(), body.as_bytes(), true)
    }

    /// The same for a stream that is read piece by piece.
    ///
    /// # Panics
    /// When the exchange breaks off.
    pub fn ask_stream(&mut self, shape: Shape, model: &str, text: &str) -> Stream {
        let body = shape.body(model, text, true).to_string();
        self.begin(&shape.path(model, true), &headers(), body.as_bytes())
    }

    /// Waits until the server has closed the connection.
    ///
    /// # Panics
    /// When it does not.
    pub fn wait_closed(self) {
        let Self { sender: _open, connection } = self;
        let closed = async { tokio::time::timeout(PATIENCE, connection).await };
        assert!(runtime().block_on(closed).is_ok(), "the connection stays open");
    }

    /// Sends a `POST` and reads the head of its answer.
    ///
    /// # Panics
    /// When the exchange breaks off.
    pub fn begin(&mut self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Stream {
        let request = post(path, headers, Some(body.len()));
        let response = runtime().block_on(async {
            std::future::poll_fn(|context| self.sender.poll_ready(context)).await.expect("the connection is alive");
            let (response, mut stream) = self.sender.send_request(request, false).expect("the connection is alive");
            stream.send_data(Bytes::copy_from_slice(body), true).expect("the connection is alive");
            response.await.expect("an answer")
        });
        Stream { status: response.status().as_u16(), incoming: response.into_body() }
    }
}

fn headers() -> [(&'static str, &'static str); 2] {
    [("x-api-key", KEY), ("content-type", "application/json")]
}

fn post(path: &str, headers: &[(&str, &str)], length: Option<usize>) -> Request<()> {
    let mut request = Request::post(format!("http://test{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if let Some(length) = length {
        request = request.header("content-length", length);
    }
    request.body(()).expect("a sound request")
}

async fn exchange(sender: &mut SendRequest<Bytes>, request: Request<()>, body: Bytes) -> Answer {
    std::future::poll_fn(|context| sender.poll_ready(context)).await.expect("the connection is alive");
    let (response, mut stream) = sender.send_request(request, body.is_empty()).expect("the connection is alive");
    let upload = async {
        let mut left = body;
        while !left.is_empty() {
            stream.reserve_capacity(left.len());
            // The server may answer before it has taken everything.
            let Some(Ok(room)) = std::future::poll_fn(|context| stream.poll_capacity(context)).await else { return };
            let piece = left.split_to(room.min(left.len()));
            if stream.send_data(piece, left.is_empty()).is_err() {
                return;
            }
        }
    };
    let ((), response) = tokio::join!(upload, response);
    let (parts, mut incoming) = response.expect("an answer").into_parts();
    let mut answer = Answer { status: parts.status.as_u16(), head: head(&parts.headers), body: Vec::new(), complete: false };
    while let Some(piece) = incoming.data().await {
        let Ok(piece) = piece else { return answer };
        let _ = incoming.flow_control().release_capacity(piece.len());
        answer.body.extend_from_slice(&piece);
    }
    answer.complete = true;
    answer
}

fn head(headers: &HeaderMap) -> String {
    let mut text = "HTTP/2".to_owned();
    for (name, value) in headers {
        text.push_str(&format!("\n{name}: {}", String::from_utf8_lossy(value.as_bytes())));
    }
    text
}

/// An answer that is read piece by piece. Dropped before its end, its stream is reset.
pub struct Stream {
    /// Status.
    pub status: u16,
    incoming: RecvStream,
}

impl Stream {
    /// The next piece; `None` at the end, or where the stream was reset.
    pub fn piece(&mut self) -> Option<Bytes> {
        let piece = runtime().block_on(self.incoming.data())?.ok()?;
        let _ = self.incoming.flow_control().release_capacity(piece.len());
        Some(piece)
    }
}
