//! `POST /v1/chat/completions`.

mod answer;
pub(crate) mod rules;
pub(crate) mod tools;
mod turns;

use serde_json::{Map, Value};

pub(crate) use answer::CREATED;

use crate::call::{Call, Shape};
use crate::deliver::{Answer, Payload};
use crate::directive::Directives;
use crate::models;
use crate::prompt::{Prompt, text_bytes, texts};
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::validate::{Fields, Kind};

const FIELDS: Fields = Fields {
    known: &[
        ("model", Kind::Text),
        ("messages", Kind::List),
        ("audio", Kind::Object),
        ("frequency_penalty", Kind::Number),
        ("function_call", Kind::TextOrObject),
        ("functions", Kind::List),
        ("logit_bias", Kind::Object),
        ("logprobs", Kind::Bool),
        ("max_completion_tokens", Kind::Integer),
        ("max_tokens", Kind::Integer),
        ("metadata", Kind::Object),
        ("modalities", Kind::List),
        ("moderation", Kind::Object),
        ("n", Kind::Integer),
        ("parallel_tool_calls", Kind::Bool),
        ("prediction", Kind::Object),
        ("presence_penalty", Kind::Number),
        ("prompt_cache_key", Kind::Text),
        ("prompt_cache_options", Kind::Object),
        ("prompt_cache_retention", Kind::Text),
        ("reasoning_effort", Kind::Text),
        ("response_format", Kind::Object),
        ("safety_identifier", Kind::Text),
        ("seed", Kind::Integer),
        ("service_tier", Kind::Text),
        ("stop", Kind::TextOrList),
        ("store", Kind::Bool),
        ("stream", Kind::Bool),
        ("stream_options", Kind::Object),
        ("temperature", Kind::Number),
        ("tool_choice", Kind::TextOrObject),
        ("tools", Kind::List),
        ("top_logprobs", Kind::Integer),
        ("top_p", Kind::Number),
        ("user", Kind::Text),
        ("verbosity", Kind::Text),
        ("web_search_options", Kind::Object),
    ],
    required: &["model", "messages"],
};

const STREAM_OPTIONS: Fields = Fields { known: &[("include_usage", Kind::Bool), ("include_obfuscation", Kind::Bool)], required: &[] };
const MOST_STOPS: usize = 4;

pub(crate) fn handle(call: &Call) -> Result<Answer, Refusal> {
    let body = call.json()?;
    check(&body)?;
    let prompt = prompt(&body)?;
    models::exists(Shape::ChatCompletions, &prompt.model)?;
    let directives = Directives::read(&prompt.model, &prompt.conversation.text);
    let reply = Reply::compose(&prompt, &directives);
    let shows = directives.has("think") || (prompt.thinking && rules::compatible(&prompt.model));
    let head = answer::Head::new(call, &prompt.model, &body, shows);
    let payload = if is(&body, "stream") { Payload::Events(head.events(&reply)) } else { Payload::Json(head.whole(&reply)) };
    Ok(Answer { payload, directives })
}

fn check(body: &Map<String, Value>) -> Result<(), Refusal> {
    FIELDS.check(Shape::ChatCompletions, "", body)?;
    ranged(body, "temperature", 0.0, 2.0)?;
    ranged(body, "top_p", 0.0, 1.0)?;
    ranged(body, "presence_penalty", -2.0, 2.0)?;
    ranged(body, "frequency_penalty", -2.0, 2.0)?;
    if body.contains_key("max_tokens") && body.contains_key("max_completion_tokens") {
        let message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
        return Err(Refusal::invalid(message).code("invalid_parameter_combination"));
    }
    if body.get("stop").and_then(Value::as_array).is_some_and(|stops| stops.len() > MOST_STOPS) {
        let message = format!("Invalid 'stop': array too long. Expected an array with maximum length {MOST_STOPS}.");
        return Err(Refusal::invalid(message).param("stop").code("array_above_max_length"));
    }
    rules::check(body)?;
    match body.get("stream_options").and_then(Value::as_object) {
        Some(_) if !is(body, "stream") => {
            Err(Refusal::invalid("The 'stream_options' parameter is only allowed when 'stream' is enabled.").param("stream_options"))
        }
        Some(options) => STREAM_OPTIONS.check(Shape::ChatCompletions, "stream_options", options),
        None => Ok(()),
    }
}

fn ranged(body: &Map<String, Value>, name: &str, least: f64, most: f64) -> Result<(), Refusal> {
    let Some(value) = body.get(name).and_then(Value::as_f64) else { return Ok(()) };
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let side = if value < least { ("below minimum", least, ">=") } else { ("above maximum", most, "<=") };
    let message = format!("Invalid '{name}': decimal {} value. Expected a value {} {}, but got {value} instead.", side.0, side.2, side.1);
    Err(Refusal::invalid(message).param(name).code(format!("decimal_{}_value", side.0.replace(' ', "_"))))
}

fn prompt(body: &Map<String, Value>) -> Result<Prompt, Refusal> {
    let messages = body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    let format = body.get("response_format").filter(|_| !rules::compatible(model));
    rules::mentions_json(format, &messages.iter().collect::<Vec<_>>())?;
    let limit = ["max_completion_tokens", "max_tokens"].iter().find_map(|name| body.get(*name)?.as_u64());
    Ok(Prompt {
        model: model.to_owned(),
        conversation: turns::read(messages, model)?,
        tools: tools::read(body)?,
        choice: tools::choice(body)?,
        parallel: body.get("parallel_tool_calls").and_then(Value::as_bool).unwrap_or(true),
        schema: rules::schema(body.get("response_format"))?,
        thinking: rules::thinks(body),
        stops: texts(body.get("stop")),
        search: false,
        bytes: messages.iter().filter_map(|message| message.get("content")).map(text_bytes).sum(),
        limit,
    })
}

pub(crate) fn is(body: &Map<String, Value>, name: &str) -> bool {
    body.get(name).and_then(Value::as_bool).unwrap_or(false)
}
