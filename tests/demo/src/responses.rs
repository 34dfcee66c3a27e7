//! `POST /v1/responses`.

mod answer;
mod input;
mod items;
mod tools;

use serde_json::{Map, Value};

use crate::call::{Call, Shape};
use crate::chat_completions::{is, rules};
use crate::deliver::{Answer, Payload};
use crate::directive::Directives;
use crate::generation::gpt;
use crate::models;
use crate::prompt::{Prompt, text_bytes};
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
const REASONING: Fields = Fields {
    known: &[("effort", Kind::Text), ("summary", Kind::Text), ("generate_summary", Kind::Text), ("context", Kind::Any)],
    required: &[],
};
const TEXT: Fields = Fields { known: &[("format", Kind::Object), ("verbosity", Kind::Text)], required: &[] };
const LEAST_OUTPUT: u64 = 16;

pub(crate) fn handle(call: &Call) -> Result<Answer, Refusal> {
    let body = call.json()?;
    FIELDS.check(Shape::ChatCompletions, "", &body)?;
    check(&body)?;
    let prompt = prompt(call, &body)?;
    models::exists(Shape::ChatCompletions, &prompt.model)?;
    let directives = Directives::read(&prompt.model, &prompt.conversation.text);
    let reply = Reply::compose(&prompt, &directives);
    let head = answer::Head::new(call, &prompt.model, &body, reply.thinking.is_some());
    let payload = if is(&body, "stream") { Payload::Responses(head.events(&reply)) } else { Payload::Json(head.whole(&reply)) };
    Ok(Answer { payload, directives })
}

fn check(body: &Map<String, Value>) -> Result<(), Refusal> {
    let limit = body.get("max_output_tokens").and_then(Value::as_u64);
    if limit.is_some_and(|limit| limit < LEAST_OUTPUT) {
        let message = "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.";
        return Err(Refusal::invalid(message).param("max_output_tokens").code("integer_below_min_value"));
    }
    for (name, fields) in [("reasoning", REASONING), ("text", TEXT)] {
        if let Some(object) = body.get(name).and_then(Value::as_object) {
            fields.check(Shape::ChatCompletions, name, object)?;
        }
    }
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    let Some(version) = gpt(model) else { return Ok(()) };
    let sampled = |name: &&str| body.get(*name).is_some_and(|value| !value.is_null() && value.as_f64() != Some(1.0));
    let effort = effort(body);
    if let Some(effort) = effort.filter(|effort| *effort != "max" && !rules::accepts(version, model, effort)) {
        return Err(rules::unsupported_value("reasoning.effort", effort));
    }
    match ["temperature", "top_p"].into_iter().find(sampled).filter(|_| effort != Some("none")) {
        Some(name) => {
            let message = format!("Unsupported parameter: '{name}' is not supported with this model.");
            Err(Refusal::invalid(message).param(name).code("unsupported_parameter"))
        }
        None => Ok(()),
    }
}

fn effort(body: &Map<String, Value>) -> Option<&str> {
    body.get("reasoning")?.get("effort")?.as_str()
}

fn prompt(call: &Call, body: &Map<String, Value>) -> Result<Prompt, Refusal> {
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    let given = body.get("input").cloned().unwrap_or_default();
    let mut conversation = input::read(call, &given)?;
    if let Some(text) = body.get("instructions").and_then(Value::as_str) {
        conversation.system.insert(0, text.to_owned());
    }
    let format = body.get("text").and_then(|text| text.get("format"));
    rules::mentions_json(format, &[&given, body.get("instructions").unwrap_or(&Value::Null)])?;
    let summary = body.get("reasoning").and_then(|reasoning| reasoning.get("summary")).is_some_and(|summary| !summary.is_null());
    Ok(Prompt {
        model: model.to_owned(),
        conversation,
        tools: tools::read(body)?,
        choice: tools::choice(body)?,
        parallel: body.get("parallel_tool_calls").and_then(Value::as_bool).unwrap_or(true),
        schema: format.map(schema).transpose()?.flatten(),
        thinking: summary || effort(body).is_some_and(|effort| effort != "none"),
        stops: Vec::new(),
        search: tools::search(body),
        bytes: text_bytes(&given) + body.get("instructions").map_or(0, text_bytes),
        limit: body.get("max_output_tokens").and_then(Value::as_u64),
    })
}

fn schema(format: &Value) -> Result<Option<Value>, Refusal> {
    match format.get("type").and_then(Value::as_str) {
        Some("json_schema") => {
            if format.get("name").and_then(Value::as_str).is_none_or(str::is_empty) {
                let path = "text.format.name";
                return Err(Refusal::invalid(format!("Missing required parameter: '{path}'."))
                    .param(path)
                    .code("missing_required_parameter"));
            }
            rules::strict(format, "text.format.schema")
        }
        Some("json_object") => Ok(Some(serde_json::json!({"type": "object"}))),
        Some("text") | None => Ok(None),
        Some(other) => Err(rules::unsupported_value("text.format.type", other)),
    }
}
