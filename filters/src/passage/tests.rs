use proptest::prelude::*;

use super::*;

fn passage(body: BodyKind, framing: Framing, hide_usage: bool) -> Passage {
    let options = PassageOptions { answer_model: Some("alias".into()), hide_usage, request_id: "req-1".into() };
    Passage::new(PassageKind { body, framing }, options)
}

fn run(passage: &mut Passage, pieces: &[&[u8]]) -> String {
    let mut out = Vec::new();
    for piece in pieces {
        out.extend_from_slice(&passage.push(Bytes::copy_from_slice(piece), false).unwrap());
    }
    out.extend_from_slice(&passage.push(Bytes::new(), true).unwrap());
    String::from_utf8(out).unwrap()
}

/// Runs `input` whole and byte by byte, and checks that nothing depends on the cut.
fn passed(body: BodyKind, framing: Framing, hide: bool, input: &str) -> (String, Passage) {
    let mut whole = passage(body, framing, hide);
    let out = run(&mut whole, &[input.as_bytes()]);
    let mut single = passage(body, framing, hide);
    assert_eq!(run(&mut single, &input.as_bytes().chunks(1).collect::<Vec<_>>()), out, "the cut does not matter");
    assert_eq!(facts(&single), facts(&whole));
    let mut again = passage(body, framing, hide);
    assert_eq!(run(&mut again, &[out.as_bytes()]), out, "passing twice changes nothing more");
    (out, whole)
}

fn facts(passage: &Passage) -> (Option<Usage>, Option<InBandError>, bool, bool, Option<String>) {
    let error = passage.in_band_error().cloned();
    (passage.usage(), error, passage.content_started(), passage.terminal_seen(), passage.finish_reason().map(str::to_owned))
}

const CHAT: &str = concat!(
    ": hello\n\n",
    "data: {\"id\":\"c\",\"model\":\"up-1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}],\"usage\":null}\n\n",
    "data: {\"id\":\"c\",\"model\":\"up-1\",\"usage\":null,\"choices\":[{\"index\":0,\"delta\":{\"content\":\"H\\\"i }\"},\"finish_reason\":null}]}\r\n\r\n",
    "data: {\"id\":\"c\", \"model\" : \"up-1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}] , \"usage\" : null }\n\n",
    "data: {\"id\":\"c\",\"model\":\"up-1\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n",
    "data: [DONE]\n\n",
);

#[test]
fn chat_chunks_get_the_model_and_lose_hidden_usage() {
    let (out, passage) = passed(BodyKind::ChatCompletions, Framing::Sse, true, CHAT);
    let expected = concat!(
        ": hello\n\n",
        "data: {\"id\":\"c\",\"model\":\"alias\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
        "data: {\"id\":\"c\",\"model\":\"alias\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"H\\\"i }\"},\"finish_reason\":null}]}\r\n\r\n",
        "data: {\"id\":\"c\", \"model\" : \"alias\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}] }\n\n",
        "data: [DONE]\n\n",
    );
    assert_eq!(out, expected);
    let usage = passage.usage().unwrap();
    assert_eq!((usage.input(), usage.output), (9, 2));
    assert_eq!((passage.finish_reason(), passage.terminal_seen(), passage.content_started()), (Some("stop"), true, true));
}

#[test]
fn chat_usage_stays_for_clients_that_asked() {
    let (out, _) = passed(BodyKind::ChatCompletions, Framing::Sse, false, CHAT);
    assert_eq!(out, CHAT.replace("up-1", "alias"));
}

#[test]
fn a_first_chunk_without_choices_is_no_usage_chunk() {
    let azure = "data: {\"choices\":[],\"model\":\"\",\"prompt_filter_results\":[{}]}\n\n";
    assert_eq!(passed(BodyKind::ChatCompletions, Framing::Sse, true, azure).0, azure.replace("\"\"", "\"alias\""));
}

