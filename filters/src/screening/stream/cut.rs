//! An event of which only the front may leave.

use super::event::{Event, Slot};
use super::outlet::Cut;
use super::track::Track;
use crate::guardrails::Finding;
use crate::passage::BodyKind;
use crate::wire::json::{Edit, Kind, Span, elements, members, splice};

/// Where an event is cut: in one of its stretches, or in a text that came whole.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edge {
    Slot(Slot, Cut),
    Whole(Cut),
}

impl Edge {
    pub(super) const fn finding(&self) -> &Finding {
        match self {
            Self::Slot(_, cut) | Self::Whole(cut) => &cut.finding,
        }
    }

    fn at(&self, data: &[u8]) -> usize {
        match self {
            Self::Slot(slot, cut) => slot.find(data, cut.at),
            Self::Whole(cut) => cut.at,
        }
    }
}

impl Event {
    /// Where it is cut, if it is: the first place that is.
    pub(super) fn edge(&self, tracks: &[Track]) -> Option<Edge> {
        let data = self.data.of(&self.raw);
        let slots = self.marks.slots.iter().filter_map(|slot| {
            let cut = tracks.get(slot.track)?.found.cut?;
            (slot.from <= cut.at && cut.at < slot.to).then_some(Edge::Slot(*slot, cut))
        });
        let whole = self.marks.besides().and_then(|besides| besides.cut).map(Edge::Whole);
        slots.chain(whole).min_by_key(|edge| edge.at(&data))
    }

    /// What of it comes before `edge`, and whether that shows anything; `None` where it cannot be sent in part.
    pub(super) fn front(&self, kind: BodyKind, edge: &Edge, tracks: &mut [Track]) -> Option<(Vec<u8>, bool)> {
        let data = self.data.of(&self.raw);
        let at = edge.at(&data);
        let whole = matches!(edge, Edge::Whole(_));
        if whole && kind != BodyKind::GenerateContent {
            return None;
        }
        let mut edits = prune(&data, at, whole)?;
        let besides = self.marks.besides();
        edits.extend(besides.iter().flat_map(|besides| &besides.fixed).filter(|edit| edit.span.start < at).cloned());
        let mut shows = false;
        for slot in &self.marks.slots {
            if slot.span.start > at {
                edits.push(Edit::replace(slot.span, &b""[..]));
                continue;
            }
            let until = match edge {
                Edge::Slot(cut_slot, cut) if cut_slot.span == slot.span => {
                    edits.push(Edit::replace(Span { start: at, end: slot.span.end }, &b""[..]));
                    cut.at
                }
                _ => slot.to,
            };
            shows |= until > slot.from;
            if let Some(track) = tracks.get_mut(slot.track) {
                slot.edits(&mut track.found.changes, &data, until, &mut edits);
            }
        }
        if let Some(besides) = besides {
            edits.extend(besides.reasons.iter().map(|span| Edit::replace(*span, &b"null"[..])));
            edits.extend(besides.shadows.iter().map(|(span, with)| Edit::replace(*span, *with)));
        }
        Some((self.data.replaced(&self.raw, &splice(&data, &mut edits)), shows))
    }
}

/// Edits that take out of lists what comes after the element with the place `at`; with `part_too`, that element of `parts` goes as well.
/// `None` where it is to go and no part would be left.
fn prune(data: &[u8], at: usize, part_too: bool) -> Option<Vec<Edit<'static>>> {
    let mut edits = Vec::new();
    let mut gone = |from: usize, end: usize| edits.push(Edit::replace(Span { start: from, end }, &b""[..]));
    let (mut base, mut value, mut in_parts) = (0, data, false);
    loop {
        let inside = |span: Span| span.shifted(base).start <= at && at < span.shifted(base).end;
        let end = base + value.len().saturating_sub(1);
        let (next, kind, parts) = if value.first() == Some(&b'[') {
            let before = elements(value).take_while(|one| one.span.end + base <= at).last();
            let Some(one) = elements(value).find(|one| inside(one.span)) else { break };
            if in_parts && part_too {
                gone(base + before?.span.end, end);
                return Some(edits);
            }
            gone(base + one.span.end, end);
            (one.span, one.kind, false)
        } else {
            let Some(member) = members(value).find(|member| inside(member.span)) else { break };
            (member.span, member.kind, member.is("parts"))
        };
        if !matches!(kind, Kind::Object | Kind::Array) {
            break;
        }
        value = next.of(value);
        (base, in_parts) = (base + next.start, parts);
    }
    (!part_too).then_some(edits)
}
