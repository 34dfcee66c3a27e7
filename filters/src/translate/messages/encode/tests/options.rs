//! B.0.2, B.0.3, B.0.11, B.1 and F.3: limits, sampling, formats, tags.

use super::*;
use crate::canonical::{Extra, Number, OutputFormat, Sampling};

fn with(sampling: Sampling<'static>) -> Request<'static> {
    Request { sampling, max_output: Some(10), ..hello() }
}

fn number(digits: &'static str) -> Option<Number<'static>> {
    Some(Number(digits))
}

fn on(request: Request<'_>, model: &'static str) -> (Value, Vec<(String, Weight)>) {
    let (body, encoding) = encoded(request, &target(model)).expect("encodes");
    (body, losses(&encoding))
}

#[test]
fn a_limit_is_always_sent() {
    let limit = |max_output, stream, model| on(Request { max_output, stream, ..hello() }, model).0["max_tokens"].clone();
    assert_eq!(limit(Some(7), false, SONNET), json!(7));
    assert_eq!(limit(None, true, SONNET), json!(64_000));
    assert_eq!(limit(None, false, SONNET), json!(32_000), "no long silence");
    assert_eq!(limit(None, false, "claude-3-5-sonnet-20241022"), json!(8_192));
    assert_eq!(limit(Some(100_000), false, SONNET), json!(64_000));
    let refusal = encoded(Request { max_output: Some(0), ..hello() }, &target(SONNET)).expect_err("is refused");
    assert!(matches!(&refusal, Refusal::Invalid { field, .. } if field == "max_completion_tokens"));
}

#[test]
fn an_unknown_model_gets_a_modest_limit() {
    let mut unknown = target(SONNET);
    unknown.capabilities.max_output = 0;
    assert_eq!(encoded(hello(), &unknown).expect("encodes").0["max_tokens"], json!(4_096));
}

#[test]
fn temperatures_above_one_become_one_and_others_stay() {
    let sent = |digits| on(with(Sampling { temperature: number(digits), ..Sampling::default() }), SONNET);
    assert_eq!(sent("1.5").0["temperature"], json!(1.0));
    assert_eq!(sent("1.5").1, [lost("temperature", Weight::Minor)]);
    assert_eq!((&sent("0.7").0["temperature"], sent("0.7").1), (&json!(0.7), vec![]));
}

#[test]
fn models_that_take_no_sampling_get_none() {
    let all = || Sampling { temperature: number("1"), top_p: number("0.9"), top_k: number("5"), ..Sampling::default() };
    let (body, lost_fields) = on(with(all()), "claude-sonnet-5");
    assert!(["temperature", "top_p", "top_k"].iter().all(|name| body.get(name).is_none()));
    assert_eq!(lost_fields.len(), 3);
    let (body, lost_fields) = on(with(all()), SONNET);
    assert_eq!((&body["temperature"], &body["top_k"], body.get("top_p")), (&json!(1), &json!(5), None));
    assert_eq!(lost_fields, [lost("top_p", Weight::Minor)], "temperature and top_p only one at a time");
    let (body, _) = on(with(all()), "claude-3-7-sonnet-latest");
    assert_eq!(body["top_p"], json!(0.9));
}

#[test]
fn what_only_other_vendors_know_is_lost_with_its_weight() {
    let sampling = Sampling {
        presence_penalty: number("1"),
        frequency_penalty: number("1"),
        seed: number("1"),
        n: Some(2),
        logprobs: true,
        ..Sampling::default()
    };
    let extra = |field: &'static str, weight| Extra { field: Text::from(field), value: Raw::from(&b"1"[..]), weight };
    let extras = vec![extra("logit_bias", Weight::Minor), extra("audio", Weight::Major)];
    let (_, found) = on(Request { verbosity: Some(Text::from("low")), extras, ..with(sampling) }, SONNET);
    let expected = [
        lost("n", Weight::Major),
        lost("logprobs", Weight::Major),
        lost("seed", Weight::Minor),
        lost("presence_penalty", Weight::Minor),
        lost("frequency_penalty", Weight::Minor),
        lost("verbosity", Weight::Minor),
        lost("logit_bias", Weight::Minor),
        lost("audio", Weight::Major),
    ];
    assert_eq!(found, expected);
    let (_, found) = on(with(Sampling { n: Some(1), top_logprobs: Some(2), ..Sampling::default() }), SONNET);
    assert_eq!(found, [lost("top_logprobs", Weight::Minor)]);
}

#[test]
fn losses_are_told_in_the_clients_terms() {
    let sampling = Sampling { seed: number("1"), n: Some(2), ..Sampling::default() };
    let turns = vec![user(vec![text("a")])];
    let (_, found) = on(Request { sampling, turns, ..Request::new(Shape::GenerateContent) }, SONNET);
    assert_eq!(found, [lost("generationConfig.candidateCount", Weight::Major), lost("generationConfig.seed", Weight::Minor)]);
}

#[test]
fn blank_stop_sequences_go() {
    let stop = vec![Text::from("END"), Text::from("\n"), Text::from("")];
    let (body, found) = on(Request { stop, ..hello() }, SONNET);
    assert_eq!(body["stop_sequences"], json!(["END"]));
    assert_eq!(found, [lost("stop", Weight::Minor)]);
}

#[test]
fn tags_of_users_that_are_personal_data_are_not_sent() {
    let sent = |user: &str| {
        let (body, found) = on(Request { user: Some(Text::from(user.to_owned())), ..hello() }, SONNET);
        (body["metadata"]["user_id"].as_str().map(str::to_owned), found.len())
    };
    assert_eq!(sent("u-17"), (Some("u-17".to_owned()), 0));
    assert_eq!(sent("17"), (Some("17".to_owned()), 0));
    assert_eq!(sent(&"x".repeat(300)), (Some("x".repeat(256)), 0));
    for personal in ["a@b.example", "+49 170 1234567", "(030) 1234567"] {
        assert_eq!(sent(personal), (None, 1), "{personal}");
    }
}

#[test]
fn service_tiers_are_mapped_and_refused_ones_left_out() {
    let sent = |tier: &'static str, target: &Target<'_>| {
        let request = Request { service_tier: Some(Text::from(tier)), ..hello() };
        let (body, encoding) = encoded(request, target).expect("encodes");
        (body["service_tier"].as_str().map(str::to_owned), losses(&encoding).len())
    };
    for (tier, expected) in
        [("auto", "auto"), ("priority", "auto"), ("default", "standard_only"), ("flex", "standard_only"), ("scale", "standard_only")]
    {
        assert_eq!(sent(tier, &target(SONNET)), (Some(expected.to_owned()), 0), "{tier}");
    }
    assert_eq!(sent("fast", &target(SONNET)), (None, 1));
    assert_eq!(sent("auto", &bedrock(SONNET)), (None, 1));
}

const SCHEMA: &[u8] = br#"{"type":"object","properties":{"a":{"type":"integer","minimum":1}},"required":["a"]}"#;

fn schema(schema: &'static [u8]) -> Request<'static> {
    let format =
        OutputFormat::Schema { name: None, description: None, schema: Raw::from(schema), vendor_schema: false, strict: Some(true) };
    Request { format, ..hello() }
}

#[test]
fn a_schema_is_bound_by_models_that_can() {
    let (body, encoding) = encoded(schema(SCHEMA), &target(SONNET)).expect("encodes");
    let expected = json!({"format": {"type": "json_schema", "schema": {"type": "object", "additionalProperties": false,
        "properties": {"a": {"type": "integer", "description": "min 1"}}, "required": ["a"]}}});
    assert_eq!(body["output_config"], expected);
    assert!(encoding.losses.is_empty() && !encoding.adaptations.wrapped && encoding.adaptations.json_tool.is_none());
}

#[test]
fn a_schema_of_other_values_than_objects_is_wrapped() {
    let (body, encoding) = encoded(schema(br#"{"type":"array","items":{"type":"string"}}"#), &target(SONNET)).expect("encodes");
    let inner = &body["output_config"]["format"]["schema"]["properties"]["value"];
    assert_eq!(*inner, json!({"type": "array", "items": {"type": "string"}}));
    assert!(encoding.adaptations.wrapped);
}

#[test]
fn elsewhere_a_hidden_tool_takes_the_answer() {
    for target in [target("claude-3-5-sonnet-20241022"), bedrock(SONNET)] {
        let (body, encoding) = encoded(schema(SCHEMA), &target).expect("encodes");
        assert_eq!(body["tools"][0]["name"], json!("json_output"));
        assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "json_output"}));
        assert_eq!(encoding.adaptations.json_tool.as_deref(), Some("json_output"));
        assert!(encoding.losses.is_empty() && body.get("output_config").is_none());
    }
}

#[test]
fn a_schema_the_vendor_cannot_bind_is_the_hidden_tools_as_written() {
    let (body, encoding) =
        encoded(schema(br#"{"type":"object","additionalProperties":{"type":"integer","minimum":1}}"#), &target(SONNET)).expect("encodes");
    assert_eq!(body["tools"][0]["input_schema"], json!({"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}}));
    assert!(body.get("output_config").is_none() && encoding.adaptations.json_tool.is_some());
}

#[test]
fn beside_tools_or_thinking_the_schema_is_asked_for_in_words() {
    let tooled = Request { tools: vec![function("f", None)], ..schema(SCHEMA) };
    let mut thinking = schema(SCHEMA);
    thinking.thinking.budget = Some(2_000);
    for request in [tooled, thinking] {
        let (body, encoding) = encoded(request, &bedrock(SONNET)).expect("encodes");
        let words = body["system"][0]["text"].as_str().expect("an instruction");
        assert!(words.contains("JSON Schema") && words.contains(r#""required":["a"]"#));
        assert_eq!(losses(&encoding), [lost("response_format", Weight::Minor)]);
        assert!(encoding.adaptations.json_tool.is_none());
    }
}

#[test]
fn free_json_is_asked_for_in_words_after_the_clients_own() {
    let request = Request { format: OutputFormat::JsonObject, ..chat(vec![system("s"), user(vec![text("a")])]) };
    let (body, found) = on(request, SONNET);
    assert_eq!(body["system"][1]["text"], json!("Answer with one JSON object only."));
    assert_eq!(found, [lost("response_format", Weight::Minor)]);
}

#[test]
fn a_stream_is_asked_for_when_the_client_does() {
    assert_eq!(sent(Request { stream: true, ..hello() })["stream"], json!(true));
    assert!(sent(hello()).get("stream").is_none());
}
