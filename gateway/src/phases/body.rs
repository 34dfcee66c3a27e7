//! Reading the whole request body, within bounds, so that it can be replayed on every try.
//!
//! Pingora streams a body once. Its replay buffer keeps 64 KiB, so it is armed only for the last piece of the body; on every
//! try Pingora then hands that piece to the request body filter, which puts the whole body in its place. A chunked HTTP/1.1
//! body has no last piece that could be foreseen: past 64 KiB the session is re-seated over the same connection with a body
//! of one byte, which plays that role.

mod decode;
mod reseat;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::header;
use pingora::proxy::Session;
use svc_filters::verdict::{Code, Rejection};

use crate::conf::Conf;

/// Size of Pingora's replay buffer.
const REPLAY: u64 = 64 * 1024;

/// Memory that all request bodies share.
#[derive(Clone, Debug)]
pub struct BodyMemory {
    used: Arc<AtomicUsize>,
    limit: usize,
}

/// A share of that memory, given back when dropped.
#[derive(Debug)]
pub struct Reserved {
    used: Arc<AtomicUsize>,
    bytes: usize,
}

impl BodyMemory {
    /// Memory of `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { used: Arc::default(), limit }
    }

    /// Takes a share for something that belongs to a body.
    ///
    /// # Errors
    /// When all of it is taken.
    pub fn hold(&self, bytes: usize) -> Result<Reserved, Rejection> {
        let mut reserved = self.reserve();
        self.grow(&mut reserved, bytes).map(|()| reserved)
    }

    fn reserve(&self) -> Reserved {
        Reserved { used: self.used.clone(), bytes: 0 }
    }

    fn grow(&self, reserved: &mut Reserved, bytes: usize) -> Result<(), Rejection> {
        if self.used.fetch_add(bytes, Ordering::Relaxed) + bytes > self.limit {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            let message = "The gateway holds as many request bodies as it can at present.";
            return Err(Rejection::new(Code::UpstreamUnavailable, message).with_retry_after(Duration::from_secs(1)));
        }
        reserved.bytes += bytes;
        Ok(())
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Bounds on one body.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    bytes: u64,
    idle: Duration,
    total: Duration,
    min_rate: u64,
}

/// A body that was read.
pub struct Received {
    /// The bytes, decompressed.
    pub bytes: Bytes,
    /// The memory they hold.
    pub memory: Reserved,
}

/// Reads the request's body.
///
/// # Errors
/// A rejection for the client: too large, too slow, or badly compressed.
pub async fn receive(session: &mut Session, conf: &Conf, memory: &BodyMemory) -> Result<Received, Rejection> {
    let limits = &conf.server.limits;
    let bounds = Bounds {
        bytes: conf.server.max_body.bytes(),
        idle: *limits.body_idle,
        total: *limits.body_total,
        min_rate: limits.min_upload_rate.bytes(),
    };
    let length = declared_length(session)?;
    if length.is_some_and(|length| length > bounds.bytes) {
        return Err(too_large(bounds.bytes));
    }
    if length == Some(0) || session.as_mut().is_body_empty() {
        return Ok(Received { bytes: Bytes::new(), memory: memory.reserve() });
    }
    let encoding = decode::Encoding::of(session.req_header())?;
    invite(session).await?;
    session.set_read_timeout(Some(bounds.idle));
    let mut reserved = memory.reserve();
    let raw = read(session, bounds, length, memory, &mut reserved).await?;
    if session.as_ref().retry_buffer_truncated() {
        reseat::reseat(session).await.map_err(|failure| failure.into_rejection())?;
    }
    let bytes = match encoding {
        None => raw,
        Some(encoding) => {
            let decoded = encoding.decode(&raw, bounds.bytes)?;
            memory.grow(&mut reserved, decoded.len())?;
            decoded
        }
    };
    Ok(Received { bytes, memory: reserved })
}

/// Lets go of the buffers a request was read into, before its answer streams for long. The body must have been received.
///
/// # Errors
/// A rejection when the session could not be replaced.
pub async fn slim(session: &mut Session) -> Result<(), Rejection> {
    reseat::slim(session).await.map(drop).map_err(reseat::Failure::into_rejection)
}

