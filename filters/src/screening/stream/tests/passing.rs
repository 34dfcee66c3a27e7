//! Answers in which nothing is found leave as they came, and at once.

use bytes::Bytes;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::answers::Holds::{Arguments, Reasoning, Text};
use super::answers::{SHAPES, Shape, block};
use super::{mask, pass, rule, screen, screened, set, usual};
use crate::guardrails::{Action, library};
use crate::wire::framing::FRAME_LIMIT;

const TEXT: &str = "Nothing here, “naïvely”, is a number; 全部没有。 \u{1f600} \"quoted\"\n";

#[test]
fn without_a_match_every_event_leaves_at_once_as_it_came() {
    let rules = set(library::all().map(|detector| rule(detector.name, "card_number", Action::Block)).take(1).collect());
    for shape in SHAPES {
        let deltas: Vec<String> = TEXT.chars().map(String::from).collect();
        let deltas: Vec<&str> = deltas.iter().map(|delta| delta.as_str()).collect();
        let arguments = [r#"{"a":"#, r#""x","#, r#""b":[true,"\u00e9"#, r#"",12,"#, r#"nu"#, r#"ll]}"#];
        let events = shape.events(&[block(Reasoning, &deltas), block(Text, &deltas), block(Arguments, &arguments)]);
        let mut screen = screen(&rules, shape);
        for event in &events {
            let sent = screen.push(Bytes::from(event.clone()), false).unwrap();
            assert_eq!((&*sent, screen.held_back()), (event.as_bytes(), 0), "{shape:?}");
        }
        assert_eq!(&*screen.push(Bytes::new(), true).unwrap(), b"");
        assert!(screen.has_sent() && screen.report().findings.is_empty());
    }
}

#[test]
fn the_bytes_are_the_same_whatever_pieces_they_come_in() {
    let random = &mut StdRng::seed_from_u64(3);
    let rules = set(vec![mask("word", "zzz+y"), rule("never", "4111", Action::Block)]);
    for shape in SHAPES {
        let events = shape.events(&[
            block(Reasoning, &["zz", TEXT]),
            block(Text, &[TEXT, "z", "zz", "zz"]),
            block(Arguments, &["{\"z\":\"zzz", "zz\"}"]),
        ]);
        let events = events.concat();
        for _ in 0..300 {
            let mut pieces = Vec::new();
            let mut rest = events.as_bytes();
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(random.random_range(0..200).min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            assert_eq!(pass(&mut screen(&rules, shape), &pieces), events, "{shape:?}");
        }
    }
}

#[test]
fn padding_that_changes_with_every_event_stays_and_is_no_text() {
    let event = |text: &str, padding: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}],\"obfuscation\":\"{padding}\"}}\n\n")
    };
    let deltas = [("a", "zzz"), ("zzz", "zzz"), ("b", ""), ("z", "0z"), ("zz", "\\\"zzz"), (" c", "4111")];
    let before: Vec<String> = deltas.iter().map(|(text, padding)| event(text, padding)).collect();
    let masked = [("a", "zzz"), ("[word]", "zzz"), ("b", ""), ("[word]", "0z"), ("", "\\\"zzz"), (" c", "4111")];
    let after: String = masked.iter().map(|(text, padding)| event(text, padding)).collect();
    let rules = set(vec![mask("word", "zzz"), rule("never", "4111", Action::Block)]);
    assert_eq!(screened(&rules, Shape::Chat, &before).0, after);
    assert_eq!(pass(&mut screen(&rules, Shape::Chat), &[before.concat().as_bytes()]), after);
}

#[test]
fn what_came_between_held_events_keeps_its_place() {
    let between = [": ping\n\n", "event: ping\ndata: {\"type\":\"ping\"}\n\n", "retry: 3\n\n", "data: not json\n\n"];
    let mut events = Shape::Messages.events(&[block(Text, &["4111 1111 ", "1111 ", "1112"])]);
    for (at, event) in between.iter().enumerate() {
        events.insert(4 + at, (*event).to_owned());
    }
    let mut screen = screen(&usual(), Shape::Messages);
    let mut out = String::new();
    for (at, event) in events.iter().enumerate() {
        out += std::str::from_utf8(&screen.push(Bytes::from(event.clone()), at + 1 == events.len()).unwrap()).unwrap();
        if (4..8).contains(&at) {
            assert!(screen.held_back() > 0);
        }
    }
    assert_eq!(out, events.concat());
}

