//! A client's connection: it can hold an answer back until it is whole, and stop waiting at a deadline.
//!
//! Pingora flushes the head of an answer without a length, then its body, then the last chunk: three sends. An answer that is
//! not a stream gains nothing from leaving in pieces, so its exchange asks the connection to hold it; it leaves in one send
//! with its last chunk. As long as it is held it can still be replaced, so an answer that breaks off becomes a clean error.
//! Nothing is buffered for anybody else.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;
use pingora::protocols::{
    ALPN, GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl, Stream, TimingDigest, UniqueID, UniqueIDType,
};
use pingora_core::protocols::raw_connect::ProxyDigest;
use pingora_core::protocols::tls::{SslDigest, TlsRef};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::Instant;

use super::deadline::{Alarm, Due, Idle};
use super::pulse::Pulse;

/// The most that is held; what is larger leaves as it comes.
const MOST: usize = 64 * 1024;
/// What ends a chunked body.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// What ends a head.
const HEAD_END: &[u8] = b"\r\n\r\n";
/// Headers that Pingora decides by the body and the connection, and not by the answer.
const FRAMING: [&[u8]; 4] = [b"date", b"connection", b"keep-alive", b"transfer-encoding"];

/// What happens to written bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// They leave at once.
    #[default]
    Through,
    /// They wait for the last chunk.
    Held,
    /// They are dropped: another answer took their place.
    Replaced,
}

#[derive(Default)]
struct State {
    mode: Mode,
    waiting: Vec<u8>,
    sent: usize,
    /// Takes the place of the held head as soon as that is complete.
    head: Option<Vec<u8>>,
}

impl State {
    fn left(&self) -> &[u8] {
        self.waiting.get(self.sent..).unwrap_or_default()
    }

    /// Puts the new head in place of the held one, once there is one. How the body is framed, and what becomes of the
    /// connection, stays as the old one said.
    fn swap_head(&mut self) {
        if self.head.is_none() {
            return;
        }
        let Some(end) = memchr::memmem::find(&self.waiting, HEAD_END).map(|at| at + HEAD_END.len()) else { return };
        let Some(mut head) = self.head.take() else { return };
        let (old, body) = self.waiting.split_at_checked(end).unwrap_or_default();
        for line in old.split_inclusive(|byte| *byte == b'\n') {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            if FRAMING.iter().any(|kept| name.eq_ignore_ascii_case(kept)) {
                head.extend_from_slice(line);
            }
        }
        head.extend_from_slice(b"\r\n");
        head.extend_from_slice(body);
        self.waiting = head;
    }
}

