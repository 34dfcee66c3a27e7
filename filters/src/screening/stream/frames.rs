//! The bytes of an answer, cut into events or elements.

use std::borrow::Cow;

use bytes::Bytes;

use super::event::Data;
use crate::wire::framing::{FRAME_LIMIT, Frame, FrameTooLarge, Framer};
use crate::wire::json::{DEEPEST, outline};
use crate::wire::json_array::{ElementEnd, element_span};
use crate::wire::sse::{BlankLine, Fields};

/// Cuts pieces of bytes.
pub(super) enum Frames {
    Sse(Framer<BlankLine>),
    /// An array, and how many elements of it came.
    Array(Framer<ElementEnd>, u64),
}

impl Frames {
    pub(super) const fn new(array: bool) -> Self {
        if array {
            Self::Array(Framer::new(ElementEnd::new(), FRAME_LIMIT), 0)
        } else {
            Self::Sse(Framer::new(BlankLine::new(), FRAME_LIMIT))
        }
    }

    pub(super) const fn is_array(&self) -> bool {
        matches!(self, Self::Array(..))
    }

    /// Hands over the next piece.
    pub(super) fn push(&mut self, piece: Bytes) {
        match self {
            Self::Sse(framer) => framer.push(piece),
            Self::Array(framer, _) => framer.push(piece),
        }
    }

    /// Whether an event begins with the next piece.
    pub(super) const fn between_events(&self) -> bool {
        matches!(self, Self::Sse(framer) if framer.is_between())
    }

    /// A frame was read whose data is known.
    pub(super) const fn passed(&mut self) {
        if let Self::Array(_, count) = self {
            *count += 1;
        }
    }

    pub(super) const fn piece(&self) -> &Bytes {
        match self {
            Self::Sse(framer) => framer.piece(),
            Self::Array(framer, _) => framer.piece(),
        }
    }

    pub(super) fn next_frame(&mut self) -> Result<Option<Frame>, FrameTooLarge> {
        match self {
            Self::Sse(framer) => framer.next_frame(),
            Self::Array(framer, _) => framer.next_frame(),
        }
    }

    pub(super) fn release(&mut self) {
        match self {
            Self::Sse(framer) => framer.release(),
            Self::Array(framer, _) => framer.release(),
        }
    }

    /// Where the data of a frame lies, and what it is.
    pub(super) fn data<'r>(&mut self, raw: &'r [u8]) -> (Data, Cow<'r, [u8]>) {
        match self {
            Self::Sse(_) => Data::of_event(raw),
            Self::Array(_, count) => match element_span(raw, *count == 0) {
                Some(span) => {
                    *count += 1;
                    (Data::Element(span), span.of(raw).into())
                }
                None => (Data::None, (&[]).into()),
            },
        }
    }

    /// Whether the array is closed with a frame that has no data.
    pub(super) fn closes(&self, raw: &[u8]) -> bool {
        self.is_array() && raw.ends_with(b"]")
    }

    /// The last frame, if nothing is missing from it but the line end.
    pub(super) fn last(&mut self) -> Option<Bytes> {
        match self {
            Self::Sse(framer) => {
                let whole = framer.complete() || is_whole(framer.pending());
                let last = framer.take_pending();
                (whole && !last.is_empty()).then_some(last)
            }
            Self::Array(framer, _) => {
                let whole = framer.complete() || framer.boundary().is_done() || framer.pending().trim_ascii().is_empty();
                let last = framer.take_pending();
                (whole && !last.is_empty()).then_some(last)
            }
        }
    }
}

/// Whether an event that lacks its blank line has all of its data.
fn is_whole(raw: &[u8]) -> bool {
    let fields = Fields::read(raw);
    let data = fields.data(raw);
    !fields.has_data() || data.trim_ascii_start().starts_with(b"[DONE]") || outline(&data, DEEPEST).is_ok()
}
