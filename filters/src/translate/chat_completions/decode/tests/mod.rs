//! Requests as clients send them, field by field.

mod messages;
mod tools;

use super::*;
use crate::canonical::{Arguments, Block, Choice, Document, Media, OutputFormat, Role, Source, Tool, ToolCall, ToolResult, Turn};
use crate::translate::map::signature::tag;
use crate::wire::json::DEEPEST;

fn read(body: &str) -> Request<'_> {
    crate::wire::json::scan(body.as_bytes(), DEEPEST, |_| {}).expect("a body the gateway lets in");
    decode_request(body.as_bytes()).expect("a request")
}

fn refusal(body: &str) -> String {
    decode_request(body.as_bytes()).expect_err("a refusal").to_string()
}

/// A request with this field beside its message.
fn with(field: &str) -> String {
    format!(r#"{{"model":"m","messages":[{{"role":"user","content":"hi"}}],{field}}}"#)
}

fn turns(messages: &str) -> Vec<Turn<'static>> {
    let body: &'static str = Box::leak(format!(r#"{{"model":"m","messages":[{messages}]}}"#).into_boxed_str());
    read(body).turns
}

fn extras(body: &str) -> Vec<(String, Weight)> {
    read(body).extras.iter().map(|extra| (extra.field.decode().into_owned(), extra.weight)).collect()
}

#[test]
fn plain_fields_land_where_they_belong() {
    let body = with(
        r#""max_completion_tokens":5,"max_tokens":9,"temperature":0.70,"top_p":1,"top_k":40,"presence_penalty":-1.5,"frequency_penalty":2,"seed":7,"n":2,"logprobs":true,"top_logprobs":3,
        "stop":"x","stream":true,"stream_options":{"include_usage":true},"parallel_tool_calls":false,"verbosity":"low","service_tier":"flex","user":"u","reasoning_effort":"HIGH""#,
    );
    let request = read(&body);
    assert_eq!(request.max_output, Some(5), "the newer field wins");
    let sampling = &request.sampling;
    let numbers =
        [sampling.temperature, sampling.top_p, sampling.top_k, sampling.presence_penalty, sampling.frequency_penalty, sampling.seed];
    assert_eq!(numbers.map(|number| number.expect("told").0), ["0.70", "1", "40", "-1.5", "2", "7"]);
    assert_eq!((sampling.n, sampling.logprobs, sampling.top_logprobs), (Some(2), true, Some(3)));
    assert!(request.stream && request.include_usage && request.parallel_tool_calls == Some(false));
    assert_eq!(request.stop, [Text::from("x")]);
    assert_eq!((request.verbosity, request.service_tier, request.user), (Some("low".into()), Some("flex".into()), Some("u".into())));
    assert_eq!(request.thinking.effort, Some(Text::from("high")));
    assert!(request.extras.is_empty());
}

#[test]
fn null_is_absent() {
    let body = with(r#""max_tokens":null,"stop":null,"tools":null,"stream_options":null,"n":null,"anything":null"#);
    let request = read(&body);
    assert!(request.max_output.is_none() && request.stop.is_empty() && request.tools.is_empty() && request.extras.is_empty());
}

#[test]
fn the_newer_name_of_the_end_user_wins() {
    let body = with(r#""safety_identifier":"s","user":"u""#);
    assert_eq!(read(&body).user, Some(Text::from("s")));
}

#[test]
fn fields_without_a_neutral_place_are_kept_with_their_weight() {
    let table = [
        (r#""logit_bias":{"1":2}"#, "logit_bias", Weight::Minor),
        (r#""prediction":{"type":"content","content":"x"}"#, "prediction", Weight::Minor),
        (r#""metadata":{"a":"b"}"#, "metadata", Weight::Minor),
        (r#""store":true"#, "store", Weight::Minor),
        (r#""store":false"#, "store", Weight::Silent),
        (r#""prompt_cache_key":"k""#, "prompt_cache_key", Weight::Silent),
        (r#""modalities":["text"]"#, "modalities", Weight::Silent),
        (r#""modalities":["text","audio"]"#, "modalities", Weight::Major),
        (r#""audio":{"format":"wav","voice":"alloy"}"#, "audio", Weight::Major),
        (r#""moderation":{"model":"x"}"#, "moderation", Weight::Major),
        (r#""chat_template_kwargs":{"a":1}"#, "chat_template_kwargs", Weight::Minor),
        (r#""reasoning_effort":"default""#, "reasoning_effort", Weight::Minor),
        (r#""stream_options":{"include_obfuscation":false}"#, "stream_options.include_obfuscation", Weight::Silent),
    ];
    for (field, name, weight) in table {
        assert_eq!(extras(&with(field)), [(name.to_owned(), weight)], "{field}");
    }
}

#[test]
fn thinking_is_read_from_each_services_words() {
    let thinking = |field: &str| {
        let body = with(field);
        let thinking = read(&body).thinking;
        (thinking.effort.map(|effort| effort.decode().into_owned()), thinking.budget, thinking.adaptive, thinking.disabled, thinking.shown)
    };
    let high = Some("high".to_owned());
    assert_eq!(thinking(r#""reasoning":{"effort":"high"}"#), (high.clone(), None, false, false, None));
    assert_eq!(thinking(r#""reasoning":{"effort":"low"},"reasoning_effort":"high""#), (high, None, false, false, None));
    assert_eq!(thinking(r#""reasoning":{"max_tokens":2000,"exclude":true}"#), (None, Some(2000), false, false, Some(false)));
    assert_eq!(thinking(r#""reasoning":{"enabled":true}"#), (None, None, true, false, None));
    assert_eq!(thinking(r#""reasoning":{"enabled":false}"#), (None, None, false, true, None));
    assert_eq!(thinking(r#""thinking":{"type":"enabled","budget_tokens":1024}"#), (None, Some(1024), false, false, None));
    assert_eq!(thinking(r#""thinking":{"type":"disabled"}"#), (None, None, false, true, None));
}

#[test]
fn formats_are_read() {
    let format = |field: &str| format!("{:?}", read(&with(field)).format);
    assert_eq!(format(r#""response_format":{"type":"text"}"#), "Text");
    assert_eq!(format(r#""response_format":{"type":"json_object"}"#), "JsonObject");
    let body = with(
        r#""response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","schema":{"b":1,"a":2},"strict":true}}"#,
    );
    let OutputFormat::Schema { name, description, schema, vendor_schema, strict } = read(&body).format else { panic!("a schema") };
    assert_eq!((name, description, strict, vendor_schema), (Some("n".into()), Some("d".into()), Some(true), false));
    assert_eq!(schema.as_text(), r#"{"b":1,"a":2}"#, "the order is kept");
}

proptest::proptest! {
    #[test]
    fn random_bodies_never_panic(
        fields in proptest::collection::vec((
            "messages|tools|functions|tool_choice|stop|reasoning|thinking|response_format|web_search_options|stream_options|n",
            r#"\[?\{"(role|content|type|function|name|tool_calls|effort|json_schema|custom)":(\{"(name|schema|url)":)?("(user|assistant|tool|function|text|custom|x)"|\[\]|\{\}|null|1)\}?\}?\]?"#,
        ), 0..5),
    ) {
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        let body = format!("{{{}}}", fields.join(","));
        let _ = decode_request(body.as_bytes());
    }
}
