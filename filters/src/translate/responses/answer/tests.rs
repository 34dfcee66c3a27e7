//! Answers as the vendor gives them, whole and streamed.

use super::*;
use crate::canonical::{Citation, SearchHit, Signature};
use crate::shape::Shape;
use crate::usage::Usage;

/// What was given, in short.
fn short(event: &Event<'_>) -> String {
    match event {
        Event::Start { id, created } => format!("start {:?} {created:?}", id.as_ref().map(Text::decode)),
        Event::Text { text, .. } => format!("text {}", text.decode()),
        Event::Refusal { text, .. } => format!("refusal {}", text.decode()),
        Event::Reasoning { text, .. } => format!("reasoning {}", text.decode()),
        Event::ReasoningSigned { signature: Signature { shape: Shape::Responses, origin: None, value }, .. } => {
            format!("signed {}", value.decode())
        }
        Event::ToolStart { call, id, name, custom, .. } => format!("call {call} {} {} {custom}", id.decode(), name.decode()),
        Event::ToolArguments { call, fragment, .. } => format!("arguments {call} {}", fragment.decode()),
        Event::ToolEnd { call, .. } => format!("ended {call}"),
        Event::Citation { citation: Citation { url, title, span, .. }, .. } => {
            format!("cited {} {} {span:?}", url.decode(), title.decode())
        }
        Event::WebSearch { query, hits, .. } => {
            let hit = |hit: &SearchHit<'_>| format!("{}={}", hit.url.decode(), hit.title.decode());
            format!("searched {} {}", query.decode(), hits.iter().map(hit).collect::<Vec<_>>().join(","))
        }
        Event::Media { media_type, data, .. } => format!("media {} {}", media_type.decode(), data.decode()),
        Event::Logprobs { elements, .. } => format!("logprobs {}", elements.as_text()),
        Event::Unknown { kind } => format!("unknown {}", kind.decode()),
        Event::Finish { finish, .. } => format!("finish {:?} {}", finish.reason, finish.raw.decode()),
        Event::Usage(Usage { input_uncached, cache_read, output, .. }) => format!("usage {input_uncached} {cache_read} {output}"),
        Event::Failed(failure) => format!("failed {:?} {}", failure.class, failure.message.decode()),
        Event::End => "end".to_owned(),
        other => format!("{other:?}"),
    }
}

fn streamed(events: &[&str]) -> Vec<String> {
    let (mut decoder, mut given) = (Decoder::default(), Vec::new());
    for event in events {
        decoder.event(b"", event.as_bytes(), &mut |event| given.push(short(&event)));
    }
    decoder.finish(&mut |event| given.push(short(&event)));
    given
}

fn whole(body: &str) -> Vec<String> {
    let mut given = Vec::new();
    Decoder::default().answer(body.as_bytes(), &mut |event| given.push(short(&event)));
    given
}

const CREATED: &str = r#"{"type":"response.created","response":{"id":"resp_1","created_at":1795219201}}"#;
const COMPLETED: &str = r#"{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[],"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}}"#;

#[test]
fn text_comes_in_deltas_and_is_not_given_again_when_it_is_done() {
    let given = streamed(&[
        CREATED,
        r#"{"type":"response.in_progress","response":{"id":"resp_1"}}"#,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","content":[]}}"#,
        r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"It "}"#,
        r#"{"delta":"rains.","sequence_number":77,"type":"response.output_text.delta","output_index":0,"logprobs":[]}"#,
        r#"{"type":"response.output_text.done","output_index":0,"text":"It rains."}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"It rains."}]}}"#,
        COMPLETED,
        r#"{"type":"response.output_text.delta","output_index":0,"delta":"late"}"#,
    ]);
    assert_eq!(
        given,
        [r#"start Some("resp_1") Some(1795219201)"#, "text It ", "text rains.", "usage 9 0 2", "finish Stop completed", "end"]
    );
}

#[test]
fn what_did_not_come_in_deltas_comes_when_it_is_done() {
    let given = streamed(&[
        CREATED,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"call_a","name":"f","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"a\":1}"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"call_a","name":"f","arguments":"{\"a\":1}"}}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"x"}]}}"#,
        COMPLETED,
    ]);
    let [_, calls @ .., _, _, _] = given.as_slice() else { panic!("{given:?}") };
    assert_eq!(calls, ["call 0 call_a f false", "arguments 0 {\"a\":1}", "ended 0", "text x"]);
    assert!(given.iter().any(|event| event == "finish ToolCalls completed"));
}

