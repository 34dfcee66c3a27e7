//! Re-seating a session: one whose body is larger than what Pingora keeps of it, and one whose answer will stream for long.

use std::time::Duration;

use bytes::BytesMut;
use http::{HeaderValue, header};
use pingora::http::RequestHeader;
use pingora::protocols::Stream;
use pingora::proxy::Session;
use pingora::{ErrorType, OrErr};
use pingora_core::protocols::http::ServerSession;
use pingora_core::protocols::http::server::ReusableHttpStream;
use pingora_core::protocols::http::v1::server::HttpSession;
use svc_filters::verdict::{Code, Rejection};

/// What takes the place of the client's body, whose bytes are kept elsewhere: one byte that Pingora replays on every try.
#[derive(Clone, Copy, Debug)]
enum Stand {
    /// The byte, and all of it read.
    Read,
    /// The byte; the end is still to be read, from memory, so that the request body filter is asked twice and can send two pieces.
    EndUnread,
    /// The byte, and so many bytes of the client's body that are still to come.
    Unread(u64),
}

impl Stand {
    /// A request with such a body, or what begins it.
    const fn request(self) -> &'static [u8] {
        match self {
            Self::Read | Self::Unread(_) => b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\n\r\n0",
            Self::EndUnread => b"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n1\r\n0\r\n0\r\n\r\n",
        }
    }

    fn frame(self, head: &mut RequestHeader) -> pingora::Result<()> {
        head.remove_header(&header::TRANSFER_ENCODING);
        head.remove_header(&header::CONTENT_LENGTH);
        match self {
            Self::Read => head.insert_header(header::CONTENT_LENGTH, 1),
            Self::EndUnread => head.insert_header(header::TRANSFER_ENCODING, "chunked"),
            Self::Unread(bytes) => head.insert_header(header::CONTENT_LENGTH, 1 + bytes),
        }
    }
}

/// Marks the head of a request whose body was read, whatever Pingora is still to read of what took its place.
#[derive(Clone, Copy)]
struct Received;

/// Whether all of the client's body was read. What took its place is then read to its end.
pub(super) async fn finish(session: &mut Session) -> bool {
    let received = session.req_header().extensions.get::<Received>().is_some();
    if received && !session.as_mut().is_body_done() {
        // From memory; an error shows in what is returned.
        let _ = session.as_mut().read_request_body().await;
    }
    session.as_mut().is_body_done()
}

/// Why a session cannot be re-seated.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection does not go on, or is none that could.
    Ended,
    /// Pingora refused a step.
    Internal(Box<pingora::Error>),
}

impl Failure {
    pub(super) fn into_rejection(self) -> Rejection {
        match self {
            Self::Ended => Rejection::new(Code::UpstreamUnavailable, "The gateway failed to process this request.").with_status(500),
            Self::Internal(error) => {
                log::error!("a request could not be prepared for its provider: {error}");
                Rejection::new(Code::UpstreamUnavailable, "The gateway failed to process this request.").with_status(500)
            }
        }
    }
}

impl From<Box<pingora::Error>> for Failure {
    fn from(error: Box<pingora::Error>) -> Self {
        Self::Internal(error)
    }
}

/// Puts a fresh HTTP/1.1 session over the same connection, with the same head, for one that will keep its request for long: lets go of
/// the buffers its head and body were read into. `false` where that is not possible, or was done already, and nothing has changed.
pub(super) async fn slim(session: &mut Session) -> Result<bool, Failure> {
    let goes_on = session.as_ref().as_http1().is_some_and(|http1| http1.will_keepalive() && !http1.is_upgrade_req());
    if !goes_on || !session.as_mut().is_body_done() {
        return Ok(false);
    }
    let head = copied(session.req_header())?;
    let mut old = take(session)?;
    let kept = Kept::of(&old);
    // What the client has sent beyond its body stays with the connection.
    old.set_pipelining_enabled(true);
    let Some((stream, beyond)) = old.reuse().await?.map(ReusableHttpStream::into_parts) else { return Err(Failure::Ended) };
    Unseated { stream, head, kept }.seat(session, Stand::Read, &beyond.unwrap_or_default()).await?;
    Ok(true)
}

