//! A text as rules look at it: as it is, or folded.

use super::map::Map;

/// How much further than its bound a match may reach in a text that was folded: room for characters that vanish or shrink.
/// Little in tests, so that short texts come to it.
pub(super) const STRETCH: usize = if cfg!(test) { 256 } else { 65_536 };

/// A text, or what is kept of one, with offsets counted from the start of `text`.
#[derive(Clone, Copy)]
pub(super) struct View<'t> {
    pub(super) text: &'t str,
    /// What was in front of `text`, in bytes.
    pub(super) base: usize,
    /// Where folded characters came from; `None` for a text as it is.
    pub(super) map: Option<&'t Map>,
}

impl<'t> View<'t> {
    /// A whole text as it is.
    pub(super) const fn whole(text: &'t str) -> Self {
        Self { text, base: 0, map: None }
    }

    /// A whole text, folded.
    pub(super) const fn folded(text: &'t str, map: &'t Map) -> Self {
        Self { text, base: 0, map: Some(map) }
    }

    /// Where a match that starts at `start` and has at most `max` bytes has to end.
    pub(super) fn limit(&self, start: usize, max: usize) -> usize {
        let limit = self.text.len().min(start.saturating_add(max));
        let Some((map, reach)) = self.reach(start, max) else { return limit };
        // The character before is left out as well, so that what comes after the limit is known.
        let seen = self.text.floor_char_boundary(map.upto(reach).saturating_sub(self.base));
        limit.min(self.text.floor_char_boundary(seen.saturating_sub(1)))
    }

    /// Whether enough of the text is there to tell what starts at `start`, whatever comes later.
    pub(super) fn is_decided(&self, start: usize, max: usize) -> bool {
        self.text.len() > start.saturating_add(max) || self.reach(start, max).is_some()
    }

    /// Whether so much has vanished from the original after `start` that a match there may be decided by that.
    pub(super) fn is_stretched(&self, start: usize) -> bool {
        self.reach(start, 0).is_some()
    }

    /// How far a match that starts at `start` may reach in the original, where that much of it was seen.
    fn reach(&self, start: usize, max: usize) -> Option<(&'t Map, usize)> {
        let map = self.map?;
        let reach = map.start(self.base + start).saturating_add(STRETCH).saturating_add(max);
        (map.original_len() > reach).then_some((map, reach))
    }

    /// Where the character at `at` begins in the original.
    pub(super) fn original_start(&self, at: usize) -> usize {
        self.map.map_or(self.base + at, |map| map.start(self.base + at))
    }

    /// Where the character before `at` ends in the original.
    pub(super) fn original_end(&self, at: usize) -> usize {
        self.map.map_or(self.base + at, |map| map.end(self.base + at))
    }

    /// The offset of the character after the one at `at`.
    pub(super) fn next(&self, at: usize) -> usize {
        self.text.ceil_char_boundary(at + 1)
    }
}
