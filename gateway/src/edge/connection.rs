//! A client's connection: it can hold an answer back (`held.rs`), keep a silent client in touch, and stop waiting in time.

mod forward;
mod held;

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use pingora::protocols::{Shutdown, SocketDigest, Stream};
use pingora::proxy::Session;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::Instant;

use super::deadline::{Alarm, Due, Idle};
use super::progress::Progress;
use super::pulse::Pulse;
use crate::socket::Socket;
use held::Held;

/// The connection. Reads and everything else go straight through.
pub struct Connection {
    inner: Stream,
    /// Who the client is, where the wrapped connection does not know.
    client: Option<Arc<SocketDigest>>,
    /// The client's address, written once for all its requests.
    address: Option<Arc<str>>,
    /// How far the current request's head has come.
    progress: Arc<Progress>,
    held: Mutex<Held>,
    /// When waiting ends with an error.
    deadline: Due,
    /// Ends waiting with an error where neither the provider nor the client does anything.
    idle: Idle,
    /// When what is held leaves, whatever became of it.
    release: Due,
    pulse: Pulse,
    alarm: Alarm,
    /// How often something was written.
    writes: AtomicU64,
    /// What sends it to the client; `None` for a connection inside the process.
    socket: Option<Socket>,
    /// Whether the socket gathers, which it does from the first write on.
    gathers: bool,
    /// Whether something was written since the last flush.
    unsent: bool,
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
        let socket = Some(Socket::new(inner.id()));
        Self { socket, ..Self::of_client(inner, None) }
    }

    /// Wraps a connection inside the process that serves a client of another one.
    #[must_use]
    pub fn of_client(inner: Stream, client: Option<Arc<SocketDigest>>) -> Self {
        let digest = client.clone().or_else(|| inner.get_socket_digest());
        let address = digest.and_then(|digest| Some(digest.peer_addr()?.as_inet()?.ip().to_string().into()));
        Self {
            inner,
            client,
            address,
            progress: Arc::default(),
            held: Mutex::default(),
            deadline: Due::default(),
            idle: Idle::default(),
            release: Due::default(),
            pulse: Pulse::default(),
            alarm: Alarm::default(),
            writes: AtomicU64::new(0),
            socket: None,
            gathers: false,
            unsent: false,
        }
    }

    /// The connection a session runs over; `None` only while the session is being re-seated.
    #[must_use]
    pub fn of(session: &Session) -> Option<&Self> {
        Self::behind(session.stream()?)
    }

    fn behind(stream: &Stream) -> Option<&Self> {
        stream.as_any().downcast_ref()
    }

    /// The client's address, without port.
    #[must_use]
    pub fn address(&self) -> Option<Arc<str>> {
        self.address.clone()
    }

    /// How far the head of the current request has come.
    pub(super) const fn progress(&self) -> &Arc<Progress> {
        &self.progress
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

    /// Sends `words`, as a chunk, whenever nothing was sent for `every`, until [`Connection::be_silent`].
    pub fn keep_alive(&self, every: Duration, words: &'static str) {
        self.pulse.start(every, words);
    }

    /// Sends nothing of its own from now on.
    pub fn be_silent(&self) {
        self.pulse.stop();
    }

    /// Holds what is written from now on until the last chunk.
    pub fn hold(&self) {
        self.held.lock().hold();
    }

    /// Holds what is written from now on, at the longest until `at`.
    pub fn hold_until(&self, at: Instant) {
        self.hold();
        self.release.set(Some(at));
    }

    /// How often Pingora has written something here: it hands several pieces of an answer to the filters before it writes them together.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    fn written(&mut self) {
        *self.writes.get_mut() += 1;
        self.pulse.written();
        self.idle.moves();
    }

    /// Whether an answer is held, so that another can take its place.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held.lock().is_held()
    }

    /// Lets what is held, and what follows, leave.
    pub fn release(&self) {
        self.release.set(None);
        self.held.lock().release();
    }

    /// Puts another answer in place of the one that is held. `false` when none is, or a part of it has left.
    #[must_use]
    pub fn replace(&self, answer: Vec<u8>) -> bool {
        self.held.lock().replace(answer)
    }

    /// Puts another head, status line and headers without the blank line, in place of the held one, whether that was written
    /// already or is about to be. The body follows as before. `false` when nothing is held.
    #[must_use]
    pub fn replace_head(&self, head: Vec<u8>) -> bool {
        self.held.lock().replace_head(head)
    }

    /// Drops a head that waits to take the place of one that was not written yet: another answer comes.
    pub fn forget_head(&self) {
        self.held.lock().forget_head();
    }

    /// Lets the socket gather what is written until it is flushed.
    fn gather(&mut self) {
        self.unsent = true;
        if !std::mem::replace(&mut self.gathers, true)
            && let Some(socket) = self.socket
        {
            socket.gather();
        }
    }

    /// Flushes what was written, to leave with what this thread writes elsewhere.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.inner).poll_flush(cx))?;
        if std::mem::take(&mut self.unsent)
            && let Some(socket) = self.socket
        {
            socket.send_soon_and_gather();
        }
        Poll::Ready(Ok(()))
    }

    /// Writes what waits and is no longer held.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.held.get_mut().left().is_empty() {
            self.gather();
        }
        let held = self.held.get_mut();
        while !held.left().is_empty() {
            let count = ready!(Pin::new(&mut self.inner).poll_write(cx, held.left()))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            held.left_behind(count);
        }
        held.clear();
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
                    let _ = self.poll_send(cx);
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
        if self.held.get_mut().slip_in(beat) && self.poll_drain(cx).is_ready() {
            let _ = self.poll_send(cx);
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if let Poll::Ready(read) = Pin::new(&mut self.inner).poll_read(cx, buffer) {
            self.progress.arrived();
            return Poll::Ready(read);
        }
        self.poll_times(cx).map(Err)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.written();
        if let Some(count) = self.held.get_mut().keep(std::iter::once(bytes)) {
            return Poll::Ready(Ok(count));
        }
        ready!(self.poll_drain(cx))?;
        self.gather();
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, pieces: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.written();
        if let Some(count) = self.held.get_mut().keep(pieces.iter().map(|piece| &**piece)) {
            return Poll::Ready(Ok(count));
        }
        ready!(self.poll_drain(cx))?;
        self.gather();
        Pin::new(&mut self.inner).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.held.get_mut().is_held() {
            return Poll::Ready(Ok(()));
        }
        ready!(self.poll_drain(cx))?;
        ready!(self.poll_send(cx))?;
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

#[cfg(test)]
mod tests {
    use super::held::{LAST_CHUNK, MOST};
    use super::*;
    use crate::socket::testing;
    use pingora::protocols::IO;
    use pingora::protocols::l4::stream::Stream as Layer4;
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
        Connection::behind(&near).expect("wrapped").hold();
        for part in [&b"head\r\n\r\n"[..], b"4\r\nbody\r\n", LAST_CHUNK] {
            near.write_all(part).await.expect("kept");
            near.flush().await.expect("nothing to do");
        }
        assert_eq!(received(&mut far).await, b"head\r\n\r\n4\r\nbody\r\n0\r\n\r\n");
        near.write_all(b"next").await.expect("open");
        assert_eq!(received(&mut far).await, b"next", "the next answer is not held");
    }

    #[tokio::test]
    async fn what_is_written_and_flushed_leaves_when_the_round_ends() {
        let (near, mut far) = testing::pair().await;
        let mut near = Connection::new(Box::new(Layer4::from(near)));
        for length in [5, 5_000] {
            let text = "x".repeat(length);
            near.write_all(text.as_bytes()).await.expect("open");
            near.flush().await.expect("open");
            assert_eq!(testing::received(&mut far), "", "the round goes on");
            assert_eq!(testing::arrived(&mut far).await, text);
        }
    }

    #[tokio::test]
    async fn a_large_answer_is_not_kept() {
        let (mut near, mut far) = pair();
        Connection::behind(&near).expect("wrapped").hold();
        let large = vec![b'x'; MOST + 1];
        near.write_all(&large).await.expect("kept");
        near.flush().await.expect("open");
        assert_eq!(received(&mut far).await, large);
    }

    #[tokio::test]
    async fn a_held_answer_can_be_replaced_and_a_sent_one_cannot() {
        let (mut near, mut far) = pair();
        Connection::behind(&near).expect("wrapped").hold();
        near.write_all(b"half an ans").await.expect("kept");
        assert!(Connection::behind(&near).expect("wrapped").replace(b"an error".to_vec()));
        near.write_all(LAST_CHUNK).await.expect("dropped");
        near.flush().await.expect("open");
        assert_eq!(received(&mut far).await, b"an error");

        let (near, _far) = pair();
        assert!(!Connection::behind(&near).expect("wrapped").replace(Vec::new()), "nothing is held");
    }

    #[tokio::test]
    async fn a_head_is_replaced_though_its_answer_was_let_go_before_it_was_written() {
        let (mut near, mut far) = pair();
        let connection = Connection::behind(&near).expect("wrapped");
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
            Connection::behind(&near).expect("wrapped").hold();
            let replace =
                |near: &Stream| assert!(Connection::behind(near).expect("wrapped").replace_head(b"HTTP/1.1 429 Slow\r\na: b\r\n".to_vec()));
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
