//! Requests of every dialect as providers of this shape get them.

mod history;
mod media;
mod tools;

use serde_json::{Value as Json, json};

use super::*;
use crate::canonical::{
    Arguments, Choice, ComputerTool, Document, FunctionTool, Media, Number, Raw, SearchHit, Signature, Source, Thinking, Tool, ToolCall,
    ToolResult, WebSearch,
};
use crate::translate::{Adaptations, Capabilities, ProviderKind, Quirks};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUg==";

fn target(model: &'static str, quirks: Quirks) -> Target<'static> {
    let shape = Shape::ChatCompletions;
    Target { shape, kind: ProviderKind::Openai, model, origin: 7, capabilities: Capabilities::of(shape, model), quirks }
}

fn vendor() -> Target<'static> {
    target("gpt-4o", Quirks::VENDOR)
}

fn compatible() -> Target<'static> {
    target("llama-3.3", Quirks::COMPATIBLE)
}

fn text(said: &'static str) -> Block<'static> {
    Block::Text(Text::from(said))
}

fn turn(role: Role, blocks: Vec<Block<'static>>) -> Turn<'static> {
    Turn { role, blocks }
}

fn user(said: &'static str) -> Turn<'static> {
    turn(Role::User, vec![text(said)])
}

fn call(id: &'static str, name: &'static str, arguments: &'static str) -> Block<'static> {
    let arguments = Arguments::Json(Raw::from(arguments.as_bytes()));
    Block::ToolCall(ToolCall { id: id.into(), name: name.into(), arguments, signature: None, custom: false })
}

fn result(id: &'static str, content: Vec<Block<'static>>) -> Block<'static> {
    Block::ToolResult(ToolResult { id: id.into(), name: None, failed: false, content, object: None })
}

fn image() -> Block<'static> {
    Block::Image(Media { source: Source::Base64 { media_type: "image/jpeg".into(), data: PNG.into() }, detail: None })
}

fn function(name: &'static str, parameters: Option<&'static str>) -> Tool<'static> {
    let parameters = parameters.map(|schema| Raw::from(schema.as_bytes()));
    Tool::Function(FunctionTool { name: name.into(), description: None, parameters, vendor_schema: false, strict: None })
}

fn request(turns: Vec<Turn<'static>>) -> Request<'static> {
    Request { turns, ..Request::new(Shape::Messages) }
}

fn asked(change: impl FnOnce(&mut Request<'static>)) -> Request<'static> {
    let mut request = request(vec![user("hi")]);
    change(&mut request);
    request
}

struct Sent {
    body: Json,
    losses: Vec<(String, Weight)>,
    adaptations: Adaptations,
}

fn send(request: Request<'static>, target: &Target<'_>) -> Sent {
    let mut encoding = Encoding::default();
    encode_request(request, target, &mut encoding).expect("a request");
    let body =
        serde_json::from_slice(&encoding.body).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&encoding.body)));
    let losses = encoding.losses.iter().map(|loss| (loss.field.to_string(), loss.weight)).collect();
    Sent { body, losses, adaptations: encoding.adaptations }
}

fn messages(turns: Vec<Turn<'static>>) -> Json {
    send(request(turns), &vendor()).body["messages"].clone()
}

fn refused(request: Request<'static>, target: &Target<'_>) -> String {
    encode_request(request, target, &mut Encoding::default()).expect_err("a refusal").to_string()
}

#[test]
fn a_plain_request_is_plain() {
    let sent = send(asked(|request| request.max_output = Some(50)), &vendor());
    assert_eq!(sent.body, json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}], "max_completion_tokens": 50}));
    assert!(sent.losses.is_empty());
    let sent = send(asked(|request| request.max_output = Some(50)), &compatible());
    assert_eq!(sent.body["max_tokens"], 50);
    assert!(refused(asked(|request| request.max_output = Some(0)), &vendor()).starts_with("translate `max_tokens`"));
}

