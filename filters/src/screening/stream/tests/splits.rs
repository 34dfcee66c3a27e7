//! Whatever the deltas, and whatever the pieces of bytes they come in, the client reads the same.

use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::Value;

use super::answers::Holds::{Arguments, Reasoning, Refusal, Text};
use super::answers::{Block, SHAPES, Shape, mended};
use super::{mask, pass, rule, screen, set};
use crate::guardrails::{Action, Place, RuleSet};

/// Cuts of answers in one test.
const CUTS: usize = 10_000;

/// What texts are made of: matches, halves of matches, and what stands between their characters.
const WORDS: [&str; 27] = [
    "forbidden",
    "4111 1111 1111 1111",
    "4111\u{200b}1111\u{200d}11111111",
    "４１１１１１１１１１１１１１１１",
    "4111",
    "1111",
    " ",
    "-",
    "\u{200b}",
    "for",
    "bidden",
    "forbid",
    "den",
    "jane@example.org",
    "jane@exam",
    "ple.org",
    "@",
    ".",
    "\n",
    "\"",
    "\\",
    "é",
    "\u{1f600}",
    "noted",
    "word",
    "{",
    "5555555555554444",
];
/// The same, written as strings in arguments may write it.
const ESCAPES: [&str; 11] = [
    r"forb\u0069dden",
    r"4111\u20111111",
    r"4111\u200b\u0031111",
    r"11111111",
    r"\ud83d\ude00",
    r"\n",
    r"\/",
    r"\u0034111 1111 1111 1111",
    r"\\",
    r"\ud83d",
    "1111",
];

fn rules() -> Arc<RuleSet> {
    set(vec![
        mask("card", "card_number"),
        mask("mail", r"[a-z]+@[a-z]+\.[a-z]{2,}"),
        mask("bid", r"bid+e"),
        rule("seen", "noted", Action::LogOnly),
        rule("never", "forbidden", Action::Block),
    ])
}

fn words(random: &mut StdRng, escapes: bool) -> String {
    let mut text = String::new();
    for _ in 0..random.random_range(1..7) {
        if escapes && random.random_bool(0.4) {
            text += ESCAPES[random.random_range(0..ESCAPES.len())];
        } else {
            let word = WORDS[random.random_range(0..WORDS.len())];
            if escapes {
                let quoted = serde_json::to_string(word).unwrap();
                text += &quoted[1..quoted.len() - 1];
            } else {
                text += word;
            }
        }
    }
    text
}

fn arguments(random: &mut StdRng) -> String {
    let scalar = |random: &mut StdRng| match random.random_range(0..6) {
        0 => "4111111111111111".to_owned(),
        1 => ["-1.5e3", "411111111111111", "true", "null", "41111111111111110"][random.random_range(0..5)].to_owned(),
        _ => format!("\"{}\"", words(random, true)),
    };
    let (first, second, third) = (scalar(random), scalar(random), scalar(random));
    format!("{{\"4111111111111111\" : {first},\"b\":[{second}, {{\"c\":{third}}}]}}")
}

/// Blocks with their text in one delta.
fn answer(random: &mut StdRng, shape: Shape) -> Vec<Block> {
    let order = [Reasoning, Text, Refusal, Arguments, Arguments];
    let chosen = order.into_iter().filter(|holds| shape.has(*holds) && (*holds == Text || random.random_bool(0.5)));
    let chosen: Vec<_> = chosen.collect();
    let text = |holds, random: &mut StdRng| if holds == Arguments { arguments(random) } else { words(random, false) };
    chosen.into_iter().map(|holds| Block { holds, deltas: vec![text(holds, random)] }).collect()
}

/// The same answer in other deltas.
fn cut(random: &mut StdRng, block: &Block) -> Block {
    let (text, mut deltas) = (block.text(), vec![String::new()]);
    let rate = [0.05, 0.15, 0.5][random.random_range(0..3)];
    for character in text.chars() {
        if random.random_bool(rate) {
            deltas.push(String::new());
        }
        deltas.last_mut().unwrap().push(character);
    }
    Block { holds: block.holds, deltas }
}

