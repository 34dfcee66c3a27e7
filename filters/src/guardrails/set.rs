//! The rules in force for one request.

use std::fmt;
use std::sync::Arc;

use regex_automata::hybrid::dfa::DFA;
use regex_automata::{Anchored, Input, PatternSet};

use super::automaton::{self, Caches, SetError};
use super::decision::Finding;
use super::fold;
use super::live::Live;
use super::map::Map;
use super::matcher;
use super::place::Place;
use super::rule::Rule;
use super::spans::{Span, Spans};
use super::view::View;
use super::walk::Walk;

/// Rules that apply together. Made once and shared; findings name rules by their index.
pub struct RuleSet {
    rules: Vec<Arc<Rule>>,
    /// One for each different selection of rules.
    lenses: Vec<Lens>,
    /// Which lens looks at a place.
    by_place: [usize; Place::ALL.len()],
}

/// What looks at the texts of a place: the rules that apply there, and automata for all of them together.
pub(super) struct Lens {
    rules: Vec<usize>,
    pub(super) live: Live,
    pub(super) sieve: Sieve,
}

/// Tells in one pass which rules may match a text at all.
pub(super) struct Sieve {
    automaton: DFA,
    /// Reads backwards from the end of a text to where the earliest match may begin that goes on beyond it.
    beginnings: DFA,
    /// Of both, in that order.
    caches: Caches,
    /// Beginnings up to this size are not cut off by the bound of their rule.
    uncut: usize,
}

impl RuleSet {
    /// The rules together, in the order in which equals decide.
    ///
    /// # Errors
    /// When their automata cannot be built.
    pub fn new(rules: Vec<Arc<Rule>>) -> Result<Self, SetError> {
        let mut lenses: Vec<Lens> = Vec::new();
        let mut by_place = [0; Place::ALL.len()];
        for (entry, place) in by_place.iter_mut().zip(Place::ALL) {
            let there: Vec<usize> = (0..).zip(&rules).filter(|(_, rule)| rule.places().contains(place)).map(|(index, _)| index).collect();
            *entry = match lenses.iter().position(|lens| lens.rules == there) {
                Some(known) => known,
                None => {
                    lenses.push(Lens::new(&rules, there)?);
                    lenses.len() - 1
                }
            };
        }
        Ok(Self { rules, lenses, by_place })
    }

    /// The rules, in order.
    #[must_use]
    pub fn rules(&self) -> &[Arc<Rule>] {
        &self.rules
    }

    /// The rule that a finding names.
    #[must_use]
    pub fn rule(&self, finding: &Finding) -> Option<&Arc<Rule>> {
        self.rules.get(finding.rule)
    }

    /// Whether any rule looks at `place`.
    #[must_use]
    pub fn looks_at(&self, place: Place) -> bool {
        self.lens(place).is_some()
    }

    /// Whether a rule of `place` may match `text`: `false` is certain. One pass over the text, for all rules.
    #[must_use]
    pub fn may_match(&self, place: Place, text: &str) -> bool {
        let Some(lens) = self.lens(place) else { return false };
        lens.sieve.lets_any_through(text) || fold::first_change(text).is_some_and(|_| lens.sieve.lets_any_through(&fold::fold(text)))
    }

    /// Everything that the rules of `place` find in a whole text, in order.
    #[must_use]
    pub fn scan(&self, place: Place, text: &str) -> Vec<Finding> {
        let Some(lens) = self.lens(place) else { return Vec::new() };
        let mut spans = Spans::default();
        self.look(lens, &View::whole(text), &mut spans);
        if fold::first_change(text).is_some() {
            let (mut folded, mut map) = (String::with_capacity(text.len()), Map::default());
            fold::fold_into(text, &mut folded, &mut map);
            self.look(lens, &View::folded(&folded, &map), &mut spans);
        }
        let mut settled = Vec::new();
        spans.settle(usize::MAX, &mut settled);
        settled.into_iter().map(|span| Finding::of(span, place, text, 0)).collect()
    }

    fn look(&self, lens: &Lens, view: &View<'_>, spans: &mut Spans) {
        let mut stopped = Vec::new();
        for rule in lens.sieve.let_through(view.text, &lens.rules) {
            let Some(compiled) = self.rules.get(rule) else { continue };
            let found = |start, end| spans.add(Span { rule, start: view.original_start(start), end: view.original_end(end) });
            stopped.extend(matcher::matches(compiled, view, found).map(|at| (rule, at)));
        }
        if let Some(cursor) = stopped.iter().map(|(_, at)| *at).min() {
            let mut walk = Walk::from(cursor);
            walk.advance((self, lens), view, true, |rule, at| stopped.iter().any(|(other, from)| *other == rule && at >= *from), spans);
        }
    }

    /// What looks at `place`; `None` where nothing does.
    pub(super) fn lens(&self, place: Place) -> Option<&Lens> {
        self.by_place.get(place as usize).and_then(|lens| self.lenses.get(*lens)).filter(|lens| !lens.rules.is_empty())
    }
}

impl fmt::Debug for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RuleSet").field(&self.rules).finish()
    }
}

impl Lens {
    fn new(all: &[Arc<Rule>], rules: Vec<usize>) -> Result<Self, SetError> {
        let selected: Vec<(usize, &Rule)> = rules.iter().filter_map(|index| Some((*index, all.get(*index)?.as_ref()))).collect();
        let live = Live::new(&selected)?;
        let sieve = Sieve::new(selected.iter().map(|(_, rule)| *rule))?;
        Ok(Self { rules, live, sieve })
    }
}

impl Sieve {
    fn new<'a>(rules: impl Iterator<Item = &'a Rule> + Clone) -> Result<Self, SetError> {
        let automaton = automaton::heralds(rules.clone())?;
        let beginnings = automaton::beginnings(rules.clone())?;
        let caches = automaton::caches(vec![automaton.clone(), beginnings.clone()]);
        Ok(Self { automaton, beginnings, caches, uncut: rules.filter_map(Rule::cut).min().unwrap_or(usize::MAX) })
    }

    /// Where the first match may begin that goes on beyond the end of `text`; its length where none may. `None` where something
    /// from `from` on may match already, or where this is not the way to tell.
    pub(super) fn first_open(&self, text: &str, from: usize) -> Option<usize> {
        let mut caches = self.caches.get();
        let [forwards, backwards] = caches.as_mut_slice() else { return None };
        let rest = Input::new(text).span(from..text.len());
        if !matches!(self.automaton.try_search_fwd(forwards, &rest.clone().earliest(true)), Ok(None)) {
            return None;
        }
        let open = self.beginnings.try_search_rev(backwards, &rest.anchored(Anchored::Yes)).ok()?;
        let open = open.map_or(text.len(), |open| open.offset());
        (text.len() - open <= self.uncut).then_some(open)
    }

    fn lets_any_through(&self, text: &str) -> bool {
        let mut caches = self.caches.get();
        let Some(cache) = caches.first_mut() else { return true };
        self.automaton.try_search_fwd(cache, &Input::new(text).earliest(true)).map_or(true, |found| found.is_some())
    }

    /// Those of `rules` that may match; all of them where telling would take longer than looking.
    fn let_through(&self, text: &str, rules: &[usize]) -> Vec<usize> {
        let mut caches = self.caches.get();
        let mut through = PatternSet::new(rules.len());
        let told = caches.first_mut().map(|cache| self.automaton.try_which_overlapping_matches(cache, &Input::new(text), &mut through));
        match told {
            Some(Ok(())) => through.iter().filter_map(|pattern| rules.get(pattern.as_usize()).copied()).collect(),
            _ => rules.to_vec(),
        }
    }
}