#[test]
fn whole_unedited_events_come_back_as_the_same_memory() {
    let mut passage = Passage::new(PassageKind { body: BodyKind::ChatCompletions, framing: Framing::Sse }, PassageOptions::default());
    let piece = Bytes::from(CHAT);
    let out = passage.push(piece.clone(), false).unwrap();
    assert_eq!((out.as_ptr(), out.len()), (piece.as_ptr(), piece.len()));
    let partial = Bytes::from("data: a\n\ndata: b");
    let out = passage.push(partial.clone(), false).unwrap();
    assert_eq!((out.as_ptr(), out.len()), (partial.as_ptr(), 9));
    assert_eq!(passage.push(Bytes::from("\n\ndata: c\n\n"), false).unwrap(), "data: b\n\ndata: c\n\n");
}

#[test]
fn data_spread_over_lines_is_edited() {
    let input = "data: {\"model\":\ndata: \"up-1\",\ndata: \"choices\":[]}\nid: 1\n\n";
    let expected = "data: {\"model\":\ndata: \"alias\",\ndata: \"choices\":[]}\nid: 1\n\n";
    assert_eq!(passed(BodyKind::ChatCompletions, Framing::Sse, true, input).0, expected);
}

#[test]
fn legacy_completions_are_read() {
    let input = "data: {\"model\":\"up-1\",\"choices\":[{\"text\":\"x\",\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";
    let (out, passage) = passed(BodyKind::Completions, Framing::Sse, true, input);
    assert_eq!(out, input.replace("up-1", "alias"));
    assert_eq!((passage.finish_reason(), passage.content_started()), (Some("length"), true));
}

const MESSAGES: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"up-1\",\"content\":[],\"usage\":{\"input_tokens\":40,\"cache_read_input_tokens\":64,\"output_tokens\":1}}}\n\n",
    "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"index\":0,\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"\\\"model\\\":\\\"up-1\\\"\"}}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":31}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
);

#[test]
fn messages_events_get_the_model_where_the_message_starts() {
    let (out, passage) = passed(BodyKind::Messages, Framing::Sse, false, MESSAGES);
    assert_eq!(out, MESSAGES.replace("\"model\":\"up-1\"", "\"model\":\"alias\""));
    let usage = passage.usage().unwrap();
    assert_eq!((usage.input_uncached, usage.cache_read, usage.output), (40, 64, 31));
    assert_eq!((passage.finish_reason(), passage.terminal_seen(), passage.content_started()), (Some("end_turn"), true, true));
}

#[test]
fn generate_content_events_lose_comments_and_the_done_line() {
    let input = ": ping\n\n\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]}}],\"modelVersion\":\"up-1\"}\n\n: c\ndata: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":4}}\n\ndata: [DONE]\n\n";
    let expected = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]}}],\"modelVersion\":\"alias\"}\n\ndata: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":4}}\n\n";
    let (out, passage) = passed(BodyKind::GenerateContent, Framing::Sse, false, input);
    assert_eq!(out, expected);
    assert_eq!((passage.finish_reason(), passage.terminal_seen(), passage.usage().unwrap().output), (Some("STOP"), true, 4));
}

const ARRAY: &str = "[{\"modelVersion\":\"up-1\",\"candidates\":[{\"content\":{\"parts\":[{}]}}]}\n,\r\n{\"modelVersion\": \"up-1\",\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3}}\n]\n";

#[test]
fn array_elements_get_the_model_one_by_one() {
    let (out, mut whole) = passed(BodyKind::GenerateContent, Framing::JsonArray, false, ARRAY);
    assert_eq!(out, ARRAY.replace("up-1", "alias"));
    assert!(whole.terminal_seen() && whole.content_started());
    assert_eq!(whole.truncated(Cutoff::Failed, "x"), "");
    let mut first = passage(BodyKind::GenerateContent, Framing::JsonArray, false);
    let (element, _) = ARRAY.split_once("\n,").unwrap();
    assert_eq!(
        first.push(Bytes::from(element), false).unwrap(),
        element.replace("up-1", "alias"),
        "an element does not wait for what follows"
    );
}