#[test]
fn the_last_event_gives_what_no_other_did() {
    let output = r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"x"}]}]}}"#;
    assert_eq!(streamed(&[output]), ["start None None", "text x", "finish Stop completed", "end"]);
    let open = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f"}}"#;
    assert_eq!(streamed(&[open, COMPLETED]).iter().filter(|event| *event == "ended 0").count(), 1);
    // Text that came is not given twice where its item was never told to be done.
    let delta = r#"{"type":"response.output_text.delta","output_index":0,"delta":"x"}"#;
    assert_eq!(streamed(&[delta, output]).iter().filter(|event| *event == "text x").count(), 1);
}

#[test]
fn parallel_calls_are_numbered_by_calls_and_may_be_interleaved() {
    let given = streamed(&[
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","summary":[]}}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"a","name":"f"}}"#,
        r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"custom_tool_call","call_id":"b","name":"g"}}"#,
        r#"{"type":"response.custom_tool_call_input.delta","output_index":2,"delta":"free"}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{}"}"#,
    ]);
    assert_eq!(given, ["call 0 a f false", "call 1 b g true", "arguments 1 free", "arguments 0 {}"]);
}

#[test]
fn parts_of_a_summary_are_paragraphs_and_the_token_ends_them() {
    let given = streamed(&[
        r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"One"}"#,
        r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"Two"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","summary":[{"text":"One"},{"text":"Two"}],"encrypted_content":"gAAA"}}"#,
    ]);
    assert_eq!(given, ["reasoning One", "reasoning \n\n", "reasoning Two", "signed gAAA"]);
    let body = r#"{"output":[{"type":"reasoning","summary":[{"text":"One"},{"text":"Two"}],"encrypted_content":"gAAA"}]}"#;
    assert_eq!(whole(body)[1..5], given[..]);
}

#[test]
fn searches_bring_their_sources_and_citations_count_in_the_whole_text() {
    let item = r#"{"type":"web_search_call","id":"ws_1","action":{"type":"search","query":"news","sources":[{"type":"url","url":"https://x.example"}]}}"#;
    let cited = r#"[{"type":"url_citation","start_index":0,"end_index":2,"title":"X","url":"https://x.example"},{"type":"file_citation"}]"#;
    let body = format!(
        r#"{{"output":[{{"type":"message","content":[{{"text":"Frühling"}}]}},{item},{{"type":"web_search_call","action":{{"type":"open_page"}}}},{{"type":"message","content":[{{"type":"output_text","text":"ab","annotations":{cited}}}]}}]}}"#
    );
    let given = whole(&body);
    assert_eq!(
        given[1..6],
        ["text Frühling", "searched news https://x.example=X", "Ping", "text ab", "cited https://x.example X Some((8, 10))"]
    );
    let streamed = streamed(&[
        &format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#),
        r#"{"type":"response.output_text.delta","output_index":1,"delta":"ab"}"#,
        r#"{"type":"response.output_text.annotation.added","output_index":1,"annotation":{"type":"url_citation","start_index":0,"end_index":2,"title":"X","url":"https://x.example"}}"#,
    ]);
    assert_eq!(streamed, ["searched news https://x.example=", "text ab", "cited https://x.example X Some((0, 2))"]);
}

