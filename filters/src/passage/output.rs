//! What one push sends on: the piece itself while nothing was edited, and a copy from the first edit.

use bytes::Bytes;

use crate::wire::framing::Frame;

/// Room added to the copy for names that grow.
const SLACK: usize = 256;

/// Collects the frames of one piece.
#[derive(Default)]
pub(crate) struct Output {
    head: Option<Bytes>,
    edited: Vec<u8>,
    /// Bytes of the piece already copied or dropped.
    done: usize,
    /// End of the last frame.
    end: usize,
}

impl Output {
    /// Sends `frame` on as it is.
    pub(crate) fn keep(&mut self, frame: Frame) {
        match frame {
            Frame::Within(range) => self.end = range.end,
            Frame::Carried { raw, end } => {
                self.head = Some(raw);
                self.done = end;
                self.end = end;
            }
        }
    }

    /// Leaves `frame` out.
    pub(crate) fn omit(&mut self, piece: &[u8], frame: &Frame) {
        let (start, end) = place(frame);
        if start > self.done {
            self.copy(piece, start);
        }
        self.done = end;
        self.end = end;
    }

    /// Where to write what takes the place of `frame`.
    pub(crate) fn edit(&mut self, piece: &[u8], frame: &Frame) -> &mut Vec<u8> {
        let (start, end) = place(frame);
        self.copy(piece, start);
        self.done = end;
        self.end = end;
        &mut self.edited
    }

    /// Sends `bytes` after everything else of the piece.
    pub(crate) fn append(&mut self, piece: &[u8], bytes: Bytes) {
        if self.edited.is_empty() && self.head.is_none() && self.done == self.end {
            self.head = Some(bytes);
            return;
        }
        self.copy(piece, self.end);
        self.edited.extend_from_slice(&bytes);
    }

    /// What to send.
    pub(crate) fn finish(mut self, piece: &Bytes) -> Bytes {
        if !self.edited.is_empty() {
            self.copy(piece, self.end);
            return Bytes::from(self.edited);
        }
        match self.head.take() {
            None if self.done == 0 && self.end == piece.len() => piece.clone(),
            None => piece.slice(self.done..self.end),
            Some(head) if self.done == self.end => head,
            head => {
                self.head = head;
                self.copy(piece, self.end);
                Bytes::from(self.edited)
            }
        }
    }

    fn copy(&mut self, piece: &[u8], end: usize) {
        self.reserve(piece.len());
        if let Some(head) = self.head.take() {
            self.edited.extend_from_slice(&head);
        }
        self.edited.extend_from_slice(piece.get(self.done..end).unwrap_or_default());
        self.done = end;
    }

    fn reserve(&mut self, piece: usize) {
        if self.edited.capacity() == 0 {
            self.edited.reserve(piece + self.head.as_ref().map_or(0, Bytes::len) + SLACK);
        }
    }
}

/// Where `frame` starts and ends in the piece; a carried one, always the first, starts before it.
const fn place(frame: &Frame) -> (usize, usize) {
    match frame {
        Frame::Within(range) => (range.start, range.end),
        Frame::Carried { end, .. } => (0, *end),
    }
}
