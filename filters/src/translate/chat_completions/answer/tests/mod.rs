//! Answers of many services, each in the form it was seen in.

mod calls;
mod ends;

use super::*;
use crate::canonical::Citation;
use crate::usage::Usage;

fn shown(event: Event<'_>) -> String {
    let text = |text: &Text<'_>| text.decode().into_owned();
    match event {
        Event::Start { id, created } => format!("start {} {created:?}", id.as_ref().map(text).unwrap_or_default()),
        Event::Text { choice, text: said } => format!("{choice} text {}", text(&said)),
        Event::Refusal { choice, text: said } => format!("{choice} refusal {}", text(&said)),
        Event::Reasoning { choice, text: said } => format!("{choice} reasoning {}", text(&said)),
        Event::ReasoningSigned { choice, signature } => format!("{choice} signed {}", text(&signature.value)),
        Event::Redacted { choice, signature } => format!("{choice} redacted {}", text(&signature.value)),
        Event::ToolStart { choice, call, id, name, custom, signature } => {
            let id = if id.decode().len() == 29 { "minted".to_owned() } else { text(&id) };
            let token = signature.map(|token| format!(" token {}", text(&token.value))).unwrap_or_default();
            format!("{choice} call {call} {id} {}{}{token}", text(&name), if custom { " custom" } else { "" })
        }
        Event::ToolArguments { choice, call, fragment } => format!("{choice} arguments {call} {}", text(&fragment)),
        Event::ToolEnd { choice, call } => format!("{choice} end {call}"),
        Event::Citation { choice, citation: Citation { url, title, cited, span } } => {
            format!("{choice} source {} {} {} {span:?}", text(&url), text(&title), text(&cited))
        }
        Event::Media { choice, media_type, data } => format!("{choice} media {} {}", text(&media_type), text(&data)),
        Event::Logprobs { choice, elements } => format!("{choice} logprobs {}", elements.as_text()),
        Event::Finish { choice, finish } => {
            let stop = finish.stop_sequence.as_ref().map(|stop| format!(" at {}", text(stop))).unwrap_or_default();
            format!("{choice} finish {:?} `{}`{stop}", finish.reason, text(&finish.raw))
        }
        Event::Usage(Usage { input_uncached, cache_read, output, .. }) => format!("usage {input_uncached} {cache_read} {output}"),
        Event::Failed(failure) => format!("failed {:?} {} {}", failure.class, failure.status, text(&failure.message)),
        Event::End => "end".to_owned(),
        other => format!("{other:?}"),
    }
}

fn streamed(events: &[&str]) -> Vec<String> {
    let mut decoder = decoder();
    let mut seen = Vec::new();
    for data in events {
        decoder.event(b"", data.as_bytes(), &mut |event| seen.push(shown(event)));
    }
    decoder.finish(&mut |event| seen.push(shown(event)));
    seen
}

fn whole(body: &str) -> Vec<String> {
    let mut decoder = decoder();
    let mut seen = Vec::new();
    decoder.answer(body.as_bytes(), &mut |event| seen.push(shown(event)));
    decoder.finish(&mut |event| seen.push(shown(event)));
    seen
}

