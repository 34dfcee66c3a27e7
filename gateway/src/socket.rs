//! TCP sockets whose writes leave together.
//!
//! To send wakes whoever waits at the other end, and that costs more than to write. So what is written while a thread has
//! other work that is ready stays with the kernel, and leaves at the end of the round, one send after the other.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// What has waited so long leaves with the next socket that sends, before the round ends: some rounds have much to do.
const LONGEST: Duration = Duration::from_millis(2);

/// A TCP socket that keeps small writes together.
#[derive(Clone, Copy, Debug)]
pub struct Socket(RawFd);

impl Socket {
    /// The socket behind a connection of Pingora's.
    #[must_use]
    pub const fn new(descriptor: RawFd) -> Self {
        Self(descriptor)
    }

    /// Holds what is written from now on until a packet is full, for 200 ms at the most.
    pub fn gather(self) {
        self.cork(true);
    }

    /// Lets what was gathered leave, together with what the task that runs now goes on to write, once this thread has done what it
    /// has to do now. What is written later leaves at once.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn send_soon(self) {
        self.at_the_end(After::Stops);
    }

    /// The same for a socket that is to go on gathering, which spares it being told each time.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn send_soon_and_gather(self) {
        self.at_the_end(After::Gathers);
    }

    fn at_the_end(self, after: After) {
        ROUND.with(|round| {
            let now = Instant::now();
            let mut due = Vec::new();
            let mut open = round.lock();
            let begins = open.sockets.is_empty();
            if !begins && now.duration_since(open.since) > LONGEST {
                due = std::mem::take(&mut open.sockets);
            }
            if open.sockets.is_empty() {
                open.since = now;
            }
            open.sockets.push((self, after));
            drop(open);
            if begins {
                // A runtime that ends drops the task at once, which ends the round.
                tokio::spawn(End(round.clone()).come());
            }
            send(due);
        });
    }

    fn send(self, after: After) {
        match after {
            After::Stops => self.cork(false),
            // To a socket that gathers this says only that it is to send what it has.
            After::Gathers => self.turn(libc::TCP_NODELAY, true),
        }
    }

    /// Sends without pace, to a peer on this host. A congestion control that paces, such as BBR, has no network to spare there, and its
    /// timers cost more than it takes to send a large body.
    pub fn send_unpaced(self) {
        self.set(libc::TCP_CONGESTION, b"reno");
    }

    fn cork(self, on: bool) {
        self.turn(libc::TCP_CORK, on);
    }

    fn turn(self, option: libc::c_int, on: bool) {
        self.set(option, &libc::c_int::from(on).to_ne_bytes());
    }

    #[expect(unsafe_code, reason = "std has no call for these options on a descriptor")]
    fn set(self, option: libc::c_int, value: &[u8]) {
        let length = libc::socklen_t::try_from(value.len()).unwrap_or_default();
        // SAFETY: the call reads `value` and writes nothing. A descriptor that was closed meanwhile is an error without effect; one
        // that was reused is a socket that sends what it has a little early.
        unsafe {
            libc::setsockopt(self.0, libc::IPPROTO_TCP, option, value.as_ptr().cast(), length);
        }
    }
}

/// What becomes of a socket that has sent.
#[derive(Clone, Copy, Debug)]
enum After {
    Gathers,
    Stops,
}

thread_local! {
    static ROUND: Arc<Mutex<Round>> = Arc::new(Mutex::new(Round { sockets: Vec::new(), since: Instant::now() }));
}

/// The sockets that wait for the end of a thread's round. While there are any, a task waits to send them.
struct Round {
    sockets: Vec<(Socket, After)>,
    since: Instant,
}

/// Ends a round when it is dropped: by the task that waits for it, or with the runtime that would have run that.
struct End(Arc<Mutex<Round>>);

