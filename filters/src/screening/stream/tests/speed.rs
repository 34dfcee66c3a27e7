//! What an event costs in which nothing is found.

use std::time::Instant;

use bytes::Bytes;

use super::answers::Holds::{Arguments, Text};
use super::answers::{SHAPES, Shape, block};
use super::{rule, screen, set};
use crate::guardrails::{Action, Template};

const WORDS: [&str; 8] = ["Nothing", " is f", "ound ", "in th", "ese w", "ords,", " and ", "so on"];

/// Nanoseconds for each event of `shape`, each pushed by itself.
fn cost(shape: Shape, action: &Action) -> u128 {
    let rules =
        (0..30).map(|n| if n % 5 == 0 { "card_number".to_owned() } else { format!(r"\b(?:Codename|Projekt)[ -]?{n:02}[a-z]{{3,9}}\b") });
    let rules = set(rules.enumerate().map(|(n, pattern)| rule(&format!("r{n}"), &pattern, action.clone())).collect());
    let deltas: Vec<&str> = WORDS.iter().copied().cycle().take(20_000).collect();
    let arguments: Vec<String> = deltas.iter().map(|word| format!("\"{word}\",")).collect();
    let mut arguments: Vec<&str> = arguments.iter().map(|delta| delta.as_str()).collect();
    (arguments[0], arguments[19_999]) = ("[", "0]");
    let blocks =
        if shape == Shape::Generate { vec![block(Text, &deltas)] } else { vec![block(Text, &deltas), block(Arguments, &arguments)] };
    let events: Vec<Bytes> = shape.events(&blocks).into_iter().map(Bytes::from).collect();
    let count = events.len() as u128;
    (0..5)
        .map(|_| {
            let mut screen = screen(&rules, shape);
            let (events, start) = (events.clone(), Instant::now());
            for event in events {
                assert!(!screen.push(event, false).unwrap().is_empty());
            }
            start.elapsed().as_nanos() / count
        })
        .min()
        .unwrap()
}

#[test]
#[ignore = "measures: cargo test -p svc-filters --release screening::stream::tests::speed -- --ignored --nocapture"]
fn an_event_in_which_nothing_is_found_is_cheap() {
    for shape in SHAPES.into_iter().filter(|shape| *shape != Shape::GenerateArray) {
        let (masks, blocks) = (cost(shape, &Action::Mask(Template::default())), cost(shape, &Action::Block));
        println!("{shape:?}: {masks} ns an event with 30 rules that mask, {blocks} ns with 30 that block");
    }
}
