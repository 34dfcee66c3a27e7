//! Every detector against its own examples, as they are and in disguise.

use std::sync::Arc;

use super::*;
use crate::guardrails::testing::{detector_rule, marked};
use crate::guardrails::{Place, RuleSet, Stream};

fn set(detector: &Detector) -> Arc<RuleSet> {
    Arc::new(RuleSet::new(vec![Arc::new(detector_rule(detector.name))]).unwrap())
}

/// The spans that are found in a text.
fn found(set: &Arc<RuleSet>, text: &str) -> Vec<(usize, usize)> {
    set.scan(Place::Messages, text).iter().map(|finding| (finding.start, finding.end)).collect()
}

/// The spans that a stream finds when the text comes character by character.
fn streamed(set: &Arc<RuleSet>, text: &str) -> Vec<(usize, usize)> {
    let mut stream = Stream::new(set, Place::Messages);
    let mut findings: Vec<_> = text.split_inclusive(|_| true).flat_map(|piece| stream.push(piece).findings).collect();
    findings.extend(stream.end().findings);
    findings.iter().map(|finding| (finding.start, finding.end)).collect()
}

/// The example with every visible ASCII character in full width.
fn full_width(example: &str) -> String {
    let wide = |character: char| if character == ' ' { Some('\u{3000}') } else { char::from_u32(u32::from(character) + 0xfee0) };
    example.chars().map(|character| if matches!(character, ' '..='~') { wide(character).unwrap() } else { character }).collect()
}

/// The example with something that cannot be seen after every letter and digit, but for the last of what is found.
fn interrupted(example: &str) -> String {
    let mut out = String::new();
    let mut characters = example.chars().peekable();
    while let Some(character) = characters.next() {
        out.push(character);
        if character.is_alphanumeric() && characters.peek() != Some(&'»') {
            out.push('\u{200b}');
        }
    }
    out
}

#[test]
fn detectors_find_what_they_say_whole_and_in_pieces() {
    for detector in all() {
        let set = set(detector);
        for example in detector.finds {
            let (text, spans) = marked(example);
            assert_eq!(found(&set, &text), spans, "{}: {example}", detector.name);
            assert_eq!(streamed(&set, &text), spans, "{}, streamed: {example}", detector.name);
            assert!(set.may_match(Place::Messages, &text), "{}: {example}", detector.name);
        }
        assert!(!detector.finds.is_empty() && !detector.leaves.is_empty(), "{} has examples", detector.name);
    }
}

#[test]
fn detectors_leave_what_they_say() {
    for detector in all() {
        let set = set(detector);
        for text in detector.leaves {
            assert_eq!(found(&set, text), [], "{}: {text}", detector.name);
            assert_eq!(found(&set, &full_width(text)), [], "{}: {text}", detector.name);
        }
    }
}

#[test]
fn disguises_do_not_help() {
    for detector in all() {
        let set = set(detector);
        for example in detector.finds {
            for disguise in [full_width(example), interrupted(example), interrupted(&full_width(example))] {
                let (text, spans) = marked(&disguise);
                assert_eq!(found(&set, &text), spans, "{}: {disguise}", detector.name);
                assert_eq!(streamed(&set, &text), spans, "{}, streamed: {disguise}", detector.name);
            }
        }
    }
}

#[test]
fn names_are_unique_and_lower_case() {
    let names: Vec<&str> = all().map(|detector| detector.name).collect();
    for (index, name) in names.iter().enumerate() {
        assert!(!names[..index].contains(name), "{name} twice");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit()), "{name}");
    }
}

#[test]
fn every_detector_bounds_its_matches() {
    for detector in all() {
        assert!(detector_rule(detector.name).max_match() <= detector.max_match, "{}", detector.name);
    }
}

#[test]
fn a_private_key_ends_where_it_says_or_with_its_first_line() {
    let set = set(find("private_key").unwrap());
    let (first, last) = ("-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----");
    for (lines, end) in [(100, first.len() + 6500 + last.len()), (300, first.len() - 1)] {
        let body = format!("{}\n", "M".repeat(64)).repeat(lines);
        let text = format!("{first}{body}{last} and so on");
        assert_eq!(found(&set, &text), [(0, end)], "{lines} lines");
        assert_eq!(streamed(&set, &text), [(0, end)], "{lines} lines, streamed");
    }
}
