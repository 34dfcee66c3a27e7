//! A JSON array that arrives in pieces, cut into its elements.
//!
//! A frame is everything from the end of the previous element to the end of its own: the opening bracket or comma and any
//! whitespace belong to the element they precede. The closing bracket is a frame without an element. What follows it stays
//! pending. A document that is no array is one element. Nothing is refused: foreign bytes only shape the frames.

use bytes::Bytes;

use super::framing::{Boundary, FRAME_LIMIT, Frame, FrameTooLarge, Framer};
use super::json::{Span, is_space, string_stop};

/// Finds where elements end.
#[derive(Clone, Copy, Debug)]
pub struct ElementEnd {
    place: Place,
    depth: usize,
    bare: bool,
    closed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Start,
    Between,
    Container,
    Text { escape: bool },
    Scalar,
    Done,
}

impl ElementEnd {
    /// Before the opening bracket.
    #[must_use]
    pub const fn new() -> Self {
        Self { place: Place::Start, depth: 0, bare: false, closed: false }
    }

    /// Whether the array, or the only value, is complete.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.place == Place::Done
    }

    /// Whether the closing bracket was seen.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Ends an element at `end`.
    const fn finish(&mut self, end: usize) -> Option<usize> {
        self.place = if self.bare { Place::Done } else { Place::Between };
        Some(end)
    }

    /// Judges the byte that may open an element; true when the array ends with it.
    const fn open(&mut self, byte: u8) -> bool {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'[' if matches!(self.place, Place::Start) => self.place = Place::Between,
            b',' if matches!(self.place, Place::Between) => {}
            b']' if matches!(self.place, Place::Between) => {
                self.place = Place::Done;
                self.closed = true;
                return true;
            }
            _ => {
                self.bare = self.bare || matches!(self.place, Place::Start);
                self.depth = matches!(byte, b'{' | b'[') as usize;
                self.place = match byte {
                    b'{' | b'[' => Place::Container,
                    b'"' => Place::Text { escape: false },
                    _ => Place::Scalar,
                };
            }
        }
        false
    }

    /// Goes on inside a container from `at`; the offset after what was consumed, and whether the element ended.
    #[inline]
    fn nested(&mut self, bytes: &[u8], mut at: usize) -> (usize, bool) {
        while let Some(byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'"' => {
                    at = string_stop(bytes, at);
                    if bytes.get(at) == Some(&b'"') {
                        at += 1;
                        continue;
                    }
                    self.place = Place::Text { escape: false };
                    return (at, false);
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => continue,
            }
            if self.depth == 0 {
                return (at, true);
            }
        }
        (at, false)
    }

    /// Goes on inside a string; the offset after what was consumed, and whether the string ended.
    fn text(&mut self, bytes: &[u8], at: usize, escape: bool) -> (usize, bool) {
        if escape {
            self.place = Place::Text { escape: false };
            return (at + 1, false);
        }
        let stop = string_stop(bytes, at);
        match bytes.get(stop) {
            Some(b'"') => {
                self.place = Place::Container;
                (stop + 1, true)
            }
            Some(b'\\') => {
                self.place = Place::Text { escape: true };
                (stop + 1, false)
            }
            Some(_) => (stop + 1, false),
            None => (stop, false),
        }
    }
}

impl Default for ElementEnd {
    fn default() -> Self {
        Self::new()
    }
}

impl Boundary for ElementEnd {
    fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(byte) = bytes.get(at).copied() {
            match self.place {
                Place::Done => return None,
                Place::Start | Place::Between => {
                    at += 1;
                    if self.open(byte) {
                        return Some(at);
                    }
                }
                Place::Container => {
                    let (next, ended) = self.nested(bytes, at);
                    at = next;
                    if ended {
                        return self.finish(at);
                    }
                }
                Place::Text { escape } => {
                    let (next, ended) = self.text(bytes, at, escape);
                    at = next;
                    if ended && self.depth == 0 {
                        return self.finish(at);
                    }
                }
                Place::Scalar if matches!(byte, b',' | b']') || is_space(byte) => return self.finish(at),
                Place::Scalar => at += 1,
            }
        }
        None
    }

    fn complete(&self) -> bool {
        self.bare && self.place == Place::Scalar
    }
}

/// Where the element lies in the bytes of its frame; none for the closing bracket.
#[must_use]
pub fn element_span(raw: &[u8], first: bool) -> Option<Span> {
    let mut opened = !first;
    let mut between = |byte: u8| is_space(byte) || byte == b',' || (byte == b'[' && !std::mem::replace(&mut opened, true));
    let start = raw.iter().position(|byte| !between(*byte))?;
    let value = raw.get(start..)?;
    (!value.is_empty() && value != b"]").then_some(Span { start, end: raw.len() })
}

/// One element and the bytes before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The bytes as received.
    pub raw: Bytes,
    /// Where the element lies in `raw`; none for the closing bracket.
    pub element: Option<Span>,
}

/// Cuts pieces into [`Item`]s. An item inside one piece shares its memory.
#[derive(Debug)]
pub struct Splitter {
    framer: Framer<ElementEnd>,
    first: bool,
}

impl Splitter {
    /// A splitter with the usual bound of 16 MiB for one element.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_limit(FRAME_LIMIT)
    }

    /// A splitter with a bound of `limit` bytes for one element.
    #[must_use]
    pub const fn with_limit(limit: usize) -> Self {
        Self { framer: Framer::new(ElementEnd::new(), limit), first: true }
    }

    /// Hands over the next piece.
    pub fn push(&mut self, piece: Bytes) {
        self.framer.push(piece);
    }

    /// The next whole item; none when more bytes are needed.
    ///
    /// # Errors
    /// When the element is larger than the bound.
    pub fn next_item(&mut self) -> Result<Option<Item>, FrameTooLarge> {
        let Some(frame) = self.framer.next_frame()? else { return Ok(None) };
        let raw = match frame {
            Frame::Within(range) => self.framer.piece().slice(range),
            Frame::Carried { raw, .. } => raw,
        };
        let element = element_span(&raw, std::mem::take(&mut self.first));
        Ok(Some(Item { raw, element }))
    }

    /// The bytes of the unfinished element, or what followed the closing bracket.
    #[must_use]
    pub fn pending(&self) -> &[u8] {
        self.framer.pending()
    }
}

impl Default for Splitter {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
