//! The socket of a try.

use std::os::fd::RawFd;

/// A TCP socket that keeps small writes together: Pingora flushes the head of a request before its body, which mostly fit into
/// one packet.
#[derive(Clone, Copy, Debug)]
pub struct Socket(RawFd);

impl Socket {
    /// The connection Pingora has chosen for a try.
    #[must_use]
    pub const fn new(descriptor: RawFd) -> Self {
        Self(descriptor)
    }

    /// Holds what is written from now on until a packet is full, for 200 ms at the most.
    pub fn gather(self) {
        self.cork(true);
    }

    /// Lets what was gathered leave as soon as the task that runs now has written the rest.
    pub fn send_soon(self) {
        tokio::spawn(async move { self.cork(false) });
    }

    #[expect(unsafe_code, reason = "std has no call for this option")]
    fn cork(self, on: bool) {
        let value = libc::c_int::from(on);
        let length = libc::socklen_t::try_from(size_of_val(&value)).unwrap_or_default();
        // SAFETY: the call reads `value` and writes nothing. A descriptor that was closed meanwhile is an error without effect; one
        // that was reused is a socket that gathers nothing, or sends what it has a little early.
        unsafe {
            libc::setsockopt(self.0, libc::IPPROTO_TCP, libc::TCP_CORK, std::ptr::from_ref(&value).cast(), length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    #[tokio::test]
    async fn what_is_written_in_two_pieces_arrives_as_one() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let mut near = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connected");
        near.set_nodelay(true).expect("set");
        let (mut far, _) = listener.accept().await.expect("accepted");
        let socket = Socket::new(near.as_raw_fd());
        for round in ["first", "second"] {
            socket.gather();
            near.write_all(format!("{round} head ").as_bytes()).await.expect("written");
            socket.send_soon();
            near.write_all(b"and body").await.expect("written");
            let mut received = [0; 64];
            let count = far.read(&mut received).await.expect("open");
            assert_eq!(String::from_utf8_lossy(&received[..count]), format!("{round} head and body"));
        }
    }
}