#[test]
fn responses_events_get_the_model_inside_the_response() {
    let input = concat!(
        "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"r\",\"model\":\"up-1\",\"error\":null,\"usage\":null}}\n\n",
        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n\n",
        "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"model\":\"up-1\",\"status\":\"completed\",\"usage\":{\"input_tokens\":5,\"output_tokens\":6}}}\n\n",
    );
    let (out, passage) = passed(BodyKind::Responses, Framing::Sse, false, input);
    assert_eq!(out, input.replace("up-1", "alias"));
    assert_eq!((passage.terminal_seen(), passage.content_started(), passage.finish_reason()), (true, true, Some("completed")));
    assert_eq!((passage.usage().unwrap().input(), passage.in_band_error()), (5, None));
}

#[test]
fn json_answers_are_edited_once_whole() {
    let cases = [
        (
            BodyKind::ChatCompletions,
            r#"{"model":"up-1","choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
            Some("stop"),
        ),
        (
            BodyKind::Messages,
            r#"{"type":"message","model":"up-1","content":[{}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}"#,
            Some("end_turn"),
        ),
        (
            BodyKind::GenerateContent,
            r#"{"modelVersion":"up-1","candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2}}"#,
            Some("STOP"),
        ),
        (
            BodyKind::Responses,
            r#"{"object":"response","model":"up-1","error":null,"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":1,"output_tokens":2}}"#,
            Some("max_output_tokens"),
        ),
        (BodyKind::Embeddings, r#"{"model":"up-1","data":[{"embedding":[0.1]}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#, None),
    ];
    for (body, input, reason) in cases {
        let (out, passage) = passed(body, Framing::Json, true, input);
        assert_eq!(out, input.replace("up-1", "alias"));
        let usage = passage.usage().unwrap();
        assert_eq!((usage.input(), usage.output, passage.finish_reason()), (1, 2, reason), "{input}");
        assert!(passage.terminal_seen() && passage.content_started());
    }
}

#[test]
fn answers_that_are_no_json_or_not_whole_go_through_untouched() {
    for input in ["", "not json", "{\"model\":\"up-1\"", "[1]", "WEBVTT\n\n00:00"] {
        let (out, passage) = passed(BodyKind::Audio, Framing::Json, false, input);
        assert_eq!((out.as_str(), passage.terminal_seen() && input != "[1]"), (input, false));
    }
    let mut passage = passage(BodyKind::ChatCompletions, Framing::Json, false);
    let piece = Bytes::from(vec![b' '; ANSWER_LIMIT / 2 + 1]);
    assert_eq!(passage.push(piece.clone(), false).unwrap(), "");
    assert_eq!(passage.push(piece, false).unwrap().len(), ANSWER_LIMIT + 2);
    let rest = Bytes::from_static(b"{\"model\":\"up-1\"}");
    assert_eq!(passage.push(rest.clone(), true).unwrap(), rest);
}

#[test]
fn in_band_errors_of_every_form_are_read_and_forwarded() {
    let cases = [
        (
            BodyKind::Messages,
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n",
            "busy",
            529,
        ),
        (BodyKind::Messages, "data: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow\"}}\n\n", "slow", 429),
        (
            BodyKind::ChatCompletions,
            "data: {\"error\":{\"message\":\"quota\",\"type\":\"x\",\"code\":\"insufficient_quota\"}}\n\n",
            "quota",
            429,
        ),
        (BodyKind::ChatCompletions, "data: {\"error\":\"plain\"}\n\n", "plain", 500),
        (BodyKind::ChatCompletions, "event: error\ndata: {\"message\":\"named\",\"type\":\"server_error\"}\n\n", "named", 500),
        (
            BodyKind::ChatCompletions,
            "data: {\"error\":{\"code\":502,\"message\":\"beside\"},\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n",
            "beside",
            502,
        ),
        (BodyKind::GenerateContent, "data: {\"error\":{\"code\":503,\"message\":\"gone\",\"status\":\"UNAVAILABLE\"}}\n\n", "gone", 503),
        (
            BodyKind::Responses,
            "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"r\",\"param\":null}\n\n",
            "r",
            429,
        ),
        (
            BodyKind::Responses,
            "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"f\"}}}\n\n",
            "f",
            500,
        ),
    ];
    for (body, input, message, status) in cases {
        let (out, mut passage) = passed(body, Framing::Sse, true, input);
        assert_eq!(out, input);
        let error = passage.in_band_error().expect(input);
        assert_eq!((error.message.as_str(), error.status), (message, status), "{input}");
        assert_eq!(passage.truncated(Cutoff::Failed, "second"), "", "the client has an error already");
    }
    let wrapped = passed(BodyKind::GenerateContent, Framing::Json, false, "[{\"error\":{\"code\":400,\"message\":\"w\"}}]").1;
    assert_eq!(wrapped.in_band_error().unwrap().status, 400);
}

#[test]
fn errors_nested_without_end_are_read_no_deeper_than_they_mean_anything() {
    let input = format!("data: {}\n\n", "{\"error\":".repeat(200_000) + "1" + &"}".repeat(200_000));
    assert_eq!(passed_whole(BodyKind::ChatCompletions, &input).in_band_error().unwrap().status, 500);
}

fn passed_whole(body: BodyKind, input: &str) -> Passage {
    let mut passage = passage(body, Framing::Sse, false);
    assert_eq!(run(&mut passage, &[input.as_bytes()]), input);
    passage
}

#[test]
fn falsy_errors_are_none() {
    for falsy in ["null", "false", "\"\""] {
        let input = format!("data: {{\"choices\":[],\"error\":{falsy}}}\n\n");
        assert_eq!(passed(BodyKind::ChatCompletions, Framing::Sse, false, &input).1.in_band_error(), None);
    }
}

fn cut_off(body: BodyKind, framing: Framing, input: &str, cutoff: Cutoff) -> String {
    let mut passage = passage(body, framing, false);
    let mut out = passage.push(Bytes::from(input.to_owned()), true).unwrap().to_vec();
    assert!(!passage.terminal_seen());
    out.extend_from_slice(&passage.truncated(cutoff, "cut \"off\""));
    String::from_utf8(out).unwrap()
}

#[test]
fn a_cut_stream_ends_with_the_error_of_its_shape() {
    let cases = [
        (
            BodyKind::ChatCompletions,
            "data: {\"choices\":[]}\n\ndata: {\"cho",
            "data: {\"choices\":[]}\n\ndata: {\"error\":{\"message\":\"cut \\\"off\\\"\",\"type\":\"server_error\",\"param\":null,\"code\":\"upstream_error\"}}\n\n",
        ),
        (
            BodyKind::ChatCompletions,
            "data: {\"a\":1}\n",
            "data: {\"a\":1}\n\n\ndata: {\"error\":{\"message\":\"cut \\\"off\\\"\",\"type\":\"server_error\",\"param\":null,\"code\":\"upstream_error\"}}\n\n",
        ),
        (
            BodyKind::Messages,
            ": x\n",
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"cut \\\"off\\\"\"},\"request_id\":\"req-1\"}\n\n",
        ),
        (
            BodyKind::GenerateContent,
            "data: {\"x\":",
            "data: {\"error\":{\"code\":503,\"message\":\"cut \\\"off\\\"\",\"status\":\"UNAVAILABLE\"}}\n\n",
        ),
        (
            BodyKind::Responses,
            "data: {\"type\":\"x\"}\n\n",
            "data: {\"type\":\"x\"}\n\nevent: error\ndata: {\"type\":\"error\",\"code\":\"upstream_error\",\"message\":\"cut \\\"off\\\"\",\"param\":null,\"sequence_number\":1}\n\n",
        ),
    ];
    for (body, input, expected) in cases {
        assert_eq!(cut_off(body, Framing::Sse, input, Cutoff::Failed), expected);
    }
    let timed_out = cut_off(BodyKind::Messages, Framing::Sse, "", Cutoff::TimedOut);
    assert!(timed_out.contains("timeout_error"), "{timed_out}");
}

#[test]
fn a_cut_array_stays_valid_json() {
    for at in 0..ARRAY.len() - 1 {
        let mut passage = passage(BodyKind::GenerateContent, Framing::JsonArray, false);
        let mut out = passage.push(Bytes::from(&ARRAY.as_bytes()[..at]), true).unwrap().to_vec();
        out.extend_from_slice(&passage.truncated(Cutoff::Failed, "cut"));
        let values: Vec<serde_json::Value> =
            serde_json::from_slice(&out).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out)));
        let complete = values.iter().any(|value| value.pointer("/candidates/0/finishReason").is_some());
        let failed = values.last().unwrap().get("error").is_some();
        assert_ne!(complete, failed, "cut at {at}");
    }
}

