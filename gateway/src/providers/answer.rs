//! Answers whose bytes are not those of their dialect, made so before anything else reads them.

use std::fmt;

use bytes::Bytes;

use super::azure_openai::Chunks;
use super::bedrock::{Counted, Frames, Refused};

/// Makes one answer's body that of its dialect, piece by piece.
pub struct Unwrapping(Form);

enum Form {
    Frames(Frames),
    Refused(Refused),
    Counted(Counted),
    Chunks(Chunks),
}

impl Unwrapping {
    pub(super) const fn chunks(chunks: Chunks) -> Self {
        Self(Form::Chunks(chunks))
    }

    pub(super) const fn frames(frames: Frames) -> Self {
        Self(Form::Frames(frames))
    }

    pub(super) const fn refused(refused: Refused) -> Self {
        Self(Form::Refused(refused))
    }

    pub(super) const fn counted(counted: Counted) -> Self {
        Self(Form::Counted(counted))
    }

    /// Takes the next piece and gives what is known of the body in the dialect, perhaps nothing. `end` tells that the provider
    /// ended cleanly after it. Whatever is wrong with the bytes becomes an error of the dialect inside the answer.
    pub fn push(&mut self, piece: Bytes, end: bool) -> Bytes {
        match &mut self.0 {
            Form::Frames(frames) => frames.push(piece),
            Form::Refused(refused) => refused.push(&piece, end),
            Form::Counted(counted) => counted.push(&piece, end),
            Form::Chunks(chunks) => chunks.push(piece, end),
        }
    }
}

impl fmt::Debug for Unwrapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Form::Frames(_) => "Unwrapping(Frames)",
            Form::Refused(_) => "Unwrapping(Refused)",
            Form::Counted(_) => "Unwrapping(Counted)",
            Form::Chunks(_) => "Unwrapping(Chunks)",
        })
    }
}
