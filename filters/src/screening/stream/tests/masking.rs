//! What is masked, byte for byte.

use super::answers::Holds::{Arguments, Reasoning, Refusal, Text};
use super::answers::{Block, Holds, SHAPES, Shape, block};
use super::{mask, screened, set, usual};
use crate::guardrails::Place;

/// The answer with one block of `before` becomes the one with `after`.
fn becomes(shape: Shape, holds: Holds, before: &[&str], after: &[&str]) {
    let (out, screen) = screened(&usual(), shape, &shape.events(&[block(holds, before)]));
    assert_eq!(out, shape.events(&[block(holds, after)]).concat(), "{shape:?} {holds:?}");
    assert!(screen.stopped().is_none() && screen.has_sent() && screen.held_back() == 0);
}

#[test]
fn a_match_across_deltas_is_replaced_in_the_first_that_has_a_part_of_it() {
    for shape in SHAPES {
        for holds in [Text, Reasoning, Refusal].into_iter().filter(|holds| shape.has(*holds)) {
            becomes(shape, holds, &["pay 4111 1", "111 1111", " 1111. Thanks", "!"], &["pay [card]", "", ". Thanks", "!"]);
            becomes(shape, holds, &["4111111111111111"], &["[card]"]);
            becomes(shape, holds, &["a ", "4111\u{200b}1111", "1111１１１１ and 4111111111111111"], &["a ", "[card]", " and [card]"]);
            becomes(shape, holds, &["\"\n", "4111 1111", "", " 1111 1111\\"], &["\"\n", "[card]", "", "\\"]);
        }
    }
}

