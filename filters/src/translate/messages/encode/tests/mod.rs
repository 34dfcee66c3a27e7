//! Requests of the other dialects, built as their readers build them.

mod conversation;
mod media;
mod options;
mod rules;
mod thinking;
mod tools;

use serde_json::{Value, json};

use super::encode_request;
use crate::canonical::{Arguments, Block, FunctionTool, Raw, Refusal, Request, Role, Text, Tool, ToolCall, ToolResult, Turn, Weight};
use crate::shape::Shape;
use crate::translate::{Capabilities, Encoding, ProviderKind, Quirks, Target};

pub(super) const ORIGIN: u32 = 77;
pub(super) const SONNET: &str = "claude-sonnet-4-5";

pub(super) fn target(model: &'static str) -> Target<'static> {
    Target {
        shape: Shape::Messages,
        kind: ProviderKind::Anthropic,
        model,
        origin: ORIGIN,
        capabilities: Capabilities::of(Shape::Messages, model),
        quirks: Quirks::VENDOR,
    }
}

pub(super) fn bedrock(model: &'static str) -> Target<'static> {
    Target { kind: ProviderKind::Bedrock, ..target(model) }
}

pub(super) fn encoded(request: Request<'_>, target: &Target<'_>) -> Result<(Value, Encoding), Refusal> {
    let mut encoding = Encoding::default();
    encode_request(request, target, &mut encoding)?;
    let body =
        serde_json::from_slice(&encoding.body).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&encoding.body)));
    Ok((body, encoding))
}

/// The body for a model of the last generation that takes everything.
pub(super) fn sent(request: Request<'_>) -> Value {
    encoded(request, &target(SONNET)).expect("encodes").0
}

pub(super) fn losses(encoding: &Encoding) -> Vec<(String, Weight)> {
    encoding.losses.iter().map(|loss| (loss.field.to_string(), loss.weight)).collect()
}

pub(super) fn lost(field: &str, weight: Weight) -> (String, Weight) {
    (field.to_owned(), weight)
}

pub(super) fn text(text: &'static str) -> Block<'static> {
    Block::Text(Text::from(text))
}

pub(super) fn user(blocks: Vec<Block<'static>>) -> Turn<'static> {
    Turn { role: Role::User, blocks }
}

pub(super) fn model(blocks: Vec<Block<'static>>) -> Turn<'static> {
    Turn { role: Role::Assistant, blocks }
}

pub(super) fn system(words: &'static str) -> Turn<'static> {
    Turn { role: Role::System, blocks: vec![text(words)] }
}

pub(super) fn call(id: &'static str, name: &'static str, arguments: &'static str) -> Block<'static> {
    let arguments = Arguments::Text(Text::from(arguments));
    Block::ToolCall(ToolCall { id: Text::from(id), name: Text::from(name), arguments, signature: None, custom: false })
}

pub(super) fn result(id: &'static str, content: Vec<Block<'static>>) -> Block<'static> {
    Block::ToolResult(ToolResult { id: Text::from(id), name: None, failed: false, content, object: None })
}

pub(super) fn function(name: &'static str, schema: Option<&'static str>) -> Tool<'static> {
    Tool::Function(FunctionTool {
        name: Text::from(name),
        description: None,
        parameters: schema.map(|schema| Raw::from(schema.as_bytes())),
        vendor_schema: false,
        strict: None,
    })
}

/// A chat-completions request.
pub(super) fn chat(turns: Vec<Turn<'static>>) -> Request<'static> {
    Request { turns, ..Request::new(Shape::ChatCompletions) }
}

pub(super) fn hello() -> Request<'static> {
    chat(vec![user(vec![text("hi")])])
}

#[test]
fn a_plain_request_has_model_limit_and_messages() {
    let body = sent(Request { max_output: Some(50), ..hello() });
    let expected = json!({"model": SONNET, "max_tokens": 50,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]});
    assert_eq!(body, expected);
}