#[test]
fn sampling_goes_where_the_model_takes_it() {
    let sampled = |target: &Target<'_>| {
        send(
            asked(|request| {
                let sampling = &mut request.sampling;
                (sampling.temperature, sampling.top_p, sampling.top_k) = (Some(Number("1.5")), Some(Number("0.9")), Some(Number("40")));
                (sampling.presence_penalty, sampling.seed, sampling.n) = (Some(Number("0.5")), Some(Number("7")), Some(2));
                (sampling.logprobs, sampling.top_logprobs) = (true, Some(3));
            }),
            target,
        )
    };
    let sent = sampled(&vendor());
    let body = &sent.body;
    assert_eq!((&body["temperature"], &body["top_p"], &body["seed"], &body["n"]), (&json!(1.5), &json!(0.9), &json!(7), &json!(2)));
    assert_eq!((&body["logprobs"], &body["top_logprobs"]), (&json!(true), &json!(3)));
    assert_eq!(sent.losses, [("top_k".to_owned(), Weight::Minor)]);
    assert_eq!(sampled(&compatible()).body.get("top_k"), None, "some refuse what they do not know");
    let mut takes = compatible();
    takes.quirks.top_k = true;
    assert_eq!(sampled(&takes).body["top_k"], 40);
    let sent = sampled(&target("gpt-5", Quirks::VENDOR));
    assert_eq!(sent.body.get("temperature"), None);
    let lost: Vec<&str> = sent.losses.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(lost, ["temperature", "top_p", "top_k", "presence_penalty", "logprobs"]);
}

#[test]
fn fields_are_named_as_the_client_knows_them() {
    let asked = asked(|request| {
        request.from = Shape::GenerateContent;
        request.sampling.top_k = Some(Number("40"));
    });
    assert_eq!(send(asked, &vendor()).losses, [("generationConfig.topK".to_owned(), Weight::Minor)]);
}

#[test]
fn four_stop_sequences_are_the_most() {
    let stopped = |target: &Target<'_>| {
        let stop = ["a", "", "b", "c", "d", "e"].map(Text::from).to_vec();
        send(asked(|request| request.stop = stop), target)
    };
    let sent = stopped(&vendor());
    assert_eq!(sent.body["stop"], json!(["a", "b", "c", "d"]));
    assert_eq!(sent.losses, [("stop_sequences".to_owned(), Weight::Minor)]);
    assert_eq!(stopped(&target("o3", Quirks::VENDOR)).body.get("stop"), None);
}

#[test]
fn efforts_follow_the_table() {
    let effort = |thinking: Thinking<'static>, target: &Target<'_>| {
        send(asked(|request| request.thinking = thinking), target).body.get("reasoning_effort").cloned()
    };
    let budget = |budget| Thinking { budget: Some(budget), ..Thinking::default() };
    let named = |effort: &'static str| Thinking { effort: Some(effort.into()), ..Thinking::default() };
    let newer = target("gpt-5.2", Quirks::VENDOR);
    for (tokens, word) in [(0, "none"), (512, "low"), (1024, "low"), (8192, "medium"), (24_576, "high"), (40_000, "xhigh")] {
        assert_eq!(effort(budget(tokens), &newer), Some(json!(word)), "{tokens}");
    }
    assert_eq!(effort(named("max"), &newer), Some(json!("xhigh")), "clamped to what the model knows");
    assert_eq!(effort(Thinking { adaptive: true, ..Thinking::default() }, &newer), Some(json!("medium")));
    assert_eq!(effort(Thinking { disabled: true, ..Thinking::default() }, &target("o3", Quirks::VENDOR)), Some(json!("low")));
    assert_eq!(effort(budget(-1), &newer), None);
    assert_eq!(effort(Thinking::default(), &newer), None, "nothing said, nothing asked");
    assert_eq!(effort(named("high"), &vendor()), None, "a model that does not reason");
    assert_eq!(effort(named("high"), &compatible()), Some(json!("high")));
    assert_eq!(effort(Thinking { disabled: true, ..Thinking::default() }, &compatible()), None);
}

