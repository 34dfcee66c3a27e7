//! One tool call as far as it came.

use crate::canonical::{Event, Signature, Sink, Text};
use crate::shape::Shape;

/// A call whose pieces are being gathered.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// The provider's index, where it gives one.
    pub(super) index: Option<u64>,
    /// The provider's id, or empty.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) custom: bool,
    pub(super) signature: Option<String>,
    /// Arguments that came before the name.
    pub(super) held: String,
    /// Its number, once it was given.
    pub(super) number: Option<u32>,
    pub(super) ended: bool,
    pub(super) json: Nesting,
}

impl Call {
    /// Takes a piece of the name. Some services repeat the name, some send what they have so far, some send it in pieces.
    pub(super) fn named(&mut self, piece: &str) {
        if self.number.is_some() || piece == self.name {
            return;
        }
        if piece.starts_with(&self.name) {
            self.name.clear();
        }
        self.name.push_str(piece);
    }

    /// Gives the beginning of the call, and what was held back.
    pub(super) fn give_start(&mut self, choice: u32, number: u32, id: String, sink: Sink<'_>) {
        self.number = Some(number);
        let signature =
            self.signature.as_deref().map(|token| Signature { shape: Shape::ChatCompletions, origin: None, value: Text::from(token) });
        let (id, name) = (Text::from(id), Text::from(self.name.as_str()));
        sink(Event::ToolStart { choice, call: number, id, name, custom: self.custom, signature });
        if !self.held.is_empty() {
            sink(Event::ToolArguments { choice, call: number, fragment: Text::from(std::mem::take(&mut self.held)) });
        }
    }
}

/// Tells whether pieces of JSON make up a whole object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nesting {
    depth: u32,
    within: bool,
    escaped: bool,
    begun: bool,
}

impl Nesting {
    pub(super) fn feed(&mut self, piece: &str) {
        for byte in piece.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.within => self.escaped = true,
                b'"' => self.within = !self.within,
                b'{' | b'[' if !self.within => {
                    self.depth += 1;
                    self.begun = true;
                }
                b'}' | b']' if !self.within => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    pub(super) const fn is_whole(&self) -> bool {
        self.begun && self.depth == 0
    }
}