/// The connection. Reads and everything else go straight through.
pub struct Connection {
    inner: Stream,
    /// Who the client is, where the wrapped connection does not know.
    client: Option<Arc<SocketDigest>>,
    state: Mutex<State>,
    /// When waiting ends with an error.
    deadline: Due,
    /// Ends waiting with an error where neither the provider nor the client does anything.
    idle: Idle,
    /// When what is held leaves, whatever became of it.
    release: Due,
    pulse: Pulse,
    alarm: Alarm,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Connection {
    /// Wraps a connection.
    #[must_use]
    pub fn new(inner: Stream) -> Self {
        Self::of_client(inner, None)
    }

    /// Wraps a connection inside the process that serves a client of another one.
    #[must_use]
    pub fn of_client(inner: Stream, client: Option<Arc<SocketDigest>>) -> Self {
        Self {
            inner,
            client,
            state: Mutex::default(),
            deadline: Due::default(),
            idle: Idle::default(),
            release: Due::default(),
            pulse: Pulse::default(),
            alarm: Alarm::default(),
        }
    }

    /// The wrapped connection behind a session's stream, where there is one.
    #[must_use]
    pub fn of(stream: &Stream) -> Option<&Self> {
        stream.as_any().downcast_ref()
    }

    /// Sets or clears the time at which a read of the client's side ends with an error.
    pub fn set_deadline(&self, at: Option<Instant>) {
        self.deadline.set(at);
    }

    /// Lets a read of the client's side end with an error once nothing was written for so long, and no news came either. Other than
    /// a time-out of each read from the provider it costs no timer each time, and a slow client is not held against the provider.
    pub fn watch(&self, within: Option<Duration>) {
        self.idle.watch(within);
    }

    /// The provider has sent something, whether or not anything comes of it for the client.
    pub fn news(&self) {
        self.idle.moves();
    }

    /// Whether a read ended because nothing happened for too long.
    #[must_use]
    pub fn was_idle(&self) -> bool {
        self.idle.has_struck()
    }

    /// Sends `beat` whenever nothing was sent for `every`, until [`Connection::be_silent`].
    pub fn keep_alive(&self, every: Duration, beat: Bytes) {
        self.pulse.start(every, beat);
    }

    /// Sends nothing of its own from now on.
    pub fn be_silent(&self) {
        self.pulse.stop();
    }

    /// Holds what is written from now on until the last chunk.
    pub fn hold(&self) {
        let mut state = self.state.lock();
        if state.mode == Mode::Through && state.waiting.is_empty() {
            state.mode = Mode::Held;
        }
    }

    /// Holds what is written from now on, at the longest until `at`.
    pub fn hold_until(&self, at: Instant) {
        self.hold();
        self.release.set(Some(at));
    }

    /// Whether an answer is held, so that another can take its place.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.state.lock().mode == Mode::Held
    }

    /// Lets what is held, and what follows, leave.
    pub fn release(&self) {
        self.release.set(None);
        let mut state = self.state.lock();
        if state.mode == Mode::Held {
            state.mode = Mode::Through;
        }
    }

    /// Puts another answer in place of the one that is held. `false` when none is, or a part of it has left.
    #[must_use]
    pub fn replace(&self, answer: Vec<u8>) -> bool {
        let mut state = self.state.lock();
        if state.mode != Mode::Held {
            return false;
        }
        *state = State { mode: Mode::Replaced, waiting: answer, sent: 0, head: None };
        true
    }

    /// Puts another head, status line and headers without the blank line, in place of the held one, whether that was written
    /// already or is about to be. The body follows as before. `false` when nothing is held.
    #[must_use]
    pub fn replace_head(&self, head: Vec<u8>) -> bool {
        let mut state = self.state.lock();
        if state.mode != Mode::Held {
            return false;
        }
        state.head = Some(head);
        state.swap_head();
        true
    }

    /// Drops a head that waits to take the place of one that was not written yet: another answer comes.
    pub fn forget_head(&self) {
        self.state.lock().head = None;
    }

