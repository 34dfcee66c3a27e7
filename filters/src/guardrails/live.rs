//! Which starts of a match are still open at the end of what was seen of a text.
//!
//! A start is open while some rule's automaton, run from there, has not died and has not passed the rule's bound. Automata match at
//! least what the rules do, so that a start may be held a little too long and never too short.

use regex_automata::Anchored;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::hybrid::{CacheError, LazyStateID, StartError};
use regex_automata::util::start;

use super::automaton::{self, Caches, SetError, Taken};
use super::rule::{MAX_MATCH, Rule};
use super::trail::{Trail, matched};
use super::view::View;

/// Rules are grouped by powers of two of their bounds, from this exponent.
const SMALLEST: u32 = 6;
/// One byte of each kind that can stand before a start, as patterns tell them apart; `None` is the start of the text.
const BEFORE: [Option<u8>; 5] = [None, Some(b' '), Some(b'a'), Some(b'\n'), Some(b'\r')];

/// Steps of a run before it is taken for a long one.
const SHORT_RUN: usize = if cfg!(test) { 2 } else { 32 };

/// Sets of tiers, as bits.
type Tiers = u16;

/// Automata of all rules, those with bounds of about the same size together.
pub(super) struct Live {
    tiers: Vec<Tier>,
    /// Which tiers may match from a byte, by what stands before it and by the byte.
    first: Box<[[Tiers; 256]; BEFORE.len()]>,
    caches: Caches,
}

struct Tier {
    automaton: DFA,
    /// The set's indices of its patterns.
    rules: Vec<usize>,
    /// The largest bound of its rules.
    max: usize,
}

/// A rule that may match at a start.
pub(super) struct Hit {
    /// The set's index of the rule.
    pub(super) rule: usize,
    /// Where the shortest match would end.
    pub(super) end: usize,
}

/// What is known about a start.
pub(super) enum Start {
    /// It is decided.
    Closed,
    /// A match may begin here.
    Open,
}

/// Caches borrowed for one pass over a text.
pub(super) struct Borrowed<'l> {
    live: &'l Live,
    caches: Option<Taken<'l>>,
    trails: Vec<Trail>,
}

impl Live {
    /// The automata for rules and their indices.
    pub(super) fn new(rules: &[(usize, &Rule)]) -> Result<Self, SetError> {
        let mut tiers = Vec::new();
        for exponent in SMALLEST..=MAX_MATCH.ilog2() {
            let fits = |max: usize| max.next_power_of_two().ilog2().max(SMALLEST) == exponent;
            let of_tier: Vec<_> = rules.iter().copied().filter(|(_, rule)| fits(rule.max_match())).collect();
            if let Some(max) = of_tier.iter().map(|(_, rule)| rule.max_match()).max() {
                let automaton = automaton::automaton(of_tier.iter().map(|(_, rule)| *rule))?;
                tiers.push(Tier { automaton, rules: of_tier.iter().map(|(index, _)| *index).collect(), max });
            }
        }
        let caches = automaton::caches(tiers.iter().map(|tier| tier.automaton.clone()).collect());
        let first = first_bytes(&tiers, &mut caches.get());
        Ok(Self { tiers, first, caches })
    }

    /// For one pass over a text.
    pub(super) const fn borrow(&self) -> Borrowed<'_> {
        Borrowed { live: self, caches: None, trails: Vec::new() }
    }

    /// The next offset, from `at` on, at which something may begin, and which tiers' that is.
    fn next(&self, bytes: &[u8], at: usize) -> Option<(usize, Tiers)> {
        let mut before = at.checked_sub(1).and_then(|before| bytes.get(before)).copied();
        for (offset, byte) in bytes.get(at..)?.iter().enumerate() {
            let tiers = self.first.get(kind(before)).and_then(|row| row.get(usize::from(*byte))).copied().unwrap_or_default();
            if tiers != 0 {
                return Some((at + offset, tiers));
            }
            before = Some(*byte);
        }
        None
    }
}

impl Borrowed<'_> {
    /// The next offset, from `at` on, at which something may begin, whether it is open, and into `hits` the rules that may match there.
    /// What comes before it is closed, and matches nothing. Offsets have to ascend from call to call.
    pub(super) fn next(&mut self, view: &View<'_>, at: usize, ended: bool, hits: &mut Vec<Hit>) -> Option<(usize, Start)> {
        let (at, tiers) = self.live.next(view.text.as_bytes(), at)?;
        let live = self.live;
        let caches = self.caches.get_or_insert_with(|| live.caches.get());
        self.trails.resize_with(live.tiers.len(), Trail::default);
        let mut all = Start::Closed;
        for (index, ((tier, cache), trail)) in live.tiers.iter().zip(caches.iter_mut()).zip(&mut self.trails).enumerate() {
            if tiers & (1 << index) != 0 && matches!(tier.run((cache, trail), view, at, ended, hits), Start::Open) {
                all = Start::Open;
            }
        }
        Some((at, all))
    }
}