fn declared_length(session: &Session) -> Result<Option<u64>, Rejection> {
    let Some(value) = session.get_header(header::CONTENT_LENGTH) else { return Ok(None) };
    let length = value.to_str().ok().and_then(|text| text.parse().ok());
    length.map(Some).ok_or_else(|| Rejection::invalid("The Content-Length header is not a number."))
}

/// Answers `Expect: 100-continue`, now that the request is welcome.
async fn invite(session: &mut Session) -> Result<(), Rejection> {
    let expects = session.get_header(header::EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    if expects {
        session.as_mut().write_continue_response().await.map_err(|_| interrupted())?;
    }
    Ok(())
}

async fn read(
    session: &mut Session,
    bounds: Bounds,
    length: Option<u64>,
    memory: &BodyMemory,
    reserved: &mut Reserved,
) -> Result<Bytes, Rejection> {
    let mut waiting_since = None;
    let mut armed = arm(session, length.map_or(0, |length| length));
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    let mut received: u64 = 0;
    while let Some(piece) = next(session, &mut waiting_since, bounds).await? {
        received += piece.len() as u64;
        if received > bounds.bytes {
            return Err(too_large(bounds.bytes));
        }
        too_slow(waiting_since, received, bounds)?;
        memory.grow(reserved, piece.len())?;
        if first.is_empty() && whole.is_empty() {
            first = piece;
        } else {
            if whole.is_empty() {
                whole.reserve(usize::try_from(length.unwrap_or(0)).unwrap_or(0).max(first.len() + piece.len()));
                whole.extend_from_slice(&first);
                first = Bytes::new();
            }
            whole.extend_from_slice(&piece);
        }
        if !armed {
            armed = arm(session, length.unwrap_or(0).saturating_sub(received));
        }
        if session.as_mut().is_body_done() {
            break;
        }
    }
    if !whole.is_empty() {
        return Ok(whole.freeze());
    }
    Ok(first)
}

/// Arms the replay buffer once what is still to come fits it.
fn arm(session: &mut Session, to_come: u64) -> bool {
    let fits = to_come <= REPLAY;
    if fits {
        session.as_mut().enable_retry_buffering();
    }
    fits
}

/// The next piece. What has arrived already, which is all of a small body, is taken without a look at the clock.
async fn next(session: &mut Session, waiting_since: &mut Option<Instant>, bounds: Bounds) -> Result<Option<Bytes>, Rejection> {
    let mut reading = pin!(session.as_mut().read_request_body());
    let arrived = poll_fn(|cx| match reading.as_mut().poll(cx) {
        Poll::Ready(piece) => Poll::Ready(Some(piece)),
        Poll::Pending => Poll::Ready(None),
    });
    if let Some(piece) = arrived.await {
        return piece.map_err(|_| interrupted());
    }
    let left = bounds.total.saturating_sub(waiting_since.get_or_insert_with(Instant::now).elapsed());
    match pingora_timeout::fast_timeout::fast_timeout(left.min(bounds.idle), reading).await {
        Ok(piece) => piece.map_err(|_| interrupted()),
        Err(_) => Err(Rejection::invalid("The request body did not arrive in time.").with_status(408)),
    }
}

/// Refuses a body that trickles, once it had ten seconds to show a better rate.
fn too_slow(waiting_since: Option<Instant>, received: u64, bounds: Bounds) -> Result<(), Rejection> {
    let seconds = waiting_since.map_or(0, |since| since.elapsed().as_secs());
    if seconds > 10 && received / seconds < bounds.min_rate {
        return Err(Rejection::invalid("The request body arrives too slowly.").with_status(408));
    }
    Ok(())
}

fn too_large(limit: u64) -> Rejection {
    Rejection::invalid(format!("The request body is larger than the limit of {limit} bytes.")).with_status(413)
}

fn interrupted() -> Rejection {
    Rejection::invalid("The request body ended before it was complete.")
}
