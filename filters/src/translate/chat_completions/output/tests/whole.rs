//! Answers in one document, and what they share with streams.

use super::*;

#[test]
fn an_explained_refusal_is_told_in_its_own_field() {
    let finish = Finish {
        reason: FinishReason::Refusal,
        raw: Text::from("SAFETY"),
        stop_sequence: None,
        explanation: Some(Text::from("Prompt blocked: SAFETY")),
    };
    let events = [start(), Event::Finish { choice: 0, finish }, Event::End];
    let seen = chunks(false, &events);
    assert_eq!(seen[1], r#"{"index":0,"delta":{"refusal":"Prompt blocked: SAFETY"},"finish_reason":null}]}"#);
    let told = whole(&events);
    let choice = &told["choices"][0];
    assert_eq!(
        (&choice["message"]["content"], &choice["message"]["refusal"]),
        (&serde_json::Value::Null, &"Prompt blocked: SAFETY".into())
    );
    assert_eq!(choice["finish_reason"], "content_filter");
}

#[test]
fn sources_pictures_and_log_probabilities_have_chunks_of_their_own() {
    let citation = Citation { url: Text::from("https://x"), title: Text::from("T"), cited: Text::from("c"), span: None };
    let events = [
        start(),
        text("abc"),
        Event::Citation { choice: 0, citation },
        Event::Media { choice: 0, media_type: Text::from("image/png"), data: Text::from("AA==") },
        Event::Logprobs { choice: 0, elements: Raw::from(&br#"{"token":"a"}"#[..]) },
        finish(0, FinishReason::Stop),
        Event::End,
    ];
    let seen = chunks(false, &events);
    let annotation = r#"{"type":"url_citation","url_citation":{"start_index":0,"end_index":3,"title":"T","url":"https://x"}}"#;
    let image = r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="},"index":0}"#;
    assert_eq!(seen[2], format!(r#"{{"index":0,"delta":{{"annotations":[{annotation}]}},"finish_reason":null}}]}}"#));
    assert_eq!(seen[3], format!(r#"{{"index":0,"delta":{{"images":[{image}]}},"finish_reason":null}}]}}"#));
    assert_eq!(seen[4], r#"{"index":0,"delta":{},"logprobs":{"content":[{"token":"a"}],"refusal":null},"finish_reason":null}]}"#);
    let told = whole(&events);
    let message = &told["choices"][0]["message"];
    assert_eq!(message["annotations"][0], serde_json::from_str::<serde_json::Value>(annotation).unwrap());
    assert_eq!(message["images"][0], serde_json::from_str::<serde_json::Value>(image).unwrap());
    assert_eq!(told["choices"][0]["logprobs"]["content"][0]["token"], "a");
}

#[test]
fn a_whole_answer_has_every_member_clients_read() {
    let events = [
        start(),
        reasoning("hm"),
        Event::ReasoningSigned { choice: 0, signature: signature() },
        text(r"a\n"),
        text("b"),
        call(0, "a", false),
        arguments(0, "{\"x\":"),
        arguments(0, "1}"),
        call(1, "b", true),
        arguments(1, "select"),
        Event::Usage(USAGE),
        finish(0, FinishReason::ToolCalls),
        Event::End,
    ];
    let token = members::tagged(&signature(), &view(false));
    let expected = serde_json::json!({
        "id": "chatcmpl-r1", "object": "chat.completion", "created": 1_795_219_200, "model": "fast",
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant", "content": "a\nb", "refusal": null, "reasoning_content": "hm",
                "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": token}],
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "get_rate", "arguments": "{\"x\":1}"}},
                    {"id": "b", "type": "custom", "custom": {"name": "get_rate", "input": "select"}},
                ],
            },
            "logprobs": null,
            "finish_reason": "tool_calls",
        }],
        "usage": {
            "prompt_tokens": 120, "completion_tokens": 31, "total_tokens": 151,
            "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 16},
            "completion_tokens_details": {"reasoning_tokens": 12},
        },
    });
    assert_eq!(whole(&events), expected);
}

#[test]
fn an_empty_answer_is_an_empty_text_and_calls_alone_have_none() {
    let empty = whole(&[start(), finish(0, FinishReason::Stop), Event::End]);
    assert_eq!(empty["choices"][0]["message"]["content"], "");
    let called = whole(&[start(), call(0, "a", false), finish(0, FinishReason::ToolCalls), Event::End]);
    assert_eq!(called["choices"][0]["message"]["content"], serde_json::Value::Null);
    assert_eq!(called["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], "{}");
}