#[test]
fn strings_and_numbers_in_arguments_are_masked_and_the_json_stays_whole() {
    let cases: [(&[&str], &[&str]); 7] = [
        (&[r#"{"a":"41"#, r#"11 1111 1111 1111"#, r#"","b":1}"#], &[r#"{"a":"[card]"#, "", r#"","b":1}"#]),
        (&[r#"{"a":"4111\u2"#, r#"01"#, r#"111"}"#], &[r#"{"a":"4111\u2"#, "01", r#"111"}"#]),
        (&[r#"{"a":"4111\u20"#, "0b1111", r#"\u0031111"#, r#"１１１１","n":null}"#], &[r#"{"a":"[card]"#, "", "", r#"","n":null}"#]),
        (&[r#"{"n":4111"#, "1111111", r#"11111}"#], &[r#"{"n":"[card]""#, "", "}"]),
        (&[r#"{"n":[4111111111111111"#, r#",2]}"#], &[r#"{"n":["[card]""#, ",2]}"]),
        (&[r#"{"4111111111111111":"\""#, r#"4111111111111111\n"}"#], &[r#"{"4111111111111111":"\""#, r#"[card]\n"}"#]),
        (&[r#"{"a":"4111 1111","b":"1111 1111"}"#], &[r#"{"a":"4111 1111","b":"1111 1111"}"#]),
    ];
    for shape in SHAPES {
        for (before, after) in cases {
            becomes(shape, Arguments, before, after);
        }
    }
}

#[test]
fn a_replacement_is_escaped_as_its_place_needs() {
    let template = crate::guardrails::Template::parse("\"{last4}\"\\").unwrap();
    let rules = set(vec![super::rule("card", "card_number", crate::guardrails::Action::Mask(template))]);
    for shape in SHAPES {
        let events = |text: &str, arguments: &str| shape.events(&[block(Text, &[text]), block(Arguments, &[arguments])]);
        let (out, _) = screened(&rules, shape, &events("4111111111111111", r#"{"a":"4111111111111111","n":4111111111111111}"#));
        assert_eq!(out, events("\"1111\"\\", r#"{"a":"\"1111\"\\","n":"\"1111\"\\"}"#).concat(), "{shape:?}");
    }
}

#[test]
fn arguments_that_are_no_json_are_one_text() {
    for shape in [Shape::Chat, Shape::Messages, Shape::Responses] {
        becomes(shape, Arguments, &["use 4111 1111 ", "1111 1111 now"], &["use [card]", " now"]);
        becomes(shape, Arguments, &["4111 1111 ", "1111 1111 now"], &["[card]", " now"]);
        becomes(shape, Arguments, &["{\"a\":1} 4111 1111 ", "1111 1111"], &["{\"a\":1} [card]", ""]);
        becomes(shape, Arguments, &["4111", "111111111111"], &["\"[card]\"", ""]);
    }
}

#[test]
fn what_is_only_noted_is_told_and_stays() {
    for shape in SHAPES {
        let blocks = [block(Reasoning, &["it was no", "ted"]), block(Text, &["noted"]), block(Arguments, &[r#"{"a":"noted"}"#])];
        let events = shape.events(&blocks);
        let (out, screen) = screened(&usual(), shape, &events);
        assert_eq!(out, events.concat());
        let told: Vec<(usize, Place, usize)> = screen.report().findings.iter().map(|one| (one.rule, one.place, one.chars)).collect();
        assert_eq!(told, [(2, Place::Reasoning, 5), (2, Place::Answer, 5), (2, Place::ToolArguments, 5)], "{shape:?}");
        let report = screen.report();
        assert_eq!((report.bytes, report.more), (12 + 5 + 13, 0), "{shape:?}");
        assert!([Place::Answer, Place::Reasoning, Place::ToolArguments].into_iter().all(|place| report.places.contains(place)));
    }
}

#[test]
fn a_place_that_no_rule_looks_at_stays_as_it_is() {
    let rules = crate::guardrails::RuleSpec {
        name: "card".into(),
        priority: 1,
        looks_for: crate::guardrails::LooksFor::Detector("card_number".into()),
        check: None,
        max_match: None,
        action: crate::guardrails::Action::Mask(crate::guardrails::Template::default()),
        places: [Place::Answer].into_iter().collect(),
    };
    let rules = set(vec![std::sync::Arc::new(crate::guardrails::Rule::compile(rules).unwrap())]);
    for shape in SHAPES {
        let blocks = |text: &str| -> [Block; 3] {
            let card = "4111111111111111";
            [block(Reasoning, &[card]), block(Text, &[text]), block(Arguments, &[&format!("[{card}]")])]
        };
        let (out, _) = screened(&rules, shape, &shape.events(&blocks("4111111111111111")));
        assert_eq!(out, shape.events(&blocks("[card]")).concat(), "{shape:?}");
    }
}

#[test]
fn a_mask_at_the_end_of_a_text_needs_nothing_after_it() {
    let rules = set(vec![mask("word", r"\bsecret\b")]);
    for shape in SHAPES {
        let events = shape.events(&[block(Reasoning, &["a sec", "ret"]), block(Text, &["secret"])]);
        let (out, _) = screened(&rules, shape, &events);
        assert_eq!(out, shape.events(&[block(Reasoning, &["a [word]", ""]), block(Text, &["[word]"])]).concat(), "{shape:?}");
    }
}

#[test]
fn a_number_beyond_all_bounds_stays_json() {
    let shape = Shape::Messages;
    let left_of = |pattern: &str, arguments: &str, size: usize| {
        let deltas: Vec<&str> = arguments.as_bytes().chunks(size).map(|part| std::str::from_utf8(part).unwrap()).collect();
        let (out, _) = screened(&set(vec![mask("seven", pattern)]), shape, &shape.events(&[block(Arguments, &deltas)]));
        shape.texts(&out).remove(&(Arguments, 0)).unwrap()
    };
    let long = "7".repeat(1500);
    for size in [1, 50, 5000] {
        // What is changed at its start becomes a string, and what is beyond the bound goes.
        let left = left_of("^7{9}", &format!("[{long},1]"), size);
        let list: Vec<serde_json::Value> = serde_json::from_str(&left).unwrap();
        assert!(list[0].as_str().unwrap().starts_with("[seven]777") && list[1] == 1, "{left}");
    }
    // Where its start has left, digits take the place of digits.
    let left = left_of("71234567", &format!("[8{long}1234567,1]"), 50);
    assert_eq!(left, format!("[8{}0,1]", &long[1..]));
}
