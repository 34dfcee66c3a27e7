use super::decoder;
use crate::canonical::Event;
use crate::translate::Decode;

/// What a test keeps of an event.
fn told(event: &Event<'_>) -> String {
    match event {
        Event::Start { id, created } => format!("start {:?} {created:?}", id.as_ref().map(|id| id.decode().into_owned())),
        Event::Text { choice, text } => format!("text {choice} {}", text.decode()),
        Event::Refusal { text, .. } => format!("refusal {}", text.decode()),
        Event::Reasoning { text, .. } => format!("thought {}", text.decode()),
        Event::ReasoningSigned { signature, .. } => format!("signed {}", signature.value.decode()),
        Event::Redacted { .. } => "redacted".to_owned(),
        Event::ToolStart { choice, call, id, name, signature, .. } => {
            let signature = signature.as_ref().map(|signature| signature.value.decode().into_owned()).unwrap_or_default();
            let id = if id.decode().starts_with("call_") { "made".into() } else { id.decode() };
            format!("call {choice}/{call} {id} {} {signature}", name.decode()).trim_end().to_owned()
        }
        Event::ToolArguments { call, fragment, .. } => format!("args {call} {}", fragment.decode()),
        Event::ToolEnd { call, .. } => format!("end {call}"),
        Event::Citation { citation, .. } => format!("cite {} {} {:?}", citation.url.decode(), citation.title.decode(), citation.span),
        Event::WebSearch { query, hits, .. } => format!("search {} {}", query.decode(), hits.len()),
        Event::Media { media_type, data, .. } => format!("media {} {}", media_type.decode(), data.decode()),
        Event::Logprobs { elements, .. } => format!("logprobs {}", elements.as_text()),
        Event::Unknown { kind } => format!("unknown {}", kind.decode()),
        Event::Ping => "ping".to_owned(),
        Event::Finish { choice, finish } => {
            let explanation = finish.explanation.as_ref().map(|words| format!(" ({})", words.decode())).unwrap_or_default();
            format!("finish {choice} {:?} {}{explanation}", finish.reason, finish.raw.decode())
        }
        Event::Usage(usage) => format!("usage {} {} {} {:?}", usage.input_uncached, usage.cache_read, usage.output, usage.reasoning),
        Event::Failed(failure) => format!("failed {:?} {} {}", failure.class, failure.status, failure.message.decode()),
        Event::End => "done".to_owned(),
    }
}

/// The events of a stream that ends after `chunks`.
fn stream(chunks: &[&str]) -> Vec<String> {
    let (mut decoder, mut seen) = (decoder(), Vec::new());
    for chunk in chunks {
        decoder.event(b"", chunk.as_bytes(), &mut |event| seen.push(told(&event)));
    }
    decoder.finish(&mut |event| seen.push(told(&event)));
    seen
}

fn answer(body: &str) -> Vec<String> {
    let (mut decoder, mut seen) = (decoder(), Vec::new());
    decoder.answer(body.as_bytes(), &mut |event| seen.push(told(&event)));
    seen
}

#[test]
fn text_comes_as_told_and_the_end_waits_for_the_body() {
    let first = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi \"you\"!"}]},"index":0}],"usageMetadata":{"promptTokenCount":4},"responseId":"r1","createTime":"2026-11-21T00:00:00Z"}"#;
    let last = r#"{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":2,"totalTokenCount":6}}"#;
    let seen = stream(&[first, last]);
    let expected =
        ["start Some(\"r1\") Some(1795219200)", "text 0 Hi \"you\"!", "usage 4 0 0 None", "usage 4 0 2 None", "finish 0 Stop STOP", "done"];
    assert_eq!(seen, expected);
    assert_eq!(stream(&[first]).last().map(String::as_str), Some("usage 4 0 0 None"), "cut off");
}

