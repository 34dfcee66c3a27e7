//! `POST /v1/responses`.

mod answer;
mod input;

use serde_json::{Map, Value};

use crate::call::{Call, Shape};
use crate::chat_completions::is;
use crate::deliver::{Answer, Payload};
use crate::directive::Directives;
use crate::models;
use crate::prompt::{Choice, Prompt, Tool, text_bytes};
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::validate::{Fields, Kind};

const FIELDS: Fields = Fields {
    known: &[
        ("model", Kind::Text),
        ("input", Kind::TextOrList),
        ("access_programs", Kind::Any),
        ("background", Kind::Bool),
        ("client_metadata", Kind::Object),
        ("context_management", Kind::Any),
        ("conversation", Kind::TextOrObject),
        ("include", Kind::List),
        ("instructions", Kind::Text),
        ("max_output_tokens", Kind::Integer),
        ("max_tool_calls", Kind::Integer),
        ("metadata", Kind::Object),
        ("moderation", Kind::Object),
        ("parallel_tool_calls", Kind::Bool),
        ("previous_response_id", Kind::Text),
        ("prompt", Kind::Object),
        ("prompt_cache_key", Kind::Text),
        ("prompt_cache_options", Kind::Object),
        ("prompt_cache_retention", Kind::Text),
        ("reasoning", Kind::Object),
        ("safety_identifier", Kind::Text),
        ("service_tier", Kind::Text),
        ("store", Kind::Bool),
        ("stream", Kind::Bool),
        ("stream_options", Kind::Object),
        ("temperature", Kind::Number),
        ("text", Kind::Object),
        ("tool_choice", Kind::TextOrObject),
        ("tools", Kind::List),
        ("top_logprobs", Kind::Integer),
        ("top_p", Kind::Number),
        ("truncation", Kind::Text),
        ("user", Kind::Text),
    ],
    required: &["model", "input"],
};
const LEAST_OUTPUT: u64 = 16;

pub(crate) fn handle(call: &Call) -> Result<Answer, Refusal> {
    let body = call.json()?;
    FIELDS.check(Shape::ChatCompletions, "", &body)?;
    let prompt = prompt(&body)?;
    models::exists(Shape::ChatCompletions, &prompt.model)?;
    let directives = Directives::read(&prompt.model, &prompt.text);
    let reply = Reply::compose(&prompt, &directives);
    let head = answer::Head::new(call, &prompt.model, &body);
    let payload = if is(&body, "stream") { Payload::Events(head.events(&reply)) } else { Payload::Json(head.whole(&reply)) };
    Ok(Answer { payload, directives })
}

fn prompt(body: &Map<String, Value>) -> Result<Prompt, Refusal> {
    let limit = body.get("max_output_tokens").and_then(Value::as_u64);
    if limit.is_some_and(|limit| limit < LEAST_OUTPUT) {
        let message = "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.";
        return Err(Refusal::invalid(message).param("max_output_tokens").code("integer_below_min_value"));
    }
    let given = body.get("input").cloned().unwrap_or_default();
    let read = input::read(&given)?;
    let summary = body.get("reasoning").and_then(|reasoning| reasoning.get("summary")).is_some_and(|summary| !summary.is_null());
    let format = body.get("text").and_then(|text| text.get("format"));
    Ok(Prompt {
        model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
        text: read.text,
        results: read.results,
        media: read.media,
        tools: tools(body)?,
        choice: choice(body.get("tool_choice")),
        parallel: body.get("parallel_tool_calls").and_then(Value::as_bool).unwrap_or(true),
        schema: format.and_then(schema),
        thinking: summary,
        bytes: text_bytes(&given) + body.get("instructions").map_or(0, text_bytes),
        limit,
    })
}

fn schema(format: &Value) -> Option<Value> {
    match format.get("type")?.as_str()? {
        "json_schema" => format.get("schema").cloned(),
        "json_object" => Some(serde_json::json!({"type": "object"})),
        _ => None,
    }
}

fn tools(body: &Map<String, Value>) -> Result<Vec<Tool>, Refusal> {
    let offered = body.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let functions = offered.iter().enumerate().filter(|(_, tool)| tool.get("type").and_then(Value::as_str) == Some("function"));
    functions.map(|(at, tool)| self::tool(at, tool)).collect()
}

fn tool(at: usize, tool: &Value) -> Result<Tool, Refusal> {
    let name = tool.get("name").and_then(Value::as_str).ok_or_else(|| {
        let path = format!("tools[{at}].name");
        Refusal::invalid(format!("Missing required parameter: '{path}'.")).param(path).code("missing_required_parameter")
    })?;
    Ok(Tool { name: name.to_owned(), schema: tool.get("parameters").cloned().unwrap_or_default() })
}

fn choice(choice: Option<&Value>) -> Choice {
    match choice {
        Some(Value::String(word)) if word == "none" => Choice::Never,
        Some(Value::Object(object)) => {
            object.get("name").and_then(Value::as_str).map_or(Choice::Auto, |name| Choice::Named(name.to_owned()))
        }
        _ => Choice::Auto,
    }
}
