//! What tests of rules share.

use super::{Action, DEFAULT_PRIORITY, LooksFor, Places, Rule, RuleSpec};

/// A rule that looks for `pattern` everywhere and only notes it.
pub(super) fn spec(name: &str, pattern: &str) -> RuleSpec {
    RuleSpec {
        name: name.to_owned(),
        priority: DEFAULT_PRIORITY,
        looks_for: LooksFor::Pattern(pattern.to_owned()),
        check: None,
        max_match: None,
        action: Action::LogOnly,
        places: Places::ALL,
    }
}

/// The detector of this name as a rule.
pub(super) fn detector_rule(name: &str) -> Rule {
    Rule::compile(RuleSpec { looks_for: LooksFor::Detector(name.to_owned()), ..spec(name, "") }).unwrap()
}

/// The text of an example without its marks, and the spans that stand between them.
pub(super) fn marked(example: &str) -> (String, Vec<(usize, usize)>) {
    let (mut text, mut spans) = (String::new(), Vec::new());
    for character in example.chars() {
        match character {
            '«' => spans.push((text.len(), 0)),
            '»' => spans.last_mut().unwrap().1 = text.len(),
            other => text.push(other),
        }
    }
    (text, spans)
}