impl Tier {
    fn run(&self, (cache, trail): (&mut Cache, &mut Trail), view: &View<'_>, at: usize, ended: bool, hits: &mut Vec<Hit>) -> Start {
        let bytes = view.text.as_bytes();
        let before = at.checked_sub(1).and_then(|before| bytes.get(before)).copied();
        let Ok(first) = start_state(&self.automaton, cache, before) else { return self.unknown(at, ended, hits) };
        let last = match self.last_state((cache, trail), bytes, (at, first), hits) {
            Ok(Some(last)) => last,
            Ok(None) => return Start::Closed,
            Err(_) => return self.unknown(at, ended, hits),
        };
        if !ended && !view.is_decided(at, self.max) {
            return Start::Open;
        }
        let len = view.text.len();
        if at + self.max >= len
            && let Ok(end) = self.automaton.next_eoi_state(cache, last)
            && end.is_match()
        {
            matched(&self.automaton, cache, end).for_each(|pattern| self.note(pattern, len, hits));
        }
        Start::Closed
    }

    /// The state, from the first one at `at`, after all bytes that a match may have and one more, or after all there are; `None` where the run dies before.
    fn last_state(
        &self,
        (cache, trail): (&mut Cache, &mut Trail),
        bytes: &[u8],
        (at, mut state): (usize, LazyStateID),
        hits: &mut Vec<Hit>,
    ) -> Result<Option<LazyStateID>, CacheError> {
        let stop = bytes.len().min(at + self.max + 1);
        let short = stop.min(at + SHORT_RUN);
        for (end, byte) in (at..).zip(bytes.get(at..short).unwrap_or_default()) {
            state = self.automaton.next_state(cache, state, *byte)?;
            if state.is_match() {
                matched(&self.automaton, cache, state).for_each(|pattern| self.note(pattern, end, hits));
            } else if state.is_dead() {
                return Ok(None);
            }
        }
        if short == stop {
            return Ok(Some(state));
        }
        trail.follow(&self.automaton, cache, bytes, (short, stop), state, &mut |pattern, end| self.note(pattern, end, hits))
    }

    fn note(&self, pattern: usize, end: usize, hits: &mut Vec<Hit>) {
        if let Some(rule) = self.rules.get(pattern)
            && !hits.iter().any(|hit| hit.rule == *rule)
        {
            hits.push(Hit { rule: *rule, end });
        }
    }

    /// An automaton that cannot go on may be open, and any rule may match.
    fn unknown(&self, at: usize, ended: bool, hits: &mut Vec<Hit>) -> Start {
        hits.extend(self.rules.iter().map(|rule| Hit { rule: *rule, end: at }));
        if ended { Start::Closed } else { Start::Open }
    }
}

fn start_state(automaton: &DFA, cache: &mut Cache, before: Option<u8>) -> Result<LazyStateID, StartError> {
    automaton.start_state(cache, &start::Config::new().anchored(Anchored::Yes).look_behind(before))
}

fn first_bytes(tiers: &[Tier], caches: &mut [Cache]) -> Box<[[Tiers; 256]; BEFORE.len()]> {
    let mut first = Box::new([[0; 256]; BEFORE.len()]);
    for (row, before) in first.iter_mut().zip(BEFORE) {
        for (byte, entry) in (0..=u8::MAX).zip(row.iter_mut()) {
            for (index, (tier, cache)) in tiers.iter().zip(caches.iter_mut()).enumerate() {
                let next = start_state(&tier.automaton, cache, before).map(|state| tier.automaton.next_state(cache, state, byte));
                if !matches!(next, Ok(Ok(state)) if state.is_dead()) {
                    *entry |= 1 << index;
                }
            }
        }
    }
    first
}

/// Which row of [`BEFORE`] a byte before a start belongs to.
const fn kind(before: Option<u8>) -> usize {
    match before {
        None => 0,
        Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_') => 2,
        Some(b'\n') => 3,
        Some(b'\r') => 4,
        Some(_) => 1,
    }
}