/// The same bytes in other pieces, now and then an event each.
fn pieces<'b>(random: &mut StdRng, bytes: &'b [u8]) -> Vec<&'b [u8]> {
    let (mut pieces, mut rest) = (Vec::new(), bytes);
    let longest = [0, 11, 300, 4000][random.random_range(0..4)];
    while !rest.is_empty() {
        let length = match longest {
            0 => memchr::memmem::find(rest, b"\n\n").map_or(rest.len(), |at| at + 2),
            longest => random.random_range(0..=longest).min(rest.len()),
        };
        let (piece, after) = rest.split_at(length);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// A text as it should leave, and whether the answer is cut off in it.
fn expected(rules: &RuleSet, place: Place, text: &str) -> (String, bool) {
    let findings = rules.scan(place, text);
    let cut = findings.iter().find(|finding| finding.rule == 4).map(|finding| finding.start);
    let (mut out, mut from) = (String::new(), 0);
    for edit in rules.edits(text, 0, &findings).into_iter().filter(|edit| edit.start < cut.unwrap_or(usize::MAX)) {
        out = out + &text[from..edit.start] + &edit.replacement;
        from = edit.end;
    }
    let until = cut.unwrap_or(text.len()).max(from);
    (out + &text[from..until], cut.is_some())
}

/// Arguments as they should leave.
fn expected_value(rules: &RuleSet, value: &Value) -> Value {
    let masked = |text: &str| rules.mask(text, &rules.scan(Place::ToolArguments, text)).into_owned();
    match value {
        Value::String(text) => masked(text).into(),
        Value::Number(number) if masked(&number.to_string()) != number.to_string() => masked(&number.to_string()).into(),
        Value::Array(list) => list.iter().map(|value| expected_value(rules, value)).collect(),
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), expected_value(rules, value))).collect(),
        other => other.clone(),
    }
}

fn parsed(json: &str) -> Value {
    serde_json::from_str(&mended(json)).unwrap_or_else(|error| panic!("{error} in {json}"))
}

fn leaves<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| leaves(value, found)),
        Value::Object(members) => members.values().for_each(|value| leaves(value, found)),
        other => found.push(other),
    }
}

/// Checks what is left of arguments that were cut off in a string.
fn check_cut(rules: &RuleSet, whole: &Value, left: &str) {
    let closed = ["\"}", "\"]}", "\"}]}"].map(|end| left.to_owned() + end);
    let Some(left) = closed.iter().find(|json| serde_json::from_str::<Value>(&mended(json)).is_ok()) else {
        panic!("{left} was not cut in a string");
    };
    let left = parsed(left);
    let (mut came, mut all) = (Vec::new(), Vec::new());
    leaves(&left, &mut came);
    leaves(whole, &mut all);
    let last = came.len() - 1;
    for (at, (came, whole)) in came.iter().zip(&all).enumerate() {
        let (text, cut) = expected(rules, Place::ToolArguments, whole.as_str().unwrap_or_default());
        let wanted = if cut { text.into() } else { expected_value(rules, whole) };
        assert_eq!(**came, wanted);
        assert_eq!(cut, at == last, "the first match cuts");
    }
}

/// Checks what a client reads of an answer.
fn check(rules: &RuleSet, shape: Shape, blocks: &[Block], out: &str) {
    let texts = shape.texts(out);
    let mut wanted = std::collections::BTreeMap::new();
    for (at, block) in blocks.iter().enumerate() {
        let key = (block.holds, shape.place(blocks, at));
        let text = block.text();
        if block.holds != Arguments {
            let place = if block.holds == Reasoning { Place::Reasoning } else { Place::Answer };
            let (text, cut) = expected(rules, place, &text);
            if !text.is_empty() {
                wanted.insert(key, text);
            }
            if cut {
                break;
            }
            continue;
        }
        let value = parsed(&text);
        let mut scalars = Vec::new();
        leaves(&value, &mut scalars);
        if scalars.iter().any(|scalar| expected(rules, Place::ToolArguments, scalar.as_str().unwrap_or_default()).1) {
            if let Some(left) = texts.get(&key).cloned() {
                check_cut(rules, &value, &left);
                wanted.insert(key, left);
            } else {
                assert!(matches!(shape, Shape::Generate | Shape::GenerateArray), "only whole calls vanish");
            }
            break;
        }
        let left = texts.get(&key).cloned().unwrap_or_default();
        assert_eq!(parsed(&left), expected_value(rules, &value), "{shape:?} {text}");
        wanted.insert(key, left);
    }
    assert_eq!(texts, wanted, "{shape:?} {blocks:?}");
}

