//! What a faulty server does to a connection, step by step.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use socket2::SockRef;

use super::is_gone;

/// The longest a server hangs, should a client never leave.
const LONGEST: Duration = Duration::from_secs(60);

/// One step. After the last one the next request is read.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sends bytes at once.
    Send(Vec<u8>),
    /// Sends bytes one at a time.
    Drip(Vec<u8>, Duration),
    /// Sends the same again and again until the client leaves.
    Repeat(Vec<u8>, Duration),
    /// Does nothing for a time, or until the client leaves.
    Pause(Duration),
    /// Does nothing until the client leaves.
    Hang,
    /// Ends the connection as one that works.
    Close,
    /// Ends the connection at once, with a reset.
    Reset,
}

impl Step {
    /// Sends text.
    #[must_use]
    pub fn send(text: impl AsRef<[u8]>) -> Self {
        Self::Send(text.as_ref().to_vec())
    }
}

/// How a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The connection goes on.
    Next,
    /// The server has ended it.
    Closed,
    /// The client has.
    ClientGone,
}

pub(super) fn run(stream: &TcpStream, steps: &[Step]) -> End {
    for step in steps {
        let gone = match step {
            Step::Send(bytes) => !sent(stream, bytes),
            Step::Drip(bytes, pause) => bytes.chunks(1).any(|byte| !sent(stream, byte) || is_gone_meanwhile(stream, *pause)),
            Step::Repeat(bytes, pause) => {
                while sent(stream, bytes) && !is_gone(stream, *pause) {}
                true
            }
            Step::Pause(time) => is_gone(stream, *time),
            Step::Hang => is_gone(stream, LONGEST),
            Step::Close => return End::Closed,
            Step::Reset => {
                let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
                return End::Closed;
            }
        };
        if gone {
            return End::ClientGone;
        }
    }
    End::Next
}

/// Whether a client closes within a time. Times too short for the kernel to wait are not waited for longer than they are.
fn is_gone_meanwhile(stream: &TcpStream, pause: Duration) -> bool {
    if pause < Duration::from_millis(1) {
        thread::sleep(pause);
        return false;
    }
    is_gone(stream, pause)
}

fn sent(mut stream: &TcpStream, bytes: &[u8]) -> bool {
    stream.write_all(bytes).is_ok()
}
