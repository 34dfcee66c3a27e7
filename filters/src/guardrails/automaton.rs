//! Lazy automata over the patterns of several rules at once.

use std::borrow::Borrow;
use std::panic::{RefUnwindSafe, UnwindSafe};

use regex_automata::MatchKind;
use regex_automata::hybrid;
use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::pool::{Pool, PoolGuard};
use regex_syntax::hir::Hir;
use thiserror::Error;

use super::pattern;
use super::rule::Rule;

/// Why rules cannot be used together.
#[derive(Debug, Error)]
pub enum SetError {
    /// Their patterns cannot be joined.
    #[error("the rules cannot be joined")]
    Joining(#[from] Box<thompson::BuildError>),
    /// No automaton can be made of them.
    #[error("the rules cannot be followed together")]
    Following(#[from] Box<hybrid::BuildError>),
}

/// Bytes of states that an automaton keeps for each thread; as few as can be in tests, so that states are thrown away and made anew.
const CACHE: usize = if cfg!(test) { 0 } else { 1 << 20 };

/// Caches of automata that threads take turns with.
pub(super) type Caches = Pool<Vec<Cache>, Make>;
/// Caches that one thread has for now.
pub(super) type Taken<'c> = PoolGuard<'c, Vec<Cache>, Make>;
type Make = Box<dyn Fn() -> Vec<Cache> + Send + Sync + UnwindSafe + RefUnwindSafe>;

/// An automaton that finds every rule whose wider pattern matches.
pub(super) fn automaton<'a>(rules: impl Iterator<Item = &'a Rule>) -> Result<DFA, SetError> {
    let patterns: Vec<_> = rules.map(Rule::wider).collect();
    build(&patterns, false, false)
}

/// An automaton that finds every rule whose herald does. It gives up where it would only build states.
pub(super) fn heralds<'a>(rules: impl Iterator<Item = &'a Rule>) -> Result<DFA, SetError> {
    let patterns: Vec<_> = rules.map(Rule::herald).collect();
    build(&patterns, false, true)
}

/// An automaton that reads backwards from the end of a text, and matches where what follows may be the beginning of a herald.
pub(super) fn beginnings<'a>(rules: impl Iterator<Item = &'a Rule>) -> Result<DFA, SetError> {
    let patterns: Vec<_> = rules.map(|rule| pattern::beginnings(rule.herald())).collect();
    build(&patterns, true, true)
}

fn build<H: Borrow<Hir>>(patterns: &[H], backwards: bool, frugal: bool) -> Result<DFA, SetError> {
    let nfa = thompson::Config::new().which_captures(WhichCaptures::None).shrink(false).reverse(backwards);
    let nfa = thompson::Compiler::new().configure(nfa).build_many_from_hir(patterns).map_err(Box::new)?;
    Ok(DFA::builder().configure(config(frugal)).build_from_nfa(nfa).map_err(Box::new)?)
}

fn config(frugal: bool) -> Config {
    let config = Config::new().match_kind(MatchKind::All).cache_capacity(CACHE).skip_cache_capacity_check(true);
    if frugal { config.minimum_cache_clear_count(Some(3)).minimum_bytes_per_state(Some(10)) } else { config }
}

/// Caches for automata, made as they are needed.
pub(super) fn caches(automata: Vec<DFA>) -> Caches {
    Pool::new(Box::new(move || automata.iter().map(DFA::create_cache).collect()))
}
