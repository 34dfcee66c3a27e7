//! Cutting a stream of pieces into frames, whatever way the pieces were cut.

use std::ops::Range;

use bytes::Bytes;
use thiserror::Error;

/// Largest frame accepted, in bytes: pictures in one event are large.
pub const FRAME_LIMIT: usize = 16 << 20;

/// Finds where frames end. It sees every byte of the stream once, in order.
pub trait Boundary {
    /// The offset after the current frame's last byte, if it lies in `bytes`, which continue where the last call ended.
    fn find(&mut self, bytes: &[u8]) -> Option<usize>;

    /// Whether the bytes seen since the last frame are a frame if nothing follows.
    fn complete(&self) -> bool {
        false
    }
}

/// A frame and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Inside the current piece, see [`Framer::piece`].
    Within(Range<usize>),
    /// It began in an earlier piece and was put together.
    Carried {
        /// Its bytes.
        raw: Bytes,
        /// Where it ends in the current piece.
        end: usize,
    },
}

/// A frame grew beyond its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("stream event larger than {limit} bytes")]
pub struct FrameTooLarge {
    /// The bound, in bytes.
    pub limit: usize,
}

/// Cuts pieces into frames; holds only the bytes of the unfinished frame.
#[derive(Debug)]
pub struct Framer<B> {
    boundary: B,
    carry: Vec<u8>,
    piece: Bytes,
    at: usize,
    limit: usize,
}

impl<B: Boundary> Framer<B> {
    /// A framer whose frames are at most `limit` bytes.
    pub const fn new(boundary: B, limit: usize) -> Self {
        Self { boundary, carry: Vec::new(), piece: Bytes::new(), at: 0, limit }
    }

    /// What finds the frames' ends.
    pub const fn boundary(&self) -> &B {
        &self.boundary
    }

    /// Hands over the next piece. Frames left in the last one are kept.
    pub fn push(&mut self, piece: Bytes) {
        let left = self.piece.get(self.at..).unwrap_or_default();
        self.piece = if left.is_empty() { piece } else { Bytes::from([left, &piece].concat()) };
        self.at = 0;
    }

    /// The piece frames of the kind [`Frame::Within`] lie in.
    pub const fn piece(&self) -> &Bytes {
        &self.piece
    }

    /// Whether the next piece begins a frame.
    pub const fn is_between(&self) -> bool {
        self.carry.is_empty() && self.at >= self.piece.len()
    }

    /// Lets go of the piece, once all of it was looked at.
    pub fn release(&mut self) {
        if self.at >= self.piece.len() {
            self.piece = Bytes::new();
            self.at = 0;
        }
    }

    /// The next whole frame; none when more bytes are needed.
    ///
    /// # Errors
    /// When the frame is larger than the bound; the framer is of no use afterwards.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameTooLarge> {
        let rest = self.piece.get(self.at..).unwrap_or_default();
        let found = self.boundary.find(rest);
        let length = found.unwrap_or(rest.len());
        if self.carry.len() + length > self.limit {
            return Err(FrameTooLarge { limit: self.limit });
        }
        let start = self.at;
        self.at += length;
        if found.is_some() && self.carry.is_empty() {
            return Ok(Some(Frame::Within(start..self.at)));
        }
        self.carry.extend_from_slice(rest.get(..length).unwrap_or_default());
        Ok(found.map(|_| Frame::Carried { raw: self.take_pending(), end: self.at }))
    }

    /// Whether the bytes held back are a frame now that the stream has ended.
    pub fn complete(&self) -> bool {
        !self.carry.is_empty() && self.boundary.complete()
    }

    /// The bytes held back for an unfinished frame.
    pub fn pending(&self) -> &[u8] {
        &self.carry
    }

    /// Takes the bytes held back.
    pub fn take_pending(&mut self) -> Bytes {
        Bytes::from(std::mem::take(&mut self.carry))
    }

    /// Memory kept for unfinished frames, in bytes.
    pub const fn carry_capacity(&self) -> usize {
        self.carry.capacity()
    }
}
