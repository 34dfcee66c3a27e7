//! Long runs of an automaton from one start after the other.
//!
//! Runs of a pattern such as `a.*z` from neighbouring starts soon come to be in the same state, and from there on they are the same run.
//! So the states of the last long run are kept, and a run that meets them goes on where they end: all runs together stay linear
//! in the text.

use std::collections::VecDeque;

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::hybrid::{CacheError, LazyStateID};

/// The last long run over a text.
#[derive(Default)]
pub(super) struct Trail {
    /// The offset at which the automaton was in the first of the states.
    from: usize,
    states: VecDeque<LazyStateID>,
    /// Where patterns matched.
    ends: Vec<(usize, VecDeque<usize>)>,
    /// How often the cache was cleared by the time the states were made; then they mean something else.
    clears: usize,
}

impl Trail {
    /// Runs on from `state`, which the automaton is in at `at`, up to `stop`. Tells `hit` each pattern that matches after `at`, with the
    /// first offset at which it does, at least. Returns the state at `stop`, and `None` where the run dies before.
    ///
    /// # Errors
    /// When the automaton gives up.
    pub(super) fn follow(
        &mut self,
        automaton: &DFA,
        cache: &mut Cache,
        bytes: &[u8],
        (mut at, stop): (usize, usize),
        mut state: LazyStateID,
        hit: &mut impl FnMut(usize, usize),
    ) -> Result<Option<LazyStateID>, CacheError> {
        let mut own = Self { from: at, clears: cache.clear_count(), ..Self::default() };
        if self.clears != own.clears {
            *self = Self::default();
        }
        while at < stop && !state.is_dead() && self.state(at) != Some(state) {
            state = own.step(automaton, cache, bytes, at, state, hit)?;
            at += 1;
            if self.clears != own.clears {
                *self = Self { clears: own.clears, ..Self::default() };
            }
        }
        if at < stop && !state.is_dead() {
            self.tell(at, hit);
            self.put_before(at, own);
        } else {
            own.states.push_back(state);
            *self = own;
        }
        self.go_on(automaton, cache, bytes, stop, hit)
    }

    /// Runs on from the last state.
    fn go_on(
        &mut self,
        automaton: &DFA,
        cache: &mut Cache,
        bytes: &[u8],
        stop: usize,
        hit: &mut impl FnMut(usize, usize),
    ) -> Result<Option<LazyStateID>, CacheError> {
        while let Some(state) = self.states.pop_back() {
            let at = self.from + self.states.len();
            if at >= stop || state.is_dead() {
                self.states.push_back(state);
                return Ok((!state.is_dead()).then_some(state));
            }
            let next = self.step(automaton, cache, bytes, at, state, hit)?;
            self.states.push_back(next);
        }
        Ok(None)
    }

    /// Notes that the automaton is in `state` at `at`, and returns the state it is in after the byte there.
    fn step(
        &mut self,
        automaton: &DFA,
        cache: &mut Cache,
        bytes: &[u8],
        at: usize,
        state: LazyStateID,
        hit: &mut impl FnMut(usize, usize),
    ) -> Result<LazyStateID, CacheError> {
        let Some(byte) = bytes.get(at) else { return Ok(state) };
        self.states.push_back(state);
        let next = automaton.next_state(cache, state, *byte)?;
        if cache.clear_count() != self.clears {
            self.states.clear();
            (self.from, self.clears) = (at + 1, cache.clear_count());
        }
        if next.is_match() {
            for pattern in matched(automaton, cache, next) {
                hit(pattern, at);
                match self.ends.iter_mut().find(|(known, _)| *known == pattern) {
                    Some((_, ends)) => ends.push_back(at),
                    None => self.ends.push((pattern, VecDeque::from([at]))),
                }
            }
        }
        Ok(next)
    }

    /// The state the run was in at `at`.
    fn state(&self, at: usize) -> Option<LazyStateID> {
        self.states.get(at.checked_sub(self.from)?).copied()
    }

    /// Tells where patterns match first from `at` on.
    fn tell(&self, at: usize, hit: &mut impl FnMut(usize, usize)) {
        for (pattern, ends) in &self.ends {
            if let Some(end) = ends.get(ends.partition_point(|end| *end < at)) {
                hit(*pattern, *end);
            }
        }
    }

    /// Takes `own` for what was before `at`.
    fn put_before(&mut self, at: usize, mut own: Self) {
        self.states.drain(..at.saturating_sub(self.from).min(self.states.len()));
        for state in own.states.drain(..).rev() {
            self.states.push_front(state);
        }
        self.from = own.from;
        for (_, ends) in &mut self.ends {
            ends.drain(..ends.partition_point(|end| *end < at));
        }
        for (pattern, before) in own.ends {
            match self.ends.iter_mut().find(|(known, _)| *known == pattern) {
                Some((_, ends)) => before.into_iter().rev().for_each(|end| ends.push_front(end)),
                None => self.ends.push((pattern, before)),
            }
        }
    }
}

/// The patterns that match in a state.
pub(super) fn matched(automaton: &DFA, cache: &Cache, state: LazyStateID) -> impl Iterator<Item = usize> {
    (0..automaton.match_len(cache, state)).map(move |nth| automaton.match_pattern(cache, state, nth).as_usize())
}