#[test]
fn statuses_say_how_it_ended() {
    let ended = |status: &str, details: &str| {
        let given = whole(&format!(r#"{{"status":"{status}","incomplete_details":{details},"output":[]}}"#));
        given.into_iter().rev().nth(1).unwrap_or_default()
    };
    assert_eq!(ended("completed", "null"), "finish Stop completed");
    assert_eq!(ended("incomplete", r#"{"reason":"max_output_tokens"}"#), "finish Length max_output_tokens");
    assert_eq!(ended("incomplete", r#"{"reason":"content_filter"}"#), "finish Refusal content_filter");
    assert_eq!(ended("incomplete", r#"{"reason":"steered"}"#), "finish Other steered");
    assert_eq!(ended("incomplete", "null"), "finish Length incomplete");
}

#[test]
fn failures_are_told_in_every_form_and_nothing_follows() {
    let failed = r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}}"#;
    assert_eq!(streamed(&[failed, COMPLETED]), ["failed Rate slow"]);
    assert_eq!(streamed(&[r#"{"type":"error","code":"server_error","message":"broke"}"#]), ["failed Server broke"]);
    assert_eq!(streamed(&[r#"{"type":"error","error":{"code":"insufficient_quota","message":"pay"}}"#]), ["failed Billing pay"]);
    assert_eq!(streamed(&[r#"{"error":{"message":"broke"}}"#]), ["failed Server broke"]);
    assert!(streamed(&["{\"type\":"])[0].starts_with("failed Server"));
    assert!(whole("<html>")[0].starts_with("failed Server"));
    assert_eq!(whole(r#"{"status":"failed","error":{"code":"server_error","message":"broke"},"output":[]}"#), ["failed Server broke"]);
    assert!(whole(r#"{"status":"cancelled","output":[]}"#)[0].starts_with("failed Server"));
    assert!(whole("{}")[0].starts_with("failed Server"));
}

#[test]
fn an_answer_cut_off_has_no_end() {
    let given = streamed(&[CREATED, r#"{"type":"response.output_text.delta","output_index":0,"delta":"x"}"#, "[DONE]"]);
    assert_eq!(given.last().map(String::as_str), Some("text x"));
}

#[test]
fn pictures_log_probabilities_and_unknown_items_are_given() {
    let body = r#"{"output":[{"type":"image_generation_call","result":"QUJD"},{"type":"mcp_call"},
        {"type":"message","content":[{"type":"output_text","text":"x","logprobs":[{"token":"x"}]},{"type":"refusal","refusal":"No."}]}]}"#;
    assert_eq!(whole(body)[1..6], ["media image/png QUJD", "unknown mcp_call", "text x", "logprobs {\"token\":\"x\"}", "refusal No."]);
}

#[test]
fn items_left_open_are_completed_by_the_last_event() {
    let completed = r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"text":"né"},{"text":"xt"}]},
        {"type":"function_call","call_id":"a","name":"f","arguments":"{\"a\":1}"},{"type":"function_call","call_id":"b","name":"g","arguments":"{}"}]}}"#;
    let given = streamed(&[
        r#"{"type":"response.output_text.delta","output_index":0,"delta":"n"}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"a","name":"f"}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"a\":"}"#,
        completed,
    ]);
    assert_eq!(
        given[..10],
        [
            "text n",
            "call 0 a f false",
            "arguments 0 {\"a\":",
            "start None None",
            "text é",
            "text xt",
            "arguments 0 1}",
            "ended 0",
            "call 1 b g false",
            "arguments 1 {}"
        ]
    );
    assert_eq!(given[10..], ["ended 1", "finish ToolCalls completed", "end"]);
}

#[test]
fn items_told_without_their_place_are_not_given_twice() {
    let given = streamed(&[
        r#"{"type":"response.output_text.delta","delta":"x"}"#,
        r#"{"type":"response.output_item.done","output_index":7,"item":{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}}"#,
        r#"{"type":"response.completed","response":{"output":[{"type":"reasoning","summary":[]},{"type":"message","content":[{"text":"x"}]},
            {"type":"function_call","call_id":"a","name":"f","arguments":"{}"}]}}"#,
    ]);
    assert_eq!(given, ["text x", "call 0 a f false", "arguments 0 {}", "ended 0", "start None None", "finish ToolCalls ", "end"]);
}

#[test]
fn an_answer_given_up_is_no_answer_whatever_the_event_is_called() {
    let broken = ["failed Server the provider broke off its answer"];
    assert_eq!(streamed(&[CREATED, r#"{"type":"response.failed","response":{"status":"failed","error":null}}"#])[1..], broken);
    assert_eq!(streamed(&[r#"{"type":"response.cancelled","response":{"status":"cancelled"}}"#]), broken);
    assert_eq!(streamed(&[r#"{"type":"response.completed","response":{"status":"failed","output":[]}}"#]), broken);
    let empty = r#"{"type":"response.incomplete","response":{"status":"incomplete","output":[]}}"#;
    assert_eq!(streamed(&[empty]), ["start None None", "finish Length incomplete", "end"]);
    let mut given = Vec::new();
    Decoder::default().event(b"error", br#"{"code":"server_error","message":"broke"}"#, &mut |event| given.push(short(&event)));
    assert_eq!(given, ["failed Server broke"], "the name of the event is enough");
}
