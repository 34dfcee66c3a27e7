//! The texts of an answer and what was found in them.

use std::collections::HashSet;
use std::sync::Arc;

use super::arguments::Arguments;
use super::escape::{Walk, decode};
use super::event::{Marks, Slot, in_string};
use super::outlet::{Bench, Cut, Outlet};
use super::scan::Told;
use super::sight::{Ends, Field, Form, Key, Sight};
use super::track::Track;
use super::{chat, generate, messages, responses};
use crate::guardrails::RuleSet;
use crate::passage::BodyKind;
use crate::screening::report::Report;
use crate::wire::json::{Edit, Span};

/// Looks at what comes.
pub(super) struct Core {
    pub(super) kind: BodyKind,
    pub(super) rules: Arc<RuleSet>,
    pub(super) report: Report,
    pub(super) tracks: Vec<Track>,
    /// Texts that were told, in a dialect that tells them again.
    told: HashSet<Key>,
    /// The text that came last.
    last: Option<Key>,
    /// The choice that was seen last.
    group: Option<u32>,
    /// A rule that cuts the answer off found something.
    pub(super) stopping: bool,
    any_ended: bool,
}

impl Core {
    pub(super) fn new(kind: BodyKind, rules: Arc<RuleSet>) -> Self {
        Self {
            kind,
            rules,
            report: Report::default(),
            tracks: Vec::new(),
            told: HashSet::new(),
            last: None,
            group: None,
            stopping: false,
            any_ended: false,
        }
    }

