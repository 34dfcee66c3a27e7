//! Whole texts, texts in pieces and the definition agree.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;

use super::super::decision::Finding;
use super::super::map::Map;
use super::super::spans::{Span, Spans};
use super::super::testing::{detector_rule, spec};
use super::super::view::View;
use super::super::{Action, Check, Place, Rule, RuleSet, RuleSpec, Stream, Template, fold, matcher};

const PLACE: Place = Place::Answer;

/// Patterns of every kind, with bounds that texts come to.
static RULES: LazyLock<Arc<RuleSet>> = LazyLock::new(|| {
    let patterns: [(&str, Option<usize>, Option<Check>); 22] = [
        ("ab|abc|abcde", None, None),
        ("(?i)ignore (?:all )?previous", None, None),
        (r"\bfoo\b", None, None),
        (r"\B1", None, None),
        (r"(?-u:\b)[0-9]{3}(?-u:\b)", None, None),
        (r"a.*?z", Some(20), None),
        (r"a.*z", Some(9), None),
        (r"(?s)b.+", Some(6), None),
        (r"\w+@\w+", Some(12), None),
        (r"(?m)^foo$", None, None),
        (r"(?Rm)^1+$", Some(8), None),
        (r"\Aa|z\z|foo$", None, None),
        (r"[0-9]{2,6}", None, Some(Check::Luhn)),
        (r"é+|漢", Some(5), None),
        ("\u{200b}+", Some(7), None),
        ("４", None, None),
        (r"(a|b)+c", Some(10), None),
        (r"\b\w+\b", Some(4), None),
        (r"f{2}i", None, None),
        (r"o\b.", None, None),
        (r"(?:1 ?){3,}", Some(30), None),
        (r"\s\S*\s", Some(16), None),
    ];
    let mut rules: Vec<Arc<Rule>> = Vec::new();
    for (index, (pattern, max_match, check)) in (0..).zip(patterns) {
        let template = if index % 2 == 0 { "<{rule}:{length}:{last4}>" } else { "" };
        let action = if index % 3 == 0 { Action::LogOnly } else { Action::Mask(Template::parse(template).unwrap()) };
        let named = spec(&format!("r{index}"), pattern);
        rules.push(Arc::new(Rule::compile(RuleSpec { max_match, check, action, priority: 7 - index % 4, ..named }).unwrap()));
    }
    rules.extend(["card_number", "email", "private_key"].map(|name| Arc::new(detector_rule(name))));
    Arc::new(RuleSet::new(rules).unwrap())
});

/// What is found by trying every rule at every character.
fn defined(set: &RuleSet, text: &str) -> Vec<Finding> {
    let (mut folded, mut map) = (String::new(), Map::default());
    super::super::fold::fold_into(text, &mut folded, &mut map);
    let mut spans = Spans::default();
    for view in [View::whole(text), View::folded(&folded, &map)] {
        for (index, rule) in set.rules().iter().enumerate() {
            let mut free = 0;
            for (at, _) in view.text.char_indices() {
                if at >= free
                    && let Some(end) = matcher::match_at(rule, &view, at)
                {
                    spans.add(Span { rule: index, start: view.original_start(at), end: view.original_end(end) });
                    free = end;
                }
            }
        }
    }
    let mut settled = Vec::new();
    spans.settle(usize::MAX, &mut settled);
    settled.into_iter().map(|span| Finding::of(span, PLACE, text, 0)).collect()
}

/// What is found in pieces, and the masked text as somebody would send it who sends what is settled.
fn streamed(set: &Arc<RuleSet>, pieces: &[&str]) -> (Vec<Finding>, String) {
    let mut stream = Stream::new(set, PLACE);
    let (mut findings, mut out) = (Vec::new(), String::new());
    let (mut held, mut sent) = (String::new(), 0);
    for piece in pieces.iter().map(Some).chain([None]) {
        let settled = match piece {
            Some(piece) => {
                held.push_str(piece);
                stream.push(piece)
            }
            None => stream.end(),
        };
        assert!(sent <= settled.upto && settled.upto <= sent + held.len(), "settled goes on, within the text");
        assert!(settled.findings.iter().all(|found| found.start >= sent && found.end <= settled.upto), "findings lie in what is settled");
        let mut from = sent;
        for edit in set.edits(&held, sent, &settled.findings) {
            out.push_str(&held[from - sent..edit.start - sent]);
            out.push_str(&edit.replacement);
            from = edit.end;
        }
        out.push_str(&held[from - sent..settled.upto - sent]);
        held.drain(..settled.upto - sent);
        sent = settled.upto;
        findings.extend(settled.findings);
    }
    assert!(held.is_empty(), "everything is settled at the end");
    (findings, out)
}

