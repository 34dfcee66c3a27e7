//! One view of a text that comes piece by piece: what is kept of it, and how far it is decided.

use super::map::Map;
use super::set::{Lens, RuleSet};
use super::spans::Spans;
use super::view::View;
use super::walk::Walk;

/// Starts that stayed open for fewer bytes are looked at again with every piece.
const SHORT: usize = 64;
/// Bytes of memory that are kept for the text to come.
const ROOM: usize = 256;

/// A text as it is, or folded, from a little before the first start that is not decided.
#[derive(Clone, Default)]
pub(super) struct Track {
    text: String,
    /// What was in front of `text`, in bytes.
    base: usize,
    /// Its cursor is an offset in `text`; at least one character is kept before it, if there was one.
    walk: Walk,
    /// The length of the whole text from which it is worth looking at the cursor again.
    again: usize,
}

impl Track {
    /// The text may be appended to.
    pub(super) const fn text_mut(&mut self) -> &mut String {
        &mut self.text
    }

    /// What is kept of the text, and how many bytes were in front of it.
    pub(super) fn kept(&self) -> (&str, usize) {
        (&self.text, self.base)
    }

    /// The first offset of the original that is not decided.
    pub(super) fn frontier(&self, map: Option<&Map>) -> usize {
        self.view(map).original_start(self.walk.cursor)
    }

    /// The same text seen from where it is not decided, with no more than is needed, and the map to go on with.
    pub(super) fn fork(&self) -> (Self, Map) {
        let mut fork = self.clone();
        fork.forget(fork.base + fork.walk.cursor);
        let mut map = Map::at(fork.base);
        map.same(fork.text.len());
        (fork, map)
    }

    /// Decides what can be decided. What is found goes to `spans`.
    pub(super) fn advance(&mut self, set: &RuleSet, lens: &Lens, map: Option<&Map>, ended: bool, spans: &mut Spans) {
        if !ended && self.base + self.text.len() < self.again {
            return;
        }
        let view = View { text: &self.text, base: self.base, map };
        let open = self.walk.advance((set, lens), &view, ended, |_, _| true, spans);
        let waited = self.text.len() - self.walk.cursor;
        // Long waits are looked at less often, so that their cost stays in proportion to the text.
        self.again = if open && waited >= SHORT { self.base + self.text.len() + waited / 8 } else { 0 };
    }

    /// Drops text that nobody asks for any more: what is before `keep`, an offset of the whole text, and before the cursor, but for a
    /// character.
    pub(super) fn forget(&mut self, keep: usize) {
        let keep = self.walk.cursor.min(keep.saturating_sub(self.base));
        let gone = self.text.floor_char_boundary(keep.saturating_sub(1));
        if gone > 0 {
            self.text.drain(..gone);
            if self.text.capacity() > ROOM && self.text.len() < ROOM {
                self.text.shrink_to(ROOM);
            }
            self.base += gone;
            self.walk.cursor -= gone;
        }
    }

    /// Whether this folded view has come to be the same as the view `raw` of the text as it is: from a character before the cursor on
    /// they are the same text, and they have decided the same.
    pub(super) fn joins(&self, map: &Map, raw: &Self) -> bool {
        let (own, other) = (self.base + self.walk.cursor, raw.base + raw.walk.cursor);
        map.start(own) == other && map.changed_until() < other && self.walk.ahead(self.base) == raw.walk.ahead(raw.base)
    }

    /// The offset of the whole text at which what is kept begins.
    pub(super) const fn base(&self) -> usize {
        self.base
    }

    fn view<'a>(&'a self, map: Option<&'a Map>) -> View<'a> {
        View { text: &self.text, base: self.base, map }
    }
}
