//! One rule: what it looks for, where, and what is done about it.

use std::fmt;
use std::sync::Arc;

use regex_automata::meta::Regex;
use regex_syntax::hir::Hir;
use thiserror::Error;

use super::action::Action;
use super::check::Check;
use super::library;
use super::pattern;
use super::place::Places;

/// The longest pattern, in bytes.
pub const MAX_PATTERN: usize = 1024;
/// Bytes that one match may have at most where the rule does not say.
pub const DEFAULT_MAX_MATCH: usize = 1024;
/// Bytes that one match may have at the very most.
pub const MAX_MATCH: usize = 65_536;
/// Bytes of a match that is a long one.
const LONG: usize = 32;
/// The priority of rules that do not say.
pub const DEFAULT_PRIORITY: i32 = 100;

/// A rule as it is declared.
#[derive(Clone, Debug)]
pub struct RuleSpec {
    /// Its name.
    pub name: String,
    /// Among rules of the same action the lower number decides.
    pub priority: i32,
    /// What it looks for.
    pub looks_for: LooksFor,
    /// What a match has to fulfil besides; a ready-made detector brings its own.
    pub check: Option<Check>,
    /// Bytes one match may have at most, 1 to 65,536; `None` for the detector's own bound, or 1,024.
    pub max_match: Option<usize>,
    /// What is done about a match.
    pub action: Action,
    /// Where it looks.
    pub places: Places,
}

/// What a rule looks for.
#[derive(Clone, Debug)]
pub enum LooksFor {
    /// A regular expression.
    Pattern(String),
    /// A detector of the library.
    Detector(String),
}

/// Why a rule cannot be used; a clause for the operator.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RuleError {
    /// The pattern is too long.
    #[error("the pattern is longer than {MAX_PATTERN} bytes")]
    TooLong,
    /// The pattern is none.
    #[error("the pattern is no regular expression: {problem}{}", .character.map(|at| format!(", at character {at}")).unwrap_or_default())]
    Syntax {
        /// What is wrong.
        problem: String,
        /// The character it is wrong at, from 1.
        character: Option<usize>,
    },
    /// The pattern matches nothing at all, everywhere.
    #[error("the pattern can match the empty text, so it would match everywhere")]
    Empty,
    /// The pattern can never match.
    #[error("the pattern can never match")]
    Never,
    /// The pattern is too large once compiled.
    #[error("the pattern takes more than 1 MiB when compiled; repeat less, or use smaller classes")]
    TooLarge,
    /// The bound of a match is out of range.
    #[error("max_match is {0}; it has to be 1 to {MAX_MATCH}")]
    MaxMatch(usize),
    /// No match fits into the bound.
    #[error("a match has at least {shortest} bytes, which is more than max_match, {max_match}")]
    OutOfBound {
        /// The fewest bytes a match has.
        shortest: usize,
        /// The bound.
        max_match: usize,
    },
    /// No detector has this name.
    #[error("there is no detector {0:?}")]
    NoDetector(String),
    /// The rule looks nowhere.
    #[error("the rule applies to no place")]
    Nowhere,
}

/// A compiled rule.
pub struct Rule {
    name: Arc<str>,
    priority: i32,
    action: Action,
    places: Places,
    check: Option<Check>,
    max_match: usize,
    regex: Regex,
    /// The pattern without what depends on the characters around it in ways an automaton over bytes cannot follow: it matches
    /// whatever the pattern matches, and perhaps more.
    wider: Hir,
    /// What every match begins with, where a match may become long and begins with something rare.
    opening: Option<Hir>,
    /// Whether the pattern alone would allow longer matches than the bound does.
    is_cut: bool,
}

impl Rule {
    /// Compiles a rule.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn compile(spec: RuleSpec) -> Result<Self, RuleError> {
        let (written, check, default_max) = match &spec.looks_for {
            LooksFor::Pattern(pattern) if pattern.len() > MAX_PATTERN => return Err(RuleError::TooLong),
            LooksFor::Pattern(pattern) => (pattern.as_str(), spec.check, DEFAULT_MAX_MATCH),
            LooksFor::Detector(name) => {
                let detector = library::find(name).ok_or_else(|| RuleError::NoDetector(name.clone()))?;
                (detector.pattern, spec.check.or(detector.check), detector.max_match)
            }
        };
        if spec.places.is_empty() {
            return Err(RuleError::Nowhere);
        }
        let hir = pattern::parse(written)?;
        let max_match = pattern::bound(&hir, spec.max_match, default_max)?;
        let regex = pattern::build(&hir)?;
        let is_cut = hir.properties().maximum_len().is_none_or(|longest| longest > max_match);
        let wider = pattern::widened(hir);
        let opening = if is_cut || max_match > LONG { pattern::opening(&wider) } else { None };
        Ok(Self {
            name: spec.name.into(),
            priority: spec.priority,
            action: spec.action,
            places: spec.places,
            check,
            max_match,
            regex,
            wider,
            opening,
            is_cut,
        })
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// What is done about a match.
    #[must_use]
    pub const fn action(&self) -> &Action {
        &self.action
    }

