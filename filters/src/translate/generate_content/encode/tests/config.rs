use serde_json::{Value, json};

use super::{SCHEMA, body, function, hi, losses, refusal, target, written};
use crate::canonical::{Extra, Number, OutputFormat, Raw, Refusal, Request, Text, Thinking, Weight};
use crate::shape::Shape;
use crate::translate::{ProviderKind, Target};

#[test]
fn sampling_and_limits_are_written_as_they_were_read() {
    let mut request = hi(Shape::ChatCompletions);
    request.max_output = Some(50);
    let number = |text: &'static str| Some(Number(text));
    request.sampling.temperature = number("1.50");
    request.sampling.top_p = number("0.9");
    request.sampling.top_k = number("40");
    request.sampling.presence_penalty = number("0.5");
    request.sampling.frequency_penalty = number("0.25");
    request.sampling.seed = number("7");
    request.sampling.n = Some(2);
    request.sampling.logprobs = true;
    request.sampling.top_logprobs = Some(3);
    request.stop = ["a", "", "b", "c", "d", "e", "f"].map(Text::from).to_vec();
    let (body, encoding) = written(request.clone(), &target("gemini-2.5-pro"));
    let expected = json!({"temperature":1.5,"topP":0.9,"topK":40,"presencePenalty":0.5,"frequencyPenalty":0.25,"seed":7,"candidateCount":2,
        "responseLogprobs":true,"logprobs":3,"maxOutputTokens":50,"stopSequences":["a","b","c","d","e"]});
    assert_eq!(body["generationConfig"], expected);
    assert_eq!(losses(&encoding), [("stop".into(), Weight::Minor)]);
    request.stop.clear();
    request.sampling.seed = number("99999999999");
    request.sampling.n = Some(1);
    let (body, encoding) = written(request, &target("gemini-3-pro"));
    assert!(
        ["presencePenalty", "frequencyPenalty", "seed", "candidateCount"].iter().all(|name| body["generationConfig"].get(name).is_none())
    );
    let fields: Vec<String> = losses(&encoding).into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["presence_penalty", "frequency_penalty", "seed"]);
    let mut warm = hi(Shape::Messages);
    warm.max_output = Some(0);
    assert!(matches!(refusal(warm, &target("gemini-2.5-pro")), Refusal::Unsupported { field, .. } if field == "max_tokens"));
}

fn thinking(thinking: Thinking<'static>, model: &str, max_output: Option<u64>) -> Value {
    let request = Request { thinking, max_output, ..hi(Shape::ChatCompletions) };
    body(request, model)["generationConfig"]["thinkingConfig"].clone()
}

#[test]
fn thinking_is_a_budget_or_a_level_and_never_both() {
    let effort = |name: &'static str| Thinking { effort: Some(Text::from(name)), ..Thinking::default() };
    let budget = |budget: i64| Thinking { budget: Some(budget), ..Thinking::default() };
    let cases = [
        (effort("low"), "gemini-2.5-flash", json!({"thinkingBudget":1024,"includeThoughts":true})),
        (effort("medium"), "gemini-2.5-pro", json!({"thinkingBudget":8192,"includeThoughts":true})),
        (effort("high"), "gemini-2.5-pro", json!({"thinkingBudget":24576,"includeThoughts":true})),
        (effort("xhigh"), "gemini-2.5-flash", json!({"thinkingBudget":24576,"includeThoughts":true})),
        (effort("max"), "gemini-2.5-pro", json!({"thinkingBudget":32768,"includeThoughts":true})),
        (effort("minimal"), "gemini-2.5-flash-lite", json!({"thinkingBudget":512,"includeThoughts":true})),
        (effort("none"), "gemini-2.5-flash", json!({"thinkingBudget":0,"includeThoughts":false})),
        (effort("none"), "gemini-2.5-pro", json!({"thinkingBudget":128,"includeThoughts":false})),
        (budget(-1), "gemini-2.5-pro", json!({"thinkingBudget":-1,"includeThoughts":true})),
        (budget(50), "gemini-2.5-pro", json!({"thinkingBudget":128,"includeThoughts":true})),
        (effort("none"), "gemini-3-pro", json!({"thinkingLevel":"LOW","includeThoughts":false})),
        (effort("minimal"), "gemini-3-flash", json!({"thinkingLevel":"MINIMAL","includeThoughts":true})),
        (effort("medium"), "gemini-3.1-pro", json!({"thinkingLevel":"MEDIUM","includeThoughts":true})),
        (effort("medium"), "gemini-3-pro", json!({"thinkingLevel":"HIGH","includeThoughts":true})),
        (effort("xhigh"), "gemini-3.1-pro", json!({"thinkingLevel":"HIGH","includeThoughts":true})),
        (effort("max"), "gemini-3.7-pro", json!({"thinkingLevel":"XHIGH","includeThoughts":true})),
        (budget(8192), "gemini-3.1-pro", json!({"thinkingLevel":"MEDIUM","includeThoughts":true})),
        (budget(-1), "gemini-3.1-pro", json!({"includeThoughts":true})),
        (Thinking { adaptive: true, shown: Some(false), ..Thinking::default() }, "gemini-3.1-pro", json!({"includeThoughts":false})),
        (Thinking { disabled: true, ..Thinking::default() }, "gemini-2.5-flash", json!({"thinkingBudget":0,"includeThoughts":false})),
        (Thinking::default(), "gemini-3.1-pro", Value::Null),
        (effort("high"), "gemini-2.0-flash", Value::Null),
    ];
    for (wanted, model, expected) in cases {
        assert_eq!(thinking(wanted.clone(), model, None), expected, "{wanted:?} {model}");
    }
    assert_eq!(thinking(effort("high"), "gemini-2.5-pro", Some(10_000))["thinkingBudget"], 8_000, "a fifth is left for the answer");
}