#[test]
fn formats_have_their_words() {
    let format = |format: OutputFormat<'static>, target: &Target<'_>| send(asked(|request| request.format = format), target);
    let sent = format(OutputFormat::JsonObject, &vendor());
    assert_eq!(sent.body["response_format"], json!({"type": "json_object"}));
    assert_eq!(sent.body["messages"][0], json!({"role": "system", "content": "Answer in JSON."}), "the vendor insists on the word");
    assert_eq!(format(OutputFormat::JsonObject, &compatible()).body["messages"][0]["role"], "user");
    let schema = |schema: &'static str, name: Option<&'static str>, strict| OutputFormat::Schema {
        name: name.map(Text::from),
        description: None,
        schema: Raw::from(schema.as_bytes()),
        vendor_schema: false,
        strict,
    };
    let closed = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#;
    let sent = format(schema(closed, None, Some(true)), &vendor());
    let expected = json!({"name": "output", "schema": serde_json::from_str::<Json>(closed).unwrap(), "strict": true});
    assert_eq!(sent.body["response_format"], json!({"type": "json_schema", "json_schema": expected}));
    let sent = format(schema(r#"{"type":"object","properties":{"a":{}}}"#, Some("my name"), Some(true)), &vendor());
    assert_eq!(sent.body["response_format"]["json_schema"]["strict"], false);
    assert_eq!(sent.body["response_format"]["json_schema"]["name"], "my_name");
    let sent = format(schema(r#"{"type":"string","enum":["a","b"]}"#, None, None), &vendor());
    assert_eq!(sent.body["response_format"]["json_schema"]["schema"]["required"], json!(["value"]));
    assert!(sent.adaptations.wrapped);
}

#[test]
fn streams_always_ask_for_usage_where_the_provider_knows_it() {
    let streamed = |quirks| send(asked(|request| request.stream = true), &target("m", quirks)).body;
    assert_eq!(streamed(Quirks::COMPATIBLE)["stream_options"], json!({"include_usage": true}));
    let without = streamed(Quirks { stream_options: false, ..Quirks::COMPATIBLE });
    assert_eq!((&without["stream"], without.get("stream_options")), (&json!(true), None));
}

#[test]
fn tags_tiers_and_wordiness_are_carried_where_they_are_known() {
    let worded = |user: &'static str, target: &Target<'_>| {
        send(
            asked(|request| {
                (request.user, request.service_tier, request.verbosity) =
                    (Some(user.into()), Some("standard_only".into()), Some("low".into()));
            }),
            target,
        )
    };
    let sent = worded("u-1", &target("gpt-5", Quirks::VENDOR));
    assert_eq!((&sent.body["user"], &sent.body["safety_identifier"]), (&json!("u-1"), &json!("u-1")));
    assert_eq!((&sent.body["service_tier"], &sent.body["verbosity"]), (&json!("default"), &json!("low")));
    let long: &'static str = Box::leak("u".repeat(65).into_boxed_str());
    assert_eq!(worded(long, &vendor()).body["user"].as_str().map(str::len), Some(64), "a hash");
    let sent = worded(long, &compatible());
    assert_eq!((sent.body["user"].as_str(), sent.body.get("safety_identifier")), (Some(long), None));
    assert_eq!(sent.losses.len(), 2, "tier and wordiness: {:?}", sent.losses);
}

#[test]
fn fields_of_the_other_dialect_are_lost_unless_the_vendor_has_them_in_both() {
    let extra = |from, field: &'static str, target: &Target<'_>| {
        let value = Raw::from(&br#"{"a":"b"}"#[..]);
        let extras = vec![crate::canonical::Extra { field: field.into(), value, weight: Weight::Minor }];
        let sent = send(Request { from, extras, ..request(vec![user("hi")]) }, target);
        (sent.body.get(field).is_some(), sent.losses)
    };
    assert_eq!(extra(Shape::Responses, "metadata", &vendor()), (true, vec![]));
    let lost = vec![("metadata".to_owned(), Weight::Minor)];
    assert_eq!(extra(Shape::Responses, "metadata", &compatible()), (false, lost.clone()));
    assert_eq!(extra(Shape::Messages, "metadata", &vendor()), (false, lost));
    assert!(!extra(Shape::Messages, "container", &vendor()).0);
}