    /// Sends what waits and is no longer held.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let state = self.state.get_mut();
        while !state.left().is_empty() {
            let count = ready!(Pin::new(&mut self.inner).poll_write(cx, state.left()))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            state.sent += count;
        }
        state.waiting = Vec::new();
        state.sent = 0;
        Poll::Ready(Ok(()))
    }

    /// Does what is due by now. Ready once waiting has taken too long, as a read error that no client caused and that the exchange
    /// tells apart by its own clock.
    #[inline]
    fn poll_times(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        while let Some(at) = [self.release.at(), self.pulse.due(), self.deadline.at(), self.idle.due()].into_iter().flatten().min() {
            let now = ready!(self.alarm.poll(at, cx));
            if self.release.strikes(now) {
                self.release();
                if self.poll_drain(cx).is_ready() {
                    let _ = Pin::new(&mut self.inner).poll_flush(cx);
                }
            }
            if let Some(beat) = self.pulse.beats(now) {
                self.beat(&beat, cx);
            }
            if self.deadline.strikes(now) || self.idle.strikes(now) {
                return Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, "the exchange took too long"));
            }
        }
        Poll::Pending
    }

    /// Sends a sign of life, unless something else waits or is held.
    fn beat(&mut self, beat: &[u8], cx: &mut Context<'_>) {
        let state = self.state.get_mut();
        if state.mode == Mode::Through && state.waiting.is_empty() && state.head.is_none() {
            state.waiting.extend_from_slice(beat);
            if self.poll_drain(cx).is_ready() {
                let _ = Pin::new(&mut self.inner).poll_flush(cx);
            }
        }
    }

    /// Keeps bytes that must wait; `None` where they may leave.
    fn keep<'a>(&mut self, pieces: impl Iterator<Item = &'a [u8]>) -> Option<usize> {
        let state = self.state.get_mut();
        // A head that is to be replaced may still be on its way when its answer is let go.
        if state.mode == Mode::Through && state.head.is_none() {
            return None;
        }
        let mut count = 0;
        for piece in pieces {
            count += piece.len();
            if state.mode != Mode::Replaced {
                state.waiting.extend_from_slice(piece);
            }
        }
        state.swap_head();
        if state.mode == Mode::Held && (state.waiting.len() > MOST || state.waiting.ends_with(LAST_CHUNK)) {
            state.mode = Mode::Through;
        }
        Some(count)
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if let Poll::Ready(read) = Pin::new(&mut self.inner).poll_read(cx, buffer) {
            return Poll::Ready(read);
        }
        self.poll_times(cx).map(Err)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.pulse.written();
        self.idle.moves();
        if let Some(count) = self.keep(std::iter::once(bytes)) {
            return Poll::Ready(Ok(count));
        }
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, pieces: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.pulse.written();
        self.idle.moves();
        if let Some(count) = self.keep(pieces.iter().map(|piece| &**piece)) {
            return Poll::Ready(Ok(count));
        }
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.inner).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.state.get_mut().mode == Mode::Held {
            return Poll::Ready(Ok(()));
        }
        ready!(self.poll_drain(cx))?;
        ready!(Pin::new(&mut self.inner).poll_flush(cx))?;
        self.pulse.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[async_trait]
impl Shutdown for Connection {
    async fn shutdown(&mut self) {
        let _ = AsyncWriteExt::flush(self).await;
        Shutdown::shutdown(&mut *self.inner).await;
    }
}

impl UniqueID for Connection {
    fn id(&self) -> UniqueIDType {
        self.inner.id()
    }
}

impl Ssl for Connection {
    fn get_ssl(&self) -> Option<&TlsRef> {
        self.inner.get_ssl()
    }

    fn get_ssl_digest(&self) -> Option<Arc<SslDigest>> {
        self.inner.get_ssl_digest()
    }

    fn selected_alpn_proto(&self) -> Option<ALPN> {
        self.inner.selected_alpn_proto()
    }
}

impl GetTimingDigest for Connection {
    fn get_timing_digest(&self) -> Vec<Option<TimingDigest>> {
        self.inner.get_timing_digest()
    }

    fn get_read_pending_time(&self) -> Duration {
        self.inner.get_read_pending_time()
    }

    fn get_write_pending_time(&self) -> Duration {
        self.inner.get_write_pending_time()
    }
}

impl GetProxyDigest for Connection {
    fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
        self.inner.get_proxy_digest()
    }

    fn set_proxy_digest(&mut self, digest: ProxyDigest) {
        self.inner.set_proxy_digest(digest);
    }
}

impl GetSocketDigest for Connection {
    fn get_socket_digest(&self) -> Option<Arc<SocketDigest>> {
        self.client.clone().or_else(|| self.inner.get_socket_digest())
    }

    fn set_socket_digest(&mut self, digest: SocketDigest) {
        self.inner.set_socket_digest(digest);
    }
}