#[test]
fn a_chat_stream_may_end_without_its_last_lines() {
    let finish = "data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n";
    let (_, mut passage) = passed(BodyKind::ChatCompletions, Framing::Sse, false, finish);
    assert!(passage.terminal_seen(), "a finish reason and a clean end are an end");
    assert_eq!(passage.truncated(Cutoff::Failed, "x"), "");
    let (out, passage) = passed(BodyKind::ChatCompletions, Framing::Sse, false, "data: [DONE]\n");
    assert_eq!((out.as_str(), passage.terminal_seen()), ("data: [DONE]\n", true));
    let (out, passage) = passed(BodyKind::Messages, Framing::Sse, false, "data: {\"model\":\"up-1\",\"type\":\"message_stop\"}");
    assert_eq!((out.as_str(), passage.terminal_seen()), ("data: {\"model\":\"alias\",\"type\":\"message_stop\"}", true));
}

#[test]
fn an_unknown_framing_is_told_by_the_same_bytes_however_they_come() {
    for text in
        ["\u{feff}[1]", "\u{feff}{}", "\u{feff}data: {}\n\n", &format!("{}{{}}", " ".repeat(70)), &format!("{}data: {{}}", " ".repeat(62))]
    {
        let kind = PassageKind { body: BodyKind::ChatCompletions, framing: Framing::Unknown };
        let framings: Vec<Option<Framing>> =
            (1..=text.len()).map(|end| kind.sniffed(&text.as_bytes()[..end], false)).skip_while(Option::is_none).collect();
        assert!(framings.iter().all(|framing| *framing == framings[0]), "{text:?}: {framings:?}");
    }
}