#[test]
fn other_line_ends_and_data_in_several_lines_are_read_and_written() {
    let chunk = |text: &str| format!("id: 1\r\ndata: {{\"choices\":[{{\r\ndata: \"delta\":{{\"content\":\"{text}\"}}}}]}}\r\n: c\r\n\r\n");
    let (out, _) = screened(&usual(), Shape::Chat, &[chunk("a"), chunk("b")]);
    assert_eq!(out, [chunk("a"), chunk("b")].concat());
    let (out, _) = screened(&usual(), Shape::Chat, &[chunk("4111111111111111.")]);
    assert_eq!(out, "id: 1\r\ndata: {\"choices\":[{\ndata: \"delta\":{\"content\":\"[card].\"}}]}\n: c\r\n\r\n");
}

#[test]
fn the_last_event_may_lack_its_blank_line_but_not_its_end() {
    let chunk = |text: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}");
    let first = chunk("a.") + "\n\n";
    for (last, sent) in
        [(chunk("b"), chunk("b")), (chunk("4111111111111111"), chunk("[card]")), (chunk("4111")[..40].to_owned(), String::new())]
    {
        let (out, _) = screened(&usual(), Shape::Chat, &[first.clone() + &last]);
        assert_eq!(out, first.clone() + &sent);
        let (out, _) = screened(&usual(), Shape::Chat, &[first.clone(), last]);
        assert_eq!(out, first.clone() + &sent);
    }
    let (out, _) = screened(&usual(), Shape::GenerateArray, &["[{} ,{}] \n".to_owned()]);
    assert_eq!(out, "[{} ,{}] \n");
}

#[test]
fn an_event_beyond_its_bound_ends_the_screening_after_what_came_before() {
    let mut screen = screen(&usual(), Shape::Chat);
    let event = "data: {\"choices\":[]}\n\n";
    let long = [event.as_bytes(), b"data: ", &vec![b'x'; FRAME_LIMIT]].concat();
    assert_eq!(&*screen.push(Bytes::from(long), false).unwrap(), event.as_bytes());
    assert!(screen.push(Bytes::new(), false).is_err());
}

#[test]
fn what_is_held_is_bounded_and_nothing_of_it_is_lost() {
    let mut screen = screen(&usual(), Shape::Chat);
    let chunk =
        |index: usize, text: &str| format!("data: {{\"choices\":[{{\"index\":{index},\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let (mut sent, mut came, mut most) = (0, 0, 0);
    let mut push = |event: String, end: bool| {
        came += event.len();
        sent += screen.push(Bytes::from(event), end).unwrap().len();
        most = most.max(screen.held_back());
        (sent, came)
    };
    push(chunk(0, "4111 1111"), false);
    let long = "x".repeat(10_000);
    for _ in 0..600 {
        push(chunk(1, &long), false);
    }
    let (sent, came) = push(chunk(1, "."), true);
    assert_eq!(sent, came);
    assert!(((4 << 20) - 20_000..=4 << 20).contains(&most), "{most}");
}

#[test]
fn text_that_waits_does_not_hold_up_the_next_kind_of_text() {
    for shape in SHAPES {
        let events = shape.events(&[block(Reasoning, &["the number is 4111"]), block(Text, &["Well."])]);
        let mut screen = screen(&usual(), shape);
        let at = events.iter().position(|event| event.contains("Well.")).unwrap();
        events[..at].iter().for_each(|event| drop(screen.push(Bytes::from(event.clone()), false)));
        let sent = screen.push(Bytes::from(events[at].clone()), false).unwrap();
        assert!(sent.ends_with(events[at].as_bytes()) && screen.held_back() == 0, "{shape:?}");
    }
}
