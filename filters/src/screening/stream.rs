//! The screening of an answer that is streamed: the bytes for the client go in, in any cut, and what may leave comes out.
//!
//! Whole events are held, never parts, and leave in order: each once nothing that is found later can change a text of it. Where nothing
//! is found the bytes that leave are those that came, and an event in which no match has begun leaves at once.

mod arguments;
mod chat;
mod closing;
mod cut;
mod escape;
mod event;
mod frames;
mod generate;
mod grammar;
mod look;
mod messages;
mod number;
mod outlet;
mod repeat;
mod responses;
mod runs;
mod scan;
mod sight;
mod stop;
#[cfg(test)]
mod tests;
mod track;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use self::closing::Memory;
use self::event::{Data, Event, Marks};
use self::frames::Frames;
use self::look::Core;
use self::repeat::{Again, Repeat};
use self::sight::Ends;
pub use self::stop::{Closing, Stop};
use crate::guardrails::{Decision, Place, Rule, RuleSet};
use crate::passage::{BodyKind, Framing, Output};
use crate::screening::report::Report;
use crate::wire::framing::{FRAME_LIMIT, Frame, FrameTooLarge};

/// Bytes of events that are held at most, but for a single one that has more. Beyond that the text that holds them up is taken as ended.
const HELD: usize = 4 << 20;

/// The places of answers.
const ANSWER: [Place; 3] = [Place::Answer, Place::Reasoning, Place::ToolArguments];

/// An answer under content rules, on its way to the client.
pub struct AnswerScreen {
    core: Core,
    frames: Frames,
    repeat: Repeat,
    closing: Closing,
    marks: Marks,
    held: VecDeque<Event>,
    held_bytes: usize,
    /// What the end of an answer that is cut off needs; none where no rule cuts answers off.
    memory: Option<Box<Memory>>,
    stopped: Option<Decision>,
    sent: bool,
    failed: Option<FrameTooLarge>,
}

impl AnswerScreen {
    /// A screen for one answer of `kind` in the client's shape. Any framing but a JSON array is read as server-sent events.
    #[must_use]
    pub fn new(rules: Arc<RuleSet>, kind: BodyKind, framing: Framing, closing: Closing) -> Self {
        let array = framing == Framing::JsonArray;
        let looks = |rule: &Rule| ANSWER.into_iter().any(|place| rule.places().contains(place));
        let stops = rules.rules().iter().any(|rule| looks(rule) && Stop::of(rule.action()).is_some());
        Self {
            memory: stops.then(|| Box::new(Memory::new(kind, array))),
            core: Core::new(kind, rules),
            frames: Frames::new(array),
            repeat: Repeat::default(),
            closing,
            marks: Marks::default(),
            held: VecDeque::new(),
            held_bytes: 0,
            stopped: None,
            sent: false,
            failed: None,
        }
    }

    /// Whether any of `rules` looks at answers; where none does no screen is needed.
    #[must_use]
    pub fn is_needed(rules: &RuleSet) -> bool {
        ANSWER.into_iter().any(|place| rules.looks_at(place))
    }