    /// Looks at the data of one event. Returns the text of which there was more, where nothing else was in it.
    pub(super) fn look<'d>(&mut self, data: &'d [u8], marks: &mut Marks) -> Option<(Key, &'d [u8])> {
        if data.first() != Some(&b'{') && data.trim_ascii_start().starts_with(b"[DONE]") {
            self.end(Ends::All);
            return None;
        }
        let (kind, mut seen, mut only) = (self.kind, 0, None);
        read(kind, data, &mut |sight| {
            seen += 1;
            only = match sight {
                Sight::Piece { key, form: Form::Text, text, quiet: false } if seen == 1 => Some((key, text)),
                _ => None,
            };
            self.see(data, sight, marks);
        });
        only
    }

    /// Looks at data that have nothing but more of a text.
    pub(super) fn goes_on(&mut self, data: &[u8], key: Key, text: &[u8], marks: &mut Marks) {
        self.see(data, Sight::Piece { key, form: Form::Text, text, quiet: false }, marks);
    }

    /// Ends texts.
    pub(super) fn end(&mut self, ends: Ends) {
        let Self { rules, report, tracks, .. } = self;
        let mut bench = Bench { rules, report };
        let ending = |track: &&mut Track| match ends {
            Ends::One(key) => track.key == key,
            Ends::Group(group) => track.key.group == group,
            Ends::All => true,
        };
        for track in tracks.iter_mut().filter(ending) {
            track.end(&mut bench);
            self.stopping |= track.found.cut.is_some();
        }
        self.any_ended = true;
    }

    /// Settles the texts at these places, although they go on.
    pub(super) fn force(&mut self, places: &[usize]) {
        let Self { rules, report, tracks, .. } = self;
        let mut bench = Bench { rules, report };
        for at in places {
            if let Some(track) = tracks.get_mut(*at) {
                track.force(&mut bench);
                self.stopping |= track.found.cut.is_some();
            }
        }
        self.any_ended = true;
    }

    /// Forgets what has ended. Nothing may be held.
    pub(super) fn sweep(&mut self) {
        if std::mem::take(&mut self.any_ended) {
            self.tracks.retain(|track| !track.ended);
        }
    }

    fn see(&mut self, data: &[u8], sight: Sight<'_>, marks: &mut Marks) {
        match sight {
            Sight::Piece { key, .. } => {
                marks.goes_on = true;
                marks.news |= self.group.replace(key.group) != Some(key.group);
            }
            Sight::Whole { .. } | Sight::Content | Sight::Ends(_) => marks.news = true,
            Sight::Shadow { .. } | Sight::Reason(_) => {}
        }
        match sight {
            Sight::Piece { key, form, text, quiet } => self.piece(data, key, form, text, quiet, marks),
            Sight::Whole { key, form, text, quiet } => self.whole(data, key, form, text, quiet, marks),
            Sight::Shadow { value, with } => marks.besides_mut().shadows.push((Span::within(data, value), with)),
            Sight::Reason(value) => marks.besides_mut().reasons.push(Span::within(data, value)),
            Sight::Content => marks.content = true,
            Sight::Ends(ends) => self.end(ends),
        }
    }

    fn piece(&mut self, data: &[u8], key: Key, form: Form, text: &[u8], quiet: bool, marks: &mut Marks) {
        if text.is_empty() {
            return;
        }
        marks.content = true;
        self.turn_to(key);
        let place = key.field.place();
        if self.stopping || !self.rules.looks_at(place) {
            let slot = Slot { track: usize::MAX, span: Span::within(data, text), from: 0, to: text.len() };
            return marks.slots.push(slot);
        }
        let decoded = decode(text, true);
        let Self { rules, report, tracks, .. } = self;
        let mut bench = Bench { rules, report };
        bench.report.looked(place, decoded.len());
        let at = tracks.iter().rposition(|track| track.key == key).unwrap_or_else(|| {
            tracks.push(Track::new(&bench, key, form, quiet));
            tracks.len() - 1
        });
        let Some(track) = tracks.get_mut(at) else { return };
        let from = track.len;
        track.push(&mut bench, &decoded);
        self.stopping |= track.found.cut.is_some();
        marks.slots.push(Slot { track: at, span: Span::within(data, text), from, to: track.len });
        if self.kind == BodyKind::Responses {
            self.told.insert(key);
        }
    }

    /// A text goes on. Where the dialect does not say when a text ends, it ends when another of its choice begins.
    fn turn_to(&mut self, key: Key) {
        if self.last == Some(key) || key.field == Field::Other || matches!(self.kind, BodyKind::Messages | BodyKind::Responses) {
            return;
        }
        self.last = Some(key);
        let Self { rules, report, tracks, .. } = self;
        let mut bench = Bench { rules, report };
        for track in tracks.iter_mut().filter(|track| !track.ended && !track.key.goes_along(&key)) {
            track.pause(&mut bench);
            self.stopping |= track.found.cut.is_some();
            self.any_ended |= track.ended;
        }
    }

    fn whole(&mut self, data: &[u8], key: Key, form: Form, text: &[u8], quiet: bool, marks: &mut Marks) {
        let place = key.field.place();
        if text.is_empty() {
            return;
        }
        marks.content = true;
        if !quiet {
            self.turn_to(key);
        }
        if self.stopping || !self.rules.looks_at(place) {
            return;
        }
        let quiet = quiet || (self.kind == BodyKind::Responses && !self.told.insert(key));
        let mut bench = Bench { rules: &self.rules, report: &mut self.report };
        let escapes = matches!(form, Form::Text | Form::Json);
        let decoded = decode(text, escapes);
        if !quiet {
            bench.report.looked(place, decoded.len());
        }
        let mut found = Outlet { quiet, ..Outlet::default() };
        if form == Form::Text {
            let findings = bench.rules.scan(place, &decoded);
            let edits = bench.rules.edits(&decoded, 0, &findings);
            found.take(&mut bench, Told { findings, edits }, false, |at| at);
        } else {
            let mut arguments = Arguments::new(place, form == Form::Foreign);
            arguments.push(&mut bench, &mut found, &decoded);
            arguments.end(&mut bench, &mut found);
        }
        let base = Span::within(data, text).start;
        let mut walk = Walk::new(text, escapes);
        for change in found.changes {
            let (start, with) = (base + walk.find(change.start), change.with.unwrap_or_default());
            let with = if escapes { in_string(&with) } else { with };
            marks.besides_mut().fixed.push(Edit::replace(Span { start, end: base + walk.find(change.end) }, with));
        }
        if let Some(cut) = found.cut {
            self.stopping = true;
            let at = base + Walk::new(text, escapes).find(cut.at);
            let first = &mut marks.besides_mut().cut;
            if first.is_none_or(|first| at < first.at) {
                *first = Some(Cut { at, ..cut });
            }
        }
    }
}

/// Reads the data of one event of `kind`.
pub(super) fn read<'d>(kind: BodyKind, data: &'d [u8], see: super::sight::See<'_, 'd>) {
    match kind {
        BodyKind::ChatCompletions | BodyKind::Completions => chat::read(data, see),
        BodyKind::Messages => messages::read(data, see),
        BodyKind::GenerateContent => generate::read(data, see),
        BodyKind::Responses => responses::read(data, see),
        // These do not stream text.
        BodyKind::CountTokens | BodyKind::Embeddings | BodyKind::Images | BodyKind::Audio | BodyKind::Moderations => {}
    }
}
