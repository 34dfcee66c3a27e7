//! An answer that is held back: until its last chunk it can be replaced, or its head can.
//!
//! Pingora flushes the head of an answer without a length, then its body, then the last chunk: three sends. An answer that is
//! not a stream gains nothing from leaving in pieces, so its exchange asks the connection to hold it; it leaves in one send
//! with its last chunk. As long as it is held it can still be replaced, so an answer that breaks off becomes a clean error.
//! Nothing is buffered for anybody else.

/// The most that is held; what is larger leaves as it comes.
pub(super) const MOST: usize = 64 * 1024;
/// The room made for an answer at first: most small ones fit, so that they are not moved while they grow.
const FIRST: usize = 4 * 1024;
/// What ends a chunked body.
pub(super) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

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

/// The bytes of an answer on their way to the client.
#[derive(Default)]
pub(super) struct Held {
    mode: Mode,
    waiting: Vec<u8>,
    sent: usize,
    /// Takes the place of the held head as soon as that is complete.
    head: Option<Vec<u8>>,
}

impl Held {
    /// What is still to leave, once it may.
    pub(super) fn left(&self) -> &[u8] {
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

    /// Notes that some of it has left.
    pub(super) fn left_behind(&mut self, count: usize) {
        self.sent += count;
    }

    /// Lets go of what has left.
    pub(super) fn clear(&mut self) {
        self.waiting = Vec::new();
        self.sent = 0;
    }

    /// Holds what is written from now on until the last chunk.
    pub(super) fn hold(&mut self) {
        if self.mode == Mode::Through && self.waiting.is_empty() {
            self.mode = Mode::Held;
        }
    }

    /// Whether an answer is held, so that another can take its place.
    pub(super) fn is_held(&self) -> bool {
        self.mode == Mode::Held
    }

    /// Lets what is held, and what follows, leave.
    pub(super) fn release(&mut self) {
        if self.mode == Mode::Held {
            self.mode = Mode::Through;
        }
    }

    /// Puts another answer in place of the one that is held. `false` when none is, or a part of it has left.
    pub(super) fn replace(&mut self, answer: Vec<u8>) -> bool {
        let held = self.is_held();
        if held {
            *self = Self { mode: Mode::Replaced, waiting: answer, sent: 0, head: None };
        }
        held
    }

    /// Puts another head in place of the held one, whether that was written already or is about to be. `false` when nothing is
    /// held.
    pub(super) fn replace_head(&mut self, head: Vec<u8>) -> bool {
        let held = self.is_held();
        if held {
            self.head = Some(head);
            self.swap_head();
        }
        held
    }

    /// Drops a head that waits to take the place of one that was not written yet.
    pub(super) fn forget_head(&mut self) {
        self.head = None;
    }

    /// Lets something of our own leave with the next drain, unless something else waits or is held. `false` where that is so.
    pub(super) fn slip_in(&mut self, bytes: &[u8]) -> bool {
        let free = self.mode == Mode::Through && self.waiting.is_empty() && self.head.is_none();
        if free {
            self.waiting.extend_from_slice(bytes);
        }
        free
    }

    /// Keeps bytes that must wait; `None` where they may leave.
    pub(super) fn keep<'a>(&mut self, pieces: impl Iterator<Item = &'a [u8]>) -> Option<usize> {
        // A head that is to be replaced may still be on its way when its answer is let go.
        if self.mode == Mode::Through && self.head.is_none() {
            return None;
        }
        if self.mode == Mode::Held && self.waiting.capacity() == 0 {
            self.waiting.reserve(FIRST);
        }
        let mut count = 0;
        for piece in pieces {
            count += piece.len();
            if self.mode != Mode::Replaced {
                self.waiting.extend_from_slice(piece);
            }
        }
        self.swap_head();
        if self.mode == Mode::Held && (self.waiting.len() > MOST || self.waiting.ends_with(LAST_CHUNK)) {
            self.mode = Mode::Through;
        }
        Some(count)
    }
}