fn chunk(candidate: &str) -> String {
    format!(r#"{{"candidates":[{candidate}]}}"#)
}

/// The events of a stream of candidates' pieces, without its start and end.
fn pieces(candidates: &[&str]) -> Vec<String> {
    let chunks: Vec<String> = candidates.iter().map(|candidate| chunk(candidate)).collect();
    let mut seen = stream(&chunks.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((seen.remove(0), seen.pop()), ("start None None".to_owned(), Some("done".to_owned())));
    seen
}

fn parts(parts: &str) -> String {
    format!(r#"{{"content":{{"role":"model","parts":[{parts}]}}}}"#)
}

const STOP: &str = r#"{"finishReason":"STOP"}"#;

#[test]
fn a_call_in_an_early_chunk_makes_the_end_one_of_calls() {
    let call = parts(r#"{"functionCall":{"name":"f","args":{"a": [1, 2]}},"thoughtSignature":"CvAB"}"#);
    let seen = pieces(&[&call, STOP]);
    assert_eq!(seen, ["call 0/0 made f CvAB", r#"args 0 {"a":[1,2]}"#, "end 0", "finish 0 ToolCalls STOP"]);
}

#[test]
fn calls_of_one_function_are_counted_over_the_whole_stream() {
    let two = parts(r#"{"functionCall":{"id":"i","name":"f","args":{}}},{"functionCall":{"name":"f"}}"#);
    let one = parts(r#"{"functionCall":{"name":"f","args":{"x":1}}}"#);
    let seen = pieces(&[&two, &one, STOP]);
    assert_eq!(
        seen,
        ["call 0/0 i f", "end 0", "call 0/1 made f", "end 1", "call 0/2 made f", r#"args 2 {"x":1}"#, "end 2", "finish 0 ToolCalls STOP"]
    );
}

#[test]
fn a_call_in_pieces_is_told_once_it_is_whole() {
    let seen = pieces(&[
        &parts(r#"{"functionCall":{"name":"f","willContinue":true},"thoughtSignature":"CvAB"}"#),
        &parts(r#"{"functionCall":{"partialArgs":[{"jsonPath":"$.city","stringValue":"New ","willContinue":true}],"willContinue":true}}"#),
        &parts(
            r#"{"functionCall":{"partialArgs":[{"jsonPath":"$.city","stringValue":"York"},{"jsonPath":"$.n","numberValue":3}],"willContinue":true}}"#,
        ),
        &parts(r#"{"functionCall":{}}"#),
        &parts(r#"{"functionCall":{"name":"g","args":{}}}"#),
        STOP,
    ]);
    let expected =
        ["call 0/0 made f CvAB", r#"args 0 {"city":"New York","n":3}"#, "end 0", "call 0/1 made g", "end 1", "finish 0 ToolCalls STOP"];
    assert_eq!(seen, expected);
}

#[test]
fn a_call_in_pieces_ends_with_the_next_one_or_the_answer_unless_the_limit_cut_it_off() {
    let begun = parts(r#"{"functionCall":{"name":"f","partialArgs":[{"jsonPath":"$.a","boolValue":true}],"willContinue":true}}"#);
    let next = parts(r#"{"functionCall":{"name":"g"}}"#);
    let seen = pieces(&[&begun, &next, STOP]);
    assert_eq!(seen[..3], ["call 0/0 made f", r#"args 0 {"a":true}"#, "end 0"]);
    assert_eq!(pieces(&[&begun, STOP]).last().map(String::as_str), Some("finish 0 ToolCalls STOP"));
    assert_eq!(pieces(&[&begun, r#"{"finishReason":"MAX_TOKENS"}"#]), ["finish 0 Length MAX_TOKENS"]);
}

#[test]
fn thoughts_and_their_tokens_are_reasoning() {
    let seen = pieces(&[
        &parts(r#"{"text":"hm","thought":true},{"text":"","thought":true,"thoughtSignature":"CvAB"}"#),
        &parts(r#"{"text":"Hi"},{"text":""},{"text":" you","thoughtSignature":"CvAC"}"#),
        STOP,
    ]);
    assert_eq!(seen, ["thought hm", "signed CvAB", "text 0 Hi", "text 0  you", "signed CvAC", "finish 0 Stop STOP"]);
}

#[test]
fn pictures_code_and_unknown_parts_are_told() {
    let seen = pieces(&[
        &parts(
            r#"{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"executableCode":{"language":"PYTHON","code":"1"}},{"toolCall":{"id":"x"}}"#,
        ),
        STOP,
    ]);
    assert_eq!(seen, ["media image/png AAAA", "text 0 \n```python\n1\n```\n", "unknown toolCall", "finish 0 Stop STOP"]);
}

#[test]
fn every_word_for_the_end_has_its_reason() {
    let rows = [
        ("STOP", "Stop", "Stop"),
        ("MAX_TOKENS", "Length", "Length"),
        ("CONTINUATION", "Length", "Length"),
        ("SAFETY", "Refusal", "Refusal"),
        ("PROHIBITED_CONTENT", "Refusal", "Refusal"),
        ("BLOCKLIST", "Refusal", "Refusal"),
        ("SPII", "Refusal", "Refusal"),
        ("RECITATION", "Refusal", "Refusal"),
        ("LANGUAGE", "Refusal", "Refusal"),
        ("IMAGE_SAFETY", "Refusal", "Refusal"),
        ("IMAGE_PROHIBITED_CONTENT", "Refusal", "Refusal"),
        ("IMAGE_RECITATION", "Refusal", "Refusal"),
        ("IMAGE_OTHER", "Refusal", "Refusal"),
        ("NO_IMAGE", "Refusal", "Refusal"),
        ("MODEL_ARMOR", "Refusal", "Refusal"),
        ("ESCALATION", "Refusal", "Refusal"),
        ("PUP_LIMITED_DISABLED", "Refusal", "Refusal"),
        ("OTHER", "Refusal", "Stop"),
        ("SOMETHING_NEW", "Refusal", "Stop"),
    ];
    let text = parts(r#"{"text":"a"}"#);
    for (word, without, with) in rows {
        let end = format!(r#"{{"finishReason":"{word}"}}"#);
        assert_eq!(pieces(&[&end]), [format!("finish 0 {without} {word}")]);
        assert_eq!(pieces(&[&text, &end])[1], format!("finish 0 {with} {word}"));
    }
    let told = r#"{"finishReason":"SAFETY","finishMessage":"because"}"#;
    assert_eq!(pieces(&[told]), ["finish 0 Refusal SAFETY (because)"]);
}

#[test]
fn a_model_that_broke_off_without_content_failed() {
    for word in
        ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE"]
    {
        let end = chunk(&format!(r#"{{"finishReason":"{word}","finishMessage":"bad"}}"#));
        let seen = stream(&[&end, &chunk(STOP)]);
        assert_eq!(seen, ["start None None".to_owned(), format!("failed Server 502 upstream broke off: {word}: bad")]);
        let text = chunk(&parts(r#"{"text":"a"}"#));
        assert_eq!(stream(&[&text, &end])[2..], [format!("finish 0 Stop {word} (bad)"), "done".to_owned()]);
        assert!(answer(&end).last().unwrap().starts_with("failed"));
    }
}

#[test]
fn a_blocked_prompt_is_a_refusal() {
    let body = r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9}}"#;
    let expected = [
        "start None None",
        "usage 9 0 0 None",
        "refusal Prompt blocked: SAFETY",
        "finish 0 Refusal SAFETY (Prompt blocked: SAFETY)",
        "done",
    ];
    assert_eq!(stream(&[body]), expected);
    assert_eq!(answer(body), expected);
    let fine = r#"{"promptFeedback":{"safetyRatings":[]},"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}"#;
    assert_eq!(answer(fine), ["start None None", "text 0 a", "finish 0 Stop STOP", "done"]);
}

#[test]
fn candidates_without_content_or_parts_are_answers() {
    assert_eq!(pieces(&[r#"{"content":{"role":"model"},"finishReason":"STOP"}"#]), ["finish 0 Stop STOP"]);
    assert_eq!(pieces(&[r#"{"safetyRatings":[]}"#, r#"{"content":{},"index":0}"#, STOP]), ["finish 0 Stop STOP"]);
    assert_eq!(answer(&chunk("{}")), ["start None None", "finish 0 Stop ", "done"]);
    assert!(answer("{}").last().unwrap().starts_with("failed Server 502"));
}

#[test]
fn several_candidates_are_told_apart() {
    let seen = stream(&[
        r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"b"}]},"index":1}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]},"index":1,"finishReason":"STOP"}]}"#,
        r#"{"candidates":[{"finishReason":"MAX_TOKENS"}]}"#,
    ]);
    let expected = [
        "start None None",
        "text 0 a",
        "text 1 b",
        "call 1/0 made f",
        "end 0",
        "finish 0 Length MAX_TOKENS",
        "finish 1 ToolCalls STOP",
        "done",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn usage_is_merged_by_field_and_thoughts_are_counted_once() {
    let seen = |usages: &[&str]| {
        let chunks: Vec<String> = usages.iter().map(|usage| format!(r#"{{"usageMetadata":{usage}}}"#)).collect();
        stream(&chunks.iter().map(String::as_str).collect::<Vec<_>>()).pop().unwrap()
    };
    let beside =
        r#"{"promptTokenCount":120,"cachedContentTokenCount":64,"candidatesTokenCount":19,"thoughtsTokenCount":12,"totalTokenCount":151}"#;
    assert_eq!(seen(&[beside]), "usage 56 64 31 Some(12)");
    assert_eq!(seen(&[beside, r#"{"promptTokenCount":120}"#]), "usage 56 64 31 Some(12)", "a partial one takes nothing away");
    let inside = r#"{"promptTokenCount":120,"candidatesTokenCount":31,"thoughtsTokenCount":12,"totalTokenCount":151}"#;
    assert_eq!(seen(&[inside]), "usage 120 0 31 Some(12)");
    let tools = r#"{"promptTokenCount":10,"toolUsePromptTokenCount":5,"candidatesTokenCount":3,"totalTokenCount":18}"#;
    assert_eq!(seen(&[tools]), "usage 15 0 3 None");
    assert_eq!(seen(&[r#"{"promptTokenCount":10,"candidatesTokenCount":null}"#, r#"{"candidatesTokenCount":4}"#]), "usage 10 0 4 None");
}

#[test]
fn sources_are_told_at_the_end_in_characters() {
    let grounding = r#"{"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["q1","q2"],"groundingChunks":[{"web":{"uri":"https://a","title":"A"}},{"web":{"uri":"https://b"}}],
        "groundingSupports":[{"segment":{"startIndex":3,"endIndex":9,"text":"b é c"},"groundingChunkIndices":[0,1]},{"segment":{"endIndex":99,"text":"c."},"groundingChunkIndices":[1,7]}]}}"#;
    let seen = pieces(&[&parts(r#"{"text":"aé"}"#), &parts(r#"{"text":"b é c."}"#), grounding]);
    let expected = [
        "text 0 aé",
        "text 0 b é c.",
        "cite https://a A Some((2, 7))",
        "cite https://b  Some((2, 7))",
        "cite https://b  Some((6, 8))",
        "search q1 2",
        "search q2 0",
        "finish 0 Stop STOP",
    ];
    assert_eq!(seen, expected, "sources while their text is the last thing told");
}

#[test]
fn the_searches_of_a_whole_answer_come_before_what_rests_on_them() {
    let body = r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"a b"},{"text":" c","thoughtSignature":"S"}]},"finishReason":"STOP",
        "groundingMetadata":{"webSearchQueries":["q"],"groundingChunks":[{"web":{"uri":"https://a","title":"A"}}],
        "groundingSupports":[{"segment":{"partIndex":1,"startIndex":2,"endIndex":3},"groundingChunkIndices":[0]}]}}]}"#;
    let expected =
        ["thought hm", "search q 1", "text 0 a b", "text 0  c", "signed S", "cite https://a A Some((2, 3))", "finish 0 Stop STOP", "done"];
    assert_eq!(answer(body)[1..], expected);
    let silent = r#"{"candidates":[{"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["q"]}}]}"#;
    assert_eq!(answer(silent)[1..], ["search q 0", "finish 0 Stop STOP", "done"], "even without text");
    let chunks = format!("[{},{}]", r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}"#, silent);
    assert_eq!(answer(&chunks)[1..], ["text 0 a", "search q 0", "finish 0 Stop STOP", "done"], "an array holds a stream");
}

#[test]
fn log_probabilities_get_the_form_of_chat_completions() {
    let body = r#"{"candidates":[{"content":{"parts":[{"text":"é"}]},"logprobsResult":{"chosenCandidates":[{"token":"é","tokenId":1,"logProbability":-0.5}],
        "topCandidates":[{"candidates":[{"token":"é","logProbability":-0.5},{"token":"e","logProbability":-2}]}]},"finishReason":"STOP"}]}"#;
    let expected = r#"logprobs {"token":"é","logprob":-0.5,"bytes":[195,169],"top_logprobs":[{"token":"é","logprob":-0.5,"bytes":[195,169]},{"token":"e","logprob":-2,"bytes":[101]}]}"#;
    assert_eq!(answer(body)[2], expected);
}

#[test]
fn errors_end_the_answer_wherever_and_however_they_come() {
    let error = r#"{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}"#;
    let text = chunk(&parts(r#"{"text":"a"}"#));
    assert_eq!(stream(&[error, &text]), ["failed Overloaded 503 busy"]);
    assert_eq!(stream(&[&format!("[{error}]")]), ["failed Overloaded 503 busy"]);
    assert_eq!(stream(&[&text, error, &chunk(STOP)])[2..], ["failed Overloaded 503 busy"]);
    assert_eq!(answer(error), ["failed Overloaded 503 busy"]);
    assert!(stream(&["{\"candidates\":["])[0].starts_with("failed Server 502 upstream sent an event that is no JSON"));
    assert!(answer("")[0].starts_with("failed Server 502"));
    assert_eq!(stream(&[r#"{"error":null}"#, &text, &chunk(STOP)]).pop().as_deref(), Some("done"));
}

#[test]
fn an_array_of_chunks_is_a_whole_answer_and_the_mark_of_another_shape_is_passed_over() {
    let body = format!("[{},\r\n{}]", chunk(&parts(r#"{"text":"a"}"#)), chunk(STOP));
    assert_eq!(answer(&body), ["start None None", "text 0 a", "finish 0 Stop STOP", "done"]);
    assert_eq!(stream(&[&chunk(STOP), "[DONE]"]), ["start None None", "finish 0 Stop STOP", "done"]);
}

#[test]
fn an_answer_that_was_cut_off_has_no_end() {
    let text = chunk(&parts(r#"{"text":"a"}"#));
    assert_eq!(stream(&[&text]), ["start None None", "text 0 a"]);
    assert!(stream(&[]).is_empty());
}

proptest::proptest! {
    #[test]
    fn foreign_events_never_panic_and_nothing_follows_the_end(
        events in proptest::collection::vec(r#"(\{"candidates":\[\{"content":\{"parts":\[\{"(text|functionCall|inlineData)":("a"|\{\}|\{"name":"f","args":\{\}\})\}\]\},"finishReason":"(STOP|OTHER|MALFORMED_RESPONSE)"\}\]\})|(\{"error":[a-z1"{}]{0,4}\})|([\[\]{}:,"a-z]{0,20})"#, 0..6)
    ) {
        let seen = stream(&events.iter().map(String::as_str).collect::<Vec<_>>());
        let end = seen.iter().position(|event| event == "done" || event.starts_with("failed"));
        proptest::prop_assert!(end.is_none_or(|end| end + 1 == seen.len()));
    }
}