/// A connection whose session was taken away, so that what follows on it can be read past Pingora.
pub(super) struct Unseated {
    pub(super) stream: Stream,
    head: RequestHeader,
    kept: Kept,
}

impl Unseated {
    /// Takes the session's connection. None of the body's bytes may lie in Pingora's buffers.
    pub(super) fn from(session: &mut Session) -> Result<Self, Failure> {
        let head = copied(session.req_header())?;
        let old = take(session)?;
        let kept = Kept::of(&old);
        Ok(Self { stream: old.into_inner(), head, kept })
    }

    /// Puts a fresh HTTP/1.1 session over the connection, with the same head; `unread` bytes of the client's body are still to come. Where there
    /// are none the request body filter is asked twice for the body, the first time not for its end.
    pub(super) async fn seat_after(self, session: &mut Session, unread: u64) -> Result<(), Failure> {
        let stand = if unread == 0 { Stand::EndUnread } else { Stand::Unread(unread) };
        self.seat(session, stand, &[]).await
    }

    /// `beyond` are bytes that the client sent after its request.
    async fn seat(mut self, session: &mut Session, stand: Stand, beyond: &[u8]) -> Result<(), Failure> {
        let mut fresh = HttpSession::new(self.stream);
        fresh.set_pipelined_prefix(BytesMut::from_iter(stand.request().iter().chain(beyond)));
        fresh.read_request().await?;

        stand.frame(&mut self.head)?;
        if !matches!(stand, Stand::Unread(_)) {
            self.head.extensions_mut().insert(Received);
        }
        *fresh.req_header_mut() = self.head;
        fresh.set_read_timeout(self.kept.read_timeout);
        fresh.set_write_timeout(self.kept.write_timeout);
        *session.as_downstream_mut() = ServerSession::H1(fresh);
        session.as_mut().enable_retry_buffering();
        session.as_mut().read_request_body().await?;
        session.set_keepalive(self.kept.keepalive);
        session.set_keepalive_reuses_remaining(self.kept.reuses);
        Ok(())
    }
}

/// What a session knows beside its request.
struct Kept {
    keepalive: Option<u64>,
    reuses: Option<u32>,
    read_timeout: Option<Duration>,
    write_timeout: Option<Duration>,
}

impl Kept {
    fn of(session: &HttpSession) -> Self {
        Self {
            keepalive: session.get_keepalive_timeout(),
            reuses: session.get_keepalive_reuses_remaining(),
            read_timeout: session.get_read_timeout(),
            write_timeout: session.get_write_timeout(),
        }
    }
}

/// Takes the session out; it is one of HTTP/1.1, since no other gets past the edge.
fn take(session: &mut Session) -> Result<HttpSession, Failure> {
    let (placeholder, _) = tokio::io::duplex(1);
    let empty = ServerSession::H1(HttpSession::new(Box::new(placeholder)));
    match std::mem::replace(session.as_downstream_mut(), empty) {
        ServerSession::H1(old) => Ok(old),
        _ => Err(Failure::Ended),
    }
}

