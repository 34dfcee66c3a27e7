//! Requests: each client body, written for every target.

use serde_json::{Value, json};
use svc_filters::shape::Shape;
use svc_filters::translate::{Capabilities, Picture, Policy, ProviderKind, Quirks, Target, map, passes, pictures_to_fetch, prepare};

use crate::{SHAPES, compare, fixtures, report};

struct Aim {
    name: &'static str,
    kind: ProviderKind,
    shape: Shape,
    model: &'static str,
    quirks: Quirks,
}

const fn aim(name: &'static str, kind: ProviderKind, shape: Shape, model: &'static str) -> Aim {
    Aim { name, kind, shape, model, quirks: Quirks::VENDOR }
}

const AIMS: [Aim; 11] = [
    aim("openai", ProviderKind::Openai, Shape::ChatCompletions, "gpt-4o"),
    aim("openai_reasoning", ProviderKind::Openai, Shape::ChatCompletions, "gpt-5.6"),
    Aim { quirks: Quirks::COMPATIBLE, ..aim("compatible", ProviderKind::Openai, Shape::ChatCompletions, "llama-3.3-70b") },
    aim("azure", ProviderKind::AzureOpenai, Shape::ChatCompletions, "gpt-4.1"),
    aim("anthropic", ProviderKind::Anthropic, Shape::Messages, "claude-sonnet-4-5"),
    aim("anthropic_adaptive", ProviderKind::Anthropic, Shape::Messages, "claude-opus-5-5"),
    aim("bedrock", ProviderKind::Bedrock, Shape::Messages, "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    aim("vertex_claude", ProviderKind::Vertex, Shape::Messages, "claude-sonnet-4-5@20250929"),
    aim("gemini", ProviderKind::Gemini, Shape::GenerateContent, "gemini-2.5-pro"),
    aim("gemini_3", ProviderKind::Gemini, Shape::GenerateContent, "gemini-3.1-pro-preview"),
    aim("vertex", ProviderKind::Vertex, Shape::GenerateContent, "gemini-2.5-flash"),
];

impl Aim {
    fn target(&self) -> Target<'static> {
        let capabilities = Capabilities::of(self.shape, self.model);
        let origin = map::signature::origin(self.name, self.model);
        Target { shape: self.shape, kind: self.kind, model: self.model, origin, capabilities, quirks: self.quirks }
    }
}

#[test]
fn every_request_reads_as_golden_at_every_target() {
    let (mut differences, mut count) = (Vec::new(), 0);
    for from in SHAPES {
        for (name, body) in fixtures("requests", from) {
            count += 1;
            let written: serde_json::Map<String, Value> =
                AIMS.iter().map(|aim| (aim.name.to_owned(), translated(from, &name, &body, aim))).collect();
            differences.extend(compare("requests", from, &name, &Value::Object(written)));
        }
    }
    report(&differences, count);
}

#[test]
fn a_tool_only_its_vendor_runs_is_refused_by_name_where_there_is_no_other() {
    let tools = [
        (Shape::Responses, json!({"type": "namespace", "name": "agents", "description": "d", "tools": []}), "tools.namespace"),
        (
            Shape::Responses,
            json!({"type": "computer_use_preview", "display_width": 1024, "display_height": 768}),
            "tools.computer_use_preview",
        ),
        (Shape::Messages, json!({"type": "code_execution_20250825", "name": "code_execution"}), "tools.code_execution_20250825"),
    ];
    for (from, tool, named) in &tools {
        let body = match from {
            Shape::Responses => json!({"model": "m", "input": "Hi", "tools": [tool]}),
            _ => json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}], "tools": [tool]}),
        };
        let body = body.to_string();
        for aim in AIMS.iter().filter(|aim| aim.shape != *from && !passes(*from, &aim.target(), true)) {
            let refused = prepare(*from, body.as_bytes(), false, &aim.target(), Policy::Safe, &[]).expect_err(named).to_string();
            assert!(refused.contains(named), "{}: {refused}", aim.name);
        }
    }
}

fn translated(from: Shape, name: &str, body: &[u8], aim: &Aim) -> Value {
    let target = aim.target();
    let stream = name.contains(".stream.");
    let holds = |name: &str| String::from_utf8_lossy(body).contains(name);
    if passes(from, &target, holds("\"tools\""), holds("\"image\""), body) {
        return json!("as it is");
    }
    let pictures: Vec<Picture> = match pictures_to_fetch(from, body, stream, &target) {
        Ok(wanted) => wanted
            .into_iter()
            .map(|(url, _)| Picture { url, media_type: "image/png".to_owned(), data: "iVBORw0KGgo=".to_owned() })
            .collect(),
        Err(refusal) => return json!({ "refused": refusal.to_string() }),
    };
    let prepared = match prepare(from, body, stream, &target, Policy::Lossy, &pictures) {
        Ok(prepared) => prepared,
        Err(refusal) => return json!({ "refused": refusal.to_string() }),
    };
    let body: Value = serde_json::from_slice(&prepared.body)
        .unwrap_or_else(|error| panic!("{name} for {} is no JSON: {error}\n{}", aim.name, String::from_utf8_lossy(&prepared.body)));
    let losses: Vec<String> = prepared.losses.iter().map(|loss| format!("{} ({:?}): {}", loss.field, loss.weight, loss.reason)).collect();
    let mut written = json!({ "dialect": prepared.shape.as_str(), "body": body });
    if !losses.is_empty() {
        written["omitted"] = json!(losses);
    }
    written
}
