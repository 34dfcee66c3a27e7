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

/// A request that leads to a body of exactly one byte, all of it read already.
const ONE_BYTE_REQUEST: &[u8] = b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\n\r\n0";

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

/// Puts a fresh HTTP/1.1 session over the same connection, with the same head and a body of one byte that was already read.
pub(super) async fn reseat(session: &mut Session) -> Result<(), Failure> {
    Unseated::from(session)?.seat(session, 0).await
}

/// The same for a session that will keep its request for long: lets go of the buffers its head and body were read into. `false`
/// where that is not possible, and nothing has changed.
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
    let mut request = BytesMut::from(ONE_BYTE_REQUEST);
    request.extend_from_slice(&beyond.unwrap_or_default());
    seat(session, stream, request, head, kept, 0).await?;
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
        let head = session.req_header().clone();
        let old = take(session)?;
        let kept = Kept::of(&old);
        Ok(Self { stream: old.into_inner(), head, kept })
    }

    /// Puts a fresh session over the connection, as [`reseat`] does; `unread` bytes of the body are still to come.
    pub(super) async fn seat(self, session: &mut Session, unread: u64) -> Result<(), Failure> {
        seat(session, self.stream, BytesMut::from(ONE_BYTE_REQUEST), self.head, self.kept, unread).await
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

async fn seat(
    session: &mut Session,
    stream: Stream,
    request: BytesMut,
    mut head: RequestHeader,
    kept: Kept,
    unread: u64,
) -> Result<(), Failure> {
    let mut fresh = HttpSession::new(stream);
    fresh.set_pipelined_prefix(request);
    fresh.read_request().await?;

    head.remove_header(&header::TRANSFER_ENCODING);
    head.insert_header(header::CONTENT_LENGTH, 1 + unread)?;
    *fresh.req_header_mut() = head;
    fresh.set_read_timeout(kept.read_timeout);
    fresh.set_write_timeout(kept.write_timeout);
    *session.as_downstream_mut() = ServerSession::H1(fresh);
    session.as_mut().enable_retry_buffering();
    session.as_mut().read_request_body().await?;
    session.set_keepalive(kept.keepalive);
    session.set_keepalive_reuses_remaining(kept.reuses);
    Ok(())
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