#[async_trait]
impl Peek for Connection {
    async fn try_peek(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        self.inner.try_peek(buffer).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pingora::protocols::IO;
    use tokio::io::AsyncReadExt;

    fn pair() -> (Stream, tokio::io::DuplexStream) {
        let (near, far) = tokio::io::duplex(1 << 20);
        let wrapped: Box<dyn IO> = Box::new(Connection::new(Box::new(near)));
        (wrapped, far)
    }

    async fn received(far: &mut tokio::io::DuplexStream) -> Vec<u8> {
        let mut buffer = vec![0; 1 << 20];
        let count = far.read(&mut buffer).await.expect("open");
        buffer.truncate(count);
        buffer
    }

    #[tokio::test]
    async fn a_held_answer_leaves_in_one_piece_with_its_last_chunk() {
        let (mut near, mut far) = pair();
        Connection::of(&near).expect("wrapped").hold();
        for part in [&b"head\r\n\r\n"[..], b"4\r\nbody\r\n", LAST_CHUNK] {
            near.write_all(part).await.expect("kept");
            near.flush().await.expect("nothing to do");
        }
        assert_eq!(received(&mut far).await, b"head\r\n\r\n4\r\nbody\r\n0\r\n\r\n");
        near.write_all(b"next").await.expect("open");
        assert_eq!(received(&mut far).await, b"next", "the next answer is not held");
    }

    #[tokio::test]
    async fn a_large_answer_is_not_kept() {
        let (mut near, mut far) = pair();
        Connection::of(&near).expect("wrapped").hold();
        let large = vec![b'x'; MOST + 1];
        near.write_all(&large).await.expect("kept");
        near.flush().await.expect("open");
        assert_eq!(received(&mut far).await, large);
    }

    #[tokio::test]
    async fn a_held_answer_can_be_replaced_and_a_sent_one_cannot() {
        let (mut near, mut far) = pair();
        Connection::of(&near).expect("wrapped").hold();
        near.write_all(b"half an ans").await.expect("kept");
        assert!(Connection::of(&near).expect("wrapped").replace(b"an error".to_vec()));
        near.write_all(LAST_CHUNK).await.expect("dropped");
        near.flush().await.expect("open");
        assert_eq!(received(&mut far).await, b"an error");

        let (near, _far) = pair();
        assert!(!Connection::of(&near).expect("wrapped").replace(Vec::new()), "nothing is held");
    }

    #[tokio::test]
    async fn a_head_is_replaced_though_its_answer_was_let_go_before_it_was_written() {
        let (mut near, mut far) = pair();
        let connection = Connection::of(&near).expect("wrapped");
        connection.hold();
        assert!(connection.replace_head(b"HTTP/1.1 200 OK\r\na: b\r\n".to_vec()));
        connection.release();
        near.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await.expect("open");
        near.write_all(b"4\r\nbody\r\n").await.expect("open");
        near.flush().await.expect("open");
        let expected = "HTTP/1.1 200 OK\r\na: b\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n";
        assert_eq!(String::from_utf8(received(&mut far).await).expect("text"), expected);
    }

    #[tokio::test]
    async fn a_head_can_be_replaced_before_and_after_it_was_written() {
        for early in [true, false] {
            let (mut near, mut far) = pair();
            Connection::of(&near).expect("wrapped").hold();
            let replace =
                |near: &Stream| assert!(Connection::of(near).expect("wrapped").replace_head(b"HTTP/1.1 429 Slow\r\na: b\r\n".to_vec()));
            if early {
                replace(&near);
            }
            near.write_all(b"HTTP/1.1 200 OK\r\nx: y\r\nTransfer-Encoding: chunked\r\n\r\n").await.expect("kept");
            if !early {
                replace(&near);
            }
            near.write_all(b"4\r\nbody\r\n0\r\n\r\n").await.expect("kept");
            near.flush().await.expect("open");
            let expected = "HTTP/1.1 429 Slow\r\na: b\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n";
            assert_eq!(String::from_utf8(received(&mut far).await).expect("text"), expected);
        }
    }
}
