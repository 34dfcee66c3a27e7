mod config;
mod contents;
mod tools;

use serde_json::Value;

use crate::canonical::{Arguments, Block, FunctionTool, Raw, Refusal, Request, Role, Text, Tool, ToolCall, ToolResult, Turn, Weight};
use crate::shape::Shape;
use crate::translate::generate_content::encode::encode_request;
use crate::translate::{Capabilities, Encoding, ProviderKind, Quirks, Target};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB";

fn target(model: &str) -> Target<'_> {
    Target {
        shape: Shape::GenerateContent,
        kind: ProviderKind::Gemini,
        model,
        origin: 7,
        capabilities: Capabilities::of(Shape::GenerateContent, model),
        quirks: Quirks::VENDOR,
    }
}

fn text(text: &'static str) -> Block<'static> {
    Block::Text(Text::from(text))
}

fn turn(role: Role, blocks: Vec<Block<'static>>) -> Turn<'static> {
    Turn { role, blocks }
}

fn user(words: &'static str) -> Turn<'static> {
    turn(Role::User, vec![text(words)])
}

/// A request of a client of `from` that says hi.
fn hi(from: Shape) -> Request<'static> {
    Request { turns: vec![user("hi")], ..Request::new(from) }
}

fn said(from: Shape, turns: Vec<Turn<'static>>) -> Request<'static> {
    Request { turns, ..Request::new(from) }
}

fn call(id: &'static str, name: &'static str, arguments: &'static str) -> ToolCall<'static> {
    ToolCall {
        id: Text::from(id),
        name: Text::from(name),
        arguments: Arguments::Text(Text::from(arguments)),
        signature: None,
        custom: false,
    }
}

fn result(id: &'static str, content: Vec<Block<'static>>) -> ToolResult<'static> {
    ToolResult { id: Text::from(id), name: None, failed: false, content, object: None }
}

fn answers(results: Vec<ToolResult<'static>>) -> Turn<'static> {
    turn(Role::User, results.into_iter().map(Block::ToolResult).collect())
}

fn function(name: &'static str, schema: &'static str) -> Tool<'static> {
    Tool::Function(FunctionTool {
        name: Text::from(name),
        description: None,
        parameters: Some(Raw::from(schema.as_bytes())),
        vendor_schema: false,
        strict: None,
    })
}

const SCHEMA: &str = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;

fn written(request: Request<'_>, target: &Target<'_>) -> (Value, Encoding) {
    let mut encoding = Encoding::default();
    encode_request(request, target, &mut encoding).expect("a request that can be carried");
    (serde_json::from_slice(&encoding.body).expect("JSON"), encoding)
}

fn body(request: Request<'_>, model: &str) -> Value {
    written(request, &target(model)).0
}

fn losses(encoding: &Encoding) -> Vec<(String, Weight)> {
    encoding.losses.iter().map(|loss| (loss.field.to_string(), loss.weight)).collect()
}

fn refusal(request: Request<'_>, target: &Target<'_>) -> Refusal {
    encode_request(request, target, &mut Encoding::default()).expect_err("a refusal")
}
