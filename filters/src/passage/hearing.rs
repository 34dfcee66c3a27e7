//! Listening to an answer for its text, with a shortcut for streams whose events are all alike.

mod texts;

use std::sync::LazyLock;

use memchr::memmem::Finder;

use self::texts::{Give, Piece};
use super::BodyKind;
use crate::tokens::{Heard, Hearing};
use crate::wire::groove::Groove;
use crate::wire::json::string_end;

/// Longest part of an event beside its text that is remembered, in bytes.
const GROOVE_LIMIT: usize = 512;

static DELTA: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"delta\":\""));

/// Listens to one answer.
#[derive(Debug)]
pub(super) struct Ear {
    heard: Heard,
    groove: Groove,
}

impl Ear {
    pub(super) fn new(hearing: Hearing) -> Self {
        Self { heard: Heard::new(hearing), groove: Groove::default() }
    }

    pub(super) fn into_heard(self) -> Heard {
        self.heard
    }

    /// Takes the text of the value that `bytes` start with if all around it is as around the last one, and returns the value's
    /// length; what held of the last one holds of this then.
    #[inline]
    pub(super) fn follows(&mut self, bytes: &[u8]) -> Option<usize> {
        let (text, length) = self.groove.follow(bytes)?;
        self.heard.escaped(text);
        Some(length)
    }

    /// Takes the texts of a chunk's choices. `repeats` tells that all around the text may be remembered.
    pub(super) fn choices(&mut self, value: &[u8], repeats: bool) {
        self.walk(value, repeats, texts::choices);
    }

    /// Takes the text of a `content_block_start` or `content_block_delta`.
    pub(super) fn block(&mut self, event: &[u8]) {
        self.walk(event, true, texts::block_event);
    }

    /// Takes the texts of a chunk's candidates.
    pub(super) fn candidates(&mut self, value: &[u8], repeats: bool) {
        self.walk(value, repeats, texts::candidates);
    }

    /// Takes the text of a responses delta. Its events are numbered, so that nothing around the text repeats.
    pub(super) fn delta(&mut self, event: &[u8]) {
        let found = DELTA.find(event).map(|at| at + DELTA.needle().len());
        match found.and_then(|start| event.get(start..string_end(event, start)?.0 - 1)) {
            Some(text) => self.heard.escaped(text),
            None => self.walk(event, false, texts::delta),
        }
    }

    /// Takes the name of a call that begins.
    pub(super) fn item(&mut self, item: &[u8]) {
        self.walk(item, false, texts::name);
    }

    /// Takes the texts of the answer that a responses stream ends with, if it told none before.
    pub(super) fn outcome(&mut self, response: &[u8]) {
        if self.heard.is_empty() {
            self.document(BodyKind::Responses, response);
        }
    }

    /// Takes the texts of a whole answer.
    pub(super) fn document(&mut self, body: BodyKind, data: &[u8]) {
        self.walk(data, false, |data, give| texts::document(body, data, give));
    }

    fn walk<'v>(&mut self, value: &'v [u8], repeats: bool, texts: impl FnOnce(&'v [u8], Give<'_, 'v>)) {
        let Self { heard, groove } = self;
        let (mut only, mut others) = (None, false);
        texts(value, &mut |piece| {
            others |= only.is_some();
            match piece {
                Piece::Text(inner) => {
                    heard.escaped(inner);
                    only = Some(inner);
                }
                Piece::Json(json) => {
                    heard.json(json);
                    others = true;
                }
            }
        });
        if let (Some(inner), false, true) = (only, others, repeats) {
            groove.learn(value, inner, GROOVE_LIMIT);
        }
    }
}

#[cfg(test)]
mod tests;
