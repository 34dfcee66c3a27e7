//! An event that is held, and how it is written with its texts changed.

use std::borrow::Cow;

use bytes::Bytes;
use smallvec::SmallVec;

use super::escape::{Walk, escaped};
use super::outlet::{Change, Cut};
use super::track::Track;
use crate::wire::json::{Edit, Span, splice};
use crate::wire::sse::{Fields, lines};

/// Where the data of an event lies.
#[derive(Clone, Copy, Debug)]
pub(super) enum Data {
    /// In one line of an event.
    Line(Span),
    /// It is the element of an array, and ends the frame.
    Element(Span),
    /// In several lines of an event.
    Lines,
    None,
}

/// An event as it came.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) raw: Bytes,
    pub(super) data: Data,
    pub(super) marks: Marks,
}

/// What was seen in an event; spans count in its data.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Nearly always one.
    pub(super) slots: SmallVec<[Slot; 1]>,
    besides: Option<Box<Besides>>,
    /// There is something in it that the client shows.
    pub(super) content: bool,
    /// It has more of a choice that was seen before.
    pub(super) goes_on: bool,
    /// There is something in it besides.
    pub(super) news: bool,
}

/// What few events have.
#[derive(Debug, Default)]
pub(super) struct Besides {
    /// Changes that are known.
    pub(super) fixed: Vec<Edit<'static>>,
    /// What cuts the answer off in a text that came whole.
    pub(super) cut: Option<Cut>,
    pub(super) shadows: Vec<(Span, &'static [u8])>,
    pub(super) reasons: Vec<Span>,
}

/// A stretch of a text, and where it lies in an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Beyond all texts where nothing looks at it.
    pub(super) track: usize,
    /// Between the quotes.
    pub(super) span: Span,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Data {
    pub(super) fn of_event(raw: &[u8]) -> (Self, Cow<'_, [u8]>) {
        let fields = Fields::read(raw);
        let data = fields.data(raw);
        match fields.data_span() {
            Some(span) => (Self::Line(span), data),
            None if fields.has_data() => (Self::Lines, data),
            None => (Self::None, data),
        }
    }

    pub(super) fn of<'r>(&self, raw: &'r [u8]) -> Cow<'r, [u8]> {
        match self {
            Self::Line(span) | Self::Element(span) => Cow::Borrowed(span.of(raw)),
            Self::Lines => Fields::read(raw).data(raw),
            Self::None => Cow::Borrowed(&[]),
        }
    }

    /// The data of `raw`, which may have come from [`Self::replaced`].
    pub(super) fn of_changed<'r>(&self, raw: &'r [u8]) -> Cow<'r, [u8]> {
        match self {
            Self::Element(span) => Cow::Borrowed(raw.get(span.start..).unwrap_or_default()),
            Self::Line(_) | Self::Lines => Fields::read(raw).data(raw),
            Self::None => Cow::Borrowed(&[]),
        }
    }

    /// `raw` with other data.
    pub(super) fn replaced(&self, raw: &[u8], data: &[u8]) -> Vec<u8> {
        match self {
            Self::Line(span) | Self::Element(span) => splice(raw, &mut [Edit::replace(*span, data)]),
            Self::Lines => with_lines(raw, data),
            Self::None => raw.to_vec(),
        }
    }
}

/// The event `raw` with `data` in place of its data lines.
fn with_lines(raw: &[u8], data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut written = false;
    for line in lines(raw) {
        if !line.is_data(raw) {
            out.extend_from_slice(line.whole.of(raw));
        } else if !std::mem::replace(&mut written, true) {
            for part in data.split(|byte| *byte == b'\n') {
                out.extend_from_slice(&[b"data: ", part, b"\n"].concat());
            }
        }
    }
    out
}

impl Marks {
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.besides = None;
        (self.content, self.goes_on, self.news) = (false, false, false);
    }

    /// What it has besides texts that go on, to be added to.
    pub(super) fn besides_mut(&mut self) -> &mut Besides {
        self.besides.get_or_insert_default()
    }

    /// What it has besides texts that go on.
    pub(super) fn besides(&self) -> Option<&Besides> {
        self.besides.as_deref()
    }

    /// Whether it has nothing but more of a choice that was seen before.
    pub(super) const fn only_goes_on(&self) -> bool {
        self.goes_on && !self.news
    }

    /// Whether nothing in it can change any more.
    pub(super) fn is_settled(&self, tracks: &[Track]) -> bool {
        self.slots.iter().all(|slot| tracks.get(slot.track).is_none_or(|track| slot.to <= track.upto))
    }

    /// Whether it is settled and stays as it is.
    pub(super) fn passes(&self, tracks: &[Track]) -> bool {
        let same = |slot: &Slot| tracks.get(slot.track).is_none_or(|track| slot.to <= track.upto && track.found.changes.is_empty());
        self.besides.as_ref().is_none_or(|besides| besides.fixed.is_empty()) && self.slots.iter().all(same)
    }

    /// The changes to the data, those of a text only up to `until` where it is cut off. They are written once.
    pub(super) fn edits(&self, tracks: &mut [Track], data: &[u8]) -> Vec<Edit<'static>> {
        let besides = self.besides.as_deref();
        let mut edits = besides.map(|besides| besides.fixed.clone()).unwrap_or_default();
        for slot in &self.slots {
            if let Some(track) = tracks.get_mut(slot.track) {
                slot.edits(&mut track.found.changes, data, slot.to, &mut edits);
            }
        }
        if let Some(besides) = besides.filter(|_| !edits.is_empty()) {
            edits.extend(besides.shadows.iter().map(|(span, with)| Edit::replace(*span, *with)));
        }
        edits
    }
}

impl Slot {
    /// The changes to this stretch up to `until`.
    pub(super) fn edits(&self, changes: &mut Vec<Change>, data: &[u8], until: usize, edits: &mut Vec<Edit<'static>>) {
        if changes.is_empty() {
            return;
        }
        let mut walk = Walk::new(self.span.of(data), true);
        let mut find = |at: usize| self.span.start + walk.find(at.saturating_sub(self.from));
        for change in changes.iter_mut().filter(|change| change.start < until && change.end > self.from) {
            let start = find(change.start.max(self.from));
            let span = Span { start, end: find(change.end.min(until)) };
            edits.push(Edit::replace(span, change.with.take().map(|with| in_string(&with)).unwrap_or_default()));
        }
        changes.retain(|change| change.end > self.to);
    }

    /// Where the place `at` of the text lies in the data.
    pub(super) fn find(&self, data: &[u8], at: usize) -> usize {
        self.span.start + Walk::new(self.span.of(data), true).find(at.saturating_sub(self.from))
    }
}

/// `text` as it stands between the quotes of a string.
pub(super) fn in_string(text: &[u8]) -> Vec<u8> {
    escaped(&String::from_utf8_lossy(text))
}

impl Event {
    /// The event with its texts changed; `None` where it stays as it is.
    pub(super) fn changed(&self, tracks: &mut [Track]) -> Option<Vec<u8>> {
        let data = self.data.of(&self.raw);
        let mut edits = self.marks.edits(tracks, &data);
        (!edits.is_empty()).then(|| self.data.replaced(&self.raw, &splice(&data, &mut edits)))
    }
}
