//! A server that misbehaves over HTTP/2, in clear text with prior knowledge.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::server::{Connection, SendResponse};
use h2::{Reason, SendStream};
use http::{Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::stub::Asked;
use crate::upstream::runtime;

/// How long what was sent has to arrive before what ends it, which may overtake it.
const ARRIVES: Duration = Duration::from_millis(200);

/// What becomes of a request.
#[derive(Clone, Debug)]
pub enum Course {
    /// Its stream is refused.
    Refused,
    /// The whole connection ends with a reason.
    GoneAway(Reason),
    /// It is answered: status, content type, body and end.
    Answered(u16, Option<&'static str>, String, End),
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As one that is complete. Without a body, already with its head.
    Stream,
    /// The same, once the body has arrived.
    Later,
    /// Its stream is reset.
    Reset,
    /// The whole connection ends with an error.
    GoneAway,
    /// The connection is closed without a word.
    Closed,
    /// Never.
    Hang,
}

/// A running server.
pub struct Http2Server {
    address: SocketAddr,
}

/// What a stream asks of its connection.
enum Ask {
    GoAway(Reason),
    Close,
}

type Decide = dyn Fn(&Asked) -> Course + Send + Sync;

impl Http2Server {
    /// Starts one.
    ///
    /// # Panics
    /// When there is no free port.
    #[must_use]
    pub fn start(decide: impl Fn(&Asked) -> Course + Send + Sync + 'static) -> Self {
        let listener = runtime().block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let decide: Arc<Decide> = Arc::new(decide);
        runtime().spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, decide.clone()));
            }
        });
        Self { address }
    }

    /// Base URL without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn serve(stream: TcpStream, decide: Arc<Decide>) {
    let _ = stream.set_nodelay(true);
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    let (ask, mut asked) = mpsc::channel(1);
    loop {
        tokio::select! {
            request = connection.accept() => match request {
                Some(Ok((request, respond))) => drop(tokio::spawn(answer(request, respond, decide.clone(), ask.clone()))),
                _ => return,
            },
            Some(what) = asked.recv() => match what {
                Ask::GoAway(reason) => return go_away(connection, reason).await,
                Ask::Close => return,
            }
        }
    }
}

async fn go_away(mut connection: Connection<TcpStream, Bytes>, reason: Reason) {
    connection.abrupt_shutdown(reason);
    let _ = std::future::poll_fn(|context| connection.poll_closed(context)).await;
}

async fn answer(request: Request<h2::RecvStream>, mut respond: SendResponse<Bytes>, decide: Arc<Decide>, ask: mpsc::Sender<Ask>) {
    let Some(asked) = read(request).await else { return };
    let (status, kind, body, end) = match decide(&asked) {
        Course::Refused => return respond.send_reset(Reason::REFUSED_STREAM),
        Course::GoneAway(reason) => return drop(ask.send(Ask::GoAway(reason)).await),
        Course::Answered(status, kind, body, end) => (status, kind, body, end),
    };
    let mut head = Response::builder().status(status);
    if let Some(kind) = kind {
        head = head.header("content-type", kind);
    }
    let whole = body.is_empty() && end == End::Stream;
    let Ok(mut stream) = respond.send_response(head.body(()).expect("a sound head"), whole) else { return };
    if whole || stream.send_data(Bytes::from(body), end == End::Stream).is_err() || end == End::Stream {
        return;
    }
    finish(&mut stream, end, &ask).await;
}

async fn finish(stream: &mut SendStream<Bytes>, end: End, ask: &mpsc::Sender<Ask>) {
    tokio::time::sleep(ARRIVES).await;
    match end {
        End::Stream => {}
        End::Later => drop(stream.send_data(Bytes::new(), true)),
        End::Reset => stream.send_reset(Reason::INTERNAL_ERROR),
        End::GoneAway => drop(ask.send(Ask::GoAway(Reason::INTERNAL_ERROR)).await),
        End::Closed => drop(ask.send(Ask::Close).await),
        // Until the client gives the stream up.
        End::Hang => drop(std::future::poll_fn(|context| stream.poll_reset(context)).await),
    }
}

async fn read(request: Request<h2::RecvStream>) -> Option<Asked> {
    let (parts, mut incoming) = request.into_parts();
    let mut body = Vec::new();
    while let Some(piece) = incoming.data().await {
        let piece = piece.ok()?;
        let _ = incoming.flow_control().release_capacity(piece.len());
        body.extend_from_slice(&piece);
    }
    let target = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    Some(Asked { method: parts.method.to_string(), target, headers: Vec::new(), body })
}