#[test]
fn an_unknown_framing_is_told_by_the_first_bytes() {
    let sse = "\r\ndata: {\"model\":\"up-1\"}\n\n";
    assert_eq!(passed(BodyKind::ChatCompletions, Framing::Unknown, false, sse).0, sse.replace("up-1", "alias"));
    let json = " {\"model\":\"up-1\"}";
    assert_eq!(passed(BodyKind::ChatCompletions, Framing::Unknown, false, json).0, json.replace("up-1", "alias"));
    assert_eq!(passed(BodyKind::GenerateContent, Framing::Unknown, false, ARRAY).0, ARRAY.replace("up-1", "alias"));
    for other in ["", "dat", "\u{1}\u{2}", "ID3 music"] {
        assert_eq!(passed(BodyKind::Audio, Framing::Unknown, false, other).0, other);
    }
    let of = |kind, streamed| PassageKind::of(BodyKind::GenerateContent, kind, streamed).framing;
    assert_eq!(of(Some("Text/Event-Stream; charset=utf-8"), true), Framing::Sse);
    assert_eq!(of(Some("application/json"), true), Framing::JsonArray);
    assert_eq!(of(Some("application/problem+json"), false), Framing::Json);
    assert_eq!((of(Some("audio/mpeg"), false), of(None, false)), (Framing::Opaque, Framing::Unknown));
}