#[test]
fn every_cut_of_an_answer_reads_the_same() {
    let rules = rules();
    let random = &mut StdRng::seed_from_u64(7);
    let mut stopped = 0;
    for round in 0..CUTS / 4 {
        let shape = SHAPES[round % SHAPES.len()];
        let blocks = answer(random, shape);
        let mut first = None;
        for _ in 0..4 {
            let deltas: Vec<Block> = blocks.iter().map(|block| cut(random, block)).collect();
            let events = shape.events(&deltas).concat();
            let mut screen = screen(&rules, shape);
            let out = pass(&mut screen, &pieces(random, events.as_bytes()));
            stopped += usize::from(screen.stopped().is_some());
            check(&rules, shape, &blocks, &out);
            assert_eq!(screen.held_back(), 0);
            let mut report = screen.report().clone();
            if screen.stopped().is_some() {
                // How much came with what stopped it depends on the cut.
                report.bytes = 0;
            }
            let told = (shape.texts(&out), report, screen.has_sent());
            assert_eq!(first.get_or_insert(told.clone()), &told, "{shape:?} {deltas:?}");
            repeats_agree(shape, &out);
        }
    }
    assert!((CUTS / 50..CUTS / 2).contains(&stopped), "{stopped} of {CUTS} were cut off");
}

/// Where a text is told again it is the same.
fn repeats_agree(shape: Shape, out: &str) {
    if shape != Shape::Responses {
        return;
    }
    let texts = shape.texts(out);
    for data in shape.data(out) {
        let kind = data["type"].as_str().unwrap();
        let told = data["text"].as_str().or(data["refusal"].as_str()).or(data["arguments"].as_str());
        if let (true, Some(told)) = (kind.ends_with(".done"), told) {
            let whole: String =
                texts.iter().filter(|((_, place), _)| Some(*place) == data["output_index"].as_u64()).map(|(_, text)| &**text).collect();
            assert_eq!(told, whole);
        }
        let again = |item: &Value| {
            let parts = item["content"].as_array().or(item["summary"].as_array()).and_then(|parts| parts.first());
            let part = parts.map(|part| part["text"].as_str().or(part["refusal"].as_str()).unwrap_or_default());
            part.or(item["arguments"].as_str()).unwrap_or_default().to_owned()
        };
        if kind == "response.completed" || kind == "response.incomplete" {
            let told: String = data["response"]["output"].as_array().unwrap().iter().map(again).collect();
            let mut places: Vec<_> = texts.iter().map(|((_, place), text)| (*place, text.clone())).collect();
            places.sort();
            assert_eq!(told, places.into_iter().map(|(_, text)| text).collect::<String>());
        }
    }
}

/// A delta of a choice: text, or arguments of one of two calls.
fn interleaved_chunk(stream: usize, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    let delta = match stream {
        0 | 1 => format!(r#"{{"content":{text}}}"#),
        call => format!(r#"{{"tool_calls":[{{"index":{call},"function":{{"arguments":{text}}}}}]}}"#),
    };
    format!("data: {{\"choices\":[{{\"index\":{},\"delta\":{delta}}}]}}\n\n", stream.min(2))
}

#[test]
fn texts_that_come_side_by_side_are_looked_at_by_themselves() {
    let rules = set(vec![mask("card", "card_number"), mask("mail", r"[a-z]+@[a-z]+\.[a-z]{2,}")]);
    let random = &mut StdRng::seed_from_u64(5);
    for _ in 0..500 {
        let texts = [words(random, false), words(random, false), arguments(random), arguments(random)];
        let deltas = texts.each_ref().map(|text| {
            let whole = Block { holds: Text, deltas: vec![text.clone()] };
            cut(random, &whole).deltas
        });
        let mut left = deltas.each_ref().map(|deltas| deltas.iter());
        let mut events = String::new();
        while left.iter().any(|deltas| deltas.len() > 0) {
            let stream = random.random_range(0..4);
            events += &left[stream].next().map(|delta| interleaved_chunk(stream, delta)).unwrap_or_default();
        }
        let mut screen = screen(&rules, Shape::Chat);
        let out = pass(&mut screen, &pieces(random, events.as_bytes()));
        let mut came: [String; 4] = Default::default();
        for data in Shape::Chat.data(&out) {
            let choice = &data["choices"][0];
            let call = &choice["delta"]["tool_calls"][0];
            let stream = call["index"].as_u64().or(choice["index"].as_u64()).unwrap() as usize;
            came[stream] += choice["delta"]["content"].as_str().or(call["function"]["arguments"].as_str()).unwrap();
        }
        for stream in 0..2 {
            assert_eq!(came[stream], rules.mask(&texts[stream], &rules.scan(Place::Answer, &texts[stream])), "{events}");
        }
        for stream in 2..4 {
            assert_eq!(parsed(&came[stream]), expected_value(&rules, &parsed(&texts[stream])), "{events}");
        }
    }
}
