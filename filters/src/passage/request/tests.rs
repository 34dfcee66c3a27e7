use proptest::prelude::*;

use super::*;

fn read(kind: BodyKind, body: &str) -> Facts {
    Facts::read(kind, Some("application/json; charset=utf-8"), &Bytes::from(body.to_owned()), 64).expect(body)
}

fn refusal(kind: BodyKind, body: &str) -> String {
    Facts::read(kind, None, &Bytes::from(body.to_owned()), 64).expect_err(body).to_string()
}

fn rewritten(kind: BodyKind, body: &str, model: &str, usage: bool) -> String {
    let bytes = Bytes::from(body.to_owned());
    let once = read(kind, body).rewrite(&bytes, model, usage).whole();
    let again = Facts::read(kind, None, &once, 64).unwrap().rewrite(&once, model, usage).whole();
    assert_eq!(again, once, "rewriting twice changes nothing more");
    assert!(again.as_ptr() == once.as_ptr(), "the same memory is returned when nothing changes");
    String::from_utf8(once.to_vec()).unwrap()
}

#[test]
fn traces_of_what_models_said_are_noted() {
    let traces = |messages: &str| read(BodyKind::ChatCompletions, &format!(r#"{{"model":"m","messages":[{messages}]}}"#)).traces;
    assert_eq!(traces(r#"{"role":"user","content":"Is m1. an assistant?"}"#), Traces::default());
    for role in ["assistant", r"\u0061ssistant", r"as\u0073istant", r"\u0061\u0073\u0073\u0069\u0073\u0074\u0061\u006e\u0074"] {
        let expected = Traces { assistant: true, ..Traces::default() };
        assert_eq!(traces(&format!(r#"{{"role":"{role}"}}"#)), expected, "{role}");
    }
    for tag in ["g1.", "m1.00000000.AA", "r1."] {
        assert_eq!(traces(&format!(r#"{{"role":"tool","content":"{tag}"}}"#)), Traces { tagged: true, ..Traces::default() }, "{tag}");
    }
    assert_eq!(traces(r#"{"reasoning_content":null}"#), Traces { reasoning: true, ..Traces::default() });
}

#[test]
fn chat_facts_are_read() {
    let facts = read(
        BodyKind::ChatCompletions,
        r#"{"mod\u0065l":"f\u0061st","stream":true,"stream_options":{"include_usage":true},"user":"u1","max_tokens":5,"max_completion_tokens":7,"tools":[{}],
        "messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]}"#,
    );
    assert_eq!((facts.model.as_deref(), facts.stream, facts.asks_usage), (Some("fast"), true, true));
    assert_eq!((facts.end_user.as_deref(), facts.max_output), (Some("u1"), Some(7)));
    assert!(facts.has_tools && facts.has_images);
    let quoted = read(BodyKind::ChatCompletions, r#"{"messages":[{"content":"say \"image_url\" now"}],"tools":[]}"#);
    assert!(!quoted.has_images && !quoted.has_tools, "a quoted word in a text is no picture");
}

#[test]
fn facts_of_the_other_shapes_are_read() {
    let messages = read(
        BodyKind::Messages,
        r#"{"model":"m","max_tokens":9,"metadata":{"user_id":"u2"},"stream":false,"messages":[{"content":[{"type":"image"}]}]}"#,
    );
    assert_eq!(
        (messages.end_user.as_deref(), messages.max_output, messages.stream, messages.has_images),
        (Some("u2"), Some(9), false, true)
    );
    let generate = read(
        BodyKind::GenerateContent,
        r#"{"model":"models/m","generationConfig":{"maxOutputTokens":4},"contents":[{"parts":[{"inlineData":{}}]}],"stream":"x"}"#,
    );
    assert_eq!((generate.model.as_deref(), generate.max_output, generate.has_images), (Some("models/m"), Some(4), true));
    let responses = read(BodyKind::Responses, r#"{"model":"m","max_output_tokens":3,"safety_identifier":"u3","stream":null}"#);
    assert_eq!((responses.end_user.as_deref(), responses.max_output, responses.stream), (Some("u3"), Some(3), false));
    assert!(read(BodyKind::Audio, r#"{"model":"m","stream_format":"sse"}"#).stream);
    assert_eq!(read(BodyKind::Moderations, r#"{"input":"x"}"#).model, None);
}

#[test]
fn wrong_types_and_ambiguous_bodies_are_refused() {
    assert_eq!(refusal(BodyKind::ChatCompletions, r#"{"model":1}"#), "read `model`: expected a string");
    assert_eq!(refusal(BodyKind::Messages, r#"{"stream":"true"}"#), "read `stream`: expected a boolean");
    assert_eq!(refusal(BodyKind::Messages, r#"{"model":"a","m\u006fdel":"b"}"#), "read the request body: duplicate key `model` at byte 13");
    let form = Facts::read(BodyKind::ChatCompletions, Some("multipart/form-data; boundary=x"), &Bytes::new(), 64);
    assert_eq!(form, Err(FactsError::UnexpectedForm));
}

#[test]
fn only_the_model_changes() {
    let body = "{ \"x\" : 1.50e+3 ,\t\"model\":\"\\u0061\" , \"model_x\":\"a\", \"messages\":[{\"model\":\"a\"}] }";
    assert_eq!(rewritten(BodyKind::Messages, body, "b\"c", true), body.replace("\"\\u0061\"", "\"b\\\"c\""));
    let bytes = Bytes::from_static(br#"{"model":"\u0061"}"#);
    assert_eq!(Facts::read(BodyKind::Messages, None, &bytes, 8).unwrap().rewrite(&bytes, "a", true).whole().as_ptr(), bytes.as_ptr());
    assert_eq!(rewritten(BodyKind::Embeddings, r#"{"input":"x"}"#, "b", true), r#"{"input":"x"}"#);
}

#[test]
fn usage_is_asked_for_in_streams_only() {
    let cases = [
        (r#"{"model":"a"}"#, r#"{"model":"b"}"#),
        (r#"{"model":"a","stream":false}"#, r#"{"model":"b","stream":false}"#),
        (r#"{"stream":true,"model":"a" }"#, r#"{"stream":true,"model":"b","stream_options":{"include_usage":true} }"#),
        (r#"{"stream":true,"stream_options":null}"#, r#"{"stream":true,"stream_options":{"include_usage":true}}"#),
        (r#"{"stream":true,"stream_options":{ }}"#, r#"{"stream":true,"stream_options":{"include_usage":true }}"#),
        (r#"{"stream":true,"stream_options":{"x":1 }}"#, r#"{"stream":true,"stream_options":{"x":1,"include_usage":true }}"#),
        (
            r#"{"stream":true,"stream_options":{"include_usage": false,"x":1}}"#,
            r#"{"stream":true,"stream_options":{"include_usage": true,"x":1}}"#,
        ),
        (r#"{"stream":true,"stream_options":{"include_usage":true}}"#, r#"{"stream":true,"stream_options":{"include_usage":true}}"#),
        (r#"{"stream":true,"stream_options":7}"#, r#"{"stream":true,"stream_options":7}"#),
    ];
    for (body, expected) in cases {
        assert_eq!(rewritten(BodyKind::ChatCompletions, body, "b", true), expected);
        assert_eq!(rewritten(BodyKind::Completions, body, "b", true), expected);
        assert_eq!(rewritten(BodyKind::ChatCompletions, body, "b", false), body.replace("\"a\"", "\"b\""));
    }
    assert_eq!(rewritten(BodyKind::Responses, r#"{"model":"b","stream":true}"#, "b", true), r#"{"model":"b","stream":true}"#);
}

#[test]
fn generate_content_bodies_change_every_name_of_the_model_and_keep_its_path() {
    let body = r#"{"model":"models/a","requests":[{"model":"models/a","content":{}},{"model":"a"}],"generateContentRequest":{"model":"models/a"}}"#;
    let expected = r#"{"model":"models/b","requests":[{"model":"models/b","content":{}},{"model":"b"}],"generateContentRequest":{"model":"models/b"}}"#;
    assert_eq!(rewritten(BodyKind::GenerateContent, body, "b", false), expected);
    assert_eq!(rewritten(BodyKind::ChatCompletions, r#"{"model":"models/a"}"#, "b", false), r#"{"model":"b"}"#);
}

const FORM: &str = "multipart/form-data; boundary=\"--x y\"";

fn form(parts: &[(&str, &str)]) -> String {
    let parts: String = parts.iter().map(|(head, content)| format!("----x y\r\n{head}\r\n\r\n{content}\r\n")).collect();
    format!("{parts}----x y--\r\n")
}

fn field(name: &str) -> String {
    format!("Content-Disposition: form-data; name=\"{name}\"")
}

#[test]
fn the_model_of_a_form_is_found_and_replaced() {
    let file = "content-disposition: form-data; filename=\"a; name=b.wav\"; name=\"file\"\r\nContent-Type: audio/wav";
    let audio = "RIFF\r\n----x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nfake";
    let body = Bytes::from(form(&[(file, audio), (&field("model"), "whisper"), (&field("stream"), "true"), (&field("empty"), "")]));
    let facts = Facts::read(BodyKind::Audio, Some(FORM), &body, 8).unwrap();
    assert_eq!((facts.model.as_deref(), facts.stream), (Some("whisper"), true));
    let expected = form(&[(file, audio), (&field("model"), "whisper-2\""), (&field("stream"), "true"), (&field("empty"), "")]);
    assert_eq!(facts.rewrite(&body, "whisper-2\"", true).whole(), expected);
    assert_eq!(facts.rewrite(&body, "whisper", true).whole().as_ptr(), body.as_ptr());
}

#[test]
fn the_texts_of_a_form_are_those_a_model_reads() {
    let (file, plain) = (field("file") + "; filename=\"prompt\"", field("prompt") + "\r\nContent-Type: text/plain; charset=UTF-8");
    let parts = [(&*field("model"), "m"), (&file, "sound"), (&plain, "é\r\n--y\n"), (&field("prompt[]"), "b"), (&field("prompts"), "c")];
    let body = Bytes::from(form(&parts));
    let facts = Facts::read(BodyKind::Audio, Some(FORM), &body, 8).unwrap();
    let texts: Vec<&[u8]> = facts.form_texts().unwrap().iter().map(|span| span.of(&body)).collect();
    assert_eq!(texts, ["é\r\n--y\n".as_bytes(), b"b"]);
    let json = Facts::read(BodyKind::Audio, None, &Bytes::from_static(b"{\"model\":\"m\",\"prompt\":\"p\"}"), 8).unwrap();
    assert_eq!(json.form_texts(), None);
}

#[test]
fn forms_in_another_charset_are_refused() {
    let prompt = |kind: &str| form(&[(&format!("{}\r\n{kind}", field("prompt")), "+AGE-")]);
    for (kind, body, field) in [
        ("", prompt("Content-Type: text/plain; charset=utf-7"), "prompt"),
        ("", prompt("Content-Transfer-Encoding: quoted-printable"), "prompt"),
        ("", form(&[("Content-Disposition: form-data; name=\"prompt\"; filename=\"p\"", "a")]), "prompt"),
        ("", form(&[(&field("_charset_"), "utf-16"), (&field("prompt"), "a")]), "UTF-8"),
        ("; charset=utf-16le", form(&[(&field("prompt"), "a")]), "UTF-8"),
    ] {
        let refused = Facts::read(BodyKind::Images, Some(&format!("{FORM}{kind}")), &Bytes::from(body.clone()), 8).unwrap_err();
        assert!(refused.to_string().contains(field), "{body}: {refused}");
    }
    let plain = form(&[(&field("_charset_"), "utf-8"), (&field("prompt"), "a")]);
    assert!(Facts::read(BodyKind::Images, Some(&format!("{FORM}; charset=UTF-8")), &Bytes::from(plain), 8).is_ok());
}

#[test]
fn forms_two_readers_could_read_differently_are_refused() {
    let model = field("model");
    let cases = [
        form(&[(&model, "a"), (&model, "b")]),
        form(&[("Content-Disposition: form-data; name=\"model\"; name=\"x\"", "a")]),
        form(&[("Content-Disposition: form-data; name*=utf-8''model", "a")]),
        form(&[("Content-Disposition: form-data; name=\"x\\\"; name=model\"", "a")]),
        form(&[("Content-Disposition: form-data; name=\"model\"\r\nContent-Disposition: form-data; name=\"x\"", "a")]),
        form(&[("Content-Disposition: form-data;\r\n name=\"model\"", "a")]),
        form(&[("Content-Type: text/plain", "a")]),
        form(&[("Content-Disposition: form-data; name=\"model\"\r\nContent-Transfer-Encoding: base64", "YQ==")]),
        form(&[("Content-Disposition: form-data; name=\"model\"; filename=\"m\"", "a")]),
        form(&[(&model, "a\r\n----x yz\r\n")]),
        form(&[(&model, "a")]).replace("----x y--\r\n", ""),
        form(&[(&model, "a")]) + "----x y\r\n",
        form(&[(&model, "a")]).replace("\r\n", "\n"),
        format!("preamble\r\n{}", form(&[(&model, "a")])),
        form(&[(&model, "a\nb")]),
        form(&[(&field("stream"), "maybe")]),
        String::new(),
    ];
    for body in cases {
        let outcome = Facts::read(BodyKind::Images, Some(FORM), &Bytes::from(body.clone()), 8);
        assert!(outcome.is_err(), "{body:?} gave {outcome:?}");
    }
    for kind in ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=a; boundary=b"] {
        let refused = Facts::read(BodyKind::Audio, Some(kind), &Bytes::from(form(&[])), 8);
        assert_eq!(refused, Err(MultipartError::Boundary.into()), "{kind}");
    }
}

proptest! {
    #[test]
    fn random_bodies_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), form in any::<bool>()) {
        let kind = if form { Some("multipart/form-data; boundary=a") } else { None };
        let body = Bytes::from(bytes);
        if let Ok(facts) = Facts::read(BodyKind::Audio, kind, &body, 16) {
            let _ = facts.rewrite(&body, "m", true);
        }
    }

    #[test]
    fn damaged_forms_never_panic(cut in any::<prop::sample::Index>(), with in "(\r\n|--|a|;|\"|=|:| ){0,4}") {
        let mut text = "--a\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--a--\r\n".to_owned();
        text.insert_str(cut.index(text.len()), &with);
        let body = Bytes::from(text);
        if let Ok(facts) = Facts::read(BodyKind::Audio, Some("multipart/form-data; boundary=a"), &body, 16) {
            let again = facts.rewrite(&body, "n", true).whole();
            let facts = Facts::read(BodyKind::Audio, Some("multipart/form-data; boundary=a"), &again, 16).unwrap();
            prop_assert!(facts.model.is_none_or(|model| model == "n"));
        }
    }

    #[test]
    fn a_rewritten_request_differs_in_the_model_and_the_usage_request_only(
        members in prop::collection::hash_map("[a-z\"\\\\é]{1,6}", prop_oneof![Just("1.0e0"), Just("[ ]"), Just("{\"a\": null}"), Just("\"\\u0041\"")], 0..5),
        model in ".{0,8}",
        stream in any::<bool>(),
    ) {
        let mut parts: Vec<String> = members.iter().map(|(key, value)| format!("{} :{value}", serde_json::to_string(key).unwrap())).collect();
        parts.push(format!("\"model\": \"old\" , \"stream\":{stream}"));
        let body = Bytes::from(format!(" {{{}}}\n", parts.join(" ,\n")));
        let new = Facts::read(BodyKind::ChatCompletions, None, &body, 8).unwrap().rewrite(&body, &model, true).whole();
        let encoded = serde_json::to_string(&model).unwrap();
        let text = String::from_utf8(body.to_vec()).unwrap().replace("\"old\"", &encoded);
        let expected = if stream { text.replace("true}\n", "true,\"stream_options\":{\"include_usage\":true}}\n") } else { text };
        let facts = Facts::read(BodyKind::ChatCompletions, None, &new, 8).unwrap();
        prop_assert_eq!(facts.model.as_deref(), Some(model.as_str()));
        prop_assert_eq!(facts.asks_usage, stream);
        prop_assert_eq!(serde_json::from_slice::<serde_json::Value>(&new).unwrap(), serde_json::from_str::<serde_json::Value>(&expected).unwrap());
    }
}
