//! What is left of an answer that is cut off, byte for byte.

use super::answers::Holds::{Arguments, Reasoning, Refusal, Text};
use super::answers::{Block, Holds, SHAPES, Shape, block};
use super::{pass, screen, screened, usual};

/// The events of the answer up to the end of the delta number `deltas` of the last block.
fn until(shape: Shape, blocks: &[Block], deltas: usize) -> String {
    let (last, before) = blocks.split_last().unwrap();
    let cut = Block { holds: last.holds, deltas: last.deltas[..deltas].to_vec() };
    let events = shape.events(&[before, &[cut][..]].concat());
    let after = match (shape, last.holds) {
        (Shape::Chat | Shape::Messages, _) => events.len() - 2 - usize::from(shape == Shape::Messages),
        (Shape::Generate, _) => events.len() - 1,
        (Shape::GenerateArray, _) => events.len() - 2,
        (Shape::Responses, Arguments) => events.len() - 3,
        (Shape::Responses, _) => events.len() - 4,
    };
    events[..after].concat()
}

const CHAT_HEAD: &str = r#"data: {"id":"c1","object":"chat.completion.chunk","created":7,"model":"m1","choices":[{"index":0,"delta":"#;

/// What a refusal adds where the first block is cut off after `said`.
fn refusal(shape: Shape, holds: Holds, said: &str) -> String {
    let said = serde_json::to_string(said).unwrap();
    match shape {
        Shape::Chat => format!("{CHAT_HEAD}{{}},\"finish_reason\":\"content_filter\"}}]}}\n\ndata: [DONE]\n\n"),
        Shape::Messages => [
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
            "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\",\"stop_sequence\":null,\"stop_details\":{\"type\":\"refusal\",\"category\":null,\"explanation\":null}},\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}\n\n",
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        ]
        .concat(),
        Shape::Generate => format!("data: {}\n\n", candidate("", "SAFETY")),
        Shape::GenerateArray => format!(",\n{}]", candidate("", "SAFETY")),
        Shape::Responses => {
            let (mut closed, item, number) = response_end(holds, &said, "incomplete");
            let response = format!(
                r#"{{"id":"resp_1","object":"response","created_at":7,"model":"m1","instructions":"i","status":"incomplete","error":null,"incomplete_details":{{"reason":"content_filter"}},"output":[{item}],"usage":{NO_USAGE}}}"#
            );
            closed += &named("response.incomplete", &format!(r#""response":{response},"sequence_number":{number}"#));
            closed
        }
    }
}

const NO_USAGE: &str = r#"{"input_tokens":0,"input_tokens_details":{"cached_tokens":0},"output_tokens":0,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":0}"#;

fn candidate(text: &str, reason: &str) -> String {
    let reason = if reason.is_empty() { String::new() } else { format!(r#","finishReason":"{reason}""#) };
    let usage = if reason.is_empty() { "" } else { r#""usageMetadata":{"promptTokenCount": 3},"# };
    format!(
        r#"{{"candidates":[{{"index":0,"content":{{"role":"model","parts":[{{"text":"{text}"}}]}}{reason}}}],{usage}"modelVersion":"m1","responseId":"r1"}}"#
    )
}

fn named(kind: &str, members: &str) -> String {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\",{members}}}\n\n")
}

/// The end of the first item, which is at the event number 4 or 3, the item, and the number of the event that follows.
fn response_end(holds: Holds, said: &str, status: &str) -> (String, String, usize) {
    let at = r#""item_id":"item_0","output_index":0"#;
    let part = match holds {
        Text => format!(r#"{{"type":"output_text","text":{said},"annotations":[],"logprobs":[]}}"#),
        Refusal => format!(r#"{{"type":"refusal","refusal":{said}}}"#),
        _ => format!(r#"{{"type":"summary_text","text":{said}}}"#),
    };
    let status = format!(r#""status":"{status}""#);
    let (done, part_done, item) = match holds {
        Text => (
            named("response.output_text.done", &format!(r#"{at},"content_index":0,"text":{said},"logprobs":[],"sequence_number":5"#)),
            named("response.content_part.done", &format!(r#"{at},"content_index":0,"part":{part},"sequence_number":6"#)),
            format!(r#"{{"id":"item_0","type":"message","role":"assistant",{status},"content":[{part}]}}"#),
        ),
        Refusal => (
            named("response.refusal.done", &format!(r#"{at},"content_index":0,"refusal":{said},"sequence_number":5"#)),
            named("response.content_part.done", &format!(r#"{at},"content_index":0,"part":{part},"sequence_number":6"#)),
            format!(r#"{{"id":"item_0","type":"message","role":"assistant",{status},"content":[{part}]}}"#),
        ),
        Reasoning => (
            named("response.reasoning_summary_text.done", &format!(r#"{at},"summary_index":0,"text":{said},"sequence_number":5"#)),
            named("response.reasoning_summary_part.done", &format!(r#"{at},"summary_index":0,"part":{part},"sequence_number":6"#)),
            format!(r#"{{"id":"item_0","type":"reasoning",{status},"summary":[{part}]}}"#),
        ),
        Arguments => (
            named("response.function_call_arguments.done", &format!(r#"{at},"arguments":{said},"sequence_number":4"#)),
            String::new(),
            format!(r#"{{"id":"item_0","type":"function_call","call_id":"t","name":"f",{status},"arguments":{said}}}"#),
        ),
    };
    let number = if holds == Arguments { 5 } else { 7 };
    let item_done = named("response.output_item.done", &format!(r#""output_index":0,"item":{item},"sequence_number":{number}"#));
    (done + &part_done + &item_done, item, number + 1)
}

#[test]
fn a_block_sends_what_comes_before_the_match_and_then_refuses() {
    for shape in SHAPES {
        for holds in [Text, Reasoning, Refusal].into_iter().filter(|holds| shape.has(*holds)) {
            let before = [block(holds, &["I \"say\" ", "it: forb", "idden", " word"]), block(Text, &["more"])];
            let after = until(shape, &[block(holds, &["I \"say\" ", "it: "])], 2) + &refusal(shape, holds, "I \"say\" it: ");
            let (out, screen) = screened(&usual(), shape, &shape.events(&before));
            assert_eq!(out, after, "{shape:?} {holds:?}");
            assert!(screen.has_sent() && screen.held_back() == 0);
            assert_eq!(screen.stopped().map(|decision| decision.rule.name().to_owned()).as_deref(), Some("never"));
            assert_eq!(screen.report().findings.len(), 1);
        }
    }
}

#[test]
fn a_block_in_arguments_cuts_them_off() {
    let deltas = [r#"{"a":1,"b":"x "#, r#"for\u0062idd"#, r#"en"}"#];
    for shape in [Shape::Chat, Shape::Messages, Shape::Responses] {
        let (out, screen) = screened(&usual(), shape, &shape.events(&[block(Arguments, &deltas)]));
        let front = [block(Arguments, &[r#"{"a":1,"b":"x "#, ""])];
        let expected = until(shape, &front, 2) + &refusal(shape, Arguments, r#"{"a":1,"b":"x "#);
        assert_eq!(out, expected, "{shape:?}");
        assert!(screen.stopped().is_some());
    }
    for shape in [Shape::Generate, Shape::GenerateArray] {
        let blocks = [block(Text, &["hello"]), block(Arguments, &deltas)];
        let (out, _) = screened(&usual(), shape, &shape.events(&blocks));
        assert_eq!(out, until(shape, &blocks[..1], 1) + &refusal(shape, Text, ""), "{shape:?}: a call is not sent in part");
    }
}

#[test]
fn where_nothing_was_sent_a_block_tells_so() {
    for shape in SHAPES {
        let (_, screen) = screened(&usual(), shape, &shape.events(&[block(Text, &["forbid", "den"])]));
        assert!(!screen.has_sent() && screen.stopped().is_some(), "{shape:?}");
        let (_, screen) = screened(&usual(), shape, &shape.events(&[block(Text, &["a forbidden"])]));
        assert!(screen.has_sent(), "{shape:?}");
    }
}

#[test]
fn nothing_leaves_after_the_answer_was_cut_off() {
    for shape in SHAPES {
        let mut screen = screen(&usual(), shape);
        let events = shape.events(&[block(Text, &["forbidden "])]).concat();
        assert!(!pass(&mut screen, &[events.as_bytes()]).contains("forbidden"));
        assert_eq!(pass(&mut screen, &[b"data: {\"more\":1}\n\n", b"x"]), "", "{shape:?}");
    }
}

#[test]
fn a_mask_before_the_cut_is_made() {
    for shape in SHAPES {
        let (out, screen) = screened(&usual(), shape, &shape.events(&[block(Text, &["4111 1111 11", "11 1111, forbidden"])]));
        let texts: String = shape.texts(&out).into_values().collect();
        assert_eq!((texts.as_str(), screen.report().findings.len()), ("[card], ", 2), "{shape:?}");
    }
}

#[test]
fn a_redirect_to_a_text_says_it_and_ends_the_answer_as_usual() {
    for shape in SHAPES {
        let (out, screen) = screened(&usual(), shape, &shape.events(&[block(Text, &["go else", "where"])]));
        let texts: String = shape.texts(&out).into_values().collect();
        assert_eq!(texts, "go Ask a human.", "{shape:?}");
        assert!(screen.stopped().is_some());
        let end = match shape {
            Shape::Chat => "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
            Shape::Messages => {
                "\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
            }
            Shape::Generate | Shape::GenerateArray => "\"responseId\":\"r1\"}",
            Shape::Responses => "\"sequence_number\":8}\n\n",
        };
        assert!(out.trim_end_matches(']').trim_end().ends_with(end.trim_end()), "{shape:?}: {out}");
        let last = shape.data(&out).pop().unwrap();
        match shape {
            Shape::Generate | Shape::GenerateArray => assert_eq!(last["candidates"][0]["finishReason"], "STOP"),
            Shape::Responses => {
                assert_eq!(last["response"]["status"], "completed");
                assert_eq!(last["response"]["output"][0]["content"][0]["text"], "go Ask a human.");
            }
            Shape::Chat | Shape::Messages => {}
        }
    }
}

#[test]
fn a_redirect_out_of_reasoning_or_a_call_says_its_text_in_a_block_of_its_own() {
    for shape in [Shape::Messages, Shape::Responses] {
        for (holds, deltas) in [(Reasoning, ["a ", "elsewhere"]), (Arguments, ["{\"a\":\"", "elsewhere\"}"])] {
            let (out, _) = screened(&usual(), shape, &shape.events(&[block(holds, &deltas)]));
            let texts: Vec<_> = shape.texts(&out).into_iter().collect();
            let first = ((holds, 0), deltas[0].to_owned());
            let second = ((Text, 1), "Ask a human.".to_owned());
            assert!(texts.len() == 2 && texts.contains(&first) && texts.contains(&second), "{shape:?} {texts:?}");
        }
    }
}

#[test]
fn every_open_choice_is_ended() {
    let chunk = |index: u32, text: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"c\",\"choices\":[{{\"index\":{index},\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let events =
        [chunk(0, "a.", "null"), chunk(1, "b.", "null"), chunk(2, "c.", "null"), chunk(1, "", "\"stop\""), chunk(2, "forbidden.", "null")];
    let (out, _) = screened(&usual(), Shape::Chat, &events);
    let end = |index: u32| {
        format!("data: {{\"id\":\"c\",\"choices\":[{{\"index\":{index},\"delta\":{{}},\"finish_reason\":\"content_filter\"}}]}}\n\n")
    };
    let expected =
        [&events[..4].concat(), &chunk(2, "", "null"), &end(0), &end(2), "data: [DONE]\n\n"].map(|part| part.to_owned()).concat();
    assert_eq!(out, expected);
}

#[test]
fn a_finish_in_the_event_that_is_cut_is_not_told_twice() {
    let chunk = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a forbidden\"},\"logprobs\":{\"content\":[{\"token\":\"forbidden\"}]},\"finish_reason\":\"stop\"}]}\n\n";
    let (out, _) = screened(&usual(), Shape::Chat, &[chunk.to_owned()]);
    assert!(
        out.starts_with("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a \"},\"logprobs\":null,\"finish_reason\":null}]}\n\n"),
        "{out}"
    );
    assert_eq!(out.matches("content_filter").count(), 1);
    let chunk = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"},{\"text\":\"a forbidden\"},{\"text\":\"later\"}]},\"finishReason\":\"STOP\"},{\"content\":{\"parts\":[{\"text\":\"other\"}]},\"index\":1}]}\n\n";
    let (out, _) = screened(&usual(), Shape::Generate, &[chunk.to_owned()]);
    let front = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"},{\"text\":\"a \"}]},\"finishReason\":null}]}\n\n";
    assert!(out.starts_with(front) && out.matches("SAFETY").count() == 1, "{out}");
}
