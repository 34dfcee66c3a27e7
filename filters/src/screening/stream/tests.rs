//! Answers of every shape under rules of every action.

mod answers;
mod blocking;
mod masking;
mod passing;
mod reading;
mod samples;
mod splits;

use std::sync::Arc;

use bytes::Bytes;

use self::answers::Shape;
use super::{AnswerScreen, Closing};
use crate::guardrails::{Action, DEFAULT_PRIORITY, Detour, LooksFor, Places, Rule, RuleSet, RuleSpec, Template};

/// A rule that looks everywhere.
fn rule(name: &str, pattern: &str, action: Action) -> Arc<Rule> {
    let looks_for = match pattern {
        "card_number" => LooksFor::Detector(pattern.to_owned()),
        _ => LooksFor::Pattern(pattern.to_owned()),
    };
    let spec = RuleSpec {
        name: name.to_owned(),
        priority: DEFAULT_PRIORITY,
        looks_for,
        check: None,
        max_match: None,
        action,
        places: Places::ALL,
    };
    Arc::new(Rule::compile(spec).unwrap())
}

fn mask(name: &str, pattern: &str) -> Arc<Rule> {
    rule(name, pattern, Action::Mask(Template::default()))
}

fn set(rules: Vec<Arc<Rule>>) -> Arc<RuleSet> {
    Arc::new(RuleSet::new(rules).unwrap())
}

/// Cards are masked, "forbidden" blocks, "noted" is only noted, "elsewhere" redirects to a text.
fn usual() -> Arc<RuleSet> {
    set(vec![
        mask("card", "card_number"),
        rule("never", "forbidden", Action::Block),
        rule("seen", "noted", Action::LogOnly),
        rule("other", "elsewhere", Action::Redirect(Detour::Text("Ask a human.".into()))),
    ])
}

fn screen(rules: &Arc<RuleSet>, shape: Shape) -> AnswerScreen {
    let closing = Closing { request_id: "req-1".into(), model: "m".into() };
    AnswerScreen::new(rules.clone(), shape.kind(), shape.framing(), closing)
}

/// All that comes out where each of `pieces` is pushed by itself.
fn pass(screen: &mut AnswerScreen, pieces: &[&[u8]]) -> String {
    let mut out = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        out.extend_from_slice(&screen.push(Bytes::copy_from_slice(piece), at + 1 == pieces.len()).unwrap());
    }
    String::from_utf8(out).unwrap()
}

/// All that comes out of an answer, each event by itself.
fn screened(rules: &Arc<RuleSet>, shape: Shape, events: &[String]) -> (String, AnswerScreen) {
    let mut screen = screen(rules, shape);
    let pieces: Vec<&[u8]> = events.iter().map(|event| event.as_bytes()).collect();
    let out = pass(&mut screen, &pieces);
    (out, screen)
}
