//! Server-sent events (WHATWG HTML, "Interpreting an event stream"), cut out of byte pieces without decoding them.
//!
//! Every event keeps its raw bytes, comments and line ends included, so that the raw bytes of all events put together are the
//! stream. A line end may be LF, CR or CRLF; a blank line ending in CR waits for the byte after it.

mod fields;

use bytes::Bytes;
use memchr::memchr2;

pub use self::fields::Fields;
pub(crate) use self::fields::lines;
use super::framing::{Boundary, FRAME_LIMIT, Frame, FrameTooLarge, Framer};

/// Finds the blank line that ends an event.
#[derive(Clone, Copy, Debug)]
pub struct BlankLine {
    /// No byte of the current line was seen yet.
    fresh: bool,
    /// The last byte seen was CR, so that an LF still belongs to its line end.
    after_cr: bool,
    /// That CR ended a blank line.
    ending: bool,
}

impl BlankLine {
    /// At the start of a stream.
    #[must_use]
    pub const fn new() -> Self {
        Self { fresh: true, after_cr: false, ending: false }
    }

    /// Consumes the LF of a CRLF cut in two; the offset after it.
    const fn after_cr(&mut self, first: u8) -> usize {
        self.after_cr = false;
        (first == b'\n') as usize
    }
}

impl Default for BlankLine {
    fn default() -> Self {
        Self::new()
    }
}

impl Boundary for BlankLine {
    #[inline]
    fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        if self.after_cr {
            at = self.after_cr(*bytes.first()?);
            if std::mem::take(&mut self.ending) {
                return Some(at);
            }
        }
        loop {
            let rest = bytes.get(at..)?;
            if self.fresh && rest.first() == Some(&b'\n') {
                return Some(at + 1);
            }
            let Some(length) = memchr2(b'\n', b'\r', rest) else {
                self.fresh = self.fresh && rest.is_empty();
                return None;
            };
            let blank = self.fresh && length == 0;
            self.fresh = true;
            at += length + 1;
            if bytes.get(at - 1) == Some(&b'\r') {
                match bytes.get(at) {
                    Some(b'\n') => at += 1,
                    Some(_) => {}
                    None => {
                        self.after_cr = true;
                        self.ending = blank;
                        return None;
                    }
                }
            }
            if blank {
                return Some(at);
            }
        }
    }

    fn complete(&self) -> bool {
        self.ending
    }
}

/// One event: everything from the end of the previous one to the end of its blank line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The bytes as received.
    pub raw: Bytes,
    /// Where its fields lie in `raw`.
    pub fields: Fields,
}

impl Event {
    /// The value of its last `event` field, or empty.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        self.fields.name(&self.raw)
    }

    /// Its data: borrowed for one data line, several joined by LF, empty for none.
    #[must_use]
    pub fn data(&self) -> std::borrow::Cow<'_, [u8]> {
        self.fields.data(&self.raw)
    }
}

/// Cuts pieces into [`Event`]s. An event inside one piece shares its memory.
#[derive(Debug)]
pub struct Splitter {
    framer: Framer<BlankLine>,
}

impl Splitter {
    /// A splitter with the usual bound of 16 MiB for one event.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_limit(FRAME_LIMIT)
    }

    /// A splitter with a bound of `limit` bytes for one event.
    #[must_use]
    pub const fn with_limit(limit: usize) -> Self {
        Self { framer: Framer::new(BlankLine::new(), limit) }
    }

    /// Hands over the next piece.
    pub fn push(&mut self, piece: Bytes) {
        self.framer.push(piece);
    }

    /// The next whole event; none when more bytes are needed.
    ///
    /// # Errors
    /// When the event is larger than the bound.
    pub fn next_event(&mut self) -> Result<Option<Event>, FrameTooLarge> {
        let Some(frame) = self.framer.next_frame()? else { return Ok(None) };
        let raw = match frame {
            Frame::Within(range) => self.framer.piece().slice(range),
            Frame::Carried { raw, .. } => raw,
        };
        let fields = Fields::read(&raw);
        Ok(Some(Event { raw, fields }))
    }

    /// Ends the stream: the last event, when only a possible LF was awaited, and otherwise none.
    pub fn finish(&mut self) -> Option<Event> {
        self.framer.complete().then(|| {
            let raw = self.framer.take_pending();
            Event { fields: Fields::read(&raw), raw }
        })
    }

    /// The bytes of the unfinished event.
    #[must_use]
    pub fn pending(&self) -> &[u8] {
        self.framer.pending()
    }

    /// Memory kept for the unfinished event, in bytes.
    #[must_use]
    pub const fn carry_capacity(&self) -> usize {
        self.framer.carry_capacity()
    }
}

impl Default for Splitter {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