/// A stream of these deltas with a reason to finish, and what they give between beginning and end.
fn deltas(deltas: &[&str], reason: &str) -> Vec<String> {
    let mut events: Vec<String> = deltas
        .iter()
        .map(|delta| format!(r#"{{"id":"c1","object":"chat.completion.chunk","created":5,"model":"m","choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#))
        .collect();
    events.push(format!(r#"{{"id":"c1","object":"chat.completion.chunk","created":5,"model":"m","choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#));
    events.push("[DONE]".to_owned());
    let mut seen = streamed(&events.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((seen.remove(0).as_str(), seen.pop().as_deref()), ("start c1 Some(5)", Some("end")), "{seen:?}");
    seen
}

fn calls(pieces: &[&str]) -> Vec<String> {
    deltas(
        &pieces
            .iter()
            .map(|piece| format!(r#"{{"tool_calls":[{piece}]}}"#))
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
        "tool_calls",
    )
}

proptest::proptest! {
    #[test]
    fn random_events_never_panic(events in proptest::collection::vec(r#"\{"(choices|usage|error)":(\[\{"(delta|index|message)":|\{|\[)?["\{\}\[\]:,a-z0-9\\]{0,30}"#, 0..4)) {
        let _ = streamed(&events.iter().map(String::as_str).collect::<Vec<_>>());
        for event in &events {
            let _ = whole(event);
        }
    }
}

#[test]
fn a_plain_stream_gives_its_text_and_usage() {
    let seen = streamed(&[
        r#"{"id":"c1","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
        r#"{"id":"c1","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":0,"delta":{"content":"He\"\u00e9"},"finish_reason":null}],"usage":null}"#,
        r#"{"id":"c1","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}"#,
        r#"{"id":"c1","object":"chat.completion.chunk","created":5,"model":"m","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}"#,
        "[DONE]",
    ]);
    assert_eq!(seen, ["start c1 Some(5)", "0 text He\"é", "usage 8 4 3", "0 finish Stop `stop`", "end"]);
}

#[test]
fn a_chunk_with_everything_at_once_is_read_in_the_fixed_order() {
    let seen = streamed(&[
        r#"{"usage":{"prompt_tokens":1,"completion_tokens":2},"choices":[{"finish_reason":"tool_calls","delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}],"refusal":"no","content":"hi","reasoning_content":"hm"},"index":0}],"id":"c1"}"#,
        "[DONE]",
    ]);
    let expected = [
        "start c1 None",
        "0 reasoning hm",
        "0 text hi",
        "0 refusal no",
        "0 call 0 a f",
        "0 arguments 0 {}",
        "0 end 0",
        "usage 1 0 2",
        "0 finish ToolCalls `tool_calls`",
        "end",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn frames_without_choices_or_deltas_say_nothing() {
    let seen = streamed(&[
        r#"{"id":"","model":"","choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#,
        r#"{"id":"c1","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}"#,
        r#"{"id":"c1","choices":[{"index":0,"finish_reason":null,"content_filter_results":{},"content_filter_offsets":{}}]}"#,
        r#"{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ]);
    assert_eq!(seen, ["start c1 None", "0 text a", "0 finish Stop `stop`", "end"]);
}

#[test]
fn reasoning_is_read_from_each_field_once() {
    let once = ["0 reasoning a", "0 finish Stop `stop`"];
    assert_eq!(deltas(&[r#"{"reasoning_content":"a","content":null}"#], "stop"), once);
    assert_eq!(deltas(&[r#"{"reasoning":"a"}"#], "stop"), once);
    assert_eq!(deltas(&[r#"{"reasoning":"a","reasoning_content":"a"}"#], "stop"), once);
    assert_eq!(deltas(&[r#"{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a"}]}"#], "stop"), once);
    assert_eq!(deltas(&[r#"{"reasoning_details":[{"type":"reasoning.summary","summary":"a"}]}"#], "stop"), once);
    assert_eq!(deltas(&[r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]}"#], "stop"), once);
}

#[test]
fn signed_and_sealed_reasoning_is_kept_whole() {
    let signed = r#"{"type":"thinking","thinking":"","signature":"S"}"#;
    let sealed = r#"{"type":"reasoning.encrypted","data":"D","id":"i"}"#;
    let seen = deltas(
        &[
            r#"{"reasoning_content":"a"}"#,
            &format!(r#"{{"thinking_blocks":[{signed}]}}"#),
            &format!(r#"{{"reasoning_details":[{sealed}]}}"#),
        ],
        "stop",
    );
    assert_eq!(seen[..3], ["0 reasoning a".to_owned(), format!("0 signed {signed}"), format!("0 redacted {sealed}")]);
}

#[test]
fn several_choices_keep_apart() {
    let seen = streamed(&[
        r#"{"choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
    ]);
    assert_eq!(seen, ["start  None", "1 text b", "0 text a"], "one of them did not end");
    let seen = streamed(&[
        r#"{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"length"}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}"#,
    ]);
    assert_eq!(seen[3..], ["1 finish Length `length`", "0 finish Stop `stop`", "end"]);
}

#[test]
fn sources_pictures_and_log_probabilities_are_read() {
    let seen = deltas(
        &[
            r#"{"content":"a","annotations":[{"type":"url_citation","url_citation":{"start_index":0,"end_index":1,"title":"T","url":"https://x"}}]}"#,
            r#"{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}"#,
        ],
        "stop",
    );
    assert_eq!(seen[..3], ["0 text a", "0 source https://x T  Some((0, 1))", "0 media image/png AAAA"]);
    let seen = streamed(&[
        r#"{"choices":[{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-1.5}],"refusal":null}}]}"#,
    ]);
    assert_eq!(seen[2], r#"0 logprobs {"token":"a","logprob":-1.5}"#);
}

#[test]
fn usage_on_every_chunk_is_given_each_time_and_the_old_place_is_known() {
    let seen = streamed(&[
        r#"{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}"#,
        "[DONE]",
    ]);
    assert_eq!(seen.iter().filter(|line| line.starts_with("usage")).collect::<Vec<_>>(), ["usage 5 0 1", "usage 5 0 2"]);
    let seen = streamed(&[
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":5,"completion_tokens":1}}}"#,
    ]);
    assert_eq!(seen[1], "usage 5 0 1");
}

#[test]
fn a_whole_answer_gives_what_a_stream_would() {
    let seen = whole(
        r#"{"id":"c1","object":"chat.completion","created":7,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"annotations":[],
           "tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","type":"function","function":{"name":"f","arguments":""}}]},
           "logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}}"#,
    );
    let expected = [
        "start c1 Some(7)",
        "0 call 0 a f",
        "0 arguments 0 {\"x\":1}",
        "0 call 1 b f",
        "0 end 0",
        "0 end 1",
        "usage 10 0 3",
        "0 finish ToolCalls `tool_calls`",
        "end",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn odd_whole_answers_are_read_or_fail() {
    let said = |content: &str| whole(&format!(r#"{{"choices":[{{"message":{{"content":{content}}},"finish_reason":null}}]}}"#));
    assert_eq!(said("\"a\"")[1..], ["0 text a", "0 finish Stop ``", "end"]);
    assert_eq!(said(r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#)[1..3], ["0 text a", "0 text b"]);
    assert_eq!(said(r#"{"json":1}"#)[1], "0 text {\"json\":1}");
    assert_eq!(said("\"\"")[1..], ["0 finish Stop ``", "end"], "an empty answer stays one");
    assert_eq!(whole(r#"{"choices":[]}"#), ["failed Server 502 the provider's answer has no choices"]);
    assert_eq!(whole(""), ["failed Server 502 the provider's answer is empty"]);
    assert_eq!(whole("<html>"), ["failed Server 502 the provider sent something that is not JSON"]);
    assert_eq!(whole(r#"[{"error":{"message":"x","code":404}}]"#), ["failed NotFound 404 x"]);
    assert_eq!(whole("\u{feff}{\"choices\":[{\"message\":{\"content\":\"a\"}}]}")[1], "0 text a");
}