    /// Among rules of the same action the lower number decides.
    #[must_use]
    pub const fn priority(&self) -> i32 {
        self.priority
    }

    /// Where it looks.
    #[must_use]
    pub const fn places(&self) -> Places {
        self.places
    }

    /// Bytes one match has at most.
    #[must_use]
    pub const fn max_match(&self) -> usize {
        self.max_match
    }

    pub(super) const fn regex(&self) -> &Regex {
        &self.regex
    }

    pub(super) const fn wider(&self) -> &Hir {
        &self.wider
    }

    /// What is looked for first: the opening of a match, or else the wider pattern. Where it is not found there is no match.
    pub(super) fn herald(&self) -> &Hir {
        self.opening.as_ref().unwrap_or(&self.wider)
    }

    /// Bytes a run of the herald may have before the bound ends it; `None` where it ends by itself.
    pub(super) fn cut(&self) -> Option<usize> {
        (self.is_cut && self.opening.is_none()).then_some(self.max_match)
    }

    /// How many bytes of what the pattern matched count; `None` where none do.
    pub(super) fn checked(&self, matched: &str) -> Option<usize> {
        match self.check {
            None => Some(matched.len()),
            Some(check) => check.accepted(matched),
        }
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").field("name", &self.name).field("action", &self.action).field("places", &self.places).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::spec;
    use super::*;

    fn refused(pattern: &str) -> String {
        Rule::compile(spec("r", pattern)).unwrap_err().to_string()
    }

    #[test]
    fn patterns_that_cannot_be_used_are_refused_with_a_reason() {
        assert_eq!(refused("é(a"), "the pattern is no regular expression: unclosed group, at character 2");
        assert!(refused(r"(?=a)").contains("look-around"), "{}", refused(r"(?=a)"));
        assert!(refused(r"\p{Nonsense}a").contains("property"), "{}", refused(r"\p{Nonsense}a"));
        for empty in ["", "a*", r"\b", "(?:a|)", "^$"] {
            assert!(refused(empty).contains("empty text"), "{empty:?}");
        }
        assert!(refused(r"[a&&b]").contains("never"));
        assert!(refused(&"a".repeat(1025)).contains("1024 bytes"));
        assert!(refused(r"(?:\w{1,200}){1,200}").contains("1 MiB"));
        assert!(refused(&format!("{}a{}", "(".repeat(200), ")".repeat(200))).contains("no regular expression"));
    }

    #[test]
    fn a_match_is_bounded_by_the_pattern_or_by_what_was_asked() {
        let bound = |pattern: &str, max_match| Rule::compile(RuleSpec { max_match, ..spec("r", pattern) }).map(|rule| rule.max_match());
        assert_eq!(bound("abc", None), Ok(3));
        assert_eq!(bound("ab+c", None), Ok(1024));
        assert_eq!(bound("ab+c", Some(65_536)), Ok(65_536));
        assert_eq!(bound("a{5000}", None), Err(RuleError::OutOfBound { shortest: 5000, max_match: 1024 }));
        assert_eq!(bound("a", Some(0)), Err(RuleError::MaxMatch(0)));
        assert_eq!(bound("a", Some(65_537)), Err(RuleError::MaxMatch(65_537)));
    }

    #[test]
    fn a_rule_needs_a_detector_that_exists_and_a_place() {
        let unknown = RuleSpec { looks_for: LooksFor::Detector("horoscope".to_owned()), ..spec("r", "a") };
        assert_eq!(Rule::compile(unknown).unwrap_err(), RuleError::NoDetector("horoscope".to_owned()));
        assert_eq!(Rule::compile(RuleSpec { places: Places::NONE, ..spec("r", "a") }).unwrap_err(), RuleError::Nowhere);
    }
}