    /// Takes the next piece and returns what to send on now. `end` tells that nothing follows.
    ///
    /// # Errors
    /// When an event exceeds its bound, after everything before it was returned.
    pub fn push(&mut self, piece: Bytes, end: bool) -> Result<Bytes, FrameTooLarge> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.stopped.is_some() {
            return Ok(Bytes::new());
        }
        if !end
            && self.frames.between_events()
            && piece.len() <= FRAME_LIMIT
            && let Some(again) = self.repeat.of(&piece)
        {
            return Ok(self.again(piece, again));
        }
        let mut out = Output::default();
        self.frames.push(piece);
        let piece = self.frames.piece().clone();
        while self.stopped.is_none() && self.failed.is_none() {
            match self.frames.next_frame() {
                Ok(Some(frame)) => self.frame(&piece, frame, false, &mut out),
                Ok(None) => break,
                Err(error) => self.failed = Some(error),
            }
        }
        if end && self.stopped.is_none() && self.failed.is_none() {
            self.end(&piece, &mut out);
        }
        let sent = out.finish(&piece);
        self.frames.release();
        match self.failed {
            Some(error) if sent.is_empty() => Err(error),
            _ => Ok(sent),
        }
    }

    /// What cut the answer off, if anything did: nothing that came after it leaves.
    #[must_use]
    pub const fn stopped(&self) -> Option<&Decision> {
        self.stopped.as_ref()
    }

    /// Whether the client was sent any of the answer proper. Where it was not, what came out may still be put aside for an error status.
    #[must_use]
    pub const fn has_sent(&self) -> bool {
        self.sent
    }

    /// What was looked at and found so far.
    #[must_use]
    pub const fn report(&self) -> &Report {
        &self.core.report
    }

    /// Bytes of events that are held back.
    #[must_use]
    pub const fn held_back(&self) -> usize {
        self.held_bytes
    }

    fn frame(&mut self, piece: &Bytes, frame: Frame, last: bool, out: &mut Output) {
        let raw: &[u8] = match &frame {
            Frame::Within(range) => piece.get(range.clone()).unwrap_or_default(),
            Frame::Carried { raw, .. } => raw,
        };
        let data = match self.repeat.of(raw) {
            Some(again) => {
                self.frames.passed();
                self.goes_on(raw, again)
            }
            None => self.look(raw),
        };
        if !last && self.passes(raw, data) {
            return out.keep(frame);
        }
        if last {
            // It lies behind all of the piece that was sent on.
            let raw = Bytes::copy_from_slice(raw);
            self.hold(raw, data);
            return self.drain(piece, out);
        }
        let raw = match &frame {
            Frame::Within(range) if range.len() < piece.len() / 2 => Bytes::copy_from_slice(raw),
            Frame::Within(range) => piece.slice(range.clone()),
            Frame::Carried { raw, .. } => raw.clone(),
        };
        out.omit(piece, &frame);
        self.hold(raw, data);
        self.drain(piece, out);
    }

    /// Takes a piece that is one event like the last one but for its text.
    fn again(&mut self, piece: Bytes, again: Again) -> Bytes {
        let data = self.goes_on(&piece, again);
        if self.passes(&piece, data) {
            return piece;
        }
        let (nothing, mut out) = (Bytes::new(), Output::default());
        self.hold(piece, data);
        self.drain(&nothing, &mut out);
        out.finish(&nothing)
    }

    /// Looks at an event; returns where its data lies.
    fn look(&mut self, raw: &[u8]) -> Data {
        self.marks.clear();
        let (data, bytes) = self.frames.data(raw);
        if let Data::None = data {
            // Only the bracket that ends an array has no data and ends texts.
            self.frames.closes(raw).then(|| self.core.end(Ends::All));
        } else {
            let only = self.core.look(&bytes, &mut self.marks);
            self.repeat.learn(raw, data, only);
        }
        data
    }

    /// The same for an event that is known but for its text.
    fn goes_on(&mut self, raw: &[u8], Again { key, data, text }: Again) -> Data {
        self.marks.clear();
        self.core.goes_on(data.of(raw), key, text.of(raw), &mut self.marks);
        if self.frames.is_array() { Data::Element(data) } else { Data::Line(data) }
    }

    /// Whether the event that was looked at last leaves at once, as it is. Then that is noted.
    fn passes(&mut self, raw: &[u8], data: Data) -> bool {
        let passes = self.held.is_empty() && !self.core.stopping && self.marks.passes(&self.core.tracks);
        if passes {
            self.sent |= self.marks.content;
            if let Some(memory) = &mut self.memory {
                memory.note(&data.of(raw), self.marks.only_goes_on());
            }
            self.core.sweep();
        }
        passes
    }

    fn hold(&mut self, raw: Bytes, data: Data) {
        self.held_bytes += raw.len();
        self.held.push_back(Event { raw, data, marks: std::mem::take(&mut self.marks) });
    }

    /// Sends what is settled.
    fn drain(&mut self, piece: &Bytes, out: &mut Output) {
        if self.core.stopping {
            return self.stop(piece, out);
        }
        while let Some(event) = self.held.front() {
            if !event.marks.is_settled(&self.core.tracks) {
                if self.held_bytes <= HELD || self.held.len() < 2 {
                    return;
                }
                let stuck: Vec<_> = event.marks.slots.iter().map(|slot| slot.track).collect();
                self.core.force(&stuck);
                if self.core.stopping {
                    return self.stop(piece, out);
                }
            }
            self.send_first(piece, out);
        }
        self.core.sweep();
    }

    /// Sends the first event that is held.
    fn send_first(&mut self, piece: &Bytes, out: &mut Output) {
        let Some(event) = self.held.pop_front() else { return };
        self.held_bytes -= event.raw.len();
        self.sent |= event.marks.content;
        let changed = event.changed(&mut self.core.tracks);
        if let Some(memory) = &mut self.memory {
            let data = match &changed {
                Some(raw) => event.data.of_changed(raw),
                None => event.data.of(&event.raw),
            };
            memory.note(&data, event.marks.only_goes_on());
        }
        out.append(piece, changed.map_or(event.raw, Bytes::from));
    }

    /// The answer is cut off: what comes before the first match leaves, then what ends it.
    #[cold]
    fn stop(&mut self, piece: &Bytes, out: &mut Output) {
        self.core.end(Ends::All);
        let mut edge = None;
        while let Some(event) = self.held.front() {
            edge = event.edge(&self.core.tracks);
            if edge.is_some() {
                break;
            }
            self.send_first(piece, out);
        }
        let cuts = || self.core.tracks.iter().find_map(|track| track.found.cut);
        let Some(finding) = edge.map(|edge| *edge.finding()).or_else(|| cuts().map(|cut| cut.finding)) else { return };
        self.stopped = self.core.rules.resolve(&[finding]);
        let mut front = Vec::new();
        if let Some((edge, event)) = edge.zip(self.held.pop_front())
            && let Some((raw, shows)) = event.front(self.core.kind, &edge, &mut self.core.tracks)
        {
            self.sent |= shows;
            if let Some(memory) = &mut self.memory {
                memory.note(&event.data.of_changed(&raw), event.marks.only_goes_on());
            }
            front = raw;
            if !self.frames.is_array() && !front.ends_with(b"\n\n") && !front.ends_with(b"\r\n\r\n") {
                front.extend_from_slice(b"\n\n");
            }
        }
        let stop = self.stopped.as_ref().and_then(|decision| Stop::of(decision.action())).unwrap_or(Stop::Refuse);
        if let Some(memory) = &mut self.memory {
            memory.close(&stop, &self.closing, &mut front);
        }
        out.append(piece, Bytes::from(front));
        // Nothing is read any more.
        (self.held, self.held_bytes) = (VecDeque::new(), 0);
        (self.core.tracks, self.marks, self.memory) = (Vec::new(), Marks::default(), None);
        self.frames = Frames::new(self.frames.is_array());
    }

    /// Nothing follows: what is left of the bytes leaves if it is whole, and then everything that is held.
    fn end(&mut self, piece: &Bytes, out: &mut Output) {
        if let Some(raw) = self.frames.last() {
            self.frame(piece, Frame::Carried { raw, end: piece.len() }, true, out);
        }
        if self.stopped.is_none() {
            self.core.end(Ends::All);
            self.drain(piece, out);
        }
    }
}

impl fmt::Debug for AnswerScreen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerScreen")
            .field("kind", &self.core.kind)
            .field("held", &self.held.len())
            .field("stopped", &self.stopped.is_some())
            .field("sent", &self.sent)
            .finish_non_exhaustive()
    }
}
