//! Re-seating a session whose chunked body outgrew Pingora's replay buffer.

use bytes::BytesMut;
use http::header;
use pingora::proxy::Session;
use pingora_core::protocols::http::ServerSession;
use pingora_core::protocols::http::v1::server::HttpSession;
use svc_filters::verdict::{Code, Rejection};

/// A request that leads to a body of exactly one byte, all of it read already.
const ONE_BYTE_REQUEST: &[u8] = b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\n\r\n0";

/// Why a session cannot be re-seated.
#[derive(Debug)]
pub(super) enum Failure {
    /// HTTP/2 frames cannot be put back.
    NeedsLength,
    /// Pingora refused a step.
    Internal(Box<pingora::Error>),
}

impl Failure {
    pub(super) fn into_rejection(self) -> Rejection {
        match self {
            Self::NeedsLength => Rejection::invalid("An HTTP/2 request body over 64 KiB needs a Content-Length header.").with_status(411),
            Self::Internal(error) => {
                log::error!("a chunked request could not be prepared for its provider: {error}");
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
    if session.as_ref().as_http1().is_none() {
        return Err(Failure::NeedsLength);
    }
    let mut head = session.req_header().clone();
    let keepalive = session.get_keepalive();
    let reuses = session.get_keepalive_reuses_remaining();
    let read_timeout = session.get_read_timeout();

    let (placeholder, _) = tokio::io::duplex(1);
    let empty = ServerSession::H1(HttpSession::new(Box::new(placeholder)));
    let ServerSession::H1(old) = std::mem::replace(session.as_downstream_mut(), empty) else { return Err(Failure::NeedsLength) };
    let mut fresh = HttpSession::new(old.into_inner());
    fresh.set_pipelined_prefix(BytesMut::from(ONE_BYTE_REQUEST));
    fresh.read_request().await?;

    head.remove_header(&header::TRANSFER_ENCODING);
    head.insert_header(header::CONTENT_LENGTH, 1)?;
    *fresh.req_header_mut() = head;
    fresh.set_read_timeout(read_timeout);
    *session.as_downstream_mut() = ServerSession::H1(fresh);
    session.as_mut().enable_retry_buffering();
    session.as_mut().read_request_body().await?;
    session.set_keepalive(keepalive);
    session.set_keepalive_reuses_remaining(reuses);
    Ok(())
}
