//! Which rule decides, and what a masked text looks like.

use std::sync::Arc;

use super::super::testing::spec;
use super::super::{Action, Detour, Finding, Place, Places, Rule, RuleSet, RuleSpec, Template};

fn rule(name: &str, pattern: &str, priority: i32, action: Action) -> Arc<Rule> {
    Arc::new(Rule::compile(RuleSpec { priority, action, ..spec(name, pattern) }).unwrap())
}

fn mask(template: &str) -> Action {
    Action::Mask(Template::parse(template).unwrap())
}

fn decided(rules: Vec<Arc<Rule>>, text: &str) -> Option<(String, usize)> {
    let set = RuleSet::new(rules).unwrap();
    set.resolve(&set.scan(Place::Messages, text)).map(|decision| (decision.rule.name().to_string(), decision.finding.start))
}

#[test]
fn the_strictest_action_decides_and_then_the_priority_and_then_the_order() {
    let log = || rule("log", "x", 1, Action::LogOnly);
    let masks = || rule("mask", "x", 1, mask("m"));
    let redirect = || rule("redirect", "x", 100, Action::Redirect(Detour::Model("small".into())));
    let block = || rule("block", "x", 900, Action::Block);
    let name = |rules: Vec<Arc<Rule>>| decided(rules, "a x x").map(|(name, start)| format!("{name} {start}"));
    assert_eq!(name(vec![log(), masks(), redirect(), block()]).as_deref(), Some("block 2"));
    assert_eq!(name(vec![log(), masks(), redirect()]).as_deref(), Some("redirect 2"));
    assert_eq!(name(vec![log(), masks()]).as_deref(), Some("mask 2"));
    assert_eq!(name(vec![log()]).as_deref(), Some("log 2"));
    assert_eq!(name(vec![rule("later", "x", 5, Action::Block), rule("sooner", "x", -5, Action::Block)]).as_deref(), Some("sooner 2"));
    assert_eq!(name(vec![rule("first", "x", 5, Action::Block), rule("second", "x", 5, Action::Block)]).as_deref(), Some("first 2"));
    assert_eq!(name(vec![rule("none", "y", 5, Action::Block)]), None);
}

#[test]
fn masks_replace_what_was_found_and_nothing_else() {
    let set = RuleSet::new(vec![rule("number", "[0-9]+", 1, mask("[{rule} {length}]")), rule("word", "foo", 1, Action::LogOnly)]).unwrap();
    let masked = |text: &str| set.mask(text, &set.scan(Place::Messages, text)).into_owned();
    assert_eq!(masked("a 12 foo 345"), "a [number 2] foo [number 3]");
    assert_eq!(masked("１\u{200b}２ é"), "[number 2] é");
    assert!(matches!(set.mask("foo", &set.scan(Place::Messages, "foo")), std::borrow::Cow::Borrowed("foo")));
}

#[test]
fn masks_that_overlap_become_one_as_the_deciding_rule_asks() {
    let set = RuleSet::new(vec![
        rule("left", "abcd", 5, mask("[{rule} {length} {last4}]")),
        rule("right", "cdefg", 1, mask("<{rule} {length} {last4}>")),
    ])
    .unwrap();
    let text = "xabcdefgx";
    let findings = set.scan(Place::Messages, text);
    assert_eq!(findings.len(), 2, "both are told");
    assert_eq!(set.mask(text, &findings), "x<right 7 defg>x");
    let mut backwards = findings.clone();
    backwards.reverse();
    assert_eq!(set.edits(text, 0, &backwards), set.edits(text, 0, &findings), "whatever the order they come in");
    assert_eq!(set.edits("abcdefgx", 1, &findings), set.edits(text, 0, &findings), "a part of the text is enough");
}

#[test]
fn rules_look_only_where_they_apply() {
    let only = |places| Arc::new(Rule::compile(RuleSpec { places, ..spec("r", "x") }).unwrap());
    let set = RuleSet::new(vec![only(Places::PROMPT), only(Places::NONE.with(Place::Answer))]).unwrap();
    let found = |place| set.scan(place, "x").iter().map(|found| (found.rule, found.place)).collect::<Vec<_>>();
    assert_eq!(found(Place::System), [(0, Place::System)]);
    assert_eq!(found(Place::Answer), [(1, Place::Answer)]);
    assert_eq!(found(Place::Reasoning), []);
    assert!(!set.looks_at(Place::Reasoning));
}

#[test]
fn findings_count_characters_that_can_be_seen() {
    let set = RuleSet::new(vec![rule("r", "aé漢", 1, Action::Block)]).unwrap();
    let expected = Finding { rule: 0, place: Place::Messages, start: 1, end: 10, chars: 3 };
    assert_eq!(set.scan(Place::Messages, "-a\u{200b}é漢"), [expected]);
}
