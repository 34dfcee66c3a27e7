//! A.2.4 as a state machine: what the vendor's own clients demand of a stream, and what they make of it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Checks a stream that ended well and returns the blocks of its message.
pub(super) fn check(events: &[Value]) -> Vec<Value> {
    let mut blocks: Vec<Value> = Vec::new();
    let mut arguments = String::new();
    let mut open = false;
    let last = events.len() - 1;
    for (place, event) in events.iter().enumerate() {
        let kind = event["type"].as_str().expect("a type");
        assert_eq!(kind == "message_start", place == 0, "one start, first");
        assert_eq!(kind == "message_stop", place == last, "one end, last");
        assert_eq!(kind == "message_delta", place + 1 == last, "one delta of the message, before the end");
        match kind {
            "content_block_start" => {
                assert!(!open && event["index"] == blocks.len(), "blocks are dense and never overlap");
                open = true;
                arguments.clear();
                blocks.push(event["content_block"].clone());
            }
            "content_block_delta" => {
                assert!(open && event["index"] == blocks.len() - 1, "a delta belongs to the open block");
                apply(blocks.last_mut().expect("a block"), &event["delta"], &mut arguments);
            }
            "content_block_stop" => {
                assert!(open && event["index"] == blocks.len() - 1);
                open = false;
                close(blocks.last_mut().expect("a block"), &arguments);
            }
            "message_delta" => {
                assert!(!open && event["delta"]["stop_reason"].is_string() && event["usage"]["output_tokens"].is_u64());
            }
            "message_start" | "ping" | "message_stop" => {}
            other => panic!("{other}"),
        }
    }
    blocks
}

fn apply(block: &mut Value, delta: &Value, arguments: &mut String) {
    let append =
        |field: &mut Value, more: &Value| *field = json!(format!("{}{}", field.as_str().expect("text"), more.as_str().expect("text")));
    match (delta["type"].as_str().expect("a type"), block["type"].as_str().expect("a type")) {
        ("text_delta", "text") => append(&mut block["text"], &delta["text"]),
        ("thinking_delta", "thinking") => {
            assert_eq!(block["signature"], "", "the signature is last");
            append(&mut block["thinking"], &delta["thinking"]);
        }
        ("signature_delta", "thinking") => {
            assert_eq!(block["signature"], "", "the signature comes once");
            block["signature"] = delta["signature"].clone();
        }
        ("input_json_delta", "tool_use" | "server_tool_use") => arguments.push_str(delta["partial_json"].as_str().expect("text")),
        ("citations_delta", "text") => {
            let citations = block.as_object_mut().expect("a block").entry("citations").or_insert(json!([]));
            citations.as_array_mut().expect("a list").push(delta["citation"].clone());
        }
        (delta, block) => panic!("{delta} in {block}"),
    }
}

fn close(block: &mut Value, arguments: &str) {
    match block["type"].as_str() {
        Some("tool_use" | "server_tool_use") => {
            assert_eq!(block["input"], json!({}));
            block["input"] = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
        }
        Some("text") => assert_ne!(block["text"], "", "no block of empty text"),
        _ => {}
    }
}

/// Moves of a provider with up to three calls.
#[derive(Clone, Debug)]
enum Move {
    Say,
    Think,
    Sign,
    Search,
    Cite,
    Start,
    Fragment(u32),
    End(u32),
    Ping,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        Just(Move::Say),
        Just(Move::Think),
        Just(Move::Sign),
        Just(Move::Search),
        Just(Move::Cite),
        Just(Move::Start),
        (0_u32..3).prop_map(Move::Fragment),
        (0_u32..3).prop_map(Move::End),
        Just(Move::Ping),
    ];
    prop::collection::vec(one, 0..40)
}

/// Fragments of a call's arguments, in order.
const FRAGMENTS: [&str; 3] = ["{\"a\":\"x", "y\",\"b\":", "[1]}"];

/// Lawful events for the moves: what cannot be done is left out, calls are completed and ended before the finish.
fn events(moves: &[Move]) -> Vec<Event<'static>> {
    const IDS: [&str; 3] = ["c0", "c1", "c2"];
    let mut events = vec![start()];
    let mut calls: Vec<(usize, bool)> = Vec::new();
    let fragment = |events: &mut Vec<Event<'static>>, number: u32, state: &mut (usize, bool)| {
        if !state.1 && state.0 < FRAGMENTS.len() {
            events.push(arguments(number, FRAGMENTS[state.0]));
            state.0 += 1;
        }
    };
    for one in moves {
        match one {
            Move::Say => events.push(text("t")),
            Move::Think => events.push(reasoning("r")),
            Move::Sign => events.push(signed("s")),
            Move::Search => events.push(search("ws_1")),
            Move::Cite => events.push(citation(None)),
            Move::Ping => events.push(Event::Ping),
            Move::Start if calls.len() < IDS.len() => {
                events.push(call(u32::try_from(calls.len()).expect("few"), IDS[calls.len()]));
                calls.push((0, false));
            }
            Move::Start => {}
            Move::Fragment(number) => {
                if let Some(state) = calls.get_mut(*number as usize) {
                    fragment(&mut events, *number, state);
                }
            }
            Move::End(number) => {
                if let Some(state) = calls.get_mut(*number as usize).filter(|state| !state.1) {
                    while state.0 < FRAGMENTS.len() {
                        fragment(&mut events, *number, state);
                    }
                    state.1 = true;
                    events.push(ended(*number));
                }
            }
        }
    }
    for (number, state) in calls.iter_mut().enumerate() {
        let number = u32::try_from(number).expect("few");
        while !state.1 && state.0 < FRAGMENTS.len() {
            fragment(&mut events, number, state);
        }
        if !state.1 {
            events.push(ended(number));
        }
    }
    events.extend([finish(FinishReason::Stop), usage(), Event::End]);
    events
}

/// All text, and all calls in order, of a list of blocks.
fn content(blocks: &[Value]) -> (String, Vec<Value>) {
    let text = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    (text, blocks.iter().filter(|block| block["type"] == "tool_use").cloned().collect())
}

proptest! {
    #[test]
    fn every_order_of_events_gives_a_lawful_stream_with_the_same_content_as_the_whole_answer(moves in moves()) {
        let events = events(&moves);
        let streamed = check(&streamed(Shape::ChatCompletions, &events));
        let whole = whole(Shape::ChatCompletions, &events);
        prop_assert_eq!(content(&streamed), content(whole["content"].as_array().expect("content")));
        let (_, calls) = content(&streamed);
        for (number, call) in calls.iter().enumerate() {
            prop_assert_eq!(&call["id"], &json!(format!("c{number}")));
            prop_assert_eq!(&call["input"], &json!({"a": "xy", "b": [1]}));
        }
    }
}
