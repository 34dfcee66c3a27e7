use std::sync::Arc;

use serde_json::{Value, json};

use super::{stream_encoder, whole_encoder};
use crate::canonical::{Block, Citation, Event, Failure, FailureClass, Finish, FinishReason, Raw, SearchHit, Signature, Text};
use crate::shape::Shape;
use crate::translate::generate_content::decode_request;
use crate::translate::{ClientView, Encode};
use crate::usage::Usage;

fn view(upstream: Shape) -> ClientView {
    ClientView {
        shape: Shape::GenerateContent,
        upstream,
        origin: 7,
        model: Arc::from("fast"),
        request_id: Arc::from("req-1"),
        created: 0,
        include_usage: false,
        show_reasoning: true,
        array: false,
    }
}

fn text(text: &'static str) -> Event<'static> {
    Event::Text { choice: 0, text: Text::from(text) }
}

fn thought(text: &'static str) -> Event<'static> {
    Event::Reasoning { choice: 0, text: Text::from(text) }
}

fn call(call: u32, name: &'static str, fragments: &[&'static str]) -> Vec<Event<'static>> {
    let id = Text::from(format!("call_{call}"));
    let mut events = vec![Event::ToolStart { choice: 0, call, id, name: Text::from(name), custom: false, signature: None }];
    events.extend(fragments.iter().map(|fragment| Event::ToolArguments { choice: 0, call, fragment: Text::from(*fragment) }));
    events.push(Event::ToolEnd { choice: 0, call });
    events
}

fn finish(reason: FinishReason) -> Event<'static> {
    let finish = Finish { reason, raw: Text::from("x"), stop_sequence: None, explanation: None };
    Event::Finish { choice: 0, finish }
}

fn start() -> Event<'static> {
    Event::Start { id: Some(Text::from("chatcmpl-1")), created: None }
}

