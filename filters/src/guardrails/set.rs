//! The rules in force for one request.

use std::fmt;
use std::sync::Arc;

use regex_automata::hybrid::dfa::DFA;
use regex_automata::{Input, PatternSet};

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
    sieve: Sieve,
}

/// Tells in one pass which rules may match a text at all.
struct Sieve {
    automaton: DFA,
    caches: Caches,
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
        let automaton = automaton::automaton(selected.iter().map(|(_, rule)| *rule), true)?;
        let caches = automaton::caches(vec![automaton.clone()]);
        Ok(Self { rules, live, sieve: Sieve { automaton, caches } })
    }
}

impl Sieve {
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