#[test]
fn the_form_of_the_answer_is_bound_or_asked_for() {
    let schema = |tools: bool, model: &str| {
        let mut request = hi(Shape::ChatCompletions);
        request.format = OutputFormat::Schema {
            name: None,
            description: None,
            schema: Raw::from(SCHEMA.as_bytes()),
            vendor_schema: false,
            strict: Some(true),
        };
        if tools {
            request.tools = vec![function("f", SCHEMA)];
        }
        written(request, &target(model))
    };
    let bound = |body: &Value| body["generationConfig"]["responseMimeType"] == "application/json";
    let (plain, encoding) = schema(false, "gemini-2.5-pro");
    assert!(bound(&plain) && plain["generationConfig"]["responseJsonSchema"]["type"] == "object" && encoding.losses.is_empty());
    let (old, _) = schema(false, "gemini-2.0-flash");
    assert_eq!(old["generationConfig"]["responseSchema"]["type"], "OBJECT");
    let (tools, encoding) = schema(true, "gemini-2.5-pro");
    assert!(tools.get("generationConfig").is_none());
    assert!(tools["systemInstruction"]["parts"][0]["text"].as_str().unwrap().contains(SCHEMA));
    assert_eq!(losses(&encoding), [("response_format".into(), Weight::Minor)]);
    let (third, encoding) = schema(true, "gemini-3-pro");
    assert!(bound(&third) && encoding.losses.is_empty());
    let mut object = hi(Shape::ChatCompletions);
    object.format = OutputFormat::JsonObject;
    assert_eq!(body(object, "gemini-2.5-pro")["generationConfig"], json!({"responseMimeType":"application/json"}));
}

#[test]
fn tiers_are_spelled_as_the_vendor_does() {
    for (told, sent) in [
        ("flex", json!("flex")),
        ("priority", json!("priority")),
        ("default", json!("standard")),
        ("auto", Value::Null),
        ("scale", Value::Null),
    ] {
        let mut request = hi(Shape::ChatCompletions);
        request.service_tier = Some(Text::from(told));
        let (body, encoding) = written(request, &target("gemini-2.5-pro"));
        assert_eq!(body["serviceTier"], sent, "{told}");
        assert_eq!(encoding.losses.is_empty(), told != "scale");
    }
}

#[test]
fn fields_without_a_counterpart_are_noted_in_the_clients_terms() {
    let mut request = hi(Shape::Messages);
    request.user = Some(Text::from("u"));
    request.parallel_tool_calls = Some(false);
    request.verbosity = Some(Text::from("low"));
    request.extras.push(Extra { field: Text::from("logit_bias"), value: Raw::from(&b"{}"[..]), weight: Weight::Minor });
    let (_, encoding) = written(request, &target("gemini-2.5-pro"));
    let fields: Vec<String> = losses(&encoding).into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["logit_bias", "metadata.user_id", "verbosity", "tool_choice.disable_parallel_tool_use"]);
}

#[test]
fn tags_become_labels_where_the_provider_has_them() {
    let tagged = |value: &'static str, kind| {
        let mut request = hi(Shape::ChatCompletions);
        request.extras.push(Extra { field: Text::from("metadata"), value: Raw::from(value.as_bytes()), weight: Weight::Minor });
        let (body, encoding) = written(request, &Target { kind, ..target("gemini-2.5-pro") });
        (body["labels"].clone(), encoding.losses.is_empty())
    };
    assert_eq!(tagged(r#"{"Team":"Blue-1"}"#, ProviderKind::Vertex), (json!({"team":"blue-1"}), true));
    assert_eq!(tagged(r#"{"team":"a b"}"#, ProviderKind::Vertex), (Value::Null, false));
    assert_eq!(tagged(r#"{"team":"a"}"#, ProviderKind::Gemini), (Value::Null, false));
}
