//! Reading the whole request body, within bounds, so that it can be replayed on every try.
//!
//! Pingora streams a body once, and keeps up to 64 KiB of it for another try; what it kept it hands to the request body filter on
//! every try, which puts the whole body in its place. After a larger body Pingora has a session re-seated over the same connection, whose
//! body is one byte that plays that role; where its length is known, it is read from the connection in between.
//!
//! Re-seating is boxed, since a session on the way is large and every stream would keep room for it.

mod decode;
mod reseat;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::{BufMut, Bytes, BytesMut};
use http::header;
use pingora::protocols::Stream;
use pingora::proxy::Session;
use svc_filters::verdict::{Code, Rejection};
use tokio::io::AsyncReadExt;

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
    let mut intake = Intake { bounds, memory, reserved: memory.reserve(), received: 0, waiting_since: None };
    let raw = read(session, &mut intake, length).await?;
    let mut reserved = intake.reserved;
    if session.as_ref().retry_buffer_truncated() {
        let unseated = reseat::Unseated::from(session).map_err(reseat::Failure::into_rejection)?;
        Box::pin(unseated.seat_after(session, 0)).await.map_err(reseat::Failure::into_rejection)?;
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
    Box::pin(reseat::slim(session)).await.map(drop).map_err(reseat::Failure::into_rejection)
}

/// Ends reading the body, before an answer that does not need it. `false` where the client still has to send of it.
pub async fn finish(session: &mut Session) -> bool {
    reseat::finish(session).await
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

/// Reads the raw body. What is still to come of a large one after its first piece is read past Pingora.
async fn read(session: &mut Session, intake: &mut Intake<'_>, length: Option<u64>) -> Result<Bytes, Rejection> {
    let large = length.filter(|length| *length > REPLAY);
    if large.is_none() {
        session.as_mut().enable_retry_buffering();
    }
    let Some(first) = intake.next(session).await? else { return Ok(Bytes::new()) };
    if large.is_none() && session.as_mut().is_body_done() {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(length.and_then(|length| usize::try_from(length).ok()).unwrap_or(2 * first.len()));
    whole.extend_from_slice(&first);
    if let Some(length) = large {
        let left = length.saturating_sub(intake.received);
        Box::pin(fill(session, intake, &mut whole, left)).await?;
        return Ok(whole.freeze());
    }
    while let Some(piece) = intake.next(session).await? {
        whole.extend_from_slice(&piece);
        if session.as_mut().is_body_done() {
            break;
        }
    }
    Ok(whole.freeze())
}

/// Reads the `left` bytes that complete `whole` from the connection itself; Pingora would copy them twice.
async fn fill(session: &mut Session, intake: &mut Intake<'_>, whole: &mut BytesMut, mut left: u64) -> Result<(), Rejection> {
    let mut unseated = reseat::Unseated::from(session).map_err(reseat::Failure::into_rejection)?;
    let outcome = loop {
        let Some(room) = usize::try_from(left).ok().filter(|room| *room > 0) else { break Ok(()) };
        match intake.more(&mut unseated.stream, whole, room).await {
            Ok(count) => left -= count as u64,
            Err(rejection) => break Err(rejection),
        }
    };
    unseated.seat_after(session, left).await.map_err(reseat::Failure::into_rejection)?;
    outcome
}

/// How far reading a body has come, and its bounds.
struct Intake<'a> {
    bounds: Bounds,
    memory: &'a BodyMemory,
    reserved: Reserved,
    received: u64,
    waiting_since: Option<Instant>,
}

impl Intake<'_> {
    /// The next piece from Pingora.
    async fn next(&mut self, session: &mut Session) -> Result<Option<Bytes>, Rejection> {
        let piece = self.within_time(session.as_mut().read_request_body()).await?.map_err(|_| interrupted())?;
        self.count(piece.as_ref().map_or(0, Bytes::len))?;
        Ok(piece)
    }

    /// Reads at least one and at most `room` bytes more from the connection.
    async fn more(&mut self, stream: &mut Stream, whole: &mut BytesMut, room: usize) -> Result<usize, Rejection> {
        let count = self.within_time(stream.read_buf(&mut whole.limit(room))).await?.ok().filter(|count| *count > 0);
        let count = count.ok_or_else(interrupted)?;
        self.count(count)?;
        Ok(count)
    }

    /// What `reading` comes to. What has arrived already, which is all of a small body, is taken without a look at the clock.
    async fn within_time<T>(&mut self, reading: impl Future<Output = T>) -> Result<T, Rejection> {
        let mut reading = pin!(reading);
        let arrived = poll_fn(|cx| match reading.as_mut().poll(cx) {
            Poll::Ready(read) => Poll::Ready(Some(read)),
            Poll::Pending => Poll::Ready(None),
        });
        if let Some(read) = arrived.await {
            return Ok(read);
        }
        let left = self.bounds.total.saturating_sub(self.waiting_since.get_or_insert_with(Instant::now).elapsed());
        let late = |_| Rejection::invalid("The request body did not arrive in time.").with_status(408);
        pingora_timeout::fast_timeout::fast_timeout(left.min(self.bounds.idle), reading).await.map_err(late)
    }

    /// Counts `bytes` that were read. A body that trickles is refused once it had ten seconds to show a better rate.
    fn count(&mut self, bytes: usize) -> Result<(), Rejection> {
        self.received += bytes as u64;
        if self.received > self.bounds.bytes {
            return Err(too_large(self.bounds.bytes));
        }
        let seconds = self.waiting_since.map_or(0, |since| since.elapsed().as_secs());
        if seconds > 10 && self.received / seconds < self.bounds.min_rate {
            return Err(Rejection::invalid("The request body arrives too slowly.").with_status(408));
        }
        self.memory.grow(&mut self.reserved, bytes)
    }
}

fn too_large(limit: u64) -> Rejection {
    Rejection::invalid(format!("The request body is larger than the limit of {limit} bytes.")).with_status(413)
}

fn interrupted() -> Rejection {
    Rejection::invalid("The request body ended before it was complete.")
}
