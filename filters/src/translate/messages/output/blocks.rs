//! The blocks of a stream, one after the other. The call that is open flows through; whatever else comes waits until that call
//! is complete.

use std::collections::VecDeque;

use super::call::Call;
use super::frames::Frames;
use crate::canonical::{Citation, SearchHit, Text};

/// The block that is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    None,
    /// Text; `cited` once a source was told: more text begins a block of its own.
    Text {
        cited: bool,
    },
    Thinking,
    Call(u32),
}

/// Something that waits for the open call.
pub(super) enum Piece {
    Text(Text<'static>),
    Reasoning(Text<'static>),
    Signed(String),
    Redacted(String),
    Call(u32),
    Citation(Citation<'static>),
    Search { id: Text<'static>, query: Text<'static>, hits: Vec<SearchHit<'static>> },
}

/// Orders the pieces of an answer into blocks.
pub(super) struct Blocks {
    frames: Frames,
    open: Open,
    calls: Vec<Call>,
    waiting: VecDeque<Piece>,
    /// A limit cut the answer off: calls that are not whole are not worth opening.
    pub(super) cut: bool,
}

impl Blocks {
    pub(super) fn new() -> Self {
        Self { frames: Frames::default(), open: Open::None, calls: Vec::new(), waiting: VecDeque::new(), cut: false }
    }

    #[inline]
    pub(super) fn text(&mut self, text: &Text<'_>, out: &mut Vec<u8>) {
        if self.open == (Open::Text { cited: false }) {
            return self.frames.delta(text, out);
        }
        if !self.free(out) {
            return self.waiting.push_back(Piece::Text(text.clone().into_owned()));
        }
        self.write_text(text, out);
    }

    pub(super) fn reasoning(&mut self, text: &Text<'_>, out: &mut Vec<u8>) {
        if self.open == Open::Thinking {
            return self.frames.delta(text, out);
        }
        if !self.free(out) {
            return self.waiting.push_back(Piece::Reasoning(text.clone().into_owned()));
        }
        self.write_reasoning(text, out);
    }

    /// Writes a piece, or lets it wait for the open call.
    pub(super) fn put(&mut self, piece: Piece, out: &mut Vec<u8>) {
        if self.free(out) {
            self.write(piece, out);
        } else {
            self.waiting.push_back(piece);
        }
    }

    /// Whether nothing stands in the way of the next piece: a call whose arguments are whole is closed for it.
    fn free(&mut self, out: &mut Vec<u8>) -> bool {
        let Open::Call(number) = self.open else { return true };
        if self.call(number).is_some_and(Call::complete) {
            self.close(out);
            self.promote(false, out);
        }
        !matches!(self.open, Open::Call(_))
    }

    /// Writes what waits, in order, up to the next call that is not complete.
    fn promote(&mut self, flush: bool, out: &mut Vec<u8>) {
        while let Some(piece) = self.waiting.pop_front() {
            self.write(piece, out);
            let Open::Call(number) = self.open else { continue };
            let more = !self.waiting.is_empty();
            if flush || self.call(number).is_some_and(|call| call.ended || (more && call.complete())) {
                self.close(out);
            } else {
                return;
            }
        }
    }

    fn write(&mut self, piece: Piece, out: &mut Vec<u8>) {
        match piece {
            Piece::Text(text) => self.write_text(&text, out),
            Piece::Reasoning(text) => self.write_reasoning(&text, out),
            Piece::Signed(signature) => {
                if self.open != Open::Thinking {
                    self.close(out);
                    self.frames.open_thinking(out);
                    self.open = Open::Thinking;
                }
                self.frames.signature(&signature, out);
                self.close(out);
            }
            Piece::Redacted(data) => {
                self.close(out);
                self.frames.redacted(&data, out);
            }
            Piece::Call(number) => self.open_call(number, out),
            Piece::Citation(citation) => {
                if let Open::Text { .. } = self.open {
                    self.frames.citation(&citation, out);
                    self.open = Open::Text { cited: true };
                }
            }
            Piece::Search { id, query, hits } => {
                self.close(out);
                self.frames.search(&id, &query, &hits, out);
            }
        }
    }

    fn write_text(&mut self, text: &Text<'_>, out: &mut Vec<u8>) {
        if self.open != (Open::Text { cited: false }) {
            self.close(out);
            self.frames.open_text(out);
            self.open = Open::Text { cited: false };
        }
        self.frames.delta(text, out);
    }

    fn write_reasoning(&mut self, text: &Text<'_>, out: &mut Vec<u8>) {
        if self.open != Open::Thinking {
            self.close(out);
            self.frames.open_thinking(out);
            self.open = Open::Thinking;
        }
        self.frames.delta(text, out);
    }

    fn call(&mut self, number: u32) -> Option<&mut Call> {
        self.calls.iter_mut().rev().find(|call| call.number == number)
    }

    /// Opens the block of a call and writes what has come of it.
    fn open_call(&mut self, number: u32, out: &mut Vec<u8>) {
        self.close(out);
        let Some(call) = self.calls.iter_mut().rev().find(|call| call.number == number) else { return };
        if self.cut && !call.is_silent() && call.object().is_none() {
            call.closed = true;
            return;
        }
        self.frames.open_call(&call.id, &call.name, out);
        self.open = Open::Call(number);
        if call.streams() && !call.is_silent() {
            self.frames.delta(&call.so_far(), out);
        }
    }

    pub(super) fn arguments(&mut self, number: u32, fragment: &Text<'_>, out: &mut Vec<u8>) {
        let live = self.open == Open::Call(number);
        let Some(call) = self.calls.iter_mut().rev().find(|call| call.number == number).filter(|call| !call.closed) else { return };
        call.push(fragment);
        if live && call.streams() {
            self.frames.delta(fragment, out);
        }
    }

    pub(super) fn end_call(&mut self, number: u32, out: &mut Vec<u8>) {
        if let Some(call) = self.call(number) {
            call.ended = true;
        }
        if self.open == Open::Call(number) {
            self.close(out);
            self.promote(false, out);
        }
    }

    /// Closes the open block, whatever it is.
    pub(super) fn close(&mut self, out: &mut Vec<u8>) {
        match std::mem::replace(&mut self.open, Open::None) {
            Open::None => return,
            Open::Text { .. } | Open::Thinking => {}
            Open::Call(number) => {
                if let Some(call) = self.calls.iter_mut().rev().find(|call| call.number == number) {
                    call.closed = true;
                    if !call.streams() {
                        self.frames.delta(&call.so_far(), out);
                    } else if call.is_silent() {
                        self.frames.delta(&Text::from("{}"), out);
                    }
                }
            }
        }
        self.frames.close(out);
    }

    /// Writes everything that waits: no call will get more.
    pub(super) fn flush(&mut self, out: &mut Vec<u8>) {
        if let Open::Call(_) = self.open {
            self.close(out);
        }
        self.promote(true, out);
    }

    pub(super) fn call_begins(&mut self, call: Call, out: &mut Vec<u8>) {
        let number = call.number;
        self.calls.push(call);
        self.put(Piece::Call(number), out);
    }
}