fn written(mut encoder: impl Encode, events: &[Event<'_>]) -> String {
    let mut out = Vec::new();
    events.iter().for_each(|event| encoder.event(event, &mut out));
    String::from_utf8(out).unwrap()
}

/// The chunks of a stream of events, whose framing is checked.
fn chunks(view: ClientView, events: &[Event<'_>]) -> Vec<Value> {
    let out = written(stream_encoder(view), events);
    assert!(out.is_empty() || out.ends_with("\r\n\r\n"), "{out}");
    let chunk = |frame: &str| serde_json::from_str(frame.strip_prefix("data: ").expect("the exact prefix")).expect("JSON");
    out.split_terminator("\r\n\r\n").map(chunk).collect()
}

fn whole(view: ClientView, events: &[Event<'_>]) -> Value {
    serde_json::from_str(&written(whole_encoder(view), events)).expect("JSON")
}

fn parts(chunk: &Value) -> &Value {
    &chunk["candidates"][0]["content"]["parts"]
}

/// Every chunk has a candidate with a part that is no empty object, or clients drop the turn.
fn has_parts(chunks: &[Value]) {
    for chunk in chunks {
        let candidates = chunk["candidates"].as_array().expect("candidates");
        assert!(!candidates.is_empty());
        for candidate in candidates {
            let parts = candidate["content"]["parts"].as_array().expect("parts");
            assert!(!parts.is_empty() && parts.iter().all(|part| part.as_object().is_some_and(|part| !part.is_empty())), "{chunk}");
        }
        assert_eq!((&chunk["modelVersion"], &chunk["responseId"]), (&json!("fast"), &json!("req-1")));
    }
}

fn usage() -> Usage {
    Usage { input_uncached: 40, cache_read: 64, cache_write_5m: 16, output: 31, reasoning: Some(12), ..Usage::default() }
}

#[test]
fn text_flows_through_and_the_last_chunk_tells_the_end_and_the_cost() {
    let events = [start(), text("Hel"), text("lo \"x\"\n"), finish(FinishReason::Stop), Event::Usage(usage()), Event::End, text("late")];
    let chunks = chunks(view(Shape::ChatCompletions), &events);
    has_parts(&chunks);
    let expected =
        json!({"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"Hel"}]}}],"modelVersion":"fast","responseId":"req-1"});
    assert_eq!(chunks[0], expected);
    assert_eq!(parts(&chunks[1]), &json!([{"text":"lo \"x\"\n"}]));
    assert_eq!(parts(&chunks[2]), &json!([{"text":""}]));
    assert_eq!(chunks[2]["candidates"][0]["finishReason"], "STOP");
    let usage = json!({"promptTokenCount":120,"cachedContentTokenCount":64,"candidatesTokenCount":19,"thoughtsTokenCount":12,"totalTokenCount":151});
    assert_eq!(chunks[2]["usageMetadata"], usage);
    assert_eq!(chunks.len(), 3);
}

#[test]
fn a_messages_call_is_told_when_its_block_is_over_and_chat_calls_all_together() {
    let mut events = vec![start(), text("wait")];
    events.extend(call(0, "f", &["{\"b\":1,", "\"a\":9007199254740993}"]));
    events.push(text("more"));
    events.extend(call(1, "g", &[]));
    events.extend([finish(FinishReason::ToolCalls), Event::End]);
    let messages = chunks(view(Shape::Messages), &events);
    has_parts(&messages);
    let first = json!({"functionCall":{"id":"call_0","name":"f","args":{"b":1,"a":9007199254740993_u64}}});
    let second = json!({"functionCall":{"id":"call_1","name":"g","args":{}}});
    assert_eq!(parts(&messages[1]), &json!([first]));
    assert_eq!((parts(&messages[2]), parts(&messages[3])), (&json!([{"text":"more"}]), &json!([second])));
    assert_eq!(messages[4]["candidates"][0]["finishReason"], "STOP");
    let chat = chunks(view(Shape::ChatCompletions), &events);
    assert_eq!(parts(&chat[2]), &json!([first, second]));
    assert_eq!(chat.len(), 4);
    assert_eq!(parts(&whole(view(Shape::ChatCompletions), &events)), &json!([{"text":"waitmore"}, first, second]));
    let raw = written(stream_encoder(view(Shape::Messages)), &events);
    assert!(raw.contains(r#""args":{"b":1,"a":9007199254740993}"#), "the order of the arguments is kept");
}

#[test]
fn interleaved_calls_come_out_whole_and_in_order() {
    let piece = |call, fragment: &'static str| Event::ToolArguments { choice: 0, call, fragment: Text::from(fragment) };
    let begin = |call| Event::ToolStart { choice: 0, call, id: Text::from("i"), name: Text::from("f"), custom: false, signature: None };
    let end = |call| Event::ToolEnd { choice: 0, call };
    let events = [
        begin(0),
        begin(1),
        piece(1, "{\"x\""),
        piece(0, "{\"y\":"),
        piece(1, ":1}"),
        piece(0, "2}"),
        end(1),
        end(0),
        finish(FinishReason::ToolCalls),
        Event::End,
    ];
    for upstream in [Shape::ChatCompletions, Shape::Responses] {
        let chunks = chunks(view(upstream), &events);
        let calls = parts(&chunks[0]).as_array().unwrap().iter().map(|part| part["functionCall"]["args"].clone()).collect::<Vec<_>>();
        assert_eq!(calls, [json!({"y":2}), json!({"x":1})]);
    }
}

#[test]
fn arguments_that_are_no_object_are_left_out_at_the_limit_and_an_error_else() {
    let events = |reason| {
        let mut events = vec![text("a")];
        events.extend(call(0, "f", &["{\"a\":"]));
        events.extend([finish(reason), Event::End]);
        events
    };
    for upstream in [Shape::ChatCompletions, Shape::Messages] {
        let cut = chunks(view(upstream), &events(FinishReason::Length));
        assert_eq!((cut.len(), &cut[1]["candidates"][0]["finishReason"]), (2, &json!("MAX_TOKENS")));
        let broken = chunks(view(upstream), &events(FinishReason::ToolCalls));
        assert_eq!(broken[1]["error"], json!({"code":500,"message":"upstream returned invalid tool arguments","status":"INTERNAL"}));
        assert_eq!(broken.len(), 2);
    }
    assert_eq!(parts(&whole(view(Shape::Messages), &events(FinishReason::Length))), &json!([{"text":"a"}]));
    assert_eq!(written(whole_encoder(view(Shape::Messages)), &events(FinishReason::ToolCalls)), "");
}

fn minted() -> Signature<'static> {
    Signature { shape: Shape::Messages, origin: None, value: Text::from("EqQB+/==") }
}

/// What a client of this shape sends back when it replays `chunks` part by part.
fn replayed(chunks: &[Value]) -> Vec<String> {
    let contents: Vec<Value> = chunks.iter().map(|chunk| chunk["candidates"][0]["content"].clone()).collect();
    let body = json!({"contents": contents}).to_string();
    let request = decode_request(body.as_bytes(), false).unwrap();
    let told = |block: &Block<'_>| match block {
        Block::Reasoning { text, signature } => format!("{} {signature:?}", text.decode()),
        Block::Text(text) => text.decode().into_owned(),
        block => format!("{block:?}"),
    };
    request.turns.iter().flat_map(|turn| turn.blocks.iter().map(told)).collect()
}

#[test]
fn reasoning_comes_back_with_its_signature_and_its_maker() {
    let events = [
        start(),
        thought("Let me "),
        thought("see"),
        Event::ReasoningSigned { choice: 0, signature: minted() },
        Event::Redacted { choice: 0, signature: minted() },
        text("Hi"),
        finish(FinishReason::Stop),
        Event::End,
    ];
    let signature = format!("{:?}", Signature { origin: Some(7), ..minted() });
    let document = whole(view(Shape::Messages), &events);
    for chunks in [chunks(view(Shape::Messages), &events), vec![document]] {
        has_parts(&chunks);
        let blocks = replayed(&chunks);
        assert!(blocks[0].contains("Let me see") && blocks[0].contains(&signature), "{blocks:?}");
        assert!(blocks[1].starts_with("Redacted") && blocks[1].contains(&signature), "{blocks:?}");
        assert!(blocks[2] == "Hi" && blocks.len() == 3, "{blocks:?}");
    }
}

#[test]
fn hidden_reasoning_leaves_no_trace_but_a_token_without_words_stays() {
    let hidden = || ClientView { show_reasoning: false, ..view(Shape::Messages) };
    let signed = || Event::ReasoningSigned { choice: 0, signature: minted() };
    let chunks_of = |events: &[Event<'_>]| chunks(hidden(), events).len();
    assert_eq!(chunks_of(&[thought("hm"), signed(), text("a")]), 1);
    assert_eq!(chunks_of(&[signed(), text("a")]), 2);
    let document = whole(hidden(), &[thought("hm"), signed(), text("a"), finish(FinishReason::Stop), Event::End]);
    assert_eq!(parts(&document), &json!([{"text":"a"}]));
}

#[test]
fn reasons_are_spelled_as_the_vendor_does() {
    let rows = [
        (FinishReason::Stop, "STOP"),
        (FinishReason::StopSequence, "STOP"),
        (FinishReason::ToolCalls, "STOP"),
        (FinishReason::Pause, "STOP"),
        (FinishReason::Length, "MAX_TOKENS"),
        (FinishReason::Refusal, "SAFETY"),
        (FinishReason::Other, "OTHER"),
    ];
    for (reason, word) in rows {
        let events = [text("a"), finish(reason), Event::End];
        assert_eq!(whole(view(Shape::Messages), &events)["candidates"][0]["finishReason"], word);
        assert_eq!(chunks(view(Shape::Messages), &events)[1]["candidates"][0]["finishReason"], word);
    }
    let mut called = call(0, "f", &[]);
    called.extend([finish(FinishReason::Other), Event::End]);
    assert_eq!(whole(view(Shape::Messages), &called)["candidates"][0]["finishReason"], "STOP");
    let refused = [Event::Refusal { choice: 0, text: Text::from("no") }, finish(FinishReason::Stop), Event::End];
    let refused = whole(view(Shape::ChatCompletions), &refused);
    assert_eq!((parts(&refused), &refused["candidates"][0]["finishReason"]), (&json!([{"text":"no"}]), &json!("SAFETY")));
    let explained =
        Finish { reason: FinishReason::Refusal, raw: Text::from(""), stop_sequence: None, explanation: Some(Text::from("why")) };
    let explained = whole(view(Shape::Messages), &[Event::Finish { choice: 0, finish: explained }, Event::End]);
    assert_eq!(explained["candidates"][0]["finishMessage"], "why");
    assert_eq!(parts(&explained), &json!([{"text":""}]), "an empty answer has an empty part");
}

#[test]
fn an_array_is_closed_whatever_happens() {
    let array = || ClientView { array: true, ..view(Shape::Messages) };
    let parsed = |events: &[Event<'_>]| {
        let out = written(stream_encoder(array()), events);
        serde_json::from_str::<Vec<Value>>(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    };
    let fine = [start(), Event::Ping, text("a"), Event::Ping, text("b"), finish(FinishReason::Stop), Event::Usage(usage()), Event::End];
    let elements = parsed(&fine);
    has_parts(&elements);
    assert_eq!(elements.len(), 3);
    assert!(written(stream_encoder(array()), &fine[..4]).ends_with("\"}]}}],\"modelVersion\":\"fast\",\"responseId\":\"req-1\"}\n"));
    let failed = || {
        Event::Failed(Failure {
            class: FailureClass::Overloaded,
            status: 529,
            message: Text::from("busy"),
            code: Text::from(""),
            param: None,
            retry_after: None,
        })
    };
    let elements = parsed(&[start(), text("a"), failed(), text("late"), Event::End]);
    assert_eq!((elements.len(), &elements[1]), (2, &json!({"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}})));
    assert_eq!(parsed(&[failed()]).len(), 1);
    assert_eq!(parsed(&[Event::End]).len(), 1);
    let out = written(stream_encoder(view(Shape::Messages)), &[failed()]);
    assert_eq!(out, "data: {\"error\":{\"code\":503,\"message\":\"busy\",\"status\":\"UNAVAILABLE\"}}\r\n\r\n");
    assert_eq!(written(whole_encoder(view(Shape::Messages)), &[text("a"), failed(), Event::End]), "");
}

#[test]
fn a_sign_of_life_is_an_empty_text() {
    let chunks = chunks(view(Shape::Messages), &[start(), Event::Ping]);
    has_parts(&chunks);
    assert_eq!(parts(&chunks[0]), &json!([{"text":""}]));
}

#[test]
fn several_answers_are_candidates() {
    let said = |choice, words: &'static str| Event::Text { choice, text: Text::from(words) };
    let ended = |choice| Event::Finish {
        choice,
        finish: Finish { reason: FinishReason::Stop, raw: Text::from(""), stop_sequence: None, explanation: None },
    };
    let events = [start(), said(1, "b"), said(0, "a"), ended(1), ended(0), Event::Usage(usage()), Event::End];
    let streamed = chunks(view(Shape::ChatCompletions), &events);
    has_parts(&streamed);
    assert_eq!((&streamed[0]["candidates"][0]["index"], &streamed[1]["candidates"][0]["index"]), (&json!(1), &json!(0)));
    assert_eq!(streamed[2]["candidates"].as_array().unwrap().len(), 2);
    let document = whole(view(Shape::ChatCompletions), &events);
    assert_eq!(document["candidates"][1]["content"]["parts"], json!([{"text":"b"}]));
}

#[test]
fn sources_are_told_in_bytes_at_the_end() {
    let citation = Citation { url: Text::from("https://a"), title: Text::from("A"), cited: Text::from(""), span: Some((1, 3)) };
    let hits = vec![SearchHit { url: Text::from("https://a"), title: Text::from(""), sealed: Text::from("") }];
    let events = [
        text("é"),
        Event::WebSearch { choice: 0, id: Text::from("s"), query: Text::from("q"), hits },
        text("\"c"),
        Event::Citation { choice: 0, citation },
        finish(FinishReason::Stop),
        Event::End,
    ];
    let expected = json!({"webSearchQueries":["q"],"groundingChunks":[{"web":{"uri":"https://a","title":"A"}}],
        "groundingSupports":[{"segment":{"startIndex":2,"endIndex":4,"text":"\"c"},"groundingChunkIndices":[0]}]});
    let streamed = chunks(view(Shape::Responses), &events);
    assert_eq!(streamed[2]["candidates"][0]["groundingMetadata"], expected);
    assert_eq!(whole(view(Shape::Responses), &events)["candidates"][0]["groundingMetadata"], expected);
}

#[test]
fn log_probabilities_get_the_vendors_form() {
    let elements = |text: &'static str| Event::Logprobs { choice: 0, elements: Raw::from(text.as_bytes()) };
    let events = [
        text("ab"),
        elements(r#"{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[{"token":"x","logprob":-1,"bytes":null}]}"#),
        elements(r#"{"token":"b","logprob":-2,"bytes":[98],"top_logprobs":[]}"#),
        finish(FinishReason::Stop),
        Event::End,
    ];
    let expected = json!({"chosenCandidates":[{"token":"a","logProbability":-0.5},{"token":"b","logProbability":-2}],
        "topCandidates":[{"candidates":[{"token":"x","logProbability":-1}]},{"candidates":[]}]});
    assert_eq!(whole(view(Shape::ChatCompletions), &events)["candidates"][0]["logprobsResult"], expected);
}

#[test]
fn pictures_free_text_and_tokens_of_calls_have_their_fields() {
    let picture = Event::Media { choice: 0, media_type: Text::from("image/png"), data: Text::from("AAAA") };
    let chunks = chunks(view(Shape::ChatCompletions), &[picture]);
    assert_eq!(parts(&chunks[0]), &json!([{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]));
    let signature = Some(Signature { shape: Shape::GenerateContent, origin: Some(9), value: Text::from("CvAB") });
    let events = [
        Event::ToolStart { choice: 0, call: 0, id: Text::from("i"), name: Text::from("patch"), custom: true, signature },
        Event::ToolArguments { choice: 0, call: 0, fragment: Text::from("a \"b\" c") },
        Event::ToolEnd { choice: 0, call: 0 },
        finish(FinishReason::ToolCalls),
        Event::End,
    ];
    let document = whole(view(Shape::ChatCompletions), &events);
    let part = &parts(&document)[0];
    assert_eq!(part["functionCall"]["args"], json!({"input":"a \"b\" c"}));
    let body = json!({"contents":[document["candidates"][0]["content"]]}).to_string();
    let request = decode_request(body.as_bytes(), false).unwrap();
    assert!(format!("{request:?}").contains("origin: Some(9)"));
}

#[test]
fn escaped_text_is_copied_as_written_and_the_vendors_id_is_kept() {
    let events = [Event::Start { id: Some(Text::from("own")), created: None }, Event::Text { choice: 0, text: Text::Escaped(br"\u00e9") }];
    let out = written(stream_encoder(view(Shape::GenerateContent)), &events);
    assert!(out.contains(r#""text":"\u00e9""#) && out.contains(r#""responseId":"own""#));
}

proptest::proptest! {
    #[test]
    fn the_chunks_of_a_stream_say_what_the_document_says(texts in proptest::collection::vec("[a-z\"\\\\\né]{1,8}", 0..8), thoughts in 0..3_usize) {
        let mut events: Vec<Event<'_>> = vec![start()];
        events.extend(texts.iter().enumerate().map(|(index, words)| match index < thoughts {
            true => Event::Reasoning { choice: 0, text: Text::from(words.as_str()) },
            false => Event::Text { choice: 0, text: Text::from(words.as_str()) },
        }));
        events.extend([finish(FinishReason::Stop), Event::Usage(usage()), Event::End]);
        let joined = |chunks: &[Value], thought: bool| -> String {
            let parts = chunks.iter().flat_map(|chunk| parts(chunk).as_array().unwrap().clone());
            parts.filter(|part| (part["thought"] == json!(true)) == thought).filter_map(|part| part["text"].as_str().map(str::to_owned)).collect()
        };
        let streamed = chunks(view(Shape::Messages), &events);
        let document = [whole(view(Shape::Messages), &events)];
        has_parts(&streamed);
        for thought in [false, true] {
            proptest::prop_assert_eq!(joined(&streamed, thought), joined(&document, thought));
        }
        proptest::prop_assert_eq!(&streamed.last().unwrap()["usageMetadata"], &document[0]["usageMetadata"]);
    }
}
