//! Reading and compiling the pattern of a rule.

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use super::rule::{MAX_MATCH, RuleError};

/// Bytes a compiled pattern may take.
const MAX_PROGRAM: usize = 1 << 20;
/// From which rarity on a text is not met by chance: two digits after something fixed, or ten letters.
const RARE: u32 = 10;
/// How deep a pattern may be nested.
const MAX_NESTING: u32 = 100;

/// The expression, which is not the empty one and can match.
pub(super) fn parse(pattern: &str) -> Result<Hir, RuleError> {
    let config = syntax::Config::new().nest_limit(MAX_NESTING);
    let hir = syntax::parse_with(pattern, &config).map_err(|error| syntax_error(pattern, &error))?;
    match hir.properties().minimum_len() {
        None => Err(RuleError::Never),
        Some(0) => Err(RuleError::Empty),
        Some(_) => Ok(hir),
    }
}

fn syntax_error(pattern: &str, error: &regex_syntax::Error) -> RuleError {
    let (problem, offset) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), Some(error.span().start.offset)),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), Some(error.span().start.offset)),
        other => (other.to_string(), None),
    };
    let character = offset.and_then(|at| pattern.get(..at)).map(|before| before.chars().count() + 1);
    RuleError::Syntax { problem, character }
}

/// Bytes a match has at most: as many as were asked for, or fewer where the expression has no longer ones.
pub(super) fn bound(hir: &Hir, asked: Option<usize>, default_max: usize) -> Result<usize, RuleError> {
    let asked = asked.unwrap_or(default_max);
    if !(1..=MAX_MATCH).contains(&asked) {
        return Err(RuleError::MaxMatch(asked));
    }
    let max_match = hir.properties().maximum_len().map_or(asked, |longest| longest.min(asked));
    match hir.properties().minimum_len() {
        Some(shortest) if shortest > max_match => Err(RuleError::OutOfBound { shortest, max_match }),
        _ => Ok(max_match),
    }
}

/// The expression, compiled.
pub(super) fn build(hir: &Hir) -> Result<Regex, RuleError> {
    let config = Regex::config().nfa_size_limit(Some(MAX_PROGRAM)).onepass_size_limit(Some(MAX_PROGRAM));
    Regex::builder().configure(config).build_from_hir(hir).map_err(|error| match error.size_limit() {
        Some(_) => RuleError::TooLarge,
        None => RuleError::Syntax { problem: error.to_string(), character: None },
    })
}

/// The expression without groups, and without boundaries of words in Unicode's sense.
pub(super) fn widened(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Look(look) if is_unicode_word(look) => Hir::empty(),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Capture(group) => widened(*group.sub),
        HirKind::Repetition(mut repetition) => {
            repetition.sub = Box::new(widened(*repetition.sub));
            Hir::repetition(repetition)
        }
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(widened).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.into_iter().map(widened).collect()),
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
    }
}

/// What every match of the expression begins with, up to where that is rare in texts of all kinds; `None` where it does not get rare,
/// or has no fixed size.
pub(super) fn opening(hir: &Hir) -> Option<Hir> {
    let parts = if let HirKind::Concat(parts) = hir.kind() { parts.as_slice() } else { std::slice::from_ref(hir) };
    let mut rarity = 0;
    for (index, part) in parts.iter().enumerate() {
        rarity += match part.kind() {
            HirKind::Look(_) => 0,
            HirKind::Literal(literal) => {
                str::from_utf8(&literal.0).ok()?.chars().map(|character| rarity_of(&[(character, character)])).sum()
            }
            HirKind::Class(class) => class_rarity(class)?,
            HirKind::Repetition(Repetition { min, max, sub, .. }) if *max == Some(*min) => match sub.kind() {
                HirKind::Class(class) => class_rarity(class)?.saturating_mul(*min),
                _ => return None,
            },
            _ => return None,
        };
        if rarity >= RARE {
            return Some(Hir::concat(parts.get(..=index)?.to_vec()));
        }
    }
    None
}

fn class_rarity(class: &Class) -> Option<u32> {
    let class = match class {
        Class::Unicode(class) => class.clone(),
        Class::Bytes(class) => class.to_unicode_class()?,
    };
    Some(rarity_of(&class.iter().map(|range| (range.start(), range.end())).collect::<Vec<_>>()))
}

/// How rare characters of these ranges are, roughly: letters make words, and so say little.
fn rarity_of(ranges: &[(char, char)]) -> u32 {
    let (mut letters, mut digits, mut others) = (0, 0, 0);
    for character in (0..128_u8).map(char::from).filter(|character| ranges.iter().any(|(from, to)| (from..=to).contains(&character))) {
        match character {
            'a'..='z' | 'A'..='Z' => letters += 1,
            '0'..='9' => digits += 1,
            ' ' => return 0,
            _ => others += 1,
        }
    }
    match (letters, digits, others) {
        (0, 0, 0) => 3,
        (0, 1.., 0) => 5,
        (0, 0, 1 | 2) => 2,
        (1..=4, 0, 0) => 1,
        _ => 0,
    }
}

/// Everything a match of the expression may begin with, from nothing to all of it.
pub(super) fn beginnings(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Class(_) => or_nothing(hir.clone()),
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => text.chars().rev().fold(Hir::empty(), |rest, first| {
                let first = Hir::literal(first.encode_utf8(&mut [0; 4]).as_bytes());
                or_nothing(Hir::concat(vec![first, rest]))
            }),
            Err(_) => or_nothing(hir.clone()),
        },
        HirKind::Capture(group) => beginnings(&group.sub),
        HirKind::Repetition(repetition) => {
            let mut whole = repetition.clone();
            whole.min = 0;
            whole.max = repetition.max.map(|max| max.saturating_sub(1));
            Hir::concat(vec![Hir::repetition(whole), beginnings(&repetition.sub)])
        }
        HirKind::Concat(parts) => parts.iter().rev().fold(Hir::empty(), |rest, first| {
            let whole = Hir::concat(vec![first.clone(), rest]);
            Hir::alternation(vec![beginnings(first), whole])
        }),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(beginnings).collect()),
    }
}

fn or_nothing(hir: Hir) -> Hir {
    Hir::alternation(vec![hir, Hir::empty()])
}

const fn is_unicode_word(look: Look) -> bool {
    matches!(
        look,
        Look::WordUnicode
            | Look::WordUnicodeNegate
            | Look::WordStartUnicode
            | Look::WordEndUnicode
            | Look::WordStartHalfUnicode
            | Look::WordEndHalfUnicode
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rare_at_the_beginning_of_every_match_is_its_opening() {
        let opening = |pattern: &str| opening(&widened(parse(pattern).unwrap())).map(|hir| hir.to_string());
        let same = |pattern: &str, expected: &str| assert_eq!(opening(pattern), Some(parse(expected).unwrap().to_string()), "{pattern}");
        same("-----BEGIN .*END", "-----BEGIN ");
        same("(?i-u:\\b[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,30}\\b)", "(?i-u:\\b[A-Z]{2}[0-9]{2})");
        same("(?i)highly confidential .*", "(?i)highly conf");
        same("合同编号.*", "合同编号");
        for common in ["[a-z]+@.*", "show .*", "(?:ab|cd)1234.*", "a?1234.*", "[0-9]{1,3}x.*", "\\w{20} .*"] {
            assert_eq!(opening(common), None, "{common}");
        }
    }
}