impl End {
    /// Comes once the thread has run all that was ready and all that became ready meanwhile: a task that yields is woken after a look at
    /// what is ready now, and where that has led to nothing more to send, there is nothing left to wait for.
    async fn come(self) {
        let mut before = 0;
        loop {
            let waiting = self.0.lock().sockets.len();
            if waiting <= before {
                return;
            }
            before = waiting;
            tokio::task::yield_now().await;
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let sockets = std::mem::take(&mut self.0.lock().sockets);
        send(sockets);
    }
}

fn send(sockets: Vec<(Socket, After)>) {
    for (socket, after) in sockets {
        socket.send(after);
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::io::{ErrorKind, Read};
    use std::net::{TcpListener, TcpStream};

    /// A connection that is ready to write, and its other end, which reads what is there and does not wait.
    pub(crate) async fn pair() -> (tokio::net::TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
        let near = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        let (far, _) = listener.accept().expect("accepted");
        for stream in [&near, &far] {
            stream.set_nonblocking(true).expect("set");
        }
        near.set_nodelay(true).expect("set");
        let near = tokio::net::TcpStream::from_std(near).expect("registered");
        near.writable().await.expect("open");
        (near, far)
    }

    /// What has arrived by now.
    pub(crate) fn received(far: &mut TcpStream) -> String {
        let mut buffer = [0; 8192];
        match far.read(&mut buffer) {
            Ok(count) => String::from_utf8_lossy(&buffer[..count]).into_owned(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => String::new(),
            Err(error) => panic!("{error}"),
        }
    }

    /// Lets rounds pass until something has arrived.
    pub(crate) async fn arrived(far: &mut TcpStream) -> String {
        loop {
            match received(far) {
                nothing if nothing.is_empty() => tokio::task::yield_now().await,
                text => return text,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{arrived, pair, received};
    use super::*;
    use std::net::TcpStream;
    use std::os::fd::AsRawFd;

    use tokio::io::AsyncWriteExt;

    /// What arrives though no round ends, since this thread is blocked, and before the kernel itself lets go, which it does after 200 ms.
    fn received_at_once(far: &mut TcpStream) -> String {
        far.set_nonblocking(false).expect("set");
        far.set_read_timeout(Some(Duration::from_millis(100))).expect("set");
        received(far)
    }

    #[tokio::test]
    async fn what_is_written_in_two_pieces_arrives_as_one() {
        let (mut near, mut far) = pair().await;
        let socket = Socket::new(near.as_raw_fd());
        for round in ["first", "second"] {
            socket.gather();
            near.write_all(format!("{round} head ").as_bytes()).await.expect("written");
            socket.send_soon();
            near.write_all(b"and body").await.expect("written");
            assert_eq!(received(&mut far), "", "the round goes on");
            assert_eq!(arrived(&mut far).await, format!("{round} head and body"));
        }
    }

    #[tokio::test]
    async fn a_round_goes_on_while_what_becomes_ready_leads_to_more_to_send() {
        let (mut first, mut far_first) = pair().await;
        let (mut second, mut far_second) = pair().await;
        let ((mut near, waker), (mut next, last)) = (pair().await, pair().await);
        let [waker, last] = [waker, last].map(|stream| tokio::net::TcpStream::from_std(stream).expect("registered"));
        let one = tokio::spawn(async move {
            waker.readable().await.expect("open");
            Socket::new(second.as_raw_fd()).gather();
            second.write_all(b"second").await.expect("written");
            Socket::new(second.as_raw_fd()).send_soon();
            next.write_all(b"go on").await.expect("written");
            (second, next)
        });
        let other = tokio::spawn(async move {
            last.readable().await.expect("open");
            received(&mut far_first)
        });
        tokio::task::yield_now().await;
        let socket = Socket::new(first.as_raw_fd());
        socket.gather();
        first.write_all(b"first").await.expect("written");
        socket.send_soon();
        near.write_all(b"go on").await.expect("written");
        assert_eq!(other.await.expect("it ends"), "", "two looks later");
        assert_eq!(arrived(&mut far_second).await, "second");
        one.await.expect("it ends");
    }

    #[tokio::test]
    #[expect(unsafe_code, reason = "std has no call for this option")]
    async fn a_socket_can_send_unpaced() {
        let (near, _far) = pair().await;
        Socket::new(near.as_raw_fd()).send_unpaced();
        let mut name = [0_u8; 16];
        let mut length = 16;
        // SAFETY: the call writes at most `length` bytes into `name`.
        let told = unsafe {
            libc::getsockopt(near.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.as_mut_ptr().cast(), &raw mut length)
        };
        assert_eq!((told, name.split(|byte| *byte == 0).next()), (0, Some(&b"reno"[..])));
    }

    #[tokio::test]
    async fn a_socket_that_goes_on_gathering_sends_at_the_end_of_each_round() {
        let (mut near, mut far) = pair().await;
        let socket = Socket::new(near.as_raw_fd());
        socket.gather();
        for length in [5, 100, 4_000] {
            let text = "x".repeat(length);
            near.write_all(text.as_bytes()).await.expect("written");
            assert_eq!(received(&mut far), "", "the round goes on");
            socket.send_soon_and_gather();
            near.write_all(b" and more").await.expect("written");
            assert_eq!(arrived(&mut far).await, format!("{text} and more"));
        }
    }

    #[tokio::test]
    async fn a_round_ends_after_the_tasks_that_are_ready_and_sends_for_all() {
        let (mut near, mut far) = pair().await;
        let (mut other_near, mut other_far) = pair().await;
        let socket = Socket::new(near.as_raw_fd());
        socket.gather();
        socket.send_soon();
        near.write_all(b"one").await.expect("written");
        let second = tokio::spawn(async move {
            let seen = received(&mut far);
            let socket = Socket::new(other_near.as_raw_fd());
            socket.gather();
            socket.send_soon();
            other_near.write_all(b"two").await.expect("written");
            (other_near, seen, far)
        });
        let (_open, seen, mut far) = second.await.expect("ran");
        assert_eq!(seen, "", "the second task was ready when the first one wrote");
        assert_eq!(arrived(&mut far).await, "one");
        assert_eq!(arrived(&mut other_far).await, "two");
    }

    #[test]
    fn a_round_ends_with_the_runtime() {
        for _ in 0..2 {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("built");
            let (_near, mut far) = runtime.block_on(async {
                let (mut near, far) = pair().await;
                let socket = Socket::new(near.as_raw_fd());
                socket.gather();
                socket.send_soon();
                near.write_all(b"the last words").await.expect("written");
                (near, far)
            });
            assert_eq!(received(&mut far), "", "the round has not ended");
            drop(runtime);
            assert_eq!(received_at_once(&mut far), "the last words");
        }
    }

    #[tokio::test]
    async fn what_waits_for_long_does_not_wait_for_the_end_of_the_round() {
        let (mut near, mut far) = pair().await;
        let (other, _far) = pair().await;
        let socket = Socket::new(near.as_raw_fd());
        socket.gather();
        socket.send_soon();
        near.write_all(b"long ago").await.expect("written");
        std::thread::sleep(LONGEST * 2);
        Socket::new(other.as_raw_fd()).send_soon();
        assert_eq!(received_at_once(&mut far), "long ago");
    }
}
