//! Looking at a text that comes piece by piece, with the same result as for the whole.

use std::fmt;
use std::sync::Arc;

use super::decision::Finding;
use super::fold;
use super::map::Map;
use super::place::Place;
use super::set::RuleSet;
use super::spans::Spans;
use super::track::Track;

/// A text that comes piece by piece, and what rules find in it.
///
/// Text is held back only from where a match may have begun, so a text in which nothing begins is settled as it comes. What is kept
/// never exceeds the largest bound of a match by much; see [`Stream::push`].
pub struct Stream {
    rules: Arc<RuleSet>,
    place: Place,
    len: usize,
    raw: Track,
    /// The folded text and where it came from, while it differs.
    folded: Option<Box<(Track, Map)>>,
    spans: Spans,
    /// How far it was settled the last time.
    upto: usize,
}

/// How far a text is settled, and what was found since the last time.
#[derive(Clone, PartialEq, Eq)]
pub struct Settled {
    /// Bytes from the start of the text that no finding told later touches.
    pub upto: usize,
    /// What was found before that and was not told yet, in order.
    pub findings: Vec<Finding>,
    /// The text from where it was settled before; empty where nothing was found.
    pub text: String,
}

impl Stream {
    /// A text at `place` of which nothing came yet.
    #[must_use]
    pub fn new(rules: &Arc<RuleSet>, place: Place) -> Self {
        Self { rules: rules.clone(), place, len: 0, raw: Track::default(), folded: None, spans: Spans::default(), upto: 0 }
    }

    /// Takes the next piece in.
    ///
    /// Not settled is what follows the first start at which a match may still appear, and findings that reach beyond it. That is at
    /// most the largest `max_match` of the rules and an eighth; up to 64 KiB more where matches overlap in a chain, or characters that
    /// cannot be seen stand in between.
    pub fn push(&mut self, text: &str) -> Settled {
        self.append(text);
        self.settle(false)
    }

    /// The text has ended: everything is settled.
    pub fn end(&mut self) -> Settled {
        self.settle(true)
    }

    /// How far it is settled.
    #[must_use]
    pub const fn upto(&self) -> usize {
        self.upto
    }

    /// Bytes that came.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.len
    }

    fn append(&mut self, text: &str) {
        self.len += text.len();
        if self.rules.lens(self.place).is_none() {
            return;
        }
        let Some(change) = (if self.folded.is_some() { Some(0) } else { fold::first_change(text) }) else {
            return self.raw.text_mut().push_str(text);
        };
        let (same, rest) = text.split_at_checked(change).unwrap_or(("", text));
        self.raw.text_mut().push_str(same);
        let (track, map) = &mut **self.folded.get_or_insert_with(|| Box::new(self.raw.fork()));
        fold::fold_into(rest, track.text_mut(), map);
        self.raw.text_mut().push_str(rest);
    }

    fn settle(&mut self, ended: bool) -> Settled {
        let Some(lens) = self.rules.lens(self.place) else {
            self.upto = self.len;
            return Settled { upto: self.len, findings: Vec::new(), text: String::new() };
        };
        self.raw.advance(&self.rules, lens, None, ended, &mut self.spans);
        let mut frontier = self.raw.frontier(None);
        if let Some((track, map)) = self.folded.as_deref_mut() {
            track.advance(&self.rules, lens, Some(map), ended, &mut self.spans);
            frontier = frontier.min(track.frontier(Some(map)));
        }
        let mut spans = Vec::new();
        self.spans.settle(if ended { usize::MAX } else { frontier }, &mut spans);
        let (text, base) = self.raw.kept();
        let findings: Vec<Finding> = spans.into_iter().map(|span| Finding::of(span, self.place, text, base)).collect();
        let text = if findings.is_empty() { "" } else { text.get(self.upto - base..).unwrap_or_default() }.to_owned();
        // A group that was cut off another may begin later than what is undecided: what is found there belongs to it.
        let upto = self.spans.held().unwrap_or(frontier);
        self.forget(upto);
        self.upto = upto;
        Settled { upto, findings, text }
    }

    fn forget(&mut self, upto: usize) {
        self.raw.forget(upto);
        if let Some((track, map)) = self.folded.as_deref_mut() {
            if track.joins(map, &self.raw) {
                self.folded = None;
            } else {
                track.forget(usize::MAX);
                map.forget(track.base());
            }
        }
    }
}

impl fmt::Debug for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settled").field("upto", &self.upto).field("findings", &self.findings).finish_non_exhaustive()
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("place", &self.place).field("len", &self.len).finish_non_exhaustive()
    }
}