fn agree(text: &str, pieces: &[&str]) {
    [&*RULES, &*UNCUT].into_iter().for_each(|set| agree_about(set, text, pieces));
}

fn agree_about(set: &Arc<RuleSet>, text: &str, pieces: &[&str]) {
    let whole = set.scan(PLACE, text);
    assert_eq!(whole, defined(set, text), "a whole text and the definition");
    assert!(set.may_match(PLACE, text) || whole.is_empty(), "what is found may match");
    let (findings, masked) = streamed(set, pieces);
    assert_eq!(findings, whole, "pieces and the whole text");
    assert_eq!(masked, set.mask(text, &whole), "what is sent and the masked text");
}

/// Texts made of parts of matches, near matches and disguises.
fn text() -> impl Strategy<Value = String> {
    let unseen = "\u{200b}".repeat(120);
    let parts = [
        "ab",
        "abc",
        "abcde",
        "a",
        "z",
        "foo",
        "o",
        "fo",
        "1",
        "18",
        "42",
        "Ignore ",
        "all ",
        "previous",
        "previou",
        "@",
        "x",
        "w",
        "é",
        "漢",
        "，",
        " ",
        "\n",
        "\r\n",
        "\r",
        ".",
        "_",
        "-",
        "\u{200b}",
        "\u{ad}",
        "４",
        "１",
        "ａ",
        "ｂｃ",
        "ﬁ",
        "ﬃ",
        "𝐟𝐨𝐨",
        "①",
        "ﷺ",
        "4111 1111 1111 1111",
        "4111",
        "11",
        "m@n.org",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "\u{e0041}",
        "e\u{301}",
        "🙂",
    ];
    let part = prop_oneof![40 => prop::sample::select(parts.to_vec()).prop_map(str::to_owned), 1 => Just(unseen), 1 => "[a-z ]{0,40}"];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

fn cut<'t>(text: &'t str, cuts: &[prop::sample::Index]) -> Vec<&'t str> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
    at.extend([0, text.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

/// Patterns that end by themselves or late, so that the short way from piece to piece is taken.
static UNCUT: LazyLock<Arc<RuleSet>> = LazyLock::new(|| {
    let patterns = [
        "abcde",
        "(?i)ignore (?:all )?previous",
        r"\bfoo\b",
        r"a{2,5}(?:z|1+8)",
        r"\w+@\w+\.org",
        r"(?:1 ?){3,6}",
        "é{1,3}|漢z",
        r"(?m)^foo 1$",
        r"o\b.",
    ];
    let rules = patterns.iter().map(|pattern| Arc::new(Rule::compile(spec(pattern, pattern)).unwrap()));
    let detectors = ["card_number", "email", "iban", "jailbreak"].map(|name| Arc::new(detector_rule(name)));
    Arc::new(RuleSet::new(rules.chain(detectors).collect()).unwrap())
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1200))]

    #[test]
    fn any_split_finds_what_the_whole_text_has(text in text(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20)) {
        agree(&text, &cut(&text, &cuts));
    }
}

proptest! {
    #[test]
    fn single_characters_find_what_the_whole_text_has(text in text()) {
        agree(&text, &text.split_inclusive(|_| true).collect::<Vec<_>>());
    }
}

#[test]
fn a_folded_text_is_what_is_looked_at_whichever_way_it_came() {
    let set = &*RULES;
    let text = "ｆｏｏ x@ｙ";
    assert_eq!(fold(text), "foo x@y");
    let spans: Vec<_> = set.scan(PLACE, text).iter().filter(|found| found.rule == 2).map(|found| (found.start, found.end)).collect();
    assert_eq!(spans, [(0, 9)]);
}
