//! What stands around a chunk: an event, or the place in an array.

use crate::canonical::Text;
use crate::translate::ClientView;

/// The frame of the chunks of one stream.
#[derive(Debug)]
pub(super) struct Frame {
    array: bool,
    /// The bracket was written.
    opened: bool,
    /// And an element after it.
    filled: bool,
    /// The members every chunk ends with, and the brace after them.
    tail: Vec<u8>,
}

impl Frame {
    pub(super) fn new(view: &ClientView) -> Self {
        let mut frame = Self { array: view.array, opened: false, filled: false, tail: Vec::new() };
        frame.named(view, None);
        frame
    }

    /// Chunks say from now on that they are of the answer `id`.
    pub(super) fn named(&mut self, view: &ClientView, id: Option<&Text<'_>>) {
        self.tail.clear();
        super::identity(view, id, &mut self.tail);
        self.tail.push(b'}');
    }

    /// What stands before a chunk. Some clients match the space.
    #[inline]
    pub(super) fn open(&mut self, out: &mut Vec<u8>) {
        if !self.array {
            return out.extend_from_slice(b"data: ");
        }
        self.bracket(out);
        if std::mem::replace(&mut self.filled, true) {
            out.extend_from_slice(b",\r\n");
        }
    }

    /// The members at the end of a chunk, and what stands after it.
    #[inline]
    pub(super) fn close(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.tail);
        self.end(out);
    }

    /// What stands after a chunk.
    #[inline]
    pub(super) fn end(&self, out: &mut Vec<u8>) {
        if !self.array {
            out.extend_from_slice(b"\r\n\r\n");
        }
    }

    /// White space between the elements of an array.
    pub(super) fn space(&mut self, out: &mut Vec<u8>) {
        self.bracket(out);
        out.push(b'\n');
    }

    /// What stands after the last chunk.
    pub(super) fn shut(&mut self, out: &mut Vec<u8>) {
        if self.array {
            self.bracket(out);
            out.push(b']');
        }
    }

    fn bracket(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.opened, true) {
            out.push(b'[');
        }
    }
}
