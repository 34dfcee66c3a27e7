use bytes::Bytes;

use crate::passage::{BodyKind, Framing, Passage, PassageKind, PassageOptions};
use crate::tokens::{Heard, Hearing, count};

fn listen(body: BodyKind, framing: Framing, hearing: Hearing, pieces: &[&[u8]]) -> Option<Heard> {
    let mut passage = Passage::new(PassageKind { body, framing }, PassageOptions::default());
    passage.listen(hearing);
    for piece in pieces {
        passage.push(Bytes::copy_from_slice(piece), false).unwrap();
    }
    passage.push(Bytes::new(), true).unwrap();
    passage.take_heard()
}

/// Listens to `input` whole and in pieces; what was heard must count as `text`.
fn hears(body: BodyKind, framing: Framing, input: &str, text: &str) {
    for size in [1, 7, 64, input.len()] {
        let pieces: Vec<&[u8]> = input.as_bytes().chunks(size).collect();
        let heard = listen(body, framing, Hearing::All, &pieces).expect("all are listened to");
        assert_eq!(heard.count("gpt-4o"), count("gpt-4o", text), "pieces of {size}: {heard:?}");
    }
}

fn sse(events: &[&str]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn chat(delta: &str, finish: &str) -> String {
    format!(r#"{{"id":"c","model":"m","choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}],"usage":null}}"#)
}

#[test]
fn the_words_of_a_chat_stream_are_heard_whatever_surrounds_them() {
    let events = [
        chat(r#"{"role":"assistant","content":""}"#, "null"),
        chat(r#"{"reasoning_content":"Let me","reasoning":"Let me"}"#, "null"),
        chat(r#"{"reasoning_content":" think."}"#, "null"),
        chat(r#"{"content":" \"content\":"}"#, "null"),
        chat(r#"{"content":" caf\u00e9\n"}"#, "null"),
        chat(r#"{"content":" world"}"#, "null"),
        chat(r#"{"content":" and"}"#, r#"null,"logprobs":{"content":[{"token":" and"}]}"#),
        chat(r#"{"content":" more"}"#, "null"),
        chat(r#"{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read","arguments":""}}]}"#, "null"),
        chat(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\""}}]}"#, "null"),
        chat(r#"{"tool_calls":[{"index":0,"function":{"arguments":":\"a b\"}"}}]}"#, "null"),
        chat(r#"{"content":" last"}"#, r#""stop""#),
        r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#.to_owned(),
        "[DONE]".to_owned(),
    ];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let text = "Let me think. \"content\": café\n world and moreread{\"path\":\"a b\"} last";
    hears(BodyKind::ChatCompletions, Framing::Sse, &sse(&events), text);
}

#[test]
fn the_words_of_a_messages_stream_are_heard_and_signatures_are_not() {
    let delta = |delta: &str| format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#);
    let events = [
        r#"{"type":"message_start","message":{"model":"m","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}"#.to_owned(),
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#.to_owned(),
        delta(r#"{"type":"thinking_delta","thinking":"Well,"}"#),
        delta(r#"{"type":"signature_delta","signature":"bG9uZyBhbmQgb3BhcXVl"}"#),
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#.to_owned(),
        delta(r#"{"type":"text_delta","text":" hello"}"#),
        r#"{"type": "ping"}"#.to_owned(),
        delta(r#"{"type":"text_delta","text":" there"}"#),
        r#"{"index":0,"type":"content_block_delta","delta":{"type":"text_delta","text":" friend"}}"#.to_owned(),
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"list","input":{}}}"#
            .to_owned(),
        delta(r#"{"type":"input_json_delta","partial_json":"{\"all\":"}"#),
        delta(r#"{"type":"input_json_delta","partial_json":" true}"}"#),
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":20}}"#.to_owned(),
        r#"{"type":"message_stop"}"#.to_owned(),
    ];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    hears(BodyKind::Messages, Framing::Sse, &sse(&events), "Well, hello there friendlist{\"all\": true}");
}

const GENERATED: [&str; 4] = [
    r#"{"candidates":[{"content":{"parts":[{"text":"Hm","thought":true}],"role":"model"}}],"usageMetadata":{"promptTokenCount":4}}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":" one"}],"role":"model"}}],"usageMetadata":{"promptTokenCount":4}}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":" two"}],"role":"model"}}],"usageMetadata":{"promptTokenCount":4}}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"go","args":{"to": "Rome"}}},{"inlineData":{"mimeType":"image/png","data":"iVBORw0K"}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":6}}"#,
];
const GENERATED_TEXT: &str = "Hm one twogo{\"to\":\"Rome\"}";

#[test]
fn the_words_of_generated_content_are_heard_in_events_arrays_and_documents_and_pictures_are_not() {
    hears(BodyKind::GenerateContent, Framing::Sse, &sse(&GENERATED), GENERATED_TEXT);
    hears(BodyKind::GenerateContent, Framing::JsonArray, &format!("[{}]", GENERATED.join(",\n")), GENERATED_TEXT);
    hears(BodyKind::GenerateContent, Framing::Json, GENERATED[3], "go{\"to\":\"Rome\"}");
}

#[test]
fn the_words_of_responses_are_heard_once_and_sound_is_not() {
    let events = [
        r#"{"type":"response.created","response":{"id":"r","model":"m","output":[]}}"#,
        r#"{"type":"response.output_text.delta","sequence_number":1,"item_id":"m","delta":"Good"}"#,
        r#"{"sequence_number":2,"type": "response.output_text.delta","delta": " day"}"#,
        r#"{"type":"response.audio.delta","delta":"UklGRiQAAABXQVZF"}"#,
        r#"{"type":"response.output_item.added","item":{"type":"function_call","name":"find","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.delta","sequence_number":3,"delta":"{\"q\":1}"}"#,
        r#"{"type":"response.output_text.done","text":"Good day"}"#,
        r#"{"type":"response.completed","response":{"model":"m","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Good day"}]}],"usage":{"input_tokens":1,"output_tokens":2}}}"#,
    ];
    hears(BodyKind::Responses, Framing::Sse, &sse(&events), "Good dayfind{\"q\":1}");
    let whole = r#"{"id":"r","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"Z0FBQUFB"},{"type":"message","content":[{"type":"output_text","text":" Good day","annotations":[]}]},{"type":"function_call","name":"find","arguments":"{\"q\":1}"}]}"#;
    hears(BodyKind::Responses, Framing::Json, whole, "Hm. Good dayfind{\"q\":1}");
}

#[test]
fn the_words_of_whole_answers_are_heard() {
    let chat = r#"{"choices":[{"message":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]},{"type":"text","text":" yes"}],"tool_calls":[{"function":{"name":"a","arguments":"{}"}}]}},{"text":" old"}]}"#;
    hears(BodyKind::ChatCompletions, Framing::Json, chat, "Hm yesa{} old");
    let messages = r#"{"content":[{"type":"text","text":"Yes"},{"type":"tool_use","id":"t","name":"a","input":{"b": [1]}},{"type":"redacted_thinking","data":"AAAA"}],"stop_reason":"end_turn"}"#;
    hears(BodyKind::Messages, Framing::Json, messages, "Yesa{\"b\":[1]}");
}

#[test]
fn an_answer_whose_usage_is_told_is_not_kept() {
    let told = sse(&[&chat(r#"{"content":"a"}"#, "null"), r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#, "[DONE]"]);
    assert!(listen(BodyKind::ChatCompletions, Framing::Sse, Hearing::Missing, &[told.as_bytes()]).is_none());
    assert!(listen(BodyKind::GenerateContent, Framing::Sse, Hearing::Missing, &[sse(&GENERATED).as_bytes()]).is_none());
    assert!(listen(BodyKind::GenerateContent, Framing::Json, Hearing::Missing, &[GENERATED[3].as_bytes()]).is_none());
    let messages = r#"{"content":[{"type":"text","text":"Yes"}],"usage":{"input_tokens":1,"output_tokens":1}}"#;
    assert!(listen(BodyKind::Messages, Framing::Json, Hearing::Missing, &[messages.as_bytes()]).is_none());
    assert!(listen(BodyKind::Messages, Framing::Json, Hearing::Nothing, &[b"{}"]).is_none());
}

#[test]
fn an_answer_cut_off_before_its_usage_is_kept() {
    let cut = sse(&GENERATED[..2]);
    let heard =
        listen(BodyKind::GenerateContent, Framing::Sse, Hearing::Missing, &[cut.as_bytes()]).expect("the count so far is not the last");
    assert_eq!(heard.count("gpt-4o"), count("gpt-4o", "Hm one"));
    let start = r#"{"type":"message_start","message":{"usage":{"input_tokens":5,"output_tokens":1}}}"#;
    let cut = sse(&[start, r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#]);
    let heard = listen(BodyKind::Messages, Framing::Sse, Hearing::Missing, &[cut.as_bytes()]).expect("only the prompt was told");
    assert_eq!(heard.count("gpt-4o"), 1);
}

#[test]
fn what_surrounds_a_text_is_walked_once() {
    let mut ear = super::Ear::new(Hearing::All);
    let choices = |text: &str| format!(r#"[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":null}}]"#).into_bytes();
    assert_eq!(ear.follows(&choices("a")), None, "nothing is known yet");
    ear.choices(&choices("a"), true);
    for text in [r#" \"b\" \\"#, ""] {
        let value = choices(text);
        assert_eq!(ear.follows(&value), Some(value.len()));
        assert_eq!(ear.follows(&[&*value, b",\"usage\":null}"].concat()), Some(value.len()), "whatever comes after it");
    }
    assert_eq!(ear.follows(br#"[{"index":0,"delta":{"content":"c"},"finish_reason":"stop"}]"#), None);
    assert_eq!(ear.follows(br#"[{"index":0,"delta":{"content":"c"#), None, "cut off");
    assert_eq!(ear.into_heard().count("gpt-4o"), count("gpt-4o", r#"a "b" \ "b" \"#));
}

#[test]
fn what_follows_choices_is_read_though_they_are_as_the_last_ones() {
    let chunk = |rest: &str| format!(r#"{{"id":"c","model":"up","choices":[{{"index":0,"delta":{{"content":"a"}}}}]{rest}}}"#);
    for (rest, told) in [(r#","usage":{"prompt_tokens":9,"completion_tokens":2}"#, true), (r#" , "x":1,"usage":null"#, false), ("", false)]
    {
        let kind = PassageKind { body: BodyKind::ChatCompletions, framing: Framing::Sse };
        let options = PassageOptions { answer_model: Some("down".into()), hide_usage: true, ..PassageOptions::default() };
        let mut passage = Passage::new(kind, options);
        passage.listen(Hearing::Missing);
        let input = sse(&[&chunk(""), &chunk(""), &chunk(rest), &chunk(r#","error":{"message":"broke"}"#)]);
        let passed = passage.push(Bytes::from(input), false).unwrap();
        let expected =
            [chunk(""), chunk(""), chunk(rest), chunk(r#","error":{"message":"broke"}"#)].map(|chunk| chunk.replace("up", "down"));
        let expected = sse(&expected.each_ref().map(|chunk| chunk.replace(r#","usage":null"#, "")).each_ref().map(String::as_str));
        assert_eq!(String::from_utf8_lossy(&passed), expected, "{rest}");
        assert_eq!((passage.usage().is_some(), passage.in_band_error().is_some()), (told, true), "{rest}");
    }
}

#[test]
fn listening_changes_nothing_of_what_passes() {
    for (body, events) in [
        (BodyKind::GenerateContent, &GENERATED[..]),
        (BodyKind::ChatCompletions, &[r#"{"model":"up","choices":[{"delta":{"content":"a"}}]}"#; 3][..]),
    ] {
        let options = || PassageOptions { answer_model: Some("alias".into()), hide_usage: true, ..PassageOptions::default() };
        let input = Bytes::from(sse(events));
        let mut out = [Hearing::Nothing, Hearing::Missing, Hearing::All].map(|hearing| {
            let mut passage = Passage::new(PassageKind { body, framing: Framing::Sse }, options());
            passage.listen(hearing);
            let out = passage.push(input.clone(), true).unwrap();
            (out, passage.usage(), passage.finish_reason().map(str::to_owned), passage.content_started(), passage.terminal_seen())
        });
        let first = out[0].clone();
        assert!(out.iter_mut().all(|one| *one == first));
    }
}
