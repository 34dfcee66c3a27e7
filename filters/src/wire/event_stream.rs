//! The binary frames of `application/vnd.amazon.eventstream`, cut out of pieces and checked.
//!
//! A frame is a prelude (length of the frame, length of its headers, CRC-32 of both), headers, a payload, and the CRC-32 of all
//! before. Integers are big-endian. After a frame that does not add up nothing that follows can be trusted: the splitter then
//! gives the same fault for ever.

use std::ops::Range;

use bytes::Bytes;
use thiserror::Error;

use super::framing::{Boundary, Frame, Framer};

/// Bytes of the two lengths and their checksum.
const PRELUDE: usize = 12;
/// Bytes of a frame that are neither headers nor payload.
const OVERHEAD: usize = PRELUDE + 4;
/// Most bytes of headers.
const HEADERS_LIMIT: usize = 128 << 10;
/// Largest frame: the vendor's bound of 24 MiB for the payload, and the rest.
pub const FRAME_LIMIT: usize = (24 << 20) + HEADERS_LIMIT + OVERHEAD;

/// Why a stream of frames cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EventStreamError {
    /// A length that no frame can have.
    #[error("stream frame with an impossible length")]
    Length,
    /// A checksum that does not fit.
    #[error("stream frame with a wrong checksum")]
    Checksum,
    /// Headers that are cut off or of an unknown type.
    #[error("stream frame with malformed headers")]
    Headers,
}

/// Finds where frames end.
#[derive(Debug, Default)]
pub struct FrameEnd {
    prelude: [u8; PRELUDE],
    /// Bytes of the current frame that were seen.
    seen: usize,
    /// Its length, once the prelude tells it.
    total: usize,
    fault: Option<EventStreamError>,
}

impl FrameEnd {
    /// Takes in what of `bytes` belongs to the prelude; whether it is complete now.
    fn read_prelude(&mut self, bytes: &[u8]) -> bool {
        for (place, byte) in self.prelude.iter_mut().skip(self.seen).zip(bytes) {
            *place = *byte;
        }
        self.seen + bytes.len() >= PRELUDE
    }

    fn judge_prelude(&mut self) -> Result<usize, EventStreamError> {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = self.prelude;
        if crc32fast::hash(&[a, b, c, d, e, f, g, h]) != u32::from_be_bytes([i, j, k, l]) {
            return Err(EventStreamError::Checksum);
        }
        let (total, headers) = (length([a, b, c, d]), length([e, f, g, h]));
        let fits = total <= FRAME_LIMIT && headers <= HEADERS_LIMIT && headers.saturating_add(OVERHEAD) <= total;
        if fits { Ok(total) } else { Err(EventStreamError::Length) }
    }
}

impl Boundary for FrameEnd {
    fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        if self.fault.is_some() {
            return None;
        }
        if self.seen < PRELUDE {
            if !self.read_prelude(bytes) {
                self.seen += bytes.len();
                return None;
            }
            match self.judge_prelude() {
                Ok(total) => self.total = total,
                Err(fault) => {
                    self.fault = Some(fault);
                    return None;
                }
            }
        }
        let left = self.total.saturating_sub(self.seen);
        if bytes.len() < left {
            self.seen += bytes.len();
            return None;
        }
        self.seen = 0;
        Some(left)
    }
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    raw: Bytes,
    headers: Vec<(Range<usize>, Range<usize>)>,
    payload: Range<usize>,
}

impl Message {
    /// Checks and reads a whole frame.
    ///
    /// # Errors
    /// When the checksum does not fit or the headers are malformed.
    pub fn read(raw: Bytes) -> Result<Self, EventStreamError> {
        let end = raw.len().checked_sub(4).ok_or(EventStreamError::Length)?;
        let (body, sum) = raw.split_at_checked(end).ok_or(EventStreamError::Length)?;
        if sum != crc32fast::hash(body).to_be_bytes() {
            return Err(EventStreamError::Checksum);
        }
        let headers_length = body.get(4..8).and_then(|bytes| bytes.try_into().ok()).map(length).ok_or(EventStreamError::Length)?;
        let payload = PRELUDE + headers_length..end;
        let headers = body.get(..payload.start).and_then(text_headers).ok_or(EventStreamError::Headers)?;
        Ok(Self { headers, payload, raw })
    }

    /// The text of a header; none where it is missing or no text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(found, _)| self.raw.get(found.clone()) == Some(name.as_bytes()))?;
        std::str::from_utf8(self.raw.get(value.clone())?).ok()
    }

    /// The payload.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.raw.get(self.payload.clone()).unwrap_or_default()
    }
}

/// Where names and values of the headers lie that are text, in the bytes of a frame before its payload.
fn text_headers(bytes: &[u8]) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let mut found = Vec::with_capacity(4);
    let mut at = PRELUDE;
    while at < bytes.len() {
        let name = at + 1..at + 1 + usize::from(*bytes.get(at)?);
        at = name.end + 1;
        let kind = *bytes.get(name.end)?;
        let size = match kind {
            0 | 1 => 0,
            2 => 1,
            3 => 2,
            4 => 4,
            5 | 8 => 8,
            9 => 16,
            6 | 7 => {
                let prefix: [u8; 2] = bytes.get(at..at + 2)?.try_into().ok()?;
                at += 2;
                usize::from(u16::from_be_bytes(prefix))
            }
            _ => return None,
        };
        let value = at..at + size;
        bytes.get(value.clone())?;
        at = value.end;
        if kind == 7 {
            found.push((name, value));
        }
    }
    Some(found)
}

/// Cuts pieces into [`Message`]s. A message inside one piece shares its memory.
#[derive(Debug)]
pub struct Splitter {
    framer: Framer<FrameEnd>,
    fault: Option<EventStreamError>,
}

impl Splitter {
    /// A splitter at the start of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self { framer: Framer::new(FrameEnd::default(), FRAME_LIMIT), fault: None }
    }

    /// Hands over the next piece. After a fault it is let go.
    pub fn push(&mut self, piece: Bytes) {
        if self.fault.is_none() {
            self.framer.push(piece);
        }
    }

    /// The next whole message; none when more bytes are needed.
    ///
    /// # Errors
    /// When a frame does not add up, and for ever after.
    pub fn next_message(&mut self) -> Result<Option<Message>, EventStreamError> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let message = self.cut();
        self.fault = message.as_ref().err().copied();
        message
    }

    fn cut(&mut self) -> Result<Option<Message>, EventStreamError> {
        let frame = self.framer.next_frame().map_err(|_| EventStreamError::Length)?;
        if let Some(fault) = self.framer.boundary().fault {
            return Err(fault);
        }
        let raw = match frame {
            None => return Ok(None),
            Some(Frame::Within(range)) => self.framer.piece().slice(range),
            Some(Frame::Carried { raw, .. }) => raw,
        };
        Message::read(raw).map(Some)
    }

    /// Whether the stream may end here: no frame is half read.
    #[must_use]
    pub fn is_between(&self) -> bool {
        self.fault.is_none() && self.framer.pending().is_empty()
    }
}

impl Default for Splitter {
    fn default() -> Self {
        Self::new()
    }
}

fn length(bytes: [u8; 4]) -> usize {
    usize::try_from(u32::from_be_bytes(bytes)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