/// The head with values of its own: those that were read point into the buffer they were read into.
fn copied(head: &RequestHeader) -> Result<RequestHeader, Failure> {
    let mut copy = RequestHeader::build_no_case(head.method.clone(), head.raw_path(), Some(head.headers.len() + 1))?;
    copy.set_version(head.version);
    for (name, value) in &head.headers {
        let own = HeaderValue::from_bytes(value.as_bytes()).or_err(ErrorType::InternalError, "a header that was read")?;
        copy.append_header(name.clone(), own)?;
    }
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    async fn received(request: &[u8]) -> (Session, tokio::io::DuplexStream) {
        let (near, mut far) = tokio::io::duplex(4096);
        far.write_all(request).await.expect("open");
        let mut session = Session::new_h1(Box::new(near));
        session.as_downstream_mut().read_request().await.expect("a request");
        session.set_keepalive(Some(60));
        session.set_write_timeout(Some(Duration::from_secs(7)));
        while session.as_mut().read_request_body().await.expect("a body").is_some() {}
        (session, far)
    }

    #[tokio::test]
    async fn a_slim_session_has_the_same_head_and_a_body_to_replay() {
        let (mut session, _far) = received(b"POST /v1/x?y HTTP/1.1\r\nHost: h\r\nX-Own: 1\r\ncontent-length: 4\r\n\r\nbody").await;
        assert!(slim(&mut session).await.expect("replaced"));
        let head = session.req_header();
        assert_eq!((head.method.as_str(), head.raw_path()), ("POST", &b"/v1/x?y"[..]));
        assert_eq!(head.headers.get("x-own").map(HeaderValue::as_bytes), Some(&b"1"[..]));
        assert!(session.as_mut().is_body_done());
        assert_eq!(session.as_ref().get_retry_buffer().as_deref(), Some(&b"0"[..]));
        assert_eq!((session.get_keepalive(), session.get_write_timeout()), (Some(60), Some(Duration::from_secs(7))));
    }

    #[tokio::test]
    async fn a_session_seated_after_its_body_hands_it_on_in_two_pieces_and_goes_on() {
        let (mut session, mut far) = received(b"POST /v1/x HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\n\r\nbody").await;
        Unseated::from(&mut session).expect("taken").seat_after(&mut session, 0).await.expect("seated");
        assert!(!session.as_mut().is_body_done());
        assert_eq!(session.as_ref().get_retry_buffer().as_deref(), Some(&b"0"[..]));
        assert!(finish(&mut session).await, "the end is in memory");
        assert_eq!(session.as_ref().get_retry_buffer().as_deref(), Some(&b"0"[..]), "another try gets all of it at once");

        far.write_all(b"GET /next HTTP/1.1\r\nhost: h\r\n\r\n").await.expect("open");
        let http1 = take(&mut session).expect("HTTP/1.1");
        let (stream, beyond) = http1.reuse().await.expect("nothing to read").expect("goes on").into_parts();
        assert_eq!(beyond, None);
        let mut next = Session::new_h1(stream);
        next.as_downstream_mut().read_request().await.expect("the next request");
        assert_eq!(next.req_header().raw_path(), b"/next");
    }

    #[tokio::test]
    async fn a_session_seated_before_the_end_of_its_body_knows_what_is_to_come() {
        let (mut session, mut far) = received(b"POST /v1/x HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\n\r\nbody").await;
        Unseated::from(&mut session).expect("taken").seat_after(&mut session, 3).await.expect("seated");
        assert!(!finish(&mut session).await);
        far.write_all(b"endGET").await.expect("open");
        assert_eq!(session.as_mut().read_request_body().await.expect("open").as_deref(), Some(&b"end"[..]));
        assert!(finish(&mut session).await);
    }

    #[tokio::test]
    async fn a_connection_with_bytes_beyond_the_body_is_as_little_used_again_as_before() {
        let (mut session, _far) = received(b"POST /v1/x HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\n\r\nbodyGET / HTTP/1.1\r\n").await;
        assert!(slim(&mut session).await.expect("replaced"));
        let http1 = take(&mut session).expect("HTTP/1.1");
        assert!(http1.reuse().await.expect("nothing to read").is_none());
    }

    #[tokio::test]
    async fn a_connection_that_ends_with_its_request_stays_as_it_is() {
        let (mut session, _far) = received(b"POST /v1/x HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: 1\r\n\r\nb").await;
        session.set_keepalive(None);
        assert!(!slim(&mut session).await.expect("nothing happens"));
        assert!(session.get_header("connection").is_some());
    }
}