#[test]
fn an_event_beyond_the_bound_fails_after_what_came_before() {
    let mut passage = passage(BodyKind::ChatCompletions, Framing::Sse, false);
    let mut piece = b"data: {}\n\ndata: ".to_vec();
    piece.resize(17 << 20, b'x');
    assert_eq!(passage.push(Bytes::from(piece), false).unwrap(), "data: {}\n\n");
    assert!(passage.push(Bytes::new(), false).is_err());
    assert!(passage.truncated(Cutoff::Failed, "too large").starts_with(b"data: {\"error\""));
}

#[test]
fn a_long_stream_is_passed_in_constant_memory() {
    let events = CHAT.replace("data: [DONE]\n\n", "").repeat(200);
    let mut passage = passage(BodyKind::ChatCompletions, Framing::Sse, true);
    for _ in 0..200 {
        for piece in events.as_bytes().chunks(1447) {
            passage.push(Bytes::copy_from_slice(piece), false).unwrap();
            assert!(passage.held_back() < 8192, "only an unfinished event is held back");
        }
    }
    assert_eq!(passage.reader.events, 160_000);
}

fn any_body() -> impl Strategy<Value = BodyKind> {
    use BodyKind::{Audio, ChatCompletions, Completions, GenerateContent, Messages, Responses};
    prop::sample::select(vec![ChatCompletions, Completions, Messages, GenerateContent, Responses, Audio])
}

fn any_framing() -> impl Strategy<Value = Framing> {
    prop::sample::select(vec![Framing::Json, Framing::Sse, Framing::JsonArray, Framing::Opaque, Framing::Unknown])
}

proptest! {
    #[test]
    fn the_cut_of_the_bytes_never_matters(
        body in any_body(),
        framing in any_framing(),
        hide in any::<bool>(),
        parts in prop::collection::vec(prop::sample::select(vec![CHAT, MESSAGES, ARRAY, "data: ", "\n", "\r", "\r\n", ": c\n", "event: error\n", "{\"model\":\"x\"}", "[", "]", ",", "\"", "é"]), 0..6),
        at in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let input = parts.concat();
        let bytes = input.as_bytes();
        let mut cuts: Vec<usize> = at.iter().map(|index| index.index(bytes.len() + 1)).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        let (mut whole, mut cut) = (passage(body, framing, hide), passage(body, framing, hide));
        prop_assert_eq!(run(&mut whole, &[bytes]), run(&mut cut, &pieces));
        prop_assert_eq!(facts(&whole), facts(&cut));
    }

    #[test]
    fn without_edits_a_clean_stream_goes_through_byte_for_byte(
        body in any_body().prop_filter("comments are dropped", |body| *body != BodyKind::GenerateContent),
        events in prop::collection::vec("(: c\n)?(event: [a-z]{1,4}\r?\n)?data: ?[{}\\[\\]\":,a-zé ]{0,20}(\n\n|\r\n\r\n)", 0..8),
    ) {
        let input = events.concat();
        let mut passage = Passage::new(PassageKind { body, framing: Framing::Sse }, PassageOptions::default());
        prop_assert_eq!(run(&mut passage, &[input.as_bytes()]), input);
    }

    #[test]
    fn random_bytes_never_panic(body in any_body(), framing in any_framing(), pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..6)) {
        let mut passage = passage(body, framing, true);
        for piece in pieces {
            let _ = passage.push(Bytes::from(piece), false);
        }
        let _ = passage.push(Bytes::new(), true);
        let _ = passage.truncated(Cutoff::TimedOut, "\u{1}\"");
    }
}
