//! How long a stream holds text back.

use std::sync::Arc;

use super::super::testing::{detector_rule, spec};
use super::super::{Place, Rule, RuleSet, RuleSpec, Stream, library};

const PLACE: Place = Place::Answer;

fn set(rules: Vec<Rule>) -> Arc<RuleSet> {
    Arc::new(RuleSet::new(rules.into_iter().map(Arc::new).collect()).unwrap())
}

fn pattern(pattern: &str) -> Arc<RuleSet> {
    set(vec![Rule::compile(spec("r", pattern)).unwrap()])
}

/// How far the text is settled after each piece, and how many findings there are by then.
fn settled(set: &Arc<RuleSet>, pieces: &[&str]) -> Vec<(usize, usize)> {
    let (mut stream, mut found) = (Stream::new(set, PLACE), 0);
    let mut after = |settled: super::super::Settled| {
        found += settled.findings.len();
        (settled.upto, found)
    };
    let mut all: Vec<_> = pieces.iter().map(|piece| after(stream.push(piece))).collect();
    all.push(after(stream.end()));
    all
}

#[test]
fn text_in_which_nothing_begins_is_settled_as_it_comes() {
    let set = set(vec![detector_rule("card_number"), detector_rule("jwt"), detector_rule("private_key")]);
    let pieces: Vec<&str> = "Nothing in this sentence is — naïvely or not — a number，全部没有。".split_inclusive(|_| true).collect();
    let mut stream = Stream::new(&set, PLACE);
    let mut len = 0;
    for piece in pieces {
        len += piece.len();
        assert_eq!(stream.push(piece).upto, len, "after {piece:?}");
    }
}

#[test]
fn text_is_held_from_the_first_open_start_and_no_further() {
    let card = set(vec![detector_rule("card_number")]);
    assert_eq!(settled(&card, &["pay 41", "11 1111", " no"]), [(4, 0), (4, 0), (16, 0), (16, 0)]);
    let whole = settled(&card, &["pay 4111 1111 ", "1111 1111", " ", "x"]);
    assert_eq!(whole, [(4, 0), (4, 0), (4, 0), (25, 1), (25, 1)], "a card may go on after a space, and not after a letter");
}

#[test]
fn a_boundary_of_words_waits_for_what_follows() {
    let word = pattern(r"\bfoo\b");
    assert_eq!(settled(&word, &["a foo"]), [(2, 0), (5, 1)]);
    assert_eq!(settled(&word, &["foo", "d"]), [(0, 0), (4, 0), (4, 0)]);
    assert_eq!(settled(&word, &["foo", "é"]), [(0, 0), (5, 0), (5, 0)], "é is a letter");
    assert_eq!(settled(&word, &["foo", "—"]), [(0, 0), (6, 1), (6, 1)]);
}

#[test]
fn a_match_without_end_is_held_to_its_bound_only() {
    let rule = Rule::compile(RuleSpec { max_match: Some(100), ..spec("r", "a[^z]*z") }).unwrap();
    let mut stream = Stream::new(&set(vec![rule]), PLACE);
    for len in 1..5000 {
        let upto = stream.push("a").upto;
        assert!(len - upto <= 101 + 101 / 8, "{} of {len} bytes are held", len - upto);
    }
    assert_eq!(stream.end().upto, 4999);
}

#[test]
fn matches_that_overlap_without_end_are_held_to_a_bound_only() {
    let rules = ["ab", "ba"].map(|pattern| Rule::compile(spec(pattern, pattern)).unwrap());
    let mut stream = Stream::new(&set(rules.into()), PLACE);
    for len in (2..4000).step_by(2) {
        let upto = stream.push("ab").upto;
        assert!(len - upto <= 256 + 3, "{} of {len} bytes are held", len - upto);
    }
}

#[test]
fn characters_that_cannot_be_seen_are_held_to_a_bound_only() {
    let mut stream = Stream::new(&pattern("ab"), PLACE);
    stream.push("a");
    let held = (0..2000).map(|n| 1 + 3 * n + 3 - stream.push("\u{200b}").upto).max().unwrap();
    assert!((200..300).contains(&held), "{held} bytes were held");
    assert_eq!(stream.push("b").findings, [], "they are too far apart by now");
}

#[test]
fn a_place_that_no_rule_looks_at_holds_nothing() {
    let set = set(vec![detector_rule("card_number")].into_iter().filter(|_| false).collect());
    assert_eq!(settled(&set, &["4111"]), [(4, 0), (4, 0)]);
    assert!(!set.looks_at(PLACE) && !set.may_match(PLACE, "4111") && set.scan(PLACE, "4111").is_empty());
}

#[test]
fn what_was_matched_is_not_printed() {
    let set = set(library::all().map(|detector| detector_rule(detector.name)).collect());
    let mut stream = Stream::new(&set, PLACE);
    let settled = stream.push("4111 1111 1111 1111 secret@example.org and jane@exam");
    let findings = set.scan(PLACE, "secret@example.org");
    let printed = format!("{stream:?} {settled:?} {findings:?} {set:?} {:?}", set.resolve(&findings));
    assert!(!printed.contains("4111") && !printed.contains("example.org") && !printed.contains("jane"), "{printed}");
    assert!(!findings.is_empty());
}
