//! An answer that is a JSON array sent element by element.

use bytes::Bytes;

use super::output::Output;
use super::reading::Reader;
use crate::wire::framing::{FRAME_LIMIT, Frame, FrameTooLarge, Framer};
use crate::wire::json_array::{ElementEnd, element_span};

/// Elements on their way to the client.
#[derive(Debug)]
pub(super) struct ArrayStream {
    framer: Framer<ElementEnd>,
    elements: u64,
    done: bool,
}

impl Default for ArrayStream {
    fn default() -> Self {
        Self { framer: Framer::new(ElementEnd::new(), FRAME_LIMIT), elements: 0, done: false }
    }
}

impl ArrayStream {
    /// Takes the next piece; returns what to send on and what went wrong after it.
    pub(super) fn push(&mut self, reader: &mut Reader, piece: Bytes, end: bool) -> (Bytes, Option<FrameTooLarge>) {
        self.framer.push(piece);
        let mut out = Output::default();
        let failed = loop {
            match self.framer.next_frame() {
                Ok(Some(frame)) => self.pass(reader, frame, &mut out),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        self.done = self.framer.boundary().is_done();
        if end && self.done {
            let rest = self.framer.take_pending();
            out.append(self.framer.piece(), rest);
        }
        // Only the closing bracket makes the answer whole, whatever the elements say.
        reader.facts.terminal = self.done;
        (out.finish(self.framer.piece()), failed)
    }

    fn pass(&mut self, reader: &mut Reader, frame: Frame, out: &mut Output) {
        let piece = self.framer.piece();
        let raw: &[u8] = match &frame {
            Frame::Within(range) => piece.get(range.clone()).unwrap_or_default(),
            Frame::Carried { raw, .. } => raw,
        };
        let Some(span) = element_span(raw, self.elements == 0) else { return out.keep(frame) };
        self.elements += 1;
        let element = span.of(raw);
        reader.element(element);
        if !reader.is_patched() {
            return out.keep(frame);
        }
        let edited = out.edit(piece, &frame);
        edited.extend_from_slice(raw.get(..span.start).unwrap_or_default());
        reader.write(element, edited);
    }

    /// The bytes that end the array, with `error` as its last element if there is one.
    pub(super) fn close(&mut self, error: Option<Vec<u8>>) -> Bytes {
        self.framer.take_pending();
        if std::mem::replace(&mut self.done, true) {
            return Bytes::new();
        }
        let before: &[u8] = match (self.elements, &error) {
            (0, _) => b"[",
            (_, Some(_)) => b",\n",
            (_, None) => b"",
        };
        Bytes::from([before, error.as_deref().unwrap_or_default(), b"]"].concat())
    }

    pub(super) const fn held_back(&self) -> usize {
        self.framer.carry_capacity()
    }
}
